//! Help, version and usage mistakes.

use crate::program::harn;

/// The words of every command, which has a page of help each.
fn pages() -> Vec<Vec<String>> {
    let reference = harn(&["reference"]).exits_with(0).json();
    let commands = reference["commands"].as_array();
    let commands = commands.into_iter().flatten();
    let words = |name: &str| name.split(' ').skip(1).map(str::to_owned).collect();
    let pages: Vec<Vec<String>> = commands
        .map(|command| words(command["name"].as_str().unwrap_or_default()))
        .collect();
    assert!(pages.contains(&vec!["serve".to_owned(), "acp".to_owned()]));
    pages
}

#[test]
fn every_help_page_tells_exit_codes_and_ends_with_examples() {
    for page in pages() {
        for flag in ["--help", "-h"] {
            let words: Vec<&str> = page.iter().map(String::as_str).chain([flag]).collect();
            let call = harn(&words).exits_with(0);
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
fn the_readme_names_every_command() {
    let readme = include_str!("../../../../README.md");
    for page in pages() {
        let [command] = &page[..] else {
            continue;
        };
        let is_named = readme.contains(&format!("`{command}`"))
            || readme.contains(&format!("`harn {command}"));
        assert!(is_named, "{command}");
    }
}

/// The output of a program is the program's, so no command promises an answer beside it.
#[test]
fn json_is_not_promised_where_the_output_is_a_programs() {
    let call = harn(&["run", "--json", "-e", "println(1)"]).exits_with(0);
    assert_eq!(call.stdout, "1\n");
    let help = harn(&["run", "--help"]).exits_with(0).stdout;
    let words: Vec<&str> = help.split_whitespace().collect();
    let said = "`run`, `chat`, `repl` and `serve` have no answer of their own";
    assert!(words.join(" ").contains(said), "{help}");
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
