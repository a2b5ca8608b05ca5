//! Which program answers prompts, that of a file or our own, and what is around it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use harn_log::{AnyEventLog, DEFAULT_QUEUE_DEPTH, MemoryEventLog};
use harn_vm::agent::OpenProofs;
use harn_vm::llm::catalog::ProjectTrust;
use harn_vm::machine::Entry;
use harn_vm::project::TrustSource;
use harn_vm::{
    AgentOptions, AnsweringProgram, EventLogOptions, RunOptions, WorldOptions, answering_pipeline,
    pipeline_takes,
};

use super::answers::{Answers, Recordings};
use super::mcp::Logins;
use super::permissions::Permissions;
use super::project::{base_of, manifest_here, manifest_of};
use super::run::keeping::LogPlace;
use super::run::{is_fine, keeping, program_name};
use super::{tool_servers, trust};
use crate::environment;
use crate::output::{Output, Untrusted};

/// The agent that answers where no program is named.
const CODING: &str = include_str!("../../agents/coding.harn");

/// Its modes: what the pipeline gets as `mode`, what people call it, and what it means.
pub(super) const CODING_MODES: [(&str, &str, &str); 3] = [
    (
        "code",
        "Code",
        "Looks freely, and asks before it changes files or runs commands",
    ),
    (
        "auto",
        "Auto",
        "Changes files without asking, and asks before it runs commands",
    ),
    ("ask", "Ask", "Looks and answers, and changes nothing"),
];

/// What it is called in messages.
const CODING_NAME: &str = "<coding agent>";

/// The program in a file, or else our own. What is wrong with it is told; `None` if it cannot
/// answer.
pub(super) fn find(file: Option<&Path>, output: &mut Output) -> Option<AnsweringProgram> {
    let mut program = AnsweringProgram {
        path: file.map_or_else(|| CODING_NAME.into(), Path::to_owned),
        text: file.is_none().then_some(CODING),
        entry: Entry::Default,
    };
    let mut workspace = program.workspace();
    if !is_fine(&mut workspace, &program.path, output) {
        return None;
    }
    let parsed = workspace.parsed(&program.path).ok()?;
    let Some(entry) = answering_pipeline(&parsed.parsed.module) else {
        let path = program.path.display();
        output.error(format_args!(
            "{} has no pipeline that takes a `prompt`, such as\n\n  \
             pipeline chat(prompt, session_id) {{\n    \
             agent_loop(prompt, \"You are …\", {{session_id: session_id}})\n  }}",
            Untrusted(path)
        ));
        return None;
    };
    program.entry = entry;
    Some(program)
}

/// Whether the pipeline that answers has a parameter.
pub(super) fn takes(program: &AnsweringProgram, parameter: &str) -> bool {
    let mut workspace = program.workspace();
    let parsed = workspace.parsed(&program.path);
    parsed.is_ok_and(|file| pipeline_takes(&file.parsed.module, &program.entry, parameter))
}

/// What somebody said about how the program is run.
pub(super) struct Said<'a> {
    pub(super) file: Option<&'a Path>,
    pub(super) answers: &'a Answers,
    pub(super) recordings: &'a Recordings,
    pub(super) permissions: &'a Permissions,
    pub(super) keeping: Keeping,
    /// How journals prove who wrote them.
    pub(super) proofs: OpenProofs,
}

/// Whether conversations are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keeping {
    /// In the log of the project, if it can be opened.
    Kept,
    /// Until the end of the process.
    Forgotten,
}

/// What is around a program that answers.
pub(super) struct Around {
    pub(super) options: RunOptions,
    pub(super) log: Arc<AnyEventLog>,
    pub(super) manifest: Option<PathBuf>,
    /// Something to tell at the beginning.
    pub(super) notes: Vec<String>,
    /// What is not used because the project is not trusted, as one line.
    pub(super) trust_notice: Option<String>,
}

impl Around {
    /// What is around a program, as somebody said.
    ///
    /// # Errors
    /// What was said makes no sense; says why.
    pub(super) fn new(said: &Said<'_>) -> Result<Self, String> {
        let mut notes = Vec::new();
        let mut models = said.answers.options(said.file)?;
        notes.extend(said.recordings.add_to(&mut models)?);
        models.manifest = match said.file {
            Some(file) => manifest_of(file),
            None => manifest_here(),
        };
        let mut trust = ProjectTrust::Trusted;
        let mut place = LogPlace::of_file(models.manifest.as_deref());
        let mut trust_notice = None;
        // Our own agent works in a project that was not named, only entered.
        if said.file.is_none() {
            let projects = trust::projects();
            let judged = trust::here(&projects);
            trust_notice = projects.notice(&judged);
            (trust, place) = (judged.trust(), LogPlace::of(&judged));
            models.trust = TrustSource::Answers(projects);
        }
        let manifest = models.manifest.clone();
        let base = base_of(manifest.as_deref());
        let log = match said.keeping {
            Keeping::Forgotten => forgetful(),
            Keeping::Kept => {
                notes.extend(keeping::narrowed(&base));
                keeping::open(&base, place).unwrap_or_else(|why| {
                    notes.push(format!("this conversation is not kept: {why}"));
                    forgetful()
                })
            }
        };
        let log = harn_log::install_active_event_log(log);
        let opened = log.clone();
        let open_log: harn_vm::agent::OpenLog = Arc::new(move || Some(Arc::clone(&opened)));
        let mut options = RunOptions {
            world: WorldOptions {
                environment: environment::for_programs(),
                models,
                agents: AgentOptions {
                    open_log: Some(Arc::clone(&open_log)),
                    storage: Some(keeping::files(&base)),
                    proofs: Some(Arc::clone(&said.proofs)),
                    ..AgentOptions::default()
                },
                event_log: EventLogOptions {
                    open: Some(open_log),
                    keep: None, // It is the log of the project already.
                    program: program_name(said.file),
                },
                policy: said.permissions.policy()?,
                first_process: None, // The one that runs it ends the run.
            },
            is_detached: true,
            ..RunOptions::default()
        };
        // Whoever answers turns has no place to tell a person where to log in.
        let agents = &mut options.world.agents;
        tool_servers::add_to(agents, manifest.as_deref(), trust, None, Logins::Unwanted)?;
        Ok(Self {
            options,
            log,
            manifest,
            notes,
            trust_notice,
        })
    }
}

fn forgetful() -> Arc<AnyEventLog> {
    let log = MemoryEventLog::new(DEFAULT_QUEUE_DEPTH);
    Arc::new(AnyEventLog::Memory(log))
}
