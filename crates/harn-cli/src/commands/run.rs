//! `harn run`: a program, run to its end.
//!
//! ```text
//! bridge        a host that lends the program what it can do
//! keeping       where its sessions are kept
//! interruption  what Ctrl-C does
//! live          what a person sees of its agents
//! screen        the terminal that both of them write to
//! ```

mod bridge;
mod interruption;
pub(super) mod keeping;
pub(super) mod live;
mod screen;
mod terminal;

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use harn_check::modules::{Disk, Workspace};
use harn_check::{CheckOptions, Phase, analyse};
use harn_mcp::BeforeStart;
use harn_vm::llm::catalog::ProjectTrust;
use harn_vm::machine::{Failure, FaultKind, Value};
use harn_vm::project::TrustSource;
use harn_vm::{
    AgentOptions, Announce, EventLogOptions, ModelOptions, Outcome as Ended, Program, RunOptions,
    Warn, WhenStuck, WorldOptions, runtime_error,
};

use super::Outcome;
use super::answers::{Answers, Recordings};
use super::findings::Findings;
use super::mcp::Logins;
use super::permissions::Permissions;
use super::project::{base_of, manifest_here, manifest_of};
use super::{journal_key, tool_servers, trust};
use crate::arguments::after_help;
use crate::environment;
use crate::output::{Output, Untrusted, UntrustedText};
use interruption::Interruption;
use keeping::LogPlace;
use live::prices::Prices;
use live::{Live, Progress};
use screen::Screen;

pub(crate) use terminal::Terminal;

const EXAMPLES: &str = "  \
  harn run main.harn                   A program
  harn run examples/quickstart         The main.harn of a folder
  harn run main.harn -- --fast 3       With arguments, in `argv`
  harn run -e 'println(1 + 2)'         A program given on the command line
  echo 'println(argv)' | harn run -    A program from the standard input
  harn run main.harn --timeout 5s      Stopped after five seconds, with status 124
  harn run main.harn --progress plain  With a line for each turn of an agent
  harn run main.harn --deny net,exec   Without network and processes
  harn run main.harn --allow-write=out Files are written in one folder only
  harn run main.harn --scenario                    With a scripted model: main.scenario.toml
  harn run main.harn --scenario a.scenario.toml    With the script of another file
  harn run main.harn --llm-mock a.jsonl            With scripted answers
  harn run main.harn --replay                      With the answers of --record";

/// The program of a folder.
const MAIN: &str = "main.harn";

/// The status of a program whose time was over.
const TIMED_OUT: u8 = 124;

/// Run a program
///
/// Checks a program and runs it. The status is 0, or the int that its entry gives, 1 if it
/// fails, what it passes to exit(), and 124 if its time is over.
///
/// Models are asked over the network unless an option says who answers instead: first
/// --llm-mock and llm_mock() in the program, then --replay, --scenario and --tape-replay.
///
/// Sessions of agents are kept in the event log of the project: .harn/events.sqlite beside
/// its harn.toml, or in the current folder if there is none. `harn sessions` shows them.
/// HARN_STATE_DIR, HARN_EVENT_LOG_BACKEND, HARN_EVENT_LOG_SQLITE_PATH and
/// HARN_EVENT_LOG_DIR say otherwise, and so does [event_log] in harn.toml; the backend
/// `memory` keeps nothing. A program without agents that asks nobody opens no log.
///
/// A program that asks a person waits for the answer. `harn hitl` lists what is asked, and
/// answers.
///
/// Skills are found in --skill-dir, HARN_SKILLS_PATH, .harn/skills of the project, what its
/// harn.toml names, ~/.harn/skills, its packages, /etc/harn/skills and
/// $XDG_CONFIG_HOME/harn/skills, in this order. A program sees them as `skills`.
///
/// With --bridge a host speaks JSON-RPC at standard input and output: it says `initialize`,
/// and then the program begins, with the operations, tools and skills that the host lends.
/// What the program prints goes to standard error.
///
/// Ctrl-C ends a program with agents or processes in good order, with status 130; a second
/// one, at once.
///
/// Naming a FILE trusts what came with its project, such as servers and hooks of its harn.toml.
/// A text that is given with -e or at the standard input uses that of the folder once you trust
/// it; see `harn trust`.
///
/// On a terminal, control sequences in what the program writes are shown in letters, because
/// they may come from a model or a file; the looks of color(), bold() and dim() stay. With
/// --raw the terminal gets them. A file or a pipe always gets what was written.
///
/// A program may do what you may, unless --deny or --allow-… say otherwise. Every one of them
/// takes something away. A program that it may run is not kept in by them.
#[derive(Debug, Args)]
#[command(after_help = after_help(EXAMPLES))]
pub(crate) struct Arguments {
    /// The program, or a folder with a main.harn; `-` reads it from the standard input
    #[arg(value_name = "FILE", required_unless_present = "code")]
    file: Option<PathBuf>,

