//! `harn mcp probe`: what a server can do, really.

use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use harn_vm::agent::tool_servers::{Listed, ServerError, ServerFacts, ToolServer};
use serde::Serialize;
use serde_json::{Value, json};

use super::servers::Target;
use super::web::Logins;
use super::{Ctx, Failed, Form, Outcome, wait};
use crate::arguments::after_help;
use crate::output::Untrusted;

const EXAMPLES: &str = "  \
  harn mcp probe files                 A server of harn.toml
  harn mcp probe https://mcp.example.com/mcp
  harn mcp probe files --json | jq -r '.tools[].name'";

/// How long a server has when several are asked.
const ANSWER_WITHIN: Duration = Duration::from_secs(15);

/// Ask a server what it can do
///
/// Starts or reaches the server and tells which generation of the protocol it speaks, which
/// version, what it can do, and its tools. Nobody is asked to log in: `harn mcp login` does
/// that.
///
/// With --json the answer is {"server", "ok", "generation", "protocol_version", "server_info",
/// "capabilities", "instructions", "tools", "error"}. generation is modern (2026-07-28) or
/// handshake; tools are as the server describes them; error has category and message.
#[derive(Debug, Args)]
#[command(after_help = after_help(EXAMPLES))]
pub(super) struct Arguments {
    /// The name of a server in harn.toml, or a URL
    #[arg(value_name = "NAME")]
    name: String,
}

/// The answer. The names are a promise.
#[derive(Serialize)]
struct Report {
    server: String,
    ok: bool,
    generation: Option<&'static str>,
    protocol_version: Option<String>,
    server_info: Option<Value>,
    capabilities: Option<Value>,
    instructions: Option<String>,
    tools: Vec<Value>,
    error: Option<Value>,
}

pub(super) fn run(arguments: &Arguments, ctx: &mut Ctx<'_>) -> Result<io::Result<Outcome>, Failed> {
    let target = Target::find(&arguments.name, Logins::Unwanted)?;
    let asked = wait(ask(target.server()))?;
    target.servers.finish();
    let report = Report::of(&arguments.name, asked);
    let outcome = match report.ok {
        true => Outcome::Done,
        false => Outcome::Problems,
    };
    let told = match ctx.form {
        Form::Json => ctx.output.json(&report),
        Form::Text => write(&report, ctx),
    };
    Ok(told.map(|()| outcome))
}

/// Asks a server what it can do, and for its tools.
async fn ask(server: Arc<dyn ToolServer>) -> Result<(ServerFacts, Vec<Value>), ServerError> {
    let facts = server.connect().await?;
    let tools = match facts.capabilities["tools"].is_null() {
        true => Vec::new(),
        false => server.list(Listed::Tools).await?.to_vec(),
    };
    server.close().await;
    Ok((facts, tools))
}

/// What a server of `harn.toml` answered, in a few words, or why it did not.
pub(in super::super) struct Answered {
    pub(in super::super) name: String,
    pub(in super::super) told: Result<String, String>,
}

/// Asks all servers of `harn.toml` at once.
///
/// # Errors
/// What is wrong with one of their tables, or with a variable about them.
pub(in super::super) fn probe_configured() -> Result<Vec<Answered>, String> {
    let targets = Target::all(Logins::Unwanted).map_err(|Failed(why)| why)?;
    let answered = wait(async {
        let asking = targets.iter().map(|target| {
            let asked = tokio::time::timeout(ANSWER_WITHIN, ask(target.server()));
            (target.config.name.clone(), tokio::spawn(asked))
        });
        let asking: Vec<_> = asking.collect();
        let mut answered = Vec::new();
        for (name, asked) in asking {
            let told = match asked.await {
                Ok(Ok(Ok((facts, tools)))) => Ok(in_short(&facts, tools.len())),
                Ok(Ok(Err(error))) => Err(error.to_string()),
                Ok(Err(_)) => Err(format!(
                    "it has not answered within {} seconds",
                    ANSWER_WITHIN.as_secs()
                )),
                Err(_) => Err("asking it failed".to_owned()),
            };
            answered.push(Answered { name, told });
        }
        answered
    });
    for target in &targets {
        target.servers.finish();
    }
    answered.map_err(|Failed(why)| why)
}

fn in_short(facts: &ServerFacts, tools: usize) -> String {
    let text = |key: &str| {
        let info = facts.server_info.as_ref();
        info.and_then(|info| info[key].as_str())
            .unwrap_or("?")
            .to_owned()
    };
    let (name, version) = (text("name"), text("version"));
    let generation = facts.generation.word();
    let protocol = &facts.protocol_version;
    format!("{name} {version}, protocol {protocol} ({generation}), {tools} tools")
}

impl Report {
    fn of(name: &str, asked: Result<(ServerFacts, Vec<Value>), ServerError>) -> Self {
        let (facts, tools, error) = match asked {
            Ok((facts, tools)) => (Some(facts), tools, None),
            Err(error) => {
                let category = error.category().word();
                let told = json!({"category": category, "message": error.to_string()});
                (None, Vec::new(), Some(told))
            }
        };
        let facts = facts.as_ref();
        Self {
            server: name.to_owned(),
            ok: error.is_none(),
            generation: facts.map(|facts| facts.generation.word()),
            protocol_version: facts.map(|facts| facts.protocol_version.clone()),
            server_info: facts.and_then(|facts| facts.server_info.clone()),
            capabilities: facts.map(|facts| facts.capabilities.clone()),
            instructions: facts.and_then(|facts| facts.instructions.clone()),
            tools,
            error,
        }
    }
}

fn write(report: &Report, ctx: &mut Ctx<'_>) -> io::Result<()> {
    if let Some(error) = &report.error {
        let message = error["message"].as_str().unwrap_or_default();
        ctx.output.error(format_args!("{}", Untrusted(message)));
        return Ok(());
    }
    let output = &mut ctx.output;
    let (Some(generation), Some(version)) = (report.generation, &report.protocol_version) else {
        return Ok(());
    };
    let info = report.server_info.as_ref();
    let text = |key: &str| info.and_then(|info| info[key].as_str()).unwrap_or("?");
    let capabilities = report.capabilities.as_ref().and_then(Value::as_object);
    let capabilities: Vec<&str> = capabilities
        .into_iter()
        .flatten()
        .map(|(name, _)| name.as_str())
        .collect();
    writeln!(
        output,
        "{}: {} {}",
        Untrusted(&report.server),
        Untrusted(text("name")),
        Untrusted(text("version"))
    )?;
    writeln!(
        output,
        "protocol      {} ({generation})",
        Untrusted(version)
    )?;
    writeln!(
        output,
        "capabilities  {}",
        Untrusted(capabilities.join(", "))
    )?;
    writeln!(output, "tools         {}", report.tools.len())?;
    for tool in &report.tools {
        let name = tool["name"].as_str().unwrap_or_default();
        let about = tool["description"].as_str().unwrap_or_default();
        let about = about.lines().next().unwrap_or_default();
        writeln!(output, "  {}  {}", Untrusted(name), Untrusted(about))?;
    }
    Ok(())
}
