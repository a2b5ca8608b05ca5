//! Attacks that once came through a door that stood open, each with the result
//! "held". The book's page about what Harn protects from names them one by one.

mod approvals;
mod commands;
mod files;
mod folders;
mod frames;
mod journal;
mod limits;
mod listeners;
mod rules;
mod secrets;
mod servers;

use std::collections::BTreeSet;
use std::path::Path;

/// The names of the tests in a folder.
fn tests_in(folder: &Path, names: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).expect("it is a folder") {
        let path = entry.expect("it is there").path();
        if path.is_dir() {
            tests_in(&path, names);
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("it is source");
        let functions = text.lines().filter_map(|line| line.strip_prefix("fn "));
        names.extend(functions.filter_map(|rest| Some(rest.split_once("()")?.0.to_owned())));
    }
}

/// Whoever reads the page can run what it names.
#[test]
fn every_test_that_the_book_names_is_there() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = here.join("../../docs/src/safety/protection.md");
    let page = std::fs::read_to_string(page).expect("the book has it");
    let mut names = BTreeSet::new();
    tests_in(&here.join("tests/harn"), &mut names);
    let rows = page.lines().filter(|line| line.starts_with("| "));
    let tried = rows.filter_map(|row| row.trim_end_matches(" |").rsplit_once("| "));
    let named: Vec<&str> = tried
        .flat_map(|(_, cell)| cell.split('`').skip(1).step_by(2))
        .collect();
    assert!(named.len() > 40, "{named:?}");
    let gone: Vec<&&str> = named
        .iter()
        .filter(|name| !names.contains(**name))
        .collect();
    assert!(gone.is_empty(), "{gone:?}");
}
