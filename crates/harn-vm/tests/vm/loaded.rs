//! Programs that are loaded once: their lines counted, run again, shown as instructions.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;

use harn_check::modules::{MemoryFiles, Workspace};
use harn_vm::machine::{Entry, Stream};
use harn_vm::{LoadedProgram, Outcome, Program, RunOptions, Sink};

#[derive(Clone, Default)]
struct Kept(Rc<RefCell<String>>);

impl Sink for Kept {
    fn write(&mut self, _stream: Stream, text: &str) {
        self.0.borrow_mut().push_str(text);
    }

    fn flush(&mut self) {}
}

fn load(text: &str, entry: Entry) -> (LoadedProgram, Kept) {
    let mut workspace = Workspace::new(Box::new(MemoryFiles::new()));
    workspace.set_text("/main.harn", text);
    let options = RunOptions {
        entry,
        counts_lines: true,
        ..RunOptions::default()
    };
    let kept = Kept::default();
    let loaded = Program::new(&mut workspace, Path::new("/main.harn"))
        .load(&options, Box::new(kept.clone()))
        .expect("it compiles");
    (loaded, kept)
}

#[track_caller]
fn ends(outcome: Outcome) {
    let is_fine = matches!(outcome, Outcome::Ended(Ok(_)));
    assert!(is_fine, "{outcome:?}");
}

#[test]
fn lines_are_counted_as_often_as_their_statements_run() {
    let text = "\
fn sign(n) {
  if n < 0 {
    return -1
  }
  return 1
}

pipeline default() {
  var total = 0
  for n in [1, 2, 3] {
    total = total + sign(n)
  }
  let doubled = [1, 2].map({ x -> x * 2 })
  match total {
    3 -> { println(doubled) }
    _ -> { println(\"never\") }
  }
}
";
    let (mut program, kept) = load(text, Entry::Default);
    ends(program.run());
    assert_eq!(*kept.0.borrow(), "[2, 4]\n");
    let expected = [
        (2, 3),
        (3, 0),
        (5, 3),
        (9, 1),
        (10, 1),
        (11, 3),
        // The statement runs once, and the closure that begins in its line twice.
        (13, 2),
        (14, 1),
        (15, 1),
        (16, 0),
    ];
    let expected = BTreeMap::from(expected);
    assert_eq!(
        program.counted_lines(),
        [("/main.harn".to_owned(), expected)]
    );
}

#[test]
fn a_pipeline_can_be_run_again_with_the_files_as_they_are() {
    let text = "println(\"not run\")\nlet start = 1\n\npipeline a() {\n  println(start)\n}\n";
    let (mut program, kept) = load(text, Entry::Named("a".to_owned()));
    ends(program.run());
    for _ in 0..2 {
        ends(program.run_again().expect("there is a pipeline"));
    }
    assert_eq!(*kept.0.borrow(), "1\n1\n1\n");
    let (mut script, _) = load("println(1)\n", Entry::Default);
    ends(script.run());
    assert!(script.run_again().is_none());
}

#[test]
fn instructions_are_shown_before_it_runs() {
    let (program, kept) = load(
        "fn f(a) {\n  return a\n}\n\nprintln(f(1))\n",
        Entry::Default,
    );
    let files = program.disassemble();
    let [(path, code)] = files.as_slice() else {
        panic!("there is one file");
    };
    assert_eq!(path, "/main.harn");
    assert!(code.contains("f0 f(a)"), "{code}");
    assert_eq!(*kept.0.borrow(), "");
}
