//! What keeps secrets where they belong.

mod detectors;
mod secret_scan;

use harn_machine::Registry;

pub(crate) use detectors::Detectors;

pub(crate) fn register(registry: &mut Registry) {
    secret_scan::register(registry);
}

/// Whether a text holds what looks like a secret.
pub(crate) fn has_secret(detectors: &Detectors, text: &str) -> bool {
    !detectors::find(detectors, text).is_empty()
}
