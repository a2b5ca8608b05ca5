//! `[[hooks]]` of a project.

use crate::language::Programs;

/// Two calls, one of which a hook does not like.
const MAIN: &str = r#"
pipeline default() {
  let tools = tool_registry() |> tool_define(
    _,
    "look",
    "Looks.",
    {parameters: {path: "string"}, handler: { args -> "saw ${args.path}" }},
  )
  llm_mock(
    {
      tool_calls: [
        {name: "look", arguments: {path: "a"}},
        {name: "look", arguments: {path: "secrets"}},
      ],
    },
  )
  llm_mock({text: "So."})
  let result = agent_loop("go", nil, {provider: "mock", tools: tools, tool_format: "native"})
  println(result.tools.rejected)
  println(result.transcript.messages[2].content)
  println(json_parse(result.transcript.messages[3].content).reason)
}
"#;

const MANIFEST: &str = r#"
[package]
name = "guarded"

[exports]
extra = "more/extra.harn"

[[hooks]]
event = "PreToolUse"
pattern = "tool.args.path =~ secret"
handler = "guarded::refuse"

[[hooks]]
event = "PostToolUse"
pattern = "look"
handler = "extra::louder"
"#;

const LIB: &str =
    "pub fn refuse(payload) {\n  return {deny: \"not ${payload.tool.args.path}\"}\n}\n";

const EXTRA: &str = "pub fn louder(payload) {\n  return payload.result.text + \"!\"\n}\n";

fn project(manifest: &str) -> Programs {
    let programs = Programs::new(&[("main.harn", MAIN), ("lib.harn", LIB)]);
    programs.add("more/extra.harn", EXTRA);
    programs.add("harn.toml", manifest);
    programs
}

#[test]
fn hooks_of_the_manifest_see_every_call() {
    let call = project(MANIFEST).harn(&["run", "main.harn"]).exits_with(0);
    assert_eq!(call.stdout, "[look]\nsaw a!\nnot secrets\n");
}

#[test]
fn hooks_that_cannot_be_called_are_told_before_the_program_runs() {
    let rows = [
        (
            "guarded::refuse",
            "guarded::nobody",
            "hook handler 'nobody' is not exported by module 'guarded'",
        ),
        (
            "guarded::refuse",
            "refuse",
            "invalid hook handler 'refuse': expected <module>::<function>",
        ),
        (
            "PreToolUse",
            "BeforeToolUse",
            "unknown hook event 'BeforeToolUse'",
        ),
    ];
    for (from, to, text) in rows {
        let call = project(&MANIFEST.replace(from, to)).harn(&["run", "main.harn"]);
        let call = call.exits_with(1);
        assert!(call.stderr.contains(text), "{call:?}");
        assert_eq!(call.stdout, "");
    }
}
