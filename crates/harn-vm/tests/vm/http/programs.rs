//! Runs programs and keeps what they write.

use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use harn_check::modules::{MemoryFiles, Workspace};
use harn_vm::machine::Stream;
use harn_vm::{Outcome, Program, RunOptions, Sink, WorldOptions};

#[derive(Clone, Default)]
struct Kept(Rc<RefCell<String>>);

impl Sink for Kept {
    fn write(&mut self, _stream: Stream, text: &str) {
        self.0.borrow_mut().push_str(text);
    }

    fn flush(&mut self) {}
}

/// What every program begins with: what a function gives or throws.
const ATTEMPT: &str =
    "fn attempt(f) {\n  try {\n    return f()\n  } catch (e) {\n    return e\n  }\n}\n";

/// What a program writes. In its text, `URL` stands for a place.
#[track_caller]
pub(crate) fn output(url: &str, text: &str) -> String {
    output_in(url, text, &[])
}

/// The same with variables in its environment.
#[track_caller]
pub(crate) fn output_in(url: &str, text: &str, environment: &[(&str, &str)]) -> String {
    let mut workspace = Workspace::new(Box::new(MemoryFiles::new()));
    let text = format!("{ATTEMPT}{}", text.replace("URL", url));
    workspace.set_text("/main.harn", text);
    let environment = environment.iter();
    let environment = environment.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let options = RunOptions {
        world: WorldOptions {
            environment: environment.collect(),
            ..WorldOptions::default()
        },
        timeout: Some(Duration::from_secs(60)),
        ..RunOptions::default()
    };
    let kept = Kept::default();
    let ended = Program::new(&mut workspace, Path::new("/main.harn"))
        .run(&options, Box::new(kept.clone()))
        .expect("it compiles");
    let written = kept.0.borrow().clone();
    assert!(
        matches!(ended, Outcome::Ended(Ok(_))),
        "{ended:?} {written}"
    );
    written
}

/// Compares what a program writes, line by line.
#[track_caller]
pub(crate) fn check(url: &str, text: &str, expected: &[&str]) {
    let output = output(url, text);
    assert_eq!(output.lines().collect::<Vec<_>>(), expected);
}
