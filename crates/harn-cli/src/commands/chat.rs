//! `harn chat`: a conversation with an agent in the terminal.
//!
//! ```text
//! runner          the program that answers, on a thread of its own
//! host, people    what it asks of the person: permissions, questions
//! shared, view    what there is to see: events, folded
//! app, slash      what keys and commands do
//! paint, rows     what it looks like
//! terminal        taking the terminal, and giving it back whatever happens
//! plain           the same without a terminal
//! ```

mod app;
mod asked;
mod clean;
mod clipboard;
mod diff;
mod draft;
mod host;
mod looks;
mod paint;
mod past;
mod people;
mod picker;
mod plain;
mod runner;
mod shared;
mod signals;
mod slash;
mod terminal;
mod view;
mod wrap;

use std::collections::BTreeSet;
use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use clap::Args;
use harn_log::AnyEventLog;
use harn_vm::agent::HostBridge;
use harn_vm::{AnsweringProgram, Partner, RunOptions, TurnRunner, Warn};

use super::Outcome;
use super::answering::{self, Around, Keeping, Said};
use super::answers::{Answers, Recordings};
use super::permissions::Permissions;
use super::run::live::prices::Prices;
use super::{journal_key, trust};
use crate::arguments::after_help;
use crate::clock::Clock;
use crate::environment;
use crate::output::{Output, Untrusted};
use app::{App, Effect, Focus};
use draft::Draft;
use host::Host;
use looks::Looks;
use paint::Memory;
use past::Past;
use people::People;
use runner::Listener;
use shared::Shared;
use terminal::Terminal;
use view::Ended;

const EXAMPLES: &str = "  \
  harn chat                            A coding agent for this folder
  harn chat agent.harn                 The agent of a program
  harn chat --continue                 The conversation of last time
  harn chat --session chat_5f          An earlier one; the start of its id is enough
  harn chat --model gpt-4o             With a certain model
  echo 'What is this?' | harn chat     One answer, without a terminal";

/// Messages that may wait. Keys come one by one, and whoever sends them can wait; the program
/// sends at most one at a time.
const MESSAGES_MAX: usize = 256;

/// More different warnings than this say nothing that the first ones did not.
const WARNINGS_MAX: usize = 64;

/// No more often than this the screen is drawn while an answer arrives.
const FRAME: Duration = Duration::from_millis(16);

/// How often the time that a turn takes is drawn.
const TICK: Duration = Duration::from_secs(1);

/// Talk with an agent
///
/// The agent works in this folder. It reads files as it likes, and asks before it changes one
/// or runs a command. Ctrl-C stops it; on an empty prompt, Ctrl-C leaves. /help tells what else
/// can be typed.
///
/// FILE is a program with a pipeline that takes a `prompt`, and the `session_id` if it wants to
/// remember what was said:
///
///   pipeline chat(prompt, session_id) {
///     agent_loop(prompt, "You are …", {session_id: session_id, tools: coding_tools()})
///   }
///
/// The pipeline runs once for every prompt. What its agent says is shown, and so is what it
/// prints; if it says nothing, the text that it gives is the answer.
///
/// Conversations are kept in the event log of the project like all sessions; see `harn run`.
///
/// Servers, hooks, skills, AGENTS.md and other parts of a project that could act are used once
/// you trust it: the chat asks when they are new or have changed; see `harn trust`. Naming a
/// FILE trusts its project.
///
/// Without a terminal every line of the input is a prompt and the answers are printed. Nobody
/// is asked then: what has to be approved is refused.
#[derive(Debug, Args)]
#[command(after_help = after_help(EXAMPLES), verbatim_doc_comment)]
pub(crate) struct Arguments {
    /// The program; without one a coding agent answers
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,

    /// Go on with the conversation that was active last
    #[arg(short = 'c', long = "continue", conflicts_with = "session")]
    is_continued: bool,

    /// Go on with this conversation; the start of its id is enough
    #[arg(long, value_name = "ID")]
    session: Option<String>,

    /// Go on with a conversation whose journal somebody else has changed, as it is now
    #[arg(long = "accept-changed")]
    accepts_changed: bool,

    /// Ask this model, unless the program names one itself
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,

    #[command(flatten)]
    answers: Answers,

    #[command(flatten)]
    recordings: Recordings,

    #[command(flatten)]
    permissions: Permissions,
}

/// What whoever draws has to know of.
enum Message {
    /// There is something to draw.
    Changed,
    /// Somebody typed, pasted, or changed the size of the terminal.
    Input(ratatui::crossterm::event::Event),
    /// A turn has ended.
    Ended(Ended),
    /// The log was read.
    Sessions(Result<Vec<Past>, String>),
    /// Nobody can type any more.
    Hangup,
    /// The system wants us to leave.
    Signal(i32),
}

