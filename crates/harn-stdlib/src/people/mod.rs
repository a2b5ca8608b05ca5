//! Asking people and waiting for the world.

use harn_machine::Registry;

pub(crate) fn register(_registry: &mut Registry) {}
