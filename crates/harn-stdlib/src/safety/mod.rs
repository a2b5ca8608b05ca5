//! What keeps secrets where they belong.

mod detectors;
mod secret_scan;

use harn_machine::Registry;

pub(crate) fn register(registry: &mut Registry) {
    secret_scan::register(registry);
}
