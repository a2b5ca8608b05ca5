//! What a process was told in confidence, by its environment and by the files of its user.
//!
//! That is a fact about the process, like its environment itself. If it were an argument, each
//! place that writes something down could forget to ask for it, and would leak.

use std::sync::LazyLock;

use super::KnownSecrets;

static SECRETS: LazyLock<KnownSecrets> = LazyLock::new(|| KnownSecrets::with_base(None));

pub(super) fn secrets() -> &'static KnownSecrets {
    &SECRETS
}
