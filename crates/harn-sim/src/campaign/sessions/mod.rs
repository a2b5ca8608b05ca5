//! Scenarios in which real processes of `harn` are killed while they converse with a model.
//!
//! ```text
//! editor ──► harn serve acp ──► model, calls          each of them one HTTP server of ours,
//!                 │                 │                 which writes down what arrives
//!              kill -9 ◄── some time after a landmark
//!                 ▼
//! editor ──► another one: session/load, prompt ──► … ──► promises
//! ```
//!
//! A conversation survives a fixed number of kills. Its last process is left alone, so that the
//! last request shows everything that the model was ever told.

mod harn_process;
mod model_server;
mod moment;
mod project;
mod promises;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use self::harn_process::HarnProcess;
use self::model_server::{ModelServer, PROMPT, answer_of};
use self::moment::{Happening, KillMoment, Landmark};
use self::project::{AgentProject, ProjectFeatures};
use super::Outcome;
use super::model::{Checked, Violation, violation};
use crate::random::Random;

/// Processes that are killed in each scenario.
pub const SESSION_KILLS: u64 = 5;

/// How long anything may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Runs one conversation with processes of this program.
pub(super) fn run(seed: u64, harn: &Path) -> Outcome {
    let mut story = Vec::new();
    let held = converse(seed, harn, &mut story);
    Outcome {
        violation: held.err(),
        trace: seed,
        story,
    }
}

fn converse(seed: u64, harn: &Path, story: &mut Vec<String>) -> Checked {
    let mut random = Random::new(seed);
    let features = ProjectFeatures::of(&mut random);
    story.push(format!("{features:?}"));
    let mut conversation = Conversation::new(features, harn)?;
    let done = conversation.survive(&mut random, features, story);
    done.map_err(|Violation(problem)| {
        story.extend(
            conversation
                .server
                .ledger()
                .iter()
                .map(|one| format!("{one:?}")),
        );
        let told = conversation.project.told();
        Violation(format!("{problem}\nthe processes said: {told}"))
    })
}

/// A conversation that outlives its processes.
struct Conversation {
    project: AgentProject,
    server: ModelServer,
    happenings: Receiver<Happening>,
    heard: Sender<Happening>,
    /// Processes that were started.
    processes: u64,
    /// The id of the session, once it has one.
    session: String,
    /// The answers that calls belong to, by the ids that the editor knows them by.
    calls: BTreeMap<String, u64>,
}

/// What waiting came to.
enum Waited {
    /// The moment has come.
    Moment,
    /// The request was answered.
    Answer(Value),
}

impl Conversation {
    fn new(features: ProjectFeatures, harn: &Path) -> Checked<Self> {
        let (heard, happenings) = mpsc::channel();
        let server = ModelServer::start(features.format, heard.clone())?;
        Ok(Self {
            project: AgentProject::new(features, &server.url(), harn)?,
            server,
            happenings,
            heard,
            processes: 0,
            session: String::new(),
            calls: BTreeMap::new(),
        })
    }

    fn survive(
        &mut self,
        random: &mut Random,
        features: ProjectFeatures,
        story: &mut Vec<String>,
    ) -> Checked {
        let mut process = self.start()?;
        let cwd = self.project.folder();
        let asked = process.ask("session/new", &json!({"cwd": cwd, "mcpServers": []}))?;
        let answer = succeeded(self.answer_to(&process, asked)?)?;
        self.session = answer["sessionId"].as_str().unwrap_or_default().to_owned();
        for kill in 0..SESSION_KILLS {
            // One that is ready takes over in no time.
            let mut heir = match random.percent(50) {
                true => Some(self.start()?),
                false => None,
            };
            if let Some(rival) = &mut heir
                && random.percent(30)
            {
                story.push("a rival is refused".to_owned());
                self.check_refused(rival)?;
            }
            let moment = KillMoment::of(random, features);
            let end = self.kill_at(process, kill, moment)?;
            story.push(format!("{moment:?}: {end}"));
            if random.percent(25) {
                self.project.verify()?;
            }
            process = match heir {
                Some(heir) => heir,
                None => self.start()?,
            };
            let loaded = self.load(&mut process)?;
            succeeded(loaded)?;
        }
        let asked = self.prompt(&mut process, SESSION_KILLS)?;
        let answer = succeeded(self.answer_to(&process, asked)?)?;
        if answer["stopReason"] != "end_turn" {
            return violation!("the last prompt ended with {answer}");
        }
        process.kill()?;
        self.server.settle()?;
        self.project.verify()?;
        let journal = self.project.journal(&self.session)?;
        promises::check(&self.server.ledger(), &journal)
    }

    fn start(&mut self) -> Checked<HarnProcess> {
        self.processes += 1;
        let mut process = HarnProcess::start(&self.project, self.processes, self.heard.clone())?;
        let asked = process.ask("initialize", &json!({"protocolVersion": 1}))?;
        succeeded(self.answer_to(&process, asked)?)?;
        Ok(process)
    }

