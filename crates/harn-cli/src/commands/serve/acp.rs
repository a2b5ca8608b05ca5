//! `harn serve acp`: an agent that editors plug in.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use harn_acp::{Access, Mode, Network, Server, ServerOptions};
use harn_log::state_root;
use harn_vm::{AnsweringProgram, Warn};

use super::access::project_access;
use super::listening::{Listening, Serving};
use super::network;
use crate::arguments::after_help;
use crate::clock::Clock;
use crate::commands::Outcome;
use crate::commands::answering::{self, Around, Keeping, Said};
use crate::commands::answers::{Answers, Recordings};
use crate::commands::journal_key;
use crate::commands::permissions::Permissions;
use crate::commands::project;
use crate::environment::variable;
use crate::output::{Output, Untrusted, UntrustedText};

const EXAMPLES: &str = "  \
  harn serve acp                       A coding agent, on standard input and output
  harn serve acp agent.harn            The agent of a program
  harn serve acp --ephemeral           Conversations are forgotten at the end
  harn serve acp --listen 127.0.0.1:7331
                                       For clients on the network, at /acp";

/// Below the state of a project: the tokens of what listens.
const TOKEN_FOLDER: &str = "listeners";

/// Serve an agent to editors
///
/// Speaks the Agent Client Protocol on standard input and output, for editors and other clients
/// that start their agents themselves. It ends, with status 0, when the client closes the
/// input. What the program prints goes to standard error.
///
/// FILE is a program as for `harn chat`: with a pipeline that takes a `prompt`, and the
/// `session_id` if it wants to remember what was said. Without one, a coding agent answers.
///
/// A client can choose the model and how much it thinks. A program whose pipeline takes a `mode`
/// has the `[[personas]]` of its harn.toml as modes.
///
/// With --listen it speaks with clients on the network, over HTTP and web sockets, until it is
/// stopped. Keys of callers are in HARN_API_KEYS and HARN_HMAC_KEYS, as NAME=KEY,NAME=KEY.
/// Without keys a token is made and shown as a part of the address. A conversation without a
/// client is kept ready for HARN_ACP_RETAIN_SECS, or five minutes.
///
/// Conversations are kept in the event log of the project like all sessions; see `harn run`.
///
/// Without a FILE, what came with the project that a client works in, such as servers, hooks,
/// skills and AGENTS.md, is used once you trust it; see `harn trust`. Clients are told as
/// `_meta.harn.notice` of the session.
#[derive(Debug, Args)]
#[command(after_help = after_help(EXAMPLES), verbatim_doc_comment)]
pub(super) struct Arguments {
    /// The program; without one a coding agent answers
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,

    /// Forget conversations at the end; clients cannot load them again
    #[arg(long)]
    ephemeral: bool,

    #[command(flatten)]
    answers: Answers,

    #[command(flatten)]
    recordings: Recordings,

    #[command(flatten)]
    permissions: Permissions,

    #[command(flatten)]
    listening: Listening,
}

