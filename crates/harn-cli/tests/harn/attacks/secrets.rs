//! Secrets, and everywhere they must not be found.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use crate::language::Programs;
use crate::program::{Call, finished, program};

/// A key that does not look like one.
const KEY: &str = "Zk9/q7Zr2+PLm9XwK4tVb";

/// The same in base64, as far as that does not depend on what stands around it, in hexadecimal
/// and as URLs write it. Computed with `base64`, `xxd -p` and by hand.
const FORMS: &[&str] = &[
    KEY,
    "Wms5L3E3WnIyK1BMbTlYd0s0dFZi",
    "5a6b392f71375a72322b504c6d3958774b34745662",
    "Zk9%2Fq7Zr2%2BPLm9XwK4tVb",
];

/// A user without rights.
const NOBODY: &str = "65534";

/// Every file below a folder, as bytes in which forms can be looked for.
fn files_below(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).expect("it is ours") {
        let path = entry.expect("it is there").path();
        match path.is_dir() {
            true => files.extend(files_below(&path)),
            false => files.push((
                path.display().to_string(),
                fs::read(&path).expect("it is ours"),
            )),
        }
    }
    files
}

fn holds(bytes: &[u8], form: &str) -> bool {
    bytes
        .windows(form.len())
        .any(|window| window == form.as_bytes())
}

/// Fails if a form of the key is in a file but those that are exempt.
#[track_caller]
fn check_files(folder: &Path, exempt: &[&str]) {
    for (name, bytes) in files_below(folder) {
        if exempt.iter().any(|exempt| name.ends_with(exempt)) {
            continue;
        }
        for form in FORMS {
            assert!(!holds(&bytes, form), "{name} holds {form}");
        }
    }
}

/// Fails if a form of the key was said.
#[track_caller]
fn check_said(call: &Call) {
    let said = format!("{}{}", call.stdout, call.stderr);
    for form in FORMS {
        assert!(!said.contains(form), "{call:?}");
    }
}

/// The program as a user without rights, where the tests run as root: root may read all memory.
fn as_nobody(folder: &Path) -> (Command, bool) {
    let is_root = rustix::process::geteuid().is_root();
    if !is_root {
        return (program(), true);
    }
    fs::set_permissions(folder, fs::Permissions::from_mode(0o777)).expect("it is ours");
    let mut command = Command::new("setpriv");
    command
        .env_clear()
        .args(["--reuid", NOBODY, "--regid", NOBODY, "--clear-groups", "--"]);
    command.arg(env!("CARGO_BIN_EXE_harn"));
    let can_be_run = command
        .arg("--version")
        .output()
        .is_ok_and(|said| said.status.success());
    if !can_be_run {
        return (program(), false);
    }
    let mut command = Command::new("setpriv");
    command
        .env_clear()
        .args(["--reuid", NOBODY, "--regid", NOBODY, "--clear-groups", "--"]);
    command.arg(env!("CARGO_BIN_EXE_harn"));
    (command, true)
}

#[test]
fn asi03_no_secret_in_proc() {
    let main = "let _r = agent_loop(\"Go.\", nil, {tools: coding_tools()})\nprintln(\"done\")\n";
    let command = "cat /proc/$PPID/environ > parent.txt; cat /proc/self/environ > own.txt; \
                   env > listed.txt; { exec 3< /proc/$PPID/mem; } 2> /dev/null && echo yes > opened.txt; true";
    let scenario = format!(
        "[[turn]]\ncall = [{{ tool = \"run\", arguments = {{ command = '{command}' }} }}]\n\n\
         [[turn]]\ntext = \"Done.\"\n"
    );
    let programs = Programs::new(&[("main.harn", main), ("s.toml", &scenario)]);
    let (mut command, is_unprivileged) = as_nobody(programs.root());
    command.current_dir(programs.root());
    command.args(["run", "main.harn", "--scenario", "s.toml"]);
    command
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", programs.root());
    command
        .env("DEPLOY_TOKEN", KEY)
        .env("HARN_API_KEYS", KEY)
        .env("COLOUR", "green");
    let call = finished(&mut command).exits_with(0).prints("done");
    check_said(&call);
    assert!(
        programs.path("own.txt").exists(),
        "the command ran: {call:?}"
    );
    check_files(programs.root(), &[]);
    if is_unprivileged {
        assert!(
            !programs.path("opened.txt").exists(),
            "the memory can be read"
        );
        let parent = fs::read(programs.path("parent.txt")).expect("the shell made it");
        assert!(!holds(&parent, "COLOUR"), "the environment can be read");
    }
}

