//! Archives: files packed into octets.
//!
//! Nothing here touches the disk. A program writes the files itself, by the paths it is given,
//! so a path that leads out of the folder it is meant for is refused in both directions.

mod entries;
mod paths;
mod tar;
mod unpacked;
mod zip;

use harn_machine::{Failure, Fault, Registry};

pub(super) fn register(registry: &mut Registry) {
    registry.plain(&[
        ("tar_create", tar::create),
        ("tar_extract", tar::extract),
        ("zip_create", zip::create),
        ("zip_extract", zip::extract),
    ]);
}

/// What a function fails with.
fn fail<T>(function: &str, reason: impl std::fmt::Display) -> Result<T, Failure> {
    Err(Fault::runtime(format!("{function}: {reason}")))
}