    /// Run this text instead of a file
    #[arg(
        short = 'e',
        long = "execute",
        value_name = "CODE",
        conflicts_with = "file"
    )]
    code: Option<String>,

    /// Stop it after this time, such as 500ms, 5s or 2m
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    timeout: Option<Duration>,

    /// How much memory its values may take, such as 64MB
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    max_memory: Option<usize>,

    /// Let the terminal obey every control sequence that the program writes
    #[arg(long)]
    raw: bool,

    /// Let a host at standard input and output lend the program what it can do
    #[arg(long, requires = "file")]
    bridge: bool,

    /// How much to tell about agents while they run, on standard error
    #[arg(long, value_name = "HOW", default_value = "auto")]
    progress: Progress,

    /// Look for skills in this folder before all others; may be given again
    #[arg(long, value_name = "FOLDER", value_parser = parse_folder)]
    skill_dir: Vec<PathBuf>,

    /// What the program finds in `argv`
    #[arg(last = true, value_name = "ARGUMENT")]
    arguments: Vec<String>,

    #[command(flatten)]
    answers: Answers,

    #[command(flatten)]
    recordings: Recordings,

    #[command(flatten)]
    permissions: Permissions,
}

impl Arguments {
    /// The file of the program. A folder stands for the one that is called `main.harn` in it.
    fn file(&self) -> Option<PathBuf> {
        let file = self.file.as_ref()?;
        Some(match file.is_dir() {
            true => file.join(MAIN),
            false => file.clone(),
        })
    }
}

/// A number and what follows it.
fn number_and_unit(text: &str) -> Option<(u64, &str)> {
    let digits = text.find(|char: char| !char.is_ascii_digit());
    let (number, unit) = text.split_at(digits.unwrap_or(text.len()));
    Some((number.parse().ok()?, unit))
}

fn parse_time(text: &str) -> Result<Duration, String> {
    let parsed = number_and_unit(text).and_then(|(number, unit)| {
        let scale = match unit {
            "" | "ms" => 1,
            "s" => 1000,
            "m" => 60_000,
            "h" => 3_600_000,
            _ => return None,
        };
        number.checked_mul(scale).map(Duration::from_millis)
    });
    parsed.ok_or_else(|| "expected a time such as 500ms, 5s, 2m or 1h".to_owned())
}

fn parse_folder(text: &str) -> Result<PathBuf, String> {
    let folder = PathBuf::from(text);
    match folder.is_dir() {
        true => Ok(folder),
        false => Err("there is no such folder".to_owned()),
    }
}

fn parse_size(text: &str) -> Result<usize, String> {
    let parsed = number_and_unit(text).and_then(|(number, unit)| {
        let scale: u64 = match unit {
            "" | "B" => 1,
            "K" | "KB" | "KiB" => 1 << 10,
            "M" | "MB" | "MiB" => 1 << 20,
            "G" | "GB" | "GiB" => 1 << 30,
            _ => return None,
        };
        usize::try_from(number.checked_mul(scale)?).ok()
    });
    parsed.ok_or_else(|| "expected a size such as 500KB, 64MB or 1GB".to_owned())
}

