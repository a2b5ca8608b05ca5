//! Each benchmark once, with as little work as shows that it still works, so that none goes
//! stale. Nothing is measured here.

use std::path::Path;
use std::process::Command;

#[track_caller]
fn check(benchmark: &str) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let run = Command::new(benchmark)
        .arg("--smoke")
        .current_dir(root)
        .output();
    let run = run.expect("it can be started");
    let table = String::from_utf8_lossy(&run.stdout);
    let said = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success(), "{}: {table}{said}", run.status);
    assert!(table.contains("\n|---"), "there is no table: {table}{said}");
}

/// One that measures the `harn` program as well, which is built with the whole workspace.
#[track_caller]
fn check_with_harn(benchmark: &str) {
    let harn = Path::new(benchmark).with_file_name("harn");
    assert!(harn.exists(), "build it first: cargo build -p harn-cli");
    check(benchmark);
}

#[test]
fn acp() {
    check_with_harn(env!("CARGO_BIN_EXE_acp"));
}

#[test]
fn agent() {
    check(env!("CARGO_BIN_EXE_agent"));
}

#[test]
fn events() {
    check(env!("CARGO_BIN_EXE_events"));
}

#[test]
fn front() {
    check(env!("CARGO_BIN_EXE_front"));
}

#[test]
fn llm() {
    check(env!("CARGO_BIN_EXE_llm"));
}

#[test]
fn log() {
    check(env!("CARGO_BIN_EXE_log"));
}

#[test]
fn stdlib() {
    check_with_harn(env!("CARGO_BIN_EXE_stdlib"));
}

#[test]
fn vm() {
    check_with_harn(env!("CARGO_BIN_EXE_vm"));
}