pub(crate) fn run(arguments: &Arguments, clock: Clock, output: &mut Output) -> io::Result<Outcome> {
    let is_plain = !io::stdin().is_terminal();
    if !is_plain && !terminal::is_there() {
        output.error(format_args!(
            "a chat is shown on a terminal, and the output goes somewhere else"
        ));
        return Ok(Outcome::WrongUsage);
    }
    let Some(agent) = answering::find(arguments.file.as_deref(), output) else {
        return Ok(Outcome::Problems);
    };
    if arguments.file.is_none() && !is_plain {
        trust::ask(&trust::projects(), clock, output)?;
    }
    let mut setting = match Setting::new(arguments, output) {
        Ok(setting) => setting,
        Err(why) => {
            output.error(format_args!("{}", Untrusted(why)));
            return Ok(Outcome::Problems);
        }
    };
    let outcome = match is_plain {
        true => setting.talk_plainly(agent, output),
        false => setting.chat(agent, clock, output),
    };
    drop(setting);
    // Whoever has the log open otherwise looks for what a crash has left.
    harn_log::reset_active_event_log();
    outcome
}

/// What is around a chat.
struct Setting {
    partner: Partner,
    /// What was said before, if somebody goes on.
    past: Option<past::Opened>,
    log: Arc<AnyEventLog>,
    options: RunOptions,
    manifest: Option<PathBuf>,
    /// Something to tell at the beginning.
    notes: Vec<String>,
}

impl Setting {
    fn new(arguments: &Arguments, output: &mut Output) -> Result<Self, String> {
        let proofs = journal_key::proofs(arguments.accepts_changed);
        let key_problem = proofs.as_ref().err().cloned();
        let proofs = proofs.ok().flatten();
        let Around {
            options,
            log,
            manifest,
            mut notes,
            trust_notice,
        } = Around::new(&Said {
            file: arguments.file.as_deref(),
            answers: &arguments.answers,
            recordings: &arguments.recordings,
            permissions: &arguments.permissions,
            keeping: Keeping::Kept,
            proofs: Arc::new(move || proofs),
        })?;
        notes.extend(key_problem);
        if let Some(notice) = trust_notice {
            match io::stdin().is_terminal() {
                true => notes.push(notice),
                false => output.note(format_args!("{}", Untrusted(notice))),
            }
        }
        let past = past(arguments, &log)?;
        let session_id = past.as_ref().map(|past| past.id().to_owned());
        Ok(Self {
            partner: Partner {
                session_id: session_id.unwrap_or_else(new_session_id),
                model: arguments.model.clone(),
                ..Partner::default()
            },
            past,
            log,
            options,
            manifest,
            notes,
        })
    }

    fn shared(&self, messages: &SyncSender<Message>) -> Shared {
        let prices = Prices::new(self.manifest.clone(), environment::all());
        Shared::new(messages.clone(), prices)
    }

    /// How the program is run, with somebody who watches and somebody who is asked.
    fn options(
        &mut self,
        shared: &Shared,
        bridge: Arc<dyn HostBridge>,
        output: &Output,
    ) -> RunOptions {
        let mut options = self.options.clone();
        options.world.agents.observer = Some(Arc::new(shared.clone()));
        options.world.agents.bridge = Some(bridge);
        let (warned, told) = (shared.clone(), Mutex::new(BTreeSet::new()));
        let warn = move |text: &str| {
            // What is odd about a program is odd in every turn; once is enough.
            let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
            if told.len() < WARNINGS_MAX && told.insert(text.to_owned()) {
                warned.change(|state| state.view.notice(text));
            }
        };
        let warn = Arc::new(warn);
        output.warnings().hand_to(Arc::clone(&warn) as _);
        options.world.models.warn = Some(Warn(warn));
        for note in self.notes.drain(..) {
            shared.change(|state| state.view.notice(&note));
        }
        options
    }

    fn talk_plainly(
        &mut self,
        agent: AnsweringProgram,
        output: &mut Output,
    ) -> io::Result<Outcome> {
        let (messages, inbox) = sync_channel(MESSAGES_MAX);
        let shared = self.shared(&messages);
        let options = self.options(&shared, plain::host(), output);
        let runner = TurnRunner::start(agent, options, Listener::new(shared.clone(), messages))?;
        let outcome = plain::talk(&shared, &runner, &inbox, &self.partner, output);
        runner.stop();
        outcome
    }

