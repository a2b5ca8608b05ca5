//! A program that is given one document and writes another.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use harn_check::modules::{MemoryFiles, Workspace};
use harn_machine::{
    Answer, EffectId, Effects, Entry, Isolate, Limits, Request, Step, Stream, inbox,
};
use serde_json::Value;

/// Gives each of the cases to the body of a function of `case`, and collects what it returns;
/// an error is `{error: text}`.
pub(crate) fn for_each(body: &str, cases: &[Value]) -> Vec<Value> {
    let program = format!(
        "fn answer(case) {{\n{body}\n}}\n\
         var answers = []\n\
         for case in json_parse(env(\"CASES\")) {{\n\
           try {{ answers = answers.push(answer(case)) }}\n\
           catch (e) {{ answers = answers.push({{error: to_string(e)}}) }}\n\
         }}\n\
         print(json_stringify(answers))\n"
    );
    let cases = serde_json::to_string(cases).expect("they are JSON");
    let written = run(&program, cases);
    serde_json::from_str(&written).unwrap_or_else(|error| panic!("{error}: {written}"))
}

/// What is wrong, if a case came to an error.
pub(crate) fn error_of(answer: &Value) -> Option<&str> {
    let answer = answer.as_object()?;
    match answer.len() {
        1 => answer.get("error")?.as_str(),
        _ => None,
    }
}

/// A file that `cargo xtask peers` has installed.
#[track_caller]
pub(crate) fn installed(path: &str) -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent();
    let target = target.expect("it is in the target folder");
    let file = target.join("peers").join(path);
    assert!(
        file.exists(),
        "{} is missing; `cargo xtask peers` installs it",
        file.display()
    );
    file
}

struct World {
    cases: String,
    output: Rc<RefCell<String>>,
}

impl Effects for World {
    fn perform(&mut self, request: &Request) -> Answer {
        match request {
            Request::Environment(_) => Answer::Text(Some(std::mem::take(&mut self.cases))),
            _ => Answer::Number(0),
        }
    }

    fn begin(&mut self, _: EffectId, request: Request) {
        panic!("nothing takes time here: {request:?}");
    }

    fn cancel(&mut self, _: EffectId) {}

    fn write(&mut self, _: Stream, text: &str) {
        self.output.borrow_mut().push_str(text);
    }
}

fn run(program: &str, cases: String) -> String {
    let files = MemoryFiles::new();
    files.write("/p/main.harn", program);
    let mut workspace = Workspace::new(Box::new(files));
    let parsed = workspace.parsed("/p/main.harn");
    let parsed = parsed.expect("it was just written");
    assert!(
        parsed.parsed.errors.is_empty(),
        "{:?}",
        parsed.parsed.errors
    );
    let (_outside, inbox) = inbox();
    let output = Rc::<RefCell<String>>::default();
    let world = World {
        cases,
        output: output.clone(),
    };
    let registry = Rc::new(harn_stdlib::registry());
    let mut isolate = Isolate::new(registry, Box::new(world), inbox, &Limits::default());
    let loaded = isolate.load(&mut workspace, "/p/main.harn".as_ref(), &Entry::Default);
    loaded.expect("the program can be compiled");
    loop {
        match isolate.step() {
            Step::Done(Ok(_)) => return output.take(),
            Step::Done(Err(failure)) => panic!("{}", failure.text()),
            Step::SliceSpent => {}
            Step::Awaiting { .. } => panic!("there is nothing to wait for"),
        }
    }
}