    fn load(&mut self, process: &mut HarnProcess) -> Checked<Value> {
        let cwd = self.project.folder();
        let wanted = json!({"sessionId": self.session, "cwd": cwd, "mcpServers": []});
        let asked = process.ask("session/load", &wanted)?;
        self.answer_to(process, asked)
    }

    /// Another process cannot have the session while its owner lives.
    fn check_refused(&mut self, rival: &mut HarnProcess) -> Checked {
        let answer = self.load(rival)?;
        match answer["error"]["data"]["reason"] == "in_use" {
            true => Ok(()),
            false => violation!("two processes have one session: {answer}"),
        }
    }

    fn prompt(&self, process: &mut HarnProcess, number: u64) -> Checked<u64> {
        let prompt = json!([{"type": "text", "text": format!("{PROMPT}{number}")}]);
        let wanted = json!({"sessionId": self.session, "prompt": prompt});
        process.ask("session/prompt", &wanted)
    }

    /// Prompts a process and kills it at that moment, or when it is done before. Says which.
    fn kill_at(
        &mut self,
        mut process: HarnProcess,
        number: u64,
        moment: KillMoment,
    ) -> Checked<&'static str> {
        self.server.watch_for(moment);
        let asked = self.prompt(&mut process, number)?;
        let waited = self.wait(&process, asked, Some(moment))?;
        let end = match waited {
            Waited::Moment => "in time",
            Waited::Answer(answer) => {
                succeeded(answer)?;
                "it was done before"
            }
        };
        self.listen_for(moment.delay)?;
        process.kill()?;
        self.server.settle()?;
        while let Ok(happening) = self.happenings.try_recv() {
            self.note(&happening);
        }
        Ok(end)
    }

    fn answer_to(&mut self, process: &HarnProcess, asked: u64) -> Checked<Value> {
        match self.wait(process, asked, None)? {
            Waited::Answer(answer) => Ok(answer),
            Waited::Moment => violation!("nobody waits for a moment"),
        }
    }

    /// Waits for the answer to a request, or for a landmark before it.
    fn wait(
        &mut self,
        process: &HarnProcess,
        asked: u64,
        moment: Option<KillMoment>,
    ) -> Checked<Waited> {
        let mut left = moment.map(|moment| (moment.landmark, moment.passed));
        if let Some((Landmark::Prompted, _)) = left {
            return Ok(Waited::Moment);
        }
        loop {
            let Ok(happening) = self.happenings.recv_timeout(PATIENCE) else {
                return violation!("process {} hangs at request {asked}", process.number);
            };
            let status = self.note(&happening);
            match happening {
                Happening::Reached => return Ok(Waited::Moment),
                Happening::Ended { number } if number == process.number => {
                    return violation!("process {number} ended by itself");
                }
                Happening::Said { number, message }
                    if number == process.number
                        && message["id"] == asked
                        && message.get("method").is_none() =>
                {
                    return Ok(Waited::Answer(message));
                }
                Happening::Said { .. } | Happening::Ended { .. } => {}
            }
            if let (Some((Landmark::Update(wanted), passed)), Some(status)) = (&mut left, status)
                && *wanted == status
            {
                match passed.checked_sub(1) {
                    Some(fewer) => *passed = fewer,
                    None => return Ok(Waited::Moment),
                }
            }
        }
    }

    /// Listens for so long.
    fn listen_for(&mut self, delay: Duration) -> Checked {
        let until = Instant::now() + delay;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            match self.happenings.recv_timeout(left) {
                Ok(happening) => drop(self.note(&happening)),
                Err(RecvTimeoutError::Timeout) => return Ok(()),
                Err(RecvTimeoutError::Disconnected) => return violation!("nothing is heard"),
            }
        }
    }

    /// Remembers which calls the editor was told of; gives the status that a call has now.
    fn note(&mut self, happening: &Happening) -> Option<String> {
        let Happening::Said { message, .. } = happening else {
            return None;
        };
        let update = &message["params"]["update"];
        let id = update["toolCallId"].as_str()?;
        if let Some(what) = update["rawInput"]["what"].as_str()
            && let Some(number) = answer_of(what)
        {
            self.calls.insert(id.to_owned(), number);
        }
        let status = update["status"].as_str()?;
        // Calls that wait are told of while the answer still arrives; a call that fails may be
        // one of an answer that never arrived whole.
        if ["in_progress", "completed"].contains(&status)
            && let Some(number) = self.calls.get(id)
        {
            self.server.note_shown(*number);
        }
        Some(status.to_owned())
    }
}

/// What a request came to.
fn succeeded(answer: Value) -> Checked<Value> {
    match answer.get("error") {
        None => Ok(answer["result"].clone()),
        Some(error) => violation!("a request failed: {error}"),
    }
}

fn problem(what: &'static str) -> impl Fn(std::io::Error) -> Violation {
    move |error| Violation(format!("{what}: {error}"))
}
