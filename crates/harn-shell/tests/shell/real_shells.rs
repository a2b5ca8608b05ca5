//! Words are those that real shells pass on.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use harn_shell::parse;

use crate::corpus::rows;
use crate::trees;

/// Begins and ends what the program says about one call of it.
const MARK: &str = "\u{1}";

/// What `bash` and `dash` pass to a program; `None` where a shell is not here, or refuses.
fn passed(shell: &str, folder: &Path, text: &str) -> Option<Vec<Vec<String>>> {
    let mut child = Command::new(shell)
        .args(["-c", text])
        .current_dir(folder)
        .env_clear()
        .env("PATH", folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    child.stdin.take();
    let output = child.wait_with_output().ok()?;
    if !output.status.success() {
        return None;
    }
    let output = String::from_utf8(output.stdout).ok()?;
    let calls = output.split(MARK).filter(|call| !call.is_empty());
    let words = calls.map(|call| {
        let words = call.strip_suffix('\0').unwrap_or(call).split('\0').skip(1);
        words.map(str::to_owned).collect()
    });
    Some(words.collect())
}

/// A folder with a program `show` that prints its arguments.
fn scene() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("there is room");
    let path = folder.path().join("show");
    let script =
        format!("#!/bin/sh\nprintf '{MARK}show\\0'\nfor word; do printf '%s\\0' \"$word\"; done\n");
    let mut file = fs::File::create(&path).expect("it can be made");
    file.write_all(script.as_bytes())
        .expect("it can be written");
    drop(file);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it is ours");
    folder
}

/// The words of the calls of `show`, if all of them are known.
fn expected(text: &str) -> Option<Vec<Vec<String>>> {
    let script = parse(text).ok()?;
    let calls = script
        .parts
        .iter()
        .filter(|part| part.program.as_deref() == Some("show"));
    let words = calls.map(|part| {
        let words = part
            .words
            .iter()
            .map(|word| word.literal().map(str::to_owned));
        words.collect::<Option<Vec<String>>>()
    });
    words.collect()
}

fn compare(folder: &Path, text: &str) -> usize {
    let Some(expected) = expected(text) else {
        return 0;
    };
    let mut compared = 0;
    for shell in ["/usr/bin/bash", "/usr/bin/dash", "/bin/bash", "/bin/dash"] {
        if let Some(passed) = passed(shell, folder, text) {
            assert_eq!(passed, expected, "{shell}: {text:?}");
            compared += 1;
        }
    }
    compared
}

#[test]
fn words_are_what_bash_and_dash_pass_on() {
    let folder = scene();
    let mut texts: Vec<String> = [
        "show a b",
        "show 'a b' \"c d\"",
        "show a\\ b",
        "show \"a\\\"b\" \"a\\b\" \"\\\\\"",
        "show ''",
        "show 'it'\\''s'",
        "show a\\\nb",
        "show \"a\\\nb\"",
        "show 'a\\\nb'",
        "show a # b",
        "show a#b",
        "show a=b",
        "show {}",
        "show HEAD@{1}",
        "show }",
        "show $",
        "show \"$\"",
        "show a$",
        "show '$x'",
        "show \"\\$x\"",
        "show [ a ]",
        "show !",
        "show if then",
        "show a;show b",
        "show a&&show b",
        "{ show a; }",
        "(show a)",
        "if show a; then show b; fi",
        "for x in 1; do show a; done",
        "case a in (a) show b;; esac",
        "A=1 show a",
        "show a 2>/dev/null; show b",
        "show a 2>&1",
        "show a <<E\nx\nE\nshow b",
        "show a <<'E'\n$x\nE\nshow b",
        "f() { show a; }; f",
        "! show a || show b",
        "show é ✓",
        "show a\tb",
        "show \\~ \\* '?'",
        "show -- -n",
        "show a;",
        "show a &\nwait",
    ]
    .map(str::to_owned)
    .into();
    let rows = rows();
    let from_corpus = rows.iter().map(|[_, command, _]| command);
    let from_corpus = from_corpus
        .filter(|command| command.starts_with("echo ") && !command.contains(['$', '`', '>', '<']));
    texts.extend(from_corpus.map(|command| command.replace("echo", "show")));
    let compared: usize = texts.iter().map(|text| compare(folder.path(), text)).sum();
    let has_shells = Path::new("/bin/bash").exists() || Path::new("/bin/dash").exists();
    assert!(
        !has_shells || compared > texts.len(),
        "{compared} of {}",
        texts.len()
    );
}

#[test]
fn words_of_generated_quotes_are_what_bash_and_dash_pass_on() {
    let folder = scene();
    for seed in 0..trees::cases(60) {
        let text = trees::quoted_words(seed);
        compare(folder.path(), &format!("show {text}"));
    }
}
