//! Whatever a program says, running it ends, or can be ended: it does not panic, does not
//! overflow the stack, and stays within its memory.

#![no_main]

use std::rc::Rc;

use harn_check::modules::{MemoryFiles, Workspace};
use harn_check::{CheckOptions, Phase, analyse};
use harn_fuzz::source::program_text;
use harn_vm::machine::{
    Answer, EffectFailure, EffectId, Effects, Entry, Isolate, Limits, Outside, Request, Step,
    Stream, inbox,
};

const ENTRY: &str = "/p/main.harn";
/// How many turns a program gets.
const TURNS: usize = 20;
const MEMORY: usize = 32 << 20;

/// A world in which time passes with every look at the clock, and everything else fails.
struct Nowhere {
    now: i64,
    outside: Outside,
}

impl Effects for Nowhere {
    fn perform(&mut self, request: &Request) -> Answer {
        match request {
            Request::Now | Request::Elapsed => {
                self.now += 1;
                Answer::Number(self.now)
            }
            Request::Random(count) => Answer::Octets(vec![7; *count]),
            Request::Environment(_) | Request::Input { .. } => Answer::Text(None),
            Request::AllEnvironment => Answer::Pairs(Vec::new()),
            Request::IsTerminal(_) => Answer::Truth(false),
            Request::File(_)
            | Request::OwnFile(_)
            | Request::Net(_)
            | Request::Process(_)
            | Request::Other { .. } => Answer::Failed(EffectFailure {
                kind: std::io::ErrorKind::Unsupported,
                message: "there is nothing here".to_owned(),
            }),
        }
    }

    fn begin(&mut self, id: EffectId, request: Request) {
        let answer = self.perform(&request);
        self.outside.complete(id, answer);
    }

    fn cancel(&mut self, _id: EffectId) {}

    fn write(&mut self, _stream: Stream, _text: &str) {}
}

harn_fuzz::target!(|bytes| {
    let memory = MemoryFiles::new();
    memory.write(ENTRY, &program_text(bytes));
    let mut workspace = Workspace::new(Box::new(memory));
    let Ok(file) = workspace.parsed(ENTRY) else {
        return;
    };
    let imported = workspace.imported(ENTRY);
    if analyse(&file, &imported, CheckOptions::default()).phase != Phase::Run {
        return;
    }
    let (outside, inbox) = inbox();
    let world = Box::new(Nowhere { now: 0, outside });
    let limits = Limits {
        memory: Some(MEMORY),
    };
    let registry = Rc::new(harn_vm::registry());
    let mut isolate = Isolate::new(registry, world, inbox, &limits);
    if isolate
        .load(&mut workspace, ENTRY.as_ref(), &Entry::Default)
        .is_err()
    {
        return; // It is too large.
    }
    for _ in 0..TURNS {
        match isolate.step() {
            Step::Done(_) => return,
            Step::SliceSpent => {}
            Step::Awaiting { .. } => isolate.wait(Some(std::time::Duration::ZERO)),
        }
    }
});