#[test]
fn what_is_started_for_a_loop_gets_no_keys_and_what_a_program_starts_does() {
    let main = "\
println(\"own: ${exec(\"sh\", \"-c\", \"echo $DEPLOY_TOKEN\").stdout.trim()}\")
let tools = tool_define(tool_registry(), \"look\", \"Looks\", {
  parameters: {},
  annotations: {kind: \"execute\"},
  handler: { _a ->
    shell(\"echo [$DEPLOY_TOKEN] > of-tool.txt\")
    exec(\"sh\", \"-c\", \"echo [$DEPLOY_TOKEN] >> of-tool.txt; echo $COLOUR >> of-tool.txt\")
    \"looked\"
  },
})
let _r = agent_loop(\"Go.\", nil, {tools: tools})
";
    let scenario = "[[turn]]\ncall = [{ tool = \"look\" }]\n\n[[turn]]\ntext = \"Done.\"\n";
    let programs = Programs::new(&[("main.harn", main), ("s.toml", scenario)]);
    let mut command = programs.command(&["run", "main.harn", "--scenario", "s.toml"]);
    command
        .env("PATH", "/usr/bin:/bin")
        .env("DEPLOY_TOKEN", KEY)
        .env("COLOUR", "green");
    let call = finished(&mut command).exits_with(0);
    assert_eq!(call.stdout, format!("own: {KEY}\n"), "{call:?}");
    assert_eq!(programs.text("of-tool.txt"), "[]\n[]\ngreen\n");
}

/// An agent whose model says the key, thinks it, and asks for it to be written; its tools give it
/// back in every form.
const REPEATS: &str = r#"
let tools = tool_define(tool_registry(), "look", "Looks", {
  parameters: {what: "string"},
  annotations: {kind: "read"},
  handler: { a -> FORMS },
})
let _r = agent_loop("The key is KEY.", "You know KEY.", {tools: tools, session_id: "s"})
"#;

fn scenario_of(key: &str) -> String {
    format!(
        "[[turn]]\nthinking = \"I think of {key} now.\"\ntext = \"It is {key}, I say.\"\n\
         call = [{{ tool = \"look\", arguments = {{ what = \"{key}\" }} }}]\n\n\
         [[turn]]\ntext = \"Done with {key}.\"\n"
    )
}

/// A project in which an agent has met the key.
fn with_session(arguments: &[&str]) -> (Programs, Call) {
    let forms = format!("\"{}\"", FORMS.join(" and "));
    let main = REPEATS.replace("FORMS", &forms).replace("KEY", KEY);
    let programs = Programs::new(&[("main.harn", &main), ("s.toml", &scenario_of(KEY))]);
    let mut command = programs.command(&["run", "main.harn", "--scenario", "s.toml"]);
    command.args(arguments).env("DEPLOY_TOKEN", KEY);
    command.env("HARN_LLM_TRANSCRIPT_DIR", "transcripts");
    let call = finished(&mut command).exits_with(0);
    (programs, call)
}

const EXEMPT: &[&str] = &["main.harn", "s.toml"];

#[test]
fn no_file_of_a_run_holds_a_key_of_the_environment_in_any_form() {
    let (programs, call) = with_session(&["--llm-mock-record", "recorded.jsonl"]);
    check_said(&call);
    check_files(programs.root(), EXEMPT);
    let stored = files_below(&programs.path(".harn"));
    assert!(
        stored.iter().any(|(_, bytes)| holds(bytes, "[redacted]")),
        "it was stored"
    );
    assert!(
        programs.text("recorded.jsonl").contains("[redacted]"),
        "it was recorded"
    );
}

#[test]
fn sessions_are_shown_and_exported_without_keys() {
    let (programs, _) = with_session(&[]);
    for arguments in [
        &["sessions", "show", "s"][..],
        &["sessions", "show", "s", "--json"],
        &["sessions", "show", "s", "--events", "--json"],
        &["sessions", "export", "s"],
        &["sessions", "export", "s", "--format", "md"],
    ] {
        let call = programs.harn(arguments);
        check_said(&call);
        assert!(
            call.code == Some(0) && call.stdout.contains("[redacted]"),
            "{arguments:?} {call:?}"
        );
    }
}

#[test]
fn an_error_that_quotes_a_key_is_told_without_it() {
    let programs = Programs::new(&[("main.harn", "throw \"bad key: ${env(\"DEPLOY_TOKEN\")}\"\n")]);
    let mut command = programs.command(&["run", "main.harn"]);
    let call = finished(command.env("DEPLOY_TOKEN", KEY)).exits_with(1);
    check_said(&call);
    assert!(call.stderr.contains("bad key: [redacted]"), "{call:?}");
}

#[test]
fn what_a_program_prints_and_writes_itself_stays_as_it_is() {
    let main = "println(env(\"DEPLOY_TOKEN\"))\nwrite_file(\"out.txt\", env(\"DEPLOY_TOKEN\"))\n";
    let programs = Programs::new(&[("main.harn", main)]);
    let mut command = programs.command(&["run", "main.harn"]);
    let call = finished(command.env("DEPLOY_TOKEN", KEY)).exits_with(0);
    assert_eq!(call.stdout, format!("{KEY}\n"), "{call:?}");
    assert_eq!(programs.text("out.txt"), KEY);
}

#[test]
fn values_of_credential_files_are_known() {
    let programs = Programs::new(&[
        (
            "home/.npmrc",
            &format!("//registry.example.org/:_authToken={KEY}\n"),
        ),
        ("main.harn", &format!("throw \"npm said {KEY}\"\n")),
    ]);
    let mut command = programs.command(&["run", "main.harn"]);
    let call = finished(command.env("HOME", programs.path("home"))).exits_with(1);
    check_said(&call);
    assert!(call.stderr.contains("npm said [redacted]"), "{call:?}");
}