pub(super) fn run(arguments: &Arguments, clock: Clock, output: &mut Output) -> io::Result<Outcome> {
    let can_start_processes = !arguments.permissions.forbids_processes();
    let serving = match arguments.listening.read(can_start_processes) {
        Ok(serving) => serving,
        Err(why) => {
            output.error(format_args!("{}", Untrusted(why)));
            return Ok(Outcome::Problems);
        }
    };
    let Some(program) = answering::find(arguments.file.as_deref(), output) else {
        return Ok(Outcome::Problems);
    };
    let proofs = journal_key::opener(Arc::new(|line| say(&format!("{line}\n"))));
    let around = Around::new(&Said {
        file: arguments.file.as_deref(),
        answers: &arguments.answers,
        recordings: &arguments.recordings,
        permissions: &arguments.permissions,
        keeping: match arguments.ephemeral {
            true => Keeping::Forgotten,
            false => Keeping::Kept,
        },
        proofs: Arc::clone(&proofs),
    });
    let mut around = match around {
        Ok(around) => around,
        Err(why) => {
            output.error(format_args!("{}", Untrusted(why)));
            return Ok(Outcome::Problems);
        }
    };
    if let Some(notice) = around.trust_notice.take() {
        output.note(format_args!("{}", Untrusted(notice)));
    }
    for note in around.notes.drain(..) {
        output.note(format_args!("note: {}", Untrusted(note)));
    }
    output.flush()?;
    let warn = |text: &str| say(&format!("warning: {}\n", UntrustedText(text)));
    around.options.world.models.warn = Some(Warn(Arc::new(warn)));
    let base = project::base_of(around.manifest.as_deref());
    let access = match serving.listen.as_ref().map(|listen| &listen.access) {
        Some(given) => match project_access(given, &base, around.manifest.as_deref()) {
            Ok(access) => access,
            Err(why) => {
                output.error(format_args!("{}", Untrusted(why)));
                return Ok(Outcome::Problems);
            }
        },
        None => Access::default(),
    };
    let server = Server::new(ServerOptions {
        modes: modes(&program, around.manifest.as_deref()),
        program,
        run: around.options,
        title: None,
        log: around.log,
        proofs: Some(proofs),
        is_ephemeral: arguments.ephemeral,
        retain: serving
            .listen
            .as_ref()
            .map_or(Duration::ZERO, |listen| listen.retain),
        limits: serving.sessions,
        access,
        printed: Arc::new(say),
    });
    let Serving {
        listen, network, ..
    } = serving;
    let state = state_root(&base, &variable);
    let served = match listen {
        None => serve(&server, network, output)
            .map_err(|error| format!("the connection failed: {error}")),
        Some(listen) => {
            let mut policy = listen.policy;
            policy.token_folder = Some(state.join(TOKEN_FOLDER));
            network::serve(&server, policy, network, clock, output)
        }
    };
    drop(server);
    // Whoever has the log open otherwise looks for what a crash has left.
    harn_log::reset_active_event_log();
    match served {
        Ok(()) => Ok(Outcome::Done),
        Err(why) => {
            output.error(format_args!("{}", Untrusted(why)));
            Ok(Outcome::Problems)
        }
    }
}

/// The modes that a program knows: those of our own agent, or the personas of the project of a
/// program whose pipeline takes a `mode`.
fn modes(program: &AnsweringProgram, manifest: Option<&Path>) -> Vec<Mode> {
    let mode = |id: &str, name: &str, description: Option<&str>| Mode {
        id: id.to_owned(),
        name: name.to_owned(),
        description: description.map(str::to_owned),
    };
    if program.text.is_some() {
        let modes = answering::CODING_MODES.iter();
        return modes
            .map(|(id, name, description)| mode(id, name, Some(description)))
            .collect();
    }
    if !answering::takes(program, "mode") {
        return Vec::new();
    }
    let personas = manifest.map(project::personas).unwrap_or_default();
    let personas = personas.iter();
    personas
        .map(|one| mode(&one.name, &one.name, one.description.as_deref()))
        .collect()
}

/// Tells the operator, who reads standard error. Somebody may have closed it.
fn say(text: &str) {
    let _nobody_reads_it = io::stderr().write_all(text.as_bytes());
}

/// Serves the client at our standard input and output.
fn serve(server: &Arc<Server>, network: Network, output: &mut Output) -> io::Result<()> {
    let mut notes = |counted: Vec<(&'static str, u64)>| {
        // What was taken in is no limit that was met.
        let met = counted.iter().filter(|(name, _)| *name != "accepted");
        for (name, count) in met.filter(|(_, count)| *count > 0) {
            output.note(format_args!("{name}: {count}"));
        }
    };
    let (input, output) = take_streams()?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    // As a task among those of its sessions: they wake each other with every update, which is
    // dear across threads.
    let serving = runtime.spawn({
        let server = Arc::clone(server);
        async move {
            let input = tokio::fs::File::from_std(input);
            let output = tokio::fs::File::from_std(output);
            server.serve_within(input, output, &network).await
        }
    });
    let served = runtime.block_on(serving);
    let (served, counted) =
        served.unwrap_or_else(|panicked| (Err(io::Error::other(panicked)), Vec::new()));
    notes(counted);
    // A client that has only closed its reading end leaves a read behind that never ends.
    runtime.shutdown_background();
    served
}

/// Takes the standard streams for the protocol alone. Whatever else writes to the standard
/// output, a process that the program starts for one, writes to the standard error instead, and
/// finds nothing to read.
pub(in crate::commands) fn take_streams() -> io::Result<(File, File)> {
    let input = rustix::io::dup(rustix::stdio::stdin())?;
    let output = rustix::io::dup(rustix::stdio::stdout())?;
    rustix::stdio::dup2_stdin(File::open("/dev/null")?)?;
    rustix::stdio::dup2_stdout(rustix::stdio::stderr())?;
    for own in [&input, &output] {
        rustix::io::fcntl_setfd(own, rustix::io::FdFlags::CLOEXEC)?;
    }
    Ok((input.into(), output.into()))
}