    fn chat(
        &mut self,
        agent: AnsweringProgram,
        clock: Clock,
        output: &mut Output,
    ) -> io::Result<Outcome> {
        let (messages, inbox) = sync_channel(MESSAGES_MAX);
        let shared = self.shared(&messages);
        let host = Arc::new(Host {
            shared: shared.clone(),
        });
        let options = self.options(&shared, host, output);
        let listener = Listener::new(shared.clone(), messages.clone());
        let mut app = App {
            runner: TurnRunner::start(agent, options, listener)?,
            partner: self.partner.clone(),
            log: Arc::clone(&self.log),
            people: self.people(&shared),
            shared,
            messages,
            looks: Looks {
                is_coloured: output.palette().is_coloured(),
            },
            clock,
            draft: Draft::default(),
            memory: Memory::default(),
            picker: None,
            focus: Focus::default(),
            shows_thoughts: false,
            shows_results: false,
            columns: 0,
        };
        if let Some(past) = self.past.take() {
            app.go_on(&past);
        }
        let left = show(&mut app, &inbox);
        let App {
            partner,
            log,
            runner,
            ..
        } = app;
        runner.stop();
        let is_kept = !matches!(*log, AnyEventLog::Memory(_));
        if is_kept && past::exactly(&log, &partner.session_id).is_some() {
            let id = &partner.session_id;
            output.note(format_args!("go on with: harn chat --session {id}"));
        }
        left
    }

    /// Whoever answers the questions of the program.
    fn people(&self, shared: &Shared) -> Option<People> {
        let name = environment::variable("USER");
        let people = People::new(Arc::clone(&self.log), name, shared.clone());
        people
            .map_err(|error| {
                let why = format!("questions of the program cannot be answered here: {error}");
                shared.change(|state| state.view.problem(&why));
            })
            .ok()
    }
}

/// The session that somebody wants to go on with.
fn past(arguments: &Arguments, log: &Arc<AnyEventLog>) -> Result<Option<past::Opened>, String> {
    if let Some(id) = &arguments.session {
        return free(log, id).map(Some);
    }
    if !arguments.is_continued {
        return Ok(None);
    }
    let latest = past::list(log)?.into_iter().next();
    let latest = latest.ok_or_else(|| "there is no session to go on with".to_owned())?;
    free(log, &latest.id).map(Some)
}

/// A session that no other process writes.
fn free(log: &Arc<AnyEventLog>, id: &str) -> Result<past::Opened, String> {
    let found = past::find(log, id)?;
    past::check_free(log, found.id())?;
    Ok(found)
}

fn new_session_id() -> String {
    format!("chat_{}", harn_vm::new_id())
}

/// Shows the chat until somebody leaves.
fn show(app: &mut App, inbox: &Receiver<Message>) -> io::Result<Outcome> {
    let mut terminal = Terminal::take()?;
    let panics = Arc::new(Mutex::new(Vec::new()));
    terminal.guard_against_panics(Arc::clone(&panics))?;
    signals::listen(app.messages.clone(), terminal.giver()?)?;
    Terminal::read_keys(app.messages.clone())?;
    let mut frames = Frames::default();
    loop {
        if frames.is_due() {
            terminal.drawn.draw(|frame| app.draw(frame))?;
            frames.drawn();
        }
        let message = match frames.time_to_wait(app.is_running()) {
            Some(time) => inbox.recv_timeout(time),
            None => inbox.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        frames.is_wanted = true;
        let effect = match message {
            Ok(message) => {
                app.shared.hear();
                app.take(message)
            }
            Err(RecvTimeoutError::Timeout) => Effect::Nothing,
            Err(RecvTimeoutError::Disconnected) => Effect::Leave,
        };
        match effect {
            Effect::Nothing => {}
            Effect::Redraw => terminal.redraw()?,
            Effect::Write(text) => terminal.write(&text)?,
            Effect::Leave => return Ok(Outcome::Done),
            Effect::LeaveBy(signal) => return Ok(Outcome::Status(signals::status_of(signal))),
        }
        let mut panics = panics.lock().unwrap_or_else(PoisonError::into_inner);
        for text in panics.drain(..) {
            app.shared.change(|state| state.view.problem(&text));
        }
    }
}

/// When the screen is drawn. An answer arrives in small pieces; they are drawn together.
struct Frames {
    is_wanted: bool,
    drawn_at: Option<Instant>,
}

impl Default for Frames {
    fn default() -> Self {
        Self {
            is_wanted: true,
            drawn_at: None,
        }
    }
}

impl Frames {
    fn is_due(&self) -> bool {
        let is_late = |at: Instant| at.elapsed() >= FRAME;
        self.is_wanted && self.drawn_at.is_none_or(is_late)
    }

    fn drawn(&mut self) {
        self.is_wanted = false;
        self.drawn_at = Some(Instant::now());
    }

    /// How long nothing has to be drawn, unless something happens; `None` if for ever.
    fn time_to_wait(&self, is_running: bool) -> Option<Duration> {
        match self.drawn_at {
            Some(at) if self.is_wanted => Some(FRAME.saturating_sub(at.elapsed())),
            _ => is_running.then_some(TICK),
        }
    }
}
