//! Paths that must not be read or written, by whatever builtin or tool.

mod builtins;
mod pipes;
mod tools;

use crate::language::Programs;
use crate::program::Call;

/// A folder `work` to attack from, and a folder `out` beside it that must not be reached: by its
/// path, or by the link `work/link`.
pub(super) struct Place {
    pub(super) programs: Programs,
}

impl Place {
    pub(super) fn new() -> Self {
        let programs = Programs::new(&[
            ("out/file", "secret\n"),
            ("out/a.prompt", "secret\n"),
            (
                "out/talk.jsonl",
                "{\"role\": \"user\", \"content\": \"secret\"}\n",
            ),
            ("work/in/file", "mine\n"),
        ]);
        for (target, link) in [("../../out", "work/in/link"), ("../out", "work/link")] {
            std::os::unix::fs::symlink(target, programs.path(link)).expect("the folder is ours");
        }
        Self { programs }
    }

    /// The folder that must not be reached.
    pub(super) fn outside(&self) -> String {
        let outside = self.programs.path("out").canonicalize();
        outside.expect("it is there").display().to_string()
    }

    /// Runs a program in `work`.
    pub(super) fn run(&self, program: &str, arguments: &[&str]) -> Call {
        self.programs.add("work/main.harn", program);
        let mut command = self.programs.command(&["run", "main.harn"]);
        command.args(arguments);
        command.current_dir(self.programs.path("work"));
        crate::program::finished(&mut command)
    }
}

/// A program in which a tool does `work` inside a loop with these options.
pub(super) fn in_a_tool(work: &str, options: &str) -> String {
    format!(
        r#"
fn attempt(name, f) {{
  try {{
    println("${{name}}: done ${{f()}}")
  }} catch (e) {{
    println("${{name}}: ${{e}}")
  }}
}}

fn work() {{
{work}
  return "done"
}}

llm_mock({{tool_calls: [{{id: "c1", name: "work", arguments: {{}}}}]}})
llm_mock({{text: "finished"}})
let tools = tool_define(tool_registry(), "work", "Works.", {{parameters: {{}}, handler: {{ _ -> work() }}}})
agent_loop("go", nil, {{provider: "mock", tools: tools, tool_format: "native", max_iterations: 2, {options}}})
"#
    )
}