pub(crate) fn run(arguments: &Arguments, output: &mut Output) -> io::Result<Outcome> {
    let mut workspace = Workspace::new(Box::new(Disk));
    let path = match program(arguments, &mut workspace) {
        Ok(path) => path,
        Err(error) => {
            output.error(format_args!("cannot read the program: {error}"));
            return Ok(Outcome::Problems);
        }
    };
    if !is_fine(&mut workspace, &path, output) {
        return Ok(Outcome::Problems);
    }
    let (models, standing) = match models(arguments, output) {
        Ok(found) => found,
        Err(why) => {
            output.error(format_args!("{}", Untrusted(why)));
            return Ok(Outcome::Problems);
        }
    };
    let Some(policy) = arguments.permissions.policy_or_complaint(output) else {
        return Ok(Outcome::WrongUsage);
    };
    let scene = Scene::new(arguments, &models, standing, output);
    let mut options = scene.options(arguments, models);
    options.world.policy = policy;
    if let Err(why) = scene.add_servers(&mut options) {
        output.error(format_args!("{}", Untrusted(why)));
        return Ok(Outcome::Problems);
    }
    let bridge = match arguments.bridge {
        true => bridge::attach(&mut options),
        false => Ok(None),
    };
    let bridge = match bridge {
        Ok(bridge) => bridge,
        Err(error) => {
            output.error(format_args!("cannot reach the host: {error}"));
            return Ok(Outcome::Problems);
        }
    };
    let sink = Box::new(Terminal::on(scene.screen.clone()).raw(arguments.raw));
    let ended = Program::new(&mut workspace, &path).run(&options, sink);
    // What the host was told reaches it before we say anything else.
    drop(bridge);
    let interrupted = scene.end();
    match ended {
        Ok(Ended::Interrupted) => Ok(Outcome::Status(interrupted)),
        Err(error) => {
            output.error(format_args!("compile error: {error}"));
            Ok(Outcome::Problems)
        }
        Ok(Ended::TimedOut) => {
            let limit = arguments.timeout.unwrap_or_default().as_millis();
            output.error(format_args!("timed out after {limit}ms"));
            Ok(Outcome::Status(TIMED_OUT))
        }
        Ok(Ended::Ended(Ok(value))) => Ok(status(&value, output)),
        Ok(Ended::Ended(Err(failure))) => Ok(failed(&failure, output)),
    }
}

/// Tells what is odd. Servers and models have a say in it, so it is not trusted.
fn warning_on(screen: Screen) -> Warn {
    let warn = move |text: &str| screen.say(&format!("warning: {}", Untrusted(text)));
    Warn(Arc::new(warn))
}

/// What is around a program while it runs.
struct Scene {
    screen: Screen,
    live: Option<Live>,
    interruption: Interruption,
    /// Where the state of its project is.
    base: PathBuf,
    /// Whether what came with the project may act.
    standing: Standing,
}

/// Whether what came with the project of a program may act.
#[derive(Clone, Copy)]
struct Standing {
    trust: ProjectTrust,
    log: LogPlace,
}

impl Scene {
    fn new(
        arguments: &Arguments,
        models: &ModelOptions,
        standing: Standing,
        output: &Output,
    ) -> Self {
        let screen = Screen::new(output.talk_palette());
        output.warnings().hand_to(warning_on(screen.clone()).0);
        let manifest = models.manifest.clone();
        let base = base_of(manifest.as_deref());
        let prices = || Prices::new(manifest, environment::all());
        let is_dumb = environment::variable("TERM").is_some_and(|term| term == "dumb");
        Self {
            live: Live::new(arguments.progress, is_dumb, &screen, prices),
            interruption: Interruption::new(screen.clone()),
            screen,
            base,
            standing,
        }
    }

