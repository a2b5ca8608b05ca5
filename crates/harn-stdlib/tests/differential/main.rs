//! What the library computes is what Python's standard library computes.
//!
//! ```text
//! area.py, one seed ─► cases with what is expected ─► area.harn ─► what differs
//!         ▲                                               │
//!         └──────────── what Python shall read ◄──────────┘
//! ```
//!
//! Each area is one process of Python for a whole batch of cases, and one more where Python
//! also reads what the library wrote. Without Python there is nothing to compare with, and the
//! tests say so and pass.

mod program;
mod python;

use program::run;
use python::{Python, python};

/// Compares an area; its program prints every difference, and then `done`.
fn check(script: &str, program: &str) {
    let Python::Said(cases) = python(script, "make", "") else {
        return;
    };
    assert!(cases.len() > 1000, "there are too few cases: {cases}");
    assert_eq!(run(program, &cases), "done\n");
}

/// The same for an area whose program prints what Python shall read; that prints the
/// differences.
fn check_both_ways(script: &str, program: &str) {
    let Python::Said(cases) = python(script, "make", "") else {
        return;
    };
    let written = run(program, &cases);
    let Python::Said(verdict) = python(script, "read", &written) else {
        return;
    };
    assert_eq!(verdict, "done\n");
}

#[test]
fn dates() {
    check(include_str!("dates.py"), include_str!("dates.harn"));
}

#[test]
fn encodings_and_digests() {
    check(include_str!("encodings.py"), include_str!("encodings.harn"));
}

#[test]
fn queries_and_urls() {
    check(include_str!("urls.py"), include_str!("urls.harn"));
}

#[test]
fn regular_expressions() {
    check(include_str!("regexes.py"), include_str!("regexes.harn"));
}

#[cfg(feature = "compression")]
#[test]
fn compression_and_archives() {
    check_both_ways(
        include_str!("compression.py"),
        include_str!("compression.harn"),
    );
}
