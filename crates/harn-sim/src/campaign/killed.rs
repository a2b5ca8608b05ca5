//! Scenarios in which real processes are killed while they append to real files.
//!
//! ```text
//! parent ──► spawns `harn-crash child FOLDER SEED` ──► appends, takes barriers
//!   │                         │
//!   │◄── every id on a pipe ──┘   only after it was acknowledged
//!   └──► SIGKILL after so many ids, reads what is left in the pipe, looks at the log
//! ```

use std::collections::BTreeMap;
use std::hint::black_box;
use std::io::{BufRead, BufReader, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::thread;

use harn_log::{EventId, EventLog, FileEventLog, FileOptions, LogError, LogEvent, Topic};
use serde_json::{Value, json};

use crate::random::Random;
use crate::wait::block_on;

use super::Outcome;
use super::model::{Checked, Violation, violation};

/// Topics that children append to.
const TOPICS: [&str; 2] = ["a", "b"];
/// Tasks of a child that append at the same time.
const TASKS: u64 = 3;
/// A child that nobody kills ends by itself.
const APPENDS_MAX: u64 = 20_000;

/// Kills children in several rounds in one folder.
pub(super) fn run(seed: u64, options: &FileOptions, program: &Path) -> Outcome {
    let mut story = Vec::new();
    let killed = kill(seed, options, program, &mut story);
    Outcome {
        violation: killed.err(),
        trace: seed,
        story,
    }
}

/// What has been acknowledged: the number in each record, by topic and id.
type Acknowledged = BTreeMap<(String, EventId), u64>;

fn kill(seed: u64, options: &FileOptions, program: &Path, story: &mut Vec<String>) -> Checked {
    let mut random = Random::new(seed);
    let folder = tempfile::tempdir().map_err(problem("no folder"))?;
    let options = FileOptions {
        segment_bytes_max: *random.pick(&[2_000, 20_000, 8_000_000]),
        ..options.clone()
    };
    let mut acknowledged = Acknowledged::new();
    for round in 0..random.between(1, 4) {
        let children = random.between(1, 2);
        story.push(format!("round {round}: {children} children"));
        let mut running = Vec::new();
        for child in 0..children {
            let name = (seed << 16) + (round << 8) + child;
            let bytes_max = options.segment_bytes_max;
            running.push(Running::start(program, folder.path(), name, bytes_max)?);
        }
        let plan = Plan {
            ids: random.between(0, 120),
            spins: random.below(20_000),
        };
        for said in Running::kill_all(running, plan)? {
            let (topic, id, number) = said;
            if let Some(other) = acknowledged.insert((topic.clone(), id), number) {
                return violation!("id {id} of {topic} went to {other} and to {number}");
            }
        }
        story.push(format!("{} acknowledged so far", acknowledged.len()));
        check(folder.path(), &options, &acknowledged)?;
    }
    Ok(())
}

/// When to kill.
#[derive(Clone, Copy)]
struct Plan {
    /// After so many acknowledged ids,
    ids: u64,
    /// and so many turns of an idle loop, to hit any moment in between.
    spins: u64,
}

/// A child that is running.
struct Running {
    child: Child,
    said: BufReader<ChildStdout>,
}

impl Running {
    fn start(program: &Path, folder: &Path, name: u64, bytes_max: u64) -> Checked<Self> {
        let mut command = Command::new(program);
        command.arg("child").arg(folder);
        command.args([name.to_string(), bytes_max.to_string()]);
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(problem("no child"))?;
        let said = child.stdout.take().expect("the pipe was asked for");
        Ok(Self {
            child,
            said: BufReader::new(said),
        })
    }

    /// Kills when the first has said enough. Returns what all of them have said.
    fn kill_all(mut children: Vec<Self>, plan: Plan) -> Checked<Vec<(String, EventId, u64)>> {
        let mut all = Vec::new();
        for _ in 0..plan.ids {
            match children[0].listen()? {
                Some(said) => all.push(said),
                None => break,
            }
        }
        for spin in 0..plan.spins {
            black_box(spin);
        }
        for child in &mut children {
            child.child.kill().map_err(problem("it cannot be killed"))?;
        }
        for mut child in children {
            child.child.wait().map_err(problem("it does not die"))?;
            while let Some(said) = child.listen()? {
                all.push(said);
            }
        }
        Ok(all)
    }

    /// The next id a child has acknowledged. Half a line is none.
    fn listen(&mut self) -> Checked<Option<(String, EventId, u64)>> {
        let mut line = String::new();
        self.said.read_line(&mut line).map_err(problem("no pipe"))?;
        let Some(words) = line.strip_suffix('\n') else {
            return Ok(None);
        };
        let mut words = words.split(' ');
        let mut word = || words.next().unwrap_or_default();
        let (topic, id, number) = (word().to_owned(), word().parse(), word().parse());
        match (id, number) {
            (Ok(id), Ok(number)) => Ok(Some((topic, id, number))),
            _ => violation!("a child failed: {line}"),
        }
    }
}

/// Everything acknowledged is there, ids are dense, the chain holds, and the log goes on.
fn check(folder: &Path, options: &FileOptions, acknowledged: &Acknowledged) -> Checked {
    let log = FileEventLog::open_with(folder, options.clone());
    let log = log.map_err(failed("it cannot be opened"))?;
    for name in TOPICS {
        let topic = Topic::new(name).expect("a plain name");
        let records = block_on(log.read_range(&topic, None, usize::MAX));
        let records = records.map_err(failed("it cannot be read"))?;
        for (at, (id, _)) in records.iter().enumerate() {
            if *id != at as u64 + 1 {
                return violation!("id {id} of {name} is at place {at}");
            }
        }
        let is_here = |((topic, _), _): &(&(String, EventId), &u64)| topic == name;
        for ((_, id), number) in acknowledged.iter().filter(is_here) {
            let at = usize::try_from(id - 1).unwrap_or(usize::MAX);
            let found = records
                .get(at)
                .and_then(|(_, event)| event.payload["n"].as_u64());
            if found != Some(*number) {
                return violation!("record {id} of {name} says {found:?}, not {number}");
            }
        }
        // A number nobody waits for: the check of the next round ignores it.
        let appended = block_on(log.append(&topic, event(0)));
        let id = appended.map_err(failed("nothing can be appended"))?;
        if id != records.len() as u64 + 1 {
            return violation!("{} records and then id {id} of {name}", records.len());
        }
        let report = block_on(log.verify_topic(&topic)).map_err(failed("no chain"))?;
        if !report.verified {
            return violation!("the chain of {name} is broken: {:?}", report.errors);
        }
    }
    Ok(())
}

fn event(number: u64) -> LogEvent {
    let padding = "p".repeat(usize::try_from(number % 300).unwrap_or(0));
    let payload: Value = json!({"n": number, "padding": padding});
    LogEvent::at("killed", payload, 1)
}

/// The child: appends and takes barriers from several tasks, and says every id once it
/// is acknowledged.
///
/// # Errors
/// The log failed, or nobody listens any more.
pub fn child(folder: PathBuf, name: u64, segment_bytes_max: u64) -> Result<(), LogError> {
    let options = FileOptions {
        segment_bytes_max,
        ..FileOptions::default()
    };
    let log = FileEventLog::open_with(folder, options)?;
    let tasks = (0..TASKS).map(|task| {
        let log = Arc::clone(&log);
        thread::spawn(move || append_for_ever(&log, (name << 8) + task))
    });
    let tasks: Vec<_> = tasks.collect();
    for task in tasks {
        task.join().map_err(|_| LogError::Closed)??;
    }
    Ok(())
}

fn append_for_ever(log: &FileEventLog, task: u64) -> Result<(), LogError> {
    let mut random = Random::new(task);
    for turn in 0..APPENDS_MAX {
        let number = (task << 20) + turn + 1;
        let name = *random.pick(&TOPICS);
        let topic = Topic::new(name)?;
        let acknowledged = match random.below(4) {
            0 => {
                let numbers = [number, number + APPENDS_MAX];
                let events = numbers.map(event).to_vec();
                let ids = block_on(log.append_batch(&topic, events))?;
                ids.into_iter().zip(numbers).collect()
            }
            _ => vec![(block_on(log.append(&topic, event(number)))?, number)],
        };
        if random.percent(20) {
            block_on(log.barrier())?;
        }
        if say(name, &acknowledged).is_break() {
            break;
        }
    }
    Ok(())
}

/// Says ids in one piece, so that tasks do not interrupt each other.
fn say(topic: &str, acknowledged: &[(EventId, u64)]) -> ControlFlow<()> {
    let line = |(id, number): &(EventId, u64)| format!("{topic} {id} {number}\n");
    let text: String = acknowledged.iter().map(line).collect();
    let mut stdout = std::io::stdout().lock();
    match stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush())
    {
        Ok(()) => ControlFlow::Continue(()),
        Err(_) => ControlFlow::Break(()),
    }
}

fn problem(what: &'static str) -> impl Fn(std::io::Error) -> Violation {
    move |error| Violation(format!("{what}: {error}"))
}

fn failed(what: &'static str) -> impl Fn(LogError) -> Violation {
    move |error| Violation(format!("{what}: {error}"))
}