    fn options(&self, arguments: &Arguments, mut models: ModelOptions) -> RunOptions {
        models.warn = Some(warning_on(self.screen.clone()));
        let (screen, interruption) = (self.screen.clone(), self.interruption.clone());
        let listening = interruption.clone();
        let open_log = keeping::opener(self.base.clone(), self.standing.log, screen, interruption);
        let told_on = self.screen.clone();
        let proofs = journal_key::opener(Arc::new(move |line| told_on.say(line)));
        let listen = move || {
            // Without it the program ends as before, only what it started goes on.
            let _cannot_listen = listening.listen();
        };
        RunOptions {
            arguments: arguments.arguments.clone(),
            world: WorldOptions {
                environment: environment::for_programs(),
                models,
                agents: AgentOptions {
                    open_log: Some(Arc::clone(&open_log)),
                    storage: Some(keeping::files(&self.base)),
                    proofs: Some(proofs),
                    observer: self.live.as_ref().map(Live::observer),
                    skill_folders: arguments.skill_dir.clone(),
                    ..AgentOptions::default()
                },
                event_log: EventLogOptions {
                    open: keeping::is_configured(&self.base, self.standing.log)
                        .then(|| Arc::clone(&open_log)),
                    keep: Some(open_log),
                    program: program_name(arguments.file().as_deref()),
                },
                first_process: Some(Announce(Arc::new(listen))),
                ..WorldOptions::default()
            },
            timeout: arguments.timeout,
            memory: arguments.max_memory,
            when_stuck: arguments.timeout.map(end_of_stuck),
            interrupt: self.interruption.interrupt.clone(),
            ..RunOptions::default()
        }
    }

    /// Lets the program use servers of tools.
    fn add_servers(&self, options: &mut RunOptions) -> Result<(), String> {
        let listening = self.interruption.clone();
        let listen = move || {
            // Without it the program ends as before, only what it started goes on.
            let _cannot_listen = listening.listen();
        };
        let manifest = options.world.models.manifest.clone();
        let program = options.world.event_log.program.clone();
        let agents = &mut options.world.agents;
        // Servers may ask people where `harn hitl` finds what they ask.
        agents.asks_as = keeping::is_shared(&self.base, self.standing.log).then_some(program);
        let listen = Some(Arc::new(listen) as BeforeStart);
        let (manifest, trust) = (manifest.as_deref(), self.standing.trust);
        tool_servers::add_to(agents, manifest, trust, listen, Logins::AsConfigured)
    }

    /// The program has ended, and with it everything that is kept was written. Gives the status
    /// of one that was interrupted.
    fn end(self) -> u8 {
        drop(self.live);
        // Whoever has the log open otherwise looks for what a crash has left.
        harn_log::reset_active_event_log();
        self.interruption.finish();
        self.interruption.status()
    }
}

/// Ends the process of a program that waits for the system and cannot be told to stop. What it
/// keeps is written as it goes, so nothing is lost that was promised.
fn end_of_stuck(timeout: Duration) -> WhenStuck {
    let limit = timeout.as_millis();
    WhenStuck(Arc::new(move || {
        // The program may hold what our own output waits for.
        let told = format!("error: timed out after {limit}ms\n");
        let _nobody_may_read = io::stderr().write_all(told.as_bytes());
        std::process::exit(i32::from(TIMED_OUT));
    }))
}

/// What a program is called: its file, wherever it is run from.
pub(super) fn program_name(file: Option<&Path>) -> String {
    let file = file.map(|file| file.canonicalize().unwrap_or_else(|_| file.to_owned()));
    file.map(|file| file.display().to_string())
        .unwrap_or_default()
}

/// Who answers when the program asks a model, and whether what came with its project may act.
/// The operator trusts the project of a file by naming it; a text has no project but the one it
/// happens to be run in.
fn models(arguments: &Arguments, output: &mut Output) -> Result<(ModelOptions, Standing), String> {
    let file = arguments.file().filter(|file| file.as_os_str() != "-");
    let mut models = arguments.answers.options(file.as_deref())?;
    if let Some(note) = arguments.recordings.add_to(&mut models)? {
        output.note(format_args!("note: {}", Untrusted(note)));
    }
    if let Some(file) = file {
        models.manifest = manifest_of(&file);
        let standing = Standing {
            trust: ProjectTrust::Trusted,
            log: LogPlace::of_file(models.manifest.as_deref()),
        };
        return Ok((models, standing));
    }
    models.manifest = manifest_here();
    let projects = trust::projects();
    let judged = trust::here(&projects);
    if let Some(notice) = projects.notice(&judged) {
        output.note(format_args!("{}", Untrusted(notice)));
    }
    models.trust = TrustSource::Answers(projects);
    let standing = Standing {
        trust: judged.trust(),
        log: LogPlace::of(&judged),
    };
    Ok((models, standing))
}

