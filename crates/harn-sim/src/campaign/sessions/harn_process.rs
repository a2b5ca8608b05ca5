//! A process of `harn serve acp`, and what an editor says to it.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout};
use std::sync::mpsc::Sender;
use std::thread::{self, JoinHandle};

use serde_json::{Value, json};

use super::moment::Happening;
use super::problem;
use super::project::AgentProject;
use crate::campaign::model::{Checked, Violation};

/// A process that is running. Dropped, it is killed as well.
pub(super) struct HarnProcess {
    /// Tells its messages from those of other processes.
    pub(super) number: u64,
    child: Child,
    input: ChildStdin,
    last_id: u64,
    /// Passes on what the process says, until it ends.
    reader: Option<JoinHandle<()>>,
}

impl HarnProcess {
    /// Starts one. What it says arrives with `heard`.
    pub(super) fn start(
        project: &AgentProject,
        number: u64,
        heard: Sender<Happening>,
    ) -> Checked<Self> {
        let child = project.serve()?.spawn();
        let mut child = child.map_err(problem("harn cannot be started"))?;
        let output = child.stdout.take().expect("the pipe was asked for");
        Ok(Self {
            number,
            input: child.stdin.take().expect("the pipe was asked for"),
            child,
            last_id: 0,
            reader: Some(thread::spawn(move || pass_on(number, output, &heard))),
        })
    }

    /// Sends a request; gives its id.
    pub(super) fn ask(&mut self, method: &str, parameters: &Value) -> Checked<u64> {
        self.last_id += 1;
        let id = self.last_id;
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": parameters});
        writeln!(self.input, "{message}").map_err(problem("harn does not read"))?;
        Ok(id)
    }

    /// Kills it with `kill -9`. When this returns, all it has said was passed on.
    pub(super) fn kill(mut self) -> Checked {
        self.end()
            .map_err(|error| Violation(format!("harn cannot be killed: {error}")))
    }

    fn end(&mut self) -> std::io::Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        if let Some(reader) = self.reader.take() {
            reader.join().expect("the reader does not panic");
        }
        Ok(())
    }
}

impl Drop for HarnProcess {
    fn drop(&mut self) {
        let _it_has_ended_already = self.end();
    }
}

fn pass_on(number: u64, output: ChildStdout, heard: &Sender<Happening>) {
    // A line that the process had no time to finish is none.
    let lines = BufReader::new(output).lines().map_while(Result::ok);
    for message in lines.filter_map(|line| serde_json::from_str(&line).ok()) {
        if heard.send(Happening::Said { number, message }).is_err() {
            return;
        }
    }
    let _the_scenario_is_over = heard.send(Happening::Ended { number });
}
