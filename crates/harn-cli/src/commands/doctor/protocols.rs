//! `harn doctor protocols`: what is spoken, where others reach it, and what peers answered.

use std::collections::BTreeMap;
use std::io::{self, Write};

use clap::Args;
use harn_acp::{Network, SessionLimits, versions};
use harn_listen::Limits;
use harn_vm::agent::tool_servers::{HANDSHAKE_VERSIONS, MODERN_VERSION};
use serde::Serialize;

use super::super::serve::{Callers, callers};
use super::super::{Form, Outcome};
use super::peers::{self, Asks, Peer};
use crate::arguments::after_help;
use crate::environment;
use crate::output::{Output, Untrusted};
use crate::table::Table;

const EXAMPLES: &str = "  \
  harn doctor protocols                Versions, listeners, limits, and what peers answer
  harn doctor protocols --offline      The same, and nobody is asked
  harn doctor protocols --json | jq '.peers[] | select(.ok == false)'";

/// Tell what is spoken here, and what peers answer
///
/// Tells the versions of protocols, what can be listened to and by whom, the limits with their
/// defaults, and the peers of this project: the servers of harn.toml, and the providers of
/// models that have a key or are chosen by a variable such as HARN_LLM_PROVIDER. Each of them is
/// really asked; a server has 15 seconds to answer. Keys are told by their names, never by
/// value. The exit code is 1 if a peer does not answer as it should, or a setting is not
/// understood.
///
/// With --json the answer is {"ok", "versions": [VERSION, …], "listeners": [LISTENER, …],
/// "callers", "limits": {NAME: NUMBER, …}, "peers": [PEER, …], "problems": [TEXT, …]}. VERSION
/// has surface, role and versions. LISTENER has surface, transport, path and command. callers
/// has api_keys, hmac_keys and retain_secs, and is null if one of them is not understood. PEER
/// has kind (mcp or provider), name, ok (null if it was not asked), answer, error and next.
#[derive(Debug, Args)]
#[command(after_help = after_help(EXAMPLES))]
pub(super) struct Arguments {
    /// Ask nobody
    #[arg(long)]
    offline: bool,
}

/// The answer. The names are a promise.
#[derive(Serialize)]
struct Report {
    ok: bool,
    versions: Vec<Version>,
    listeners: [Listener; 3],
    callers: Option<Callers>,
    limits: BTreeMap<&'static str, u64>,
    peers: Vec<Peer>,
    /// Settings that are not understood.
    problems: Vec<String>,
}

/// What is spoken.
#[derive(Serialize)]
struct Version {
    surface: &'static str,
    /// What we are in it.
    role: &'static str,
    /// The versions, the newest first.
    versions: Vec<String>,
}

/// Where others reach us.
#[derive(Serialize)]
struct Listener {
    surface: &'static str,
    transport: &'static str,
    path: Option<String>,
    command: &'static str,
}

pub(super) fn run(arguments: &Arguments, form: Form, output: &mut Output) -> io::Result<Outcome> {
    let environment = environment::all();
    let asks = match arguments.offline {
        true => Asks::Nobody,
        false => Asks::Everybody,
    };
    let mut problems = Vec::new();
    let mut or_note = |found: Result<Vec<Peer>, String>| {
        found.unwrap_or_else(|why| {
            problems.push(why);
            Vec::new()
        })
    };
    let mut peers = or_note(peers::servers(asks));
    peers.extend(or_note(peers::providers(&environment, asks)));
    let callers = callers().map_err(|why| problems.push(why)).ok();
    let report = Report {
        ok: problems.is_empty() && peers.iter().all(|peer| peer.ok != Some(false)),
        versions: spoken(),
        listeners: listeners(),
        callers,
        limits: limits(),
        peers,
        problems,
    };
    match form {
        Form::Json => output.json(&report)?,
        Form::Text => write(&report, output)?,
    }
    Ok(match report.ok {
        true => Outcome::Done,
        false => Outcome::Problems,
    })
}

