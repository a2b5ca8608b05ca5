//! Formatting the programs of the conformance suite keeps what they mean.

use std::fs;
use std::path::{Path, PathBuf};

use harn_syntax::parse;

use super::formatted;

#[test]
fn every_conformance_program_means_the_same_formatted() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance");
    let mut folders = vec![root];
    let mut programs: Vec<PathBuf> = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("the suite is part of the repository") {
            let path = entry.expect("it is readable").path();
            match path.is_dir() {
                true => folders.push(path),
                false => programs.push(path),
            }
        }
    }
    programs.retain(|path| {
        path.extension()
            .is_some_and(|extension| extension == "harn")
    });
    assert!(!programs.is_empty(), "there are programs");
    for path in programs {
        let source = fs::read_to_string(path).expect("it is text");
        if parse(&source).errors.is_empty() {
            formatted(&source, 100);
            formatted(&source, 30);
        }
    }
}
