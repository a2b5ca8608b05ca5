//! How long an agent takes to be there.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use harn_bench::{Effort, Goal, Samples, Table};
use serde_json::{Value, json};

use crate::stage::Stage;

/// The peer's time is at least this many times ours.
const GOAL: f64 = 1.0 / 5.0;

const ROUNDS: usize = 15;

/// An agent that was just started, and when.
struct Agent {
    process: Child,
    input: ChildStdin,
    lines: std::io::Lines<BufReader<ChildStdout>>,
    started: Instant,
}

/// What was measured of one start.
struct Start {
    initialized: Duration,
    first_update: Duration,
}

pub(crate) fn measure(effort: Effort, table: &mut Table) -> Result<(), String> {
    let stage = Stage::saying("Hello.")?;
    let rounds = match effort {
        Effort::Full => ROUNDS,
        Effort::Smoke => 1,
    };
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        ours.push(start(stage.ours()?, &stage)?);
        theirs.push(start(stage.python()?, &stage)?);
    }
    let samples = |starts: &[Start], which: fn(&Start) -> Duration| {
        let nanoseconds = |start| which(start).as_nanos() as f64;
        Samples::of(starts.iter().map(nanoseconds).collect())
    };
    type Which = fn(&Start) -> Duration;
    let rows: [(&str, Which); 2] = [
        ("start until `initialize` is answered", |start| {
            start.initialized
        }),
        ("start until the first update of a prompt", |start| {
            start.first_update
        }),
    ];
    for (work, which) in rows {
        let sides = (samples(&ours, which), samples(&theirs, which));
        table.times(
            work,
            "an agent on the Python SDK",
            &sides,
            Goal::TimeAtMost(GOAL),
        );
    }
    Ok(())
}

fn start(command: Command, stage: &Stage) -> Result<Start, String> {
    let mut agent = Agent::start(command)?;
    agent.ask(
        0,
        "initialize",
        &json!({"protocolVersion": 1, "clientCapabilities": {}}),
    )?;
    agent.until(|frame| frame["id"] == 0)?;
    let initialized = agent.started.elapsed();
    agent.ask(
        1,
        "session/new",
        &json!({"cwd": stage.folder(), "mcpServers": []}),
    )?;
    let session = agent.until(|frame| frame["id"] == 1)?;
    let id = &session["result"]["sessionId"];
    let prompt = json!([{"type": "text", "text": "hello"}]);
    agent.ask(
        2,
        "session/prompt",
        &json!({"sessionId": id, "prompt": prompt}),
    )?;
    agent.until(|frame| {
        let update = &frame["params"]["update"]["sessionUpdate"];
        frame["method"] == "session/update" && *update == "agent_message_chunk"
    })?;
    let first_update = agent.started.elapsed();
    agent.until(|frame| frame["id"] == 2)?;
    agent.end()?;
    Ok(Start {
        initialized,
        first_update,
    })
}

impl Agent {
    fn start(mut command: Command) -> Result<Self, String> {
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let started = Instant::now();
        let mut process = command
            .spawn()
            .map_err(|why| format!("{command:?}: {why}"))?;
        let input = process.stdin.take().ok_or("it has no input")?;
        let output = process.stdout.take().ok_or("it has no output")?;
        Ok(Self {
            process,
            input,
            lines: BufReader::new(output).lines(),
            started,
        })
    }

    fn ask(&mut self, id: u64, method: &str, parameters: &Value) -> Result<(), String> {
        let frame = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": parameters});
        writeln!(self.input, "{frame}").map_err(|why| why.to_string())
    }

    /// Reads up to the frame that fits; an agent that ends or refuses is an error.
    fn until(&mut self, fits: impl Fn(&Value) -> bool) -> Result<Value, String> {
        for line in self.lines.by_ref() {
            let line = line.map_err(|why| why.to_string())?;
            let frame: Value =
                serde_json::from_str(&line).map_err(|why| format!("{why}: {line}"))?;
            if !frame["error"].is_null() {
                return Err(line);
            }
            if fits(&frame) {
                return Ok(frame);
            }
        }
        Err("the agent has ended".to_owned())
    }

    fn end(mut self) -> Result<(), String> {
        drop(self.input);
        self.process.wait().map_err(|why| why.to_string())?;
        Ok(())
    }
}