fn spoken() -> Vec<Version> {
    let version = |surface, role, versions| Version {
        surface,
        role,
        versions,
    };
    let mcp = std::iter::once(MODERN_VERSION).chain(HANDSHAKE_VERSIONS);
    vec![
        version("acp", "agent", vec![versions::ACP.to_string()]),
        version("bridge", "peer", vec![versions::BRIDGE.to_string()]),
        version("mcp", "client", mcp.map(str::to_owned).collect()),
        version(
            "events",
            "emitter",
            vec![versions::EVENT_CATALOGUE.to_string()],
        ),
    ]
}

fn listeners() -> [Listener; 3] {
    let listener = |surface, transport, path, command| Listener {
        surface,
        transport,
        path,
        command,
    };
    let path = Some(Network::default().path);
    [
        listener("acp", "stdio", None, "harn serve acp"),
        listener(
            "acp",
            "http and websocket",
            path,
            "harn serve acp --listen ADDR",
        ),
        listener("bridge", "stdio", None, "harn run --bridge FILE"),
    ]
}

/// The limits that hold unless `--limit` says otherwise.
fn limits() -> BTreeMap<&'static str, u64> {
    let listener = Limits::default().all().into_iter();
    let network = Network::default().limits();
    let sessions = SessionLimits::default().all();
    listener.chain(network).chain(sessions).collect()
}

fn write(report: &Report, output: &mut Output) -> io::Result<()> {
    let mut versions = Table::new(["SURFACE", "ROLE", "VERSIONS"]);
    for one in &report.versions {
        let spoken = one.versions.join(", ");
        versions.add([one.surface.to_owned(), one.role.to_owned(), spoken]);
    }
    versions.write(output)?;
    writeln!(output)?;
    let mut listeners = Table::new(["LISTENER", "TRANSPORT", "PATH", "COMMAND"]);
    for one in &report.listeners {
        listeners.add([
            one.surface.to_owned(),
            one.transport.to_owned(),
            one.path.clone().unwrap_or_else(|| "-".to_owned()),
            one.command.to_owned(),
        ]);
    }
    listeners.write(output)?;
    if let Some(callers) = &report.callers {
        write_callers(callers, output)?;
    }
    writeln!(output)?;
    let mut limits = Table::new(["LIMIT", "DEFAULT"]);
    for (name, value) in &report.limits {
        limits.add([(*name).to_owned(), value.to_string()]);
    }
    limits.write(output)?;
    writeln!(output)?;
    write_peers(&report.peers, output)?;
    for problem in &report.problems {
        output.error(format_args!("{}", Untrusted(problem)));
    }
    Ok(())
}

fn write_callers(callers: &Callers, output: &mut Output) -> io::Result<()> {
    let named = |names: &[String]| match names {
        [] => "none".to_owned(),
        names => names.join(", "),
    };
    writeln!(
        output,
        "API keys: {}; signing keys: {}; sessions without a client are kept for {} seconds",
        Untrusted(named(&callers.api_keys)),
        Untrusted(named(&callers.hmac_keys)),
        callers.retain_secs
    )?;
    let is_open = callers.api_keys.is_empty() && callers.hmac_keys.is_empty();
    match is_open {
        true => writeln!(
            output,
            "without keys only this machine can be listened to, with a token made for it"
        ),
        false => Ok(()),
    }
}

fn write_peers(peers: &[Peer], output: &mut Output) -> io::Result<()> {
    if peers.is_empty() {
        return writeln!(output, "no peers are configured");
    }
    let mut table = Table::new(["PEER", "KIND", "STATUS", "ANSWER"]);
    for peer in peers {
        let status = match peer.ok {
            Some(true) => "ok",
            Some(false) => "broken",
            None => "not asked",
        };
        let said = peer.answer.as_ref().or(peer.error.as_ref());
        table.add([
            peer.name.clone(),
            peer.kind.to_owned(),
            status.to_owned(),
            said.cloned().unwrap_or_default(),
        ]);
    }
    table.write(output)?;
    for peer in peers {
        if let Some(next) = &peer.next {
            writeln!(
                output,
                "next: {}: {}",
                Untrusted(&peer.name),
                Untrusted(next)
            )?;
        }
    }
    Ok(())
}
