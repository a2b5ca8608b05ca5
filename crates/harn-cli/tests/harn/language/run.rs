//! `harn run`.

use crate::program::harn;

#[track_caller]
fn check(code: &str, status: i32) {
    let call = harn(&["run", "-e", code]).exits_with(status);
    assert_eq!((call.stdout.as_str(), call.stderr.as_str()), ("", ""));
}

#[test]
fn a_program_chooses_the_status_it_exits_with() {
    check("exit()", 0);
    check("exit(7)", 7);
    check("exit(255)", 255);
    check("try { exit(4) } finally { println(1) }", 4);
}

#[test]
fn the_system_shows_eight_bits_of_a_status() {
    check("exit(-1)", 255);
    check("exit(256)", 0);
    check("exit(263)", 7);
}

#[test]
fn the_value_of_an_entry_is_clamped() {
    check("pipeline main() { return 263 }", 255);
    check("pipeline main() { return -1 }", 0);
}
