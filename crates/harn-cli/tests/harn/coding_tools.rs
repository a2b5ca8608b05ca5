//! The coding tools that programs lend to agents.

use crate::language::Programs;
use crate::program::Call;

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
