//! The first thing that a newcomer does, and the tools it shows.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::language::Programs;
use crate::program::{Call, finished, program};

/// What stands before the arguments of `harn` in commands for a checkout.
const FROM_CHECKOUT: &str = "cargo run -q -p harn-cli -- ";

/// Nobody should wait longer for it.
const PATIENCE: Duration = Duration::from_secs(5);

/// The arguments of the command that the README begins with.
fn arguments(readme: &str) -> Vec<&str> {
    let mut lines = readme.lines();
    let command = lines.find_map(|line| line.strip_prefix(FROM_CHECKOUT));
    let command = command.expect("the README shows how to run a program");
    command.split_whitespace().collect()
}

#[test]
fn the_first_command_of_the_readme_repairs_a_project() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let readme = fs::read_to_string(root.join("README.md")).unwrap();
    let temporary = tempfile::tempdir().unwrap();
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("examples")).unwrap();
    for file in ["quickstart.harn", "quickstart.scenario.toml"] {
        let file = Path::new("examples").join(file);
        fs::copy(root.join(&file), folder.path().join(&file)).unwrap();
    }
    let started = Instant::now();
    let call = finished(
        program()
            .args(arguments(&readme))
            .current_dir(folder.path())
            .env("PATH", "/usr/bin:/bin")
            .env("TMPDIR", temporary.path()),
    );
    assert!(started.elapsed() < PATIENCE, "{:?}", started.elapsed());
    call.exits_with(0)
        .prints("  run: exit_code=1 total of 4: expected 10, got 6")
        .prints("  edit: edited 'total.sh': 1 replacement, at line 4")
        .prints("  run: exit_code=0 all fine");
    assert_eq!(fs::read_dir(temporary.path()).unwrap().count(), 0);
    // The log of events is the only thing that may stay.
    let left = fs::read_dir(folder.path()).unwrap();
    let left = left.map(|entry| entry.unwrap().file_name());
    let stays = |name: &std::ffi::OsString| name != "examples" && name != ".harn";
    assert_eq!(left.filter(stays).count(), 0);
}

/// Runs `agent_loop` with `options` and a model that makes one call; gives what the program
/// prints of it.
fn call_once(options: &str, call: &str) -> Call {
    let main = format!(
        "let result = agent_loop(\"Go.\", nil, {options})\n\
         println(result.tools.successful)\n\
         println(result.tools.rejected)\n"
    );
    let scenario = format!("[[turn]]\ncall = [{call}]\n\n[[turn]]\ntext = \"Done.\"\n");
    let programs = Programs::new(&[
        ("main.harn", &main),
        ("once.scenario.toml", &scenario),
        ("notes.md", "buy milk\n"),
        ("inner/deep.md", "buy bread\n"),
    ]);
    programs.harn(&["run", "main.harn", "--scenario", "once.scenario.toml"])
}

#[test]
fn the_coding_tools_work_in_the_folder_of_the_program() {
    let read = "{ tool = \"read\", arguments = { path = \"notes.md\" } }";
    let call = call_once("{tools: coding_tools()}", read);
    let call = call.exits_with(0);
    assert_eq!(call.stdout, "[read]\n[]\n", "{call:?}");
}

#[test]
fn roots_keep_them_in() {
    let read = "{ tool = \"read\", arguments = { path = \"../notes.md\" } }";
    let call = call_once("{tools: coding_tools({roots: [\"inner\"]})}", read);
    let call = call.exits_with(0);
    assert_eq!(call.stdout, "[]\n[read]\n", "{call:?}");
}

#[test]
fn a_ceiling_holds_for_them() {
    let write = "{ tool = \"write\", arguments = { path = \"a.md\", content = \"x\" } }";
    let options = "{tools: coding_tools(), policy: {side_effect_level: \"read_only\"}}";
    let call = call_once(options, write).exits_with(1);
    let expected = "tool 'write' requires side-effect level 'workspace_write' but policy ceiling \
                    is 'read_only'";
    assert!(call.stderr.contains(expected), "{call:?}");
}

#[test]
fn an_approval_policy_holds_for_them() {
    let write = "{ tool = \"write\", arguments = { path = \"a.md\", content = \"x\" } }";
    let options = "{tools: coding_tools(), approval_policy: {auto_deny: [\"write\"]}}";
    let call = call_once(options, write).exits_with(0);
    assert_eq!(call.stdout, "[]\n[write]\n", "{call:?}");
}

#[test]
fn they_stand_beside_other_tools() {
    let main = "\
tool shout(text: string) -> string {
  description \"Says it louder\"
  uppercase(text)
}

let tools = [coding_tools({only: [\"read\"]}), shout]
let result = agent_loop(\"Go.\", nil, {tools: tools})
println(result.tools.successful)
";
    let scenario = "\
[[turn]]
call = [
  { tool = \"read\", arguments = { path = \"main.harn\" } },
  { tool = \"shout\", arguments = { text = \"milk\" } },
]

[[turn]]
text = \"Done.\"
";
    let programs = Programs::new(&[("main.harn", main), ("two.scenario.toml", scenario)]);
    let call = programs.harn(&["run", "main.harn", "--scenario", "two.scenario.toml"]);
    let call = call.exits_with(0);
    assert_eq!(call.stdout, "[read, shout]\n", "{call:?}");
}
