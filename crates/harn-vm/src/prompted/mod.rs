//! Programs that answer prompts: what `harn chat FILE` runs, and every other host that has
//! somebody write to an agent.
//!
//! ```text
//! pipeline answer(prompt, session_id) {
//!   agent_loop(prompt, "You are …", {session_id: session_id, tools: coding_tools()})
//! }
//! ```
//!
//! A turn is one run of the pipeline. Hosts bind its parameters by their names: `prompt` is what
//! was written, `session_id` the session that the conversation is kept in, and `mode` how the
//! agent is to work, empty if nobody has chosen a mode. One file serves all hosts, and they all find its pipeline here. [`TurnRunner`] runs it for them, on a thread of
//! its own, one turn after the other.

mod program;
mod turns;

pub use program::AnsweringProgram;
pub use turns::{Partner, Turn, TurnEnd, TurnFailure, TurnListener, TurnRunner};

use harn_machine::Entry;
use harn_syntax::tree::{ItemKind, Module, Pipeline, StatementKind};

/// The parameter that is what somebody wrote.
pub const PROMPT: &str = "prompt";

/// The parameter that is the id of the session.
pub const SESSION_ID: &str = "session_id";

/// The parameter that is the mode that somebody chose; empty if nobody did.
pub const MODE: &str = "mode";

/// The parameter of a pipeline that is told whether what came with the project may act:
/// `trusted` or `untrusted`.
pub const PROJECT_TRUST: &str = "project_trust";

/// The pipeline that answers prompts: the one named `default` if it takes a `prompt`, else the
/// first that does. `None` if there is none.
pub fn answering_pipeline(module: &Module) -> Option<Entry> {
    let pipelines = module.statements.iter().filter_map(|statement| {
        let StatementKind::Item(item) = &statement.kind else {
            return None;
        };
        match &item.kind {
            ItemKind::Pipeline(pipeline) if takes_prompt(pipeline) => Some(&*pipeline.name.text),
            _ => None,
        }
    });
    let names: Vec<&str> = pipelines.collect();
    let default = names.iter().find(|name| **name == "default");
    let name = default.or(names.first())?;
    Some(Entry::Named((*name).to_owned()))
}

/// Whether a pipeline has a parameter.
pub fn pipeline_takes(module: &Module, entry: &Entry, parameter: &str) -> bool {
    let Entry::Named(name) = entry else {
        return false;
    };
    module.statements.iter().any(|statement| {
        let StatementKind::Item(item) = &statement.kind else {
            return false;
        };
        match &item.kind {
            ItemKind::Pipeline(pipeline) if pipeline.name.text == *name => {
                let mut parameters = pipeline.parameters.iter();
                parameters.any(|one| one.text == parameter)
            }
            _ => false,
        }
    })
}

fn takes_prompt(pipeline: &Pipeline) -> bool {
    let mut parameters = pipeline.parameters.iter();
    parameters.any(|parameter| parameter.text == PROMPT)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use harn_check::modules::{Disk, Workspace};
    use harn_machine::Stream;

    use super::*;
    use crate::{Outcome, Program, RunOptions, Sink};

    struct Silent;

    impl Sink for Silent {
        fn write(&mut self, _stream: Stream, _text: &str) {}

        fn flush(&mut self) {}
    }

    #[track_caller]
    fn check(text: &str, expected: Option<&str>) {
        let parsed = harn_check::modules::SourceFile::of_text(text).parsed;
        let found = answering_pipeline(&parsed.module);
        assert_eq!(found, expected.map(|name| Entry::Named(name.to_owned())));
    }

    #[test]
    fn the_pipeline_that_takes_a_prompt_answers() {
        check("pipeline main() {}\npipeline chat(prompt) {}", Some("chat"));
        check(
            "pipeline a(prompt) {}\npipeline default(prompt, session_id) {}",
            Some("default"),
        );
        check(
            "pipeline default(task) {}\npipeline b(x, prompt) {}",
            Some("b"),
        );
        check("pipeline default(task) {}", None);
        check("println(1)", None);
    }

    #[test]
    fn parameters_are_bound_by_name_for_each_turn() {
        let text = "var turns = 0\n\
                    pipeline answer(session_id, prompt) {\n\
                    turns = turns + 1\n\
                    return \"${turns} ${prompt} ${session_id}\"\n}";
        let mut workspace = Workspace::new(Box::new(Disk));
        let path = Path::new("<code>");
        workspace.set_text(path, text);
        let entry = Entry::Named("answer".to_owned());
        let options = RunOptions {
            entry,
            ..RunOptions::default()
        };
        let loaded = Program::new(&mut workspace, path).load(&options, Box::new(Silent));
        let mut loaded = loaded.expect("it can be loaded");
        loaded.set_parameter(PROMPT, "hello");
        loaded.set_parameter(SESSION_ID, "s");
        loaded.set_parameter("unknown", "x");
        let shown = |outcome: Outcome| match outcome {
            Outcome::Ended(Ok(value)) => value.show(),
            other => panic!("{other:?}"),
        };
        assert_eq!(shown(loaded.run()), "1 hello s");
        loaded.set_parameter(PROMPT, "again");
        let again = loaded.run_again().expect("it has a pipeline");
        // A pipeline has its own copies of the variables of its file, each time.
        assert_eq!(shown(again), "1 again s");
    }
}
