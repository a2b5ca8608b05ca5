//! `harn completions`.

use crate::program::harn;

#[test]
fn every_shell_gets_a_script_that_knows_the_commands() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let call = harn(&["completions", shell]).exits_with(0);
        assert_eq!(call.stderr, "");
        for word in ["explain", "strict-types", "conformance", "sessions"] {
            assert!(call.stdout.contains(word), "{shell} {word}");
        }
        let answer = harn(&["completions", "--json", shell]).exits_with(0).json();
        assert_eq!(answer["shell"], shell);
        assert_eq!(answer["script"], call.stdout);
    }
}

#[test]
fn an_unknown_shell_is_wrong_usage() {
    let call = harn(&["completions", "cmd"]).exits_with(2);
    assert_eq!(call.stdout, "");
    assert!(call.stderr.contains("bash"), "{call:?}");
}
