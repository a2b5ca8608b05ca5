//! The smallest program that runs Harn: `cargo run -p harn-vm --example run -- FILE`.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use harn_check::modules::{Disk, Workspace};
use harn_vm::machine::Stream;
use harn_vm::{Outcome, Program, RunOptions, Sink, runtime_error};

/// Shows what a program writes.
struct Terminal;

impl Sink for Terminal {
    fn write(&mut self, stream: Stream, text: &str) {
        let written = match stream {
            Stream::Output => std::io::stdout().write_all(text.as_bytes()),
            Stream::Errors => std::io::stderr().write_all(text.as_bytes()),
        };
        written.expect("the terminal takes what is written");
    }

    fn flush(&mut self) {}
}

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let Some(path) = words.next().map(PathBuf::from) else {
        eprintln!("usage: run FILE [ARGUMENT…]");
        return ExitCode::from(2);
    };
    let options = RunOptions {
        arguments: words.collect(),
        ..RunOptions::default()
    };
    let mut workspace = Workspace::new(Box::new(Disk));
    let outcome = Program::new(&mut workspace, &path).run(&options, Box::new(Terminal));
    match outcome {
        Ok(Outcome::Ended(Ok(_))) => return ExitCode::SUCCESS,
        Ok(Outcome::Ended(Err(failure))) => eprint!("{}", runtime_error(&failure)),
        Ok(Outcome::Interrupted) => eprintln!("it was interrupted"),
        Ok(Outcome::TimedOut) => eprintln!("its time was over"),
        Err(error) => eprintln!("{error}"),
    }
    ExitCode::FAILURE
}
