//! A program with the whole library in a world that has nothing but a text for it.

use std::cell::RefCell;
use std::rc::Rc;

use harn_check::modules::{MemoryFiles, Workspace};
use harn_machine::{
    Answer, EffectId, Effects, Entry, Isolate, Limits, Outside, Request, Step, Stream, inbox,
};

/// What a program prints that finds `cases` in its environment as `CASES`.
pub(crate) fn run(program: &str, cases: &str) -> String {
    let files = MemoryFiles::new();
    files.write("/p/main.harn", program);
    let mut workspace = Workspace::new(Box::new(files));
    let parsed = workspace.parsed("/p/main.harn");
    let errors = &parsed.expect("it was just written").parsed.errors;
    assert!(errors.is_empty(), "{errors:?}");
    let (outside, inbox) = inbox();
    let output = Rc::<RefCell<String>>::default();
    let world = World {
        cases: cases.to_owned(),
        output: output.clone(),
        outside,
    };
    let registry = Rc::new(harn_stdlib::registry());
    let mut isolate = Isolate::new(registry, Box::new(world), inbox, &Limits::default());
    isolate
        .load(&mut workspace, "/p/main.harn".as_ref(), &Entry::Default)
        .expect("the program can be compiled");
    loop {
        match isolate.step() {
            Step::Done(Ok(_)) => return output.take(),
            Step::Done(Err(failure)) => panic!("{}\n{}", failure.text(), output.take()),
            Step::SliceSpent => {}
            Step::Awaiting { .. } => isolate.wait(None),
        }
    }
}

struct World {
    cases: String,
    output: Rc<RefCell<String>>,
    outside: Outside,
}

impl Effects for World {
    fn perform(&mut self, request: &Request) -> Answer {
        match request {
            Request::Environment(_) => Answer::Text(Some(self.cases.clone())),
            Request::Random(count) => Answer::Octets(vec![7; *count]),
            _ => Answer::Number(0),
        }
    }

    fn begin(&mut self, id: EffectId, request: Request) {
        let answer = self.perform(&request);
        self.outside.complete(id, answer);
    }

    fn cancel(&mut self, _: EffectId) {}

    fn resume(&mut self, _: EffectId) {}

    fn write(&mut self, _: Stream, text: &str) {
        self.output.borrow_mut().push_str(text);
    }
}
