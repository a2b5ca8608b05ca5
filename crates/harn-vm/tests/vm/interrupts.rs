//! Programs that somebody wants to stop.

use std::path::Path;
use std::time::{Duration, Instant};

use harn_check::modules::{MemoryFiles, Workspace};
use harn_vm::machine::Stream;
use harn_vm::{Interrupt, Outcome, Program, RunOptions, Sink};

/// Stops the program when it speaks, which is in the middle of a step.
struct Stops(Interrupt);

impl Sink for Stops {
    fn write(&mut self, _stream: Stream, _text: &str) {
        self.0.raise();
    }

    fn flush(&mut self) {}
}

#[test]
fn a_program_that_is_about_to_wait_is_stopped() {
    let mut workspace = Workspace::new(Box::new(MemoryFiles::new()));
    workspace.set_text("/main.harn", "println(\"now\")\nsleep(20s)\n");
    let options = RunOptions::default();
    let began = Instant::now();
    let ended = Program::new(&mut workspace, Path::new("/main.harn"))
        .run(&options, Box::new(Stops(options.interrupt.clone())))
        .expect("it compiles");
    assert!(matches!(ended, Outcome::Interrupted), "{ended:?}");
    assert!(began.elapsed() < Duration::from_secs(10), "it has waited");
}
