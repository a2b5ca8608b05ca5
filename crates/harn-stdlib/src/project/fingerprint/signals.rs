//! What the files of a tree say about it.

use std::collections::BTreeSet;

/// Names, each once.
pub(super) type Names = BTreeSet<&'static str>;

/// What the files of a tree say about it.
#[derive(Debug, Default)]
pub(super) struct Signals {
    pub(super) languages: Names,
    pub(super) frameworks: Names,
    pub(super) managers: Names,
    pub(super) runners: Names,
    pub(super) builds: Names,
    pub(super) ci: Names,
    pub(super) lockfiles: BTreeSet<String>,
    pub(super) has_tests: bool,
    /// Whether something is made for Node.
    pub(super) is_node: bool,
    /// Next is a framework only where it is both depended on and configured.
    pub(super) depends_on_next: bool,
    pub(super) configures_next: bool,
    /// Folders that tell the test runners of Ruby apart.
    pub(super) has_spec_folder: bool,
    pub(super) has_test_folder: bool,
}