/// Where the program is. A text gets a name in the working folder, so that it can import.
fn program(arguments: &Arguments, workspace: &mut Workspace) -> io::Result<PathBuf> {
    let text = match (&arguments.code, arguments.file()) {
        (Some(code), _) => code.clone(),
        (None, Some(file)) if file.as_os_str() == "-" => {
            let mut text = String::new();
            io::stdin().read_to_string(&mut text)?;
            text
        }
        (None, file) => return Ok(file.unwrap_or_default()),
    };
    let path = PathBuf::from("<code>");
    workspace.set_text(&path, text);
    Ok(path)
}

/// Shows what is wrong, and tells whether the program can run nevertheless.
pub(super) fn is_fine(workspace: &mut Workspace, path: &Path, output: &mut Output) -> bool {
    let file = match workspace.parsed(path) {
        Ok(file) => file,
        Err(error) => {
            output.error(format_args!("{}: {error}", Untrusted(path.display())));
            return false;
        }
    };
    let imported = workspace.imported(path);
    let analysis = analyse(&file, &imported, CheckOptions::default());
    if !analysis.diagnostics.is_empty() {
        let findings = Findings {
            name: path.display().to_string(),
            diagnostics: analysis.diagnostics,
        };
        findings.show(&file, output);
    }
    analysis.phase == Phase::Run
}

/// The status that the value of an entry stands for.
fn status(value: &Value, output: &mut Output) -> Outcome {
    match value {
        Value::Int(status) => Outcome::Status(u8::try_from((*status).clamp(0, 255)).unwrap_or(0)),
        value => match value.as_result() {
            Some(Err(error)) => {
                let text = error.show();
                let text = if text.is_empty() {
                    "error".to_owned()
                } else {
                    text
                };
                output.note(format_args!("{}", UntrustedText(text)));
                Outcome::Problems
            }
            _ => Outcome::Done,
        },
    }
}

/// What the system shows of a status that is passed to `exit`: its lowest eight bits, as for
/// every program.
pub(super) fn exit_status(status: i32) -> u8 {
    status.to_le_bytes()[0]
}

fn failed(failure: &Failure, output: &mut Output) -> Outcome {
    if let FaultKind::Exit(status) = failure.kind {
        return Outcome::Status(exit_status(status));
    }
    let error = runtime_error(failure);
    for line in error.to_string().lines() {
        output.note(format_args!("{}", UntrustedText(line)));
    }
    if is_about_a_provider(failure) {
        output.note(format_args!(
            "`harn doctor` tells which models can be asked"
        ));
    }
    Outcome::Problems
}

/// Whether a model could not be asked: what is thrown then names the provider. Most people who
/// read that have no key yet.
fn is_about_a_provider(failure: &Failure) -> bool {
    match &failure.kind {
        FaultKind::Thrown(Value::Dict(thrown)) => thrown.get("provider").is_some(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_sizes_have_units() {
        assert_eq!(parse_time("500"), Ok(Duration::from_millis(500)));
        assert_eq!(parse_time("2m"), Ok(Duration::from_secs(120)));
        assert_eq!(parse_size("64MB"), Ok(64 << 20));
        assert_eq!(parse_size("12"), Ok(12));
        for wrong in ["", "s", "5 s", "5d", "-1", "99999999999999999999"] {
            assert!(parse_time(wrong).is_err(), "{wrong}");
        }
        assert!(parse_size("1TB").is_err());
    }

    #[test]
    fn a_warning_cannot_repaint_the_terminal() {
        let recorder = screen::tests::Recorder::new(80);
        let Warn(warn) = warning_on(recorder.screen());
        warn("mcp: \u{1b}[2J\nwarning: fine");
        let shown = "warning: mcp: \\u{1b}[2J\\nwarning: fine\n";
        assert_eq!(recorder.take(), shown);
    }
}
