//! `harn test --watch`.

use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;

use harn_check::modules::{Disk, Workspace};

use super::super::watching::watch;
use super::super::{Form, Outcome};
use super::Options;
use super::discovery::test_files;
use crate::output::Output;

/// Runs all tests again whenever a file changes that one of them could depend on.
pub(super) fn run(
    paths: &[PathBuf],
    options: &Options,
    form: Form,
    output: &mut Output,
) -> io::Result<Outcome> {
    let here = [PathBuf::from(".")];
    let watched = if paths.is_empty() { &here } else { paths };
    watch(watched, output, |_, output| {
        super::run_once(paths, options, form, output)?;
        Ok(files_of(paths, output))
    })
}

/// The programs and what they import.
fn files_of(paths: &[PathBuf], output: &mut Output) -> BTreeSet<PathBuf> {
    let mut workspace = Workspace::new(Box::new(Disk));
    let (files, _) = test_files(paths, output);
    let reached = files.iter().flat_map(|path| workspace.reachable(path));
    reached.map(|path| path.to_path_buf()).collect()
}
