//! The example that builds an agent with two tools: it is short, and it works.

#[path = "../../examples/two_tools.rs"]
#[expect(unreachable_pub, reason = "for once it is not the whole program")]
mod example;

use std::process::Command;

/// More, and it would not be a small example any more.
const LINES_MAX: usize = 40;

#[test]
fn the_example_runs_to_its_end() {
    example::main().unwrap();
}

#[test]
fn the_example_is_short_and_shows_what_happens() {
    let text = include_str!("../../examples/two_tools.rs");
    assert!(text.lines().count() < LINES_MAX);
    // What it prints is seen from outside: this program again, with the test above alone.
    let mut example = Command::new(std::env::current_exe().unwrap());
    example.args([
        "--exact",
        "two_tools::the_example_runs_to_its_end",
        "--nocapture",
    ]);
    let output = example.output().unwrap();
    let shown = String::from_utf8(output.stdout).unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{shown}{said}");
    let count = |tag: &str| shown.lines().filter(|line| *line == tag).count();
    assert_eq!(count("tool_call"), 2, "{shown}");
    assert_eq!(count("iteration_start"), 2, "{shown}");
    assert_eq!(count("iteration_end"), 2, "{shown}");
    let answer = "done: Two bottles are left, at 1.20 each.";
    assert_eq!(count(answer), 1, "{shown}");
}
