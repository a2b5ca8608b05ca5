//! Help, version and usage mistakes.

use crate::program::harn;

/// Every page of help there is.
const PAGES: &[&[&str]] = &[
    &[],
    &["new"],
    &["run"],
    &["check"],
    &["fmt"],
    &["lint"],
    &["test"],
    &["test", "conformance"],
    &["bench"],
    &["repl"],
    &["doc"],
    &["explain"],
    &["parse"],
    &["disasm"],
    &["completions"],
    &["events"],
    &["events", "types"],
    &["events", "check"],
    &["events", "topics"],
    &["events", "show"],
    &["events", "tail"],
    &["events", "export"],
    &["events", "stats"],
    &["events", "verify"],
    &["events", "repair"],
    &["models"],
    &["models", "list"],
    &["models", "show"],
    &["models", "probe"],
    &["mcp"],
    &["mcp", "list"],
    &["mcp", "probe"],
    &["mcp", "login"],
    &["mcp", "logout"],
    &["doctor"],
    &["doctor", "protocols"],
    &["sessions"],
    &["sessions", "list"],
    &["sessions", "show"],
    &["sessions", "export"],
    &["sessions", "rm"],
];

#[test]
fn every_help_page_tells_exit_codes_and_ends_with_examples() {
    for page in PAGES {
        for flag in ["--help", "-h"] {
            let call = harn(&[*page, &[flag]].concat()).exits_with(0);
            assert_eq!(call.stderr, "");
            let (_, last) = call.stdout.trim_end().rsplit_once("\n\n").unwrap();
            assert!(last.starts_with("EXAMPLES\n  harn "), "{}", call.stdout);
            for code in ["  0  done", "  1  the command found", "  2  wrong usage"] {
                assert!(call.stdout.contains(code), "{}", call.stdout);
            }
        }
    }
}

#[test]
fn the_version_is_that_of_the_workspace() {
    let call = harn(&["--version"]).exits_with(0);
    assert_eq!(
        call.stdout,
        concat!("harn ", env!("CARGO_PKG_VERSION"), "\n")
    );
}

#[test]
fn without_arguments_help_goes_to_stderr_and_it_is_wrong_usage() {
    for arguments in [&[][..], &["events"]] {
        let call = harn(arguments).exits_with(2);
        assert_eq!(call.stdout, "");
        assert!(call.stderr.contains("\nEXAMPLES\n"), "{call:?}");
    }
}

#[test]
fn wrong_usage_is_told_on_stderr() {
    for arguments in [
        &["evens"][..],
        &["check"],
        &["check", "a.harn", "--strict-type"],
        &["fmt"],
        &["fmt", "a.harn", "--width", "wide"],
        &["lint"],
        &["explain", "a", "b"],
        &["parse"],
        &["disasm"],
        &["parse", "a.harn", "--tree", "--tokens"],
        &["test", "--jobs", "0"],
        &["test", "--coverage=pdf"],
        &["test", "a.harn", "conformance"],
        &["new", "script", "a", "b"],
        &["doc", "a", "b"],
        &["completions"],
        &["bench"],
        &["events", "check"],
        &["events", "types", "--jsn"],
        &["--color", "pink", "events", "types"],
        &["events", "types", "plan", "artifact"],
        &["events", "show", "--since", "yesterday"],
        &["events", "show", "--limit", "1", "--last", "1"],
        &["events", "show", "--log", "a", "--base", "b"],
        &["events", "export"],
        &["models", "show"],
        &["models", "probe"],
        &["sessions", "show"],
        &["sessions", "rm"],
        &["sessions", "show", "s", "--at", "1", "--events"],
        &["sessions", "export", "s", "--format", "pdf"],
        &["sessions", "list", "--since", "yesterday"],
        &["run", "a.harn", "--progress", "loud"],
        &["check", "a.harn", "--provider-matrix"],
        &["run", "a.harn", "--record", "--replay"],
        &["run", "a.harn", "--tape-record", "a", "--tape-replay", "b"],
        &["run", "a.harn", "--tape-match", "lenient"],
        &["run", "a.harn", "--scenario", "a", "--replay"],
    ] {
        let call = harn(arguments).exits_with(2);
        assert_eq!(call.stdout, "");
        assert!(call.stderr.starts_with("error: "), "{call:?}");
    }
}
