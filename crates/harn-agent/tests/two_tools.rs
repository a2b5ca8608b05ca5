//! The example that builds an agent with two tools: it is short, and it works.

use std::path::PathBuf;
use std::process::Command;

/// More, and it would not be a small example any more.
const LINES_MAX: usize = 40;

#[test]
fn the_example_is_short_and_runs_to_its_end() {
    let text = include_str!("../examples/two_tools.rs");
    assert!(text.lines().count() < LINES_MAX);
    let output = Command::new(example("two_tools")).output().unwrap();
    let shown = String::from_utf8(output.stdout).unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{shown}{said}");
    let lines: Vec<&str> = shown.lines().collect();
    let count = |tag: &str| lines.iter().filter(|line| **line == tag).count();
    assert_eq!(count("tool_call"), 2, "{shown}");
    assert_eq!(count("iteration_start"), 2, "{shown}");
    assert_eq!(count("iteration_end"), 2, "{shown}");
    let answer = r#""done": "Two bottles are left, at 1.20 each.""#;
    assert_eq!(lines.last(), Some(&answer), "{shown}");
}

/// Where cargo puts an example: beside the folder of this test. It builds them together.
fn example(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("a test is a file");
    let folder = test.ancestors().nth(2).expect("it is in `deps`");
    folder.join("examples").join(name)
}
