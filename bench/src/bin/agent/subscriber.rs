//! What it costs a program to hear of every event.

use std::fs;
use std::path::Path;
use std::time::Duration;

use harn_bench::{Effort, Table, time, versus};
use harn_vm::{
    LoadedProgram, ModelOptions, NamedText, Outcome, Program, RunOptions, ScenarioUse, Sink,
    WorldOptions,
};

use crate::ours;

/// How many loops a program runs.
const LOOPS: usize = 500;

const MICROSECONDS_MAX: f64 = 15.0;

/// A program that runs agents, each in a session of its own, with a closure that hears of the
/// events of a session.
fn program(loops: usize, session: &str, closure: &str) -> String {
    format!(
        r#"
fn add(args) {{
  return args.a + args.b
}}

pipeline default() {{
  let tools = tool_registry()
    |> tool_define(_, "add", "Adds two numbers.", {{parameters: {{a: "int", b: "int"}}, handler: add}})
  let options = {{provider: "openai", model: "gpt-4o", tool_format: "native", tools: tools}}
  for number in range(0, {loops}) {{
    agent_subscribe("{session}${{number}}", {closure})
    agent_loop("{asked}", nil, options + {{session_id: "s${{number}}"}})
  }}
}}
"#,
        asked = ours::ASKED,
    )
}

/// The same program, with its closure where something happens and where nothing does.
pub(crate) fn measure(effort: Effort, table: &mut Table) -> Result<(), String> {
    let loops = effort.operations(LOOPS);
    let counted = count(loops)?;
    let with = program(loops, "s", "{ event -> nil }");
    let without = program(loops, "silent", "{ event -> nil }");
    let samples = versus(effort, counted, |_| run(&with), |_| run(&without));
    let (ours, theirs) = (samples.0.median_ns(), samples.1.median_ns());
    let added = (ours - theirs) / 1e3;
    table.row(
        "an event, heard by an empty closure of a program",
        "nobody hears it",
        &format!("{:.2} µs ± {:.0} %", ours / 1e3, samples.0.spread() * 100.0),
        &format!(
            "{:.2} µs ± {:.0} %",
            theirs / 1e3,
            samples.1.spread() * 100.0
        ),
        &format!("{added:.2} µs more"),
        "≤ 15 µs",
        added <= MICROSECONDS_MAX,
    );
    Ok(())
}

fn run(text: &str) -> Duration {
    let output = Output::default();
    let mut loaded = load(text, output);
    time(|| finish(&mut loaded))
}

/// How many events a program hears of.
fn count(loops: usize) -> Result<usize, String> {
    let text = program(loops, "s", "{ event -> println(event.type) }");
    let output = Output::default();
    finish(&mut load(&text, output.clone()));
    match output.0.take().lines().count() {
        0 => Err("the closure of a program hears nothing".to_owned()),
        heard => Ok(heard),
    }
}

fn finish(loaded: &mut LoadedProgram) {
    match loaded.run() {
        Outcome::Ended(Ok(_)) => {}
        other => panic!("the program runs to its end: {other:?}"),
    }
}

fn load(text: &str, output: Output) -> LoadedProgram {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let file = folder.path().join("bench.harn");
    fs::write(&file, text).expect("a file can be written");
    let scenario = ScenarioUse {
        file: NamedText {
            name: "bench.scenario.toml".to_owned(),
            text: ours::ONE_CALL.to_owned(),
        },
        in_real_time: false,
    };
    let options = RunOptions {
        world: WorldOptions {
            models: ModelOptions {
                scenario: Some(scenario),
                ..ModelOptions::default()
            },
            ..WorldOptions::default()
        },
        is_detached: true,
        ..RunOptions::default()
    };
    loaded(&file, &options, output)
}

fn loaded(file: &Path, options: &RunOptions, output: Output) -> LoadedProgram {
    let mut workspace = harn_check::modules::Workspace::new(Box::new(harn_check::modules::Disk));
    let program = Program::new(&mut workspace, file).load(options, Box::new(output));
    program.expect("the program is right")
}

/// What a program has written.
#[derive(Clone, Default)]
struct Output(std::rc::Rc<std::cell::RefCell<String>>);

impl Sink for Output {
    fn write(&mut self, _: harn_vm::machine::Stream, text: &str) {
        self.0.borrow_mut().push_str(text);
    }

    fn flush(&mut self) {}
}
