//! `harn mcp list`: the servers of a project.

use std::io::{self, Write};

use clap::Args;
use harn_vm::agent::tool_servers::{Endpoint, ServerConfig};
use serde::Serialize;
use serde_json::json;

use super::super::project::manifest_here;
use super::super::tool_servers::configured;
use super::web::{Logins, web};
use super::{Ctx, Failed, Form, Outcome, wait};
use crate::arguments::after_help;
use crate::environment;
use crate::table::Table;

const EXAMPLES: &str = "  \
  harn mcp list                        Where they are, and whether somebody is logged in
  harn mcp list --json | jq -r '.servers[].name'";

/// List the servers of harn.toml
///
/// Nothing is started and nobody is asked. The column LOGIN says how a server over HTTP learns
/// who asks: `kept` if somebody has logged in, `header` if harn.toml has an Authorization
/// header for it, `none` otherwise.
///
/// With --json the answer is {"servers": [SERVER, …]}. SERVER has name, transport (stdio or
/// http), place (a command or a URL), is_lazy, and login (kept, header, none, or null for
/// stdio).
#[derive(Debug, Args)]
#[command(after_help = after_help(EXAMPLES))]
pub(super) struct Arguments {}

/// One of them. The names are a promise.
#[derive(Serialize)]
struct Row {
    name: String,
    transport: &'static str,
    place: String,
    is_lazy: bool,
    login: Option<&'static str>,
}

pub(super) fn run(ctx: &mut Ctx<'_>) -> Result<io::Result<Outcome>, Failed> {
    let web = web(&environment::all(), Logins::Unwanted)?;
    let mut rows = Vec::new();
    for config in configured(manifest_here().as_deref())? {
        let is_kept = match &config.endpoint {
            Endpoint::Http(_) => wait(web.has_login(&config))??,
            Endpoint::Stdio(_) => false,
        };
        rows.push(row(config, is_kept));
    }
    Ok(write(&rows, ctx).map(|()| Outcome::Done))
}

fn row(config: ServerConfig, is_kept: bool) -> Row {
    let (transport, place, login) = match &config.endpoint {
        Endpoint::Stdio(stdio) => {
            let mut words = vec![stdio.command.clone()];
            words.extend(stdio.arguments.iter().cloned());
            ("stdio", words.join(" "), None)
        }
        Endpoint::Http(http) => {
            let mut names = http.headers.iter().map(|(name, _)| name);
            let has_header = names.any(|name| name.eq_ignore_ascii_case("authorization"));
            let login = match (has_header, is_kept) {
                (true, _) => "header",
                (false, true) => "kept",
                (false, false) => "none",
            };
            ("http", http.url.clone(), Some(login))
        }
    };
    Row {
        name: config.name,
        transport,
        place,
        is_lazy: config.is_lazy,
        login,
    }
}

fn write(rows: &[Row], ctx: &mut Ctx<'_>) -> io::Result<()> {
    if ctx.form == Form::Json {
        return ctx.output.json(&json!({"servers": rows}));
    }
    if rows.is_empty() {
        return writeln!(ctx.output, "harn.toml has no table [[mcp]]");
    }
    let mut table = Table::new(["NAME", "TRANSPORT", "LOGIN", "PLACE"]);
    for row in rows {
        let login = row.login.unwrap_or("-");
        table.add([
            row.name.clone(),
            row.transport.to_owned(),
            login.to_owned(),
            row.place.clone(),
        ]);
    }
    table.write(ctx.output)
}
