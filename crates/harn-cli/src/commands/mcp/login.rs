//! `harn mcp login`: proves to a server who asks.

use std::io::{self, Write};

use clap::Args;
use harn_vm::agent::tool_servers::{Endpoint, Listed};
use serde_json::json;

use super::servers::Target;
use super::web::Logins;
use super::{Ctx, Failed, Form, Outcome, wait};
use crate::arguments::after_help;
use crate::output::Untrusted;

const EXAMPLES: &str = "  \
  harn mcp login github                Log in, if the server wants that
  harn mcp login github --again        As somebody else, or for other scopes
  harn mcp login https://mcp.example.com/mcp";

/// Log in to a server
///
/// Asks the server for its tools. If it wants to know who asks, a page of its authorization
/// server is opened in a browser, whose answer comes back to a port of this machine; it is
/// waited for at most 5 minutes. The tokens are kept in the keychain of the system, or in a
/// file that only its owner can read (HARN_MCP_CREDENTIALS=file), and go to that server alone.
///
/// With --json the answer is {"server", "url", "logged_in"}; logged_in is false if the server
/// wants nobody to log in.
#[derive(Debug, Args)]
#[command(after_help = after_help(EXAMPLES))]
pub(super) struct Arguments {
    /// The name of a server in harn.toml, or a URL
    #[arg(value_name = "NAME")]
    name: String,

    /// Forget an earlier login first
    #[arg(long)]
    again: bool,
}

pub(super) fn run(arguments: &Arguments, ctx: &mut Ctx<'_>) -> Result<io::Result<Outcome>, Failed> {
    let target = Target::find(&arguments.name, Logins::Wanted)?;
    let Endpoint::Http(endpoint) = &target.config.endpoint else {
        return Err(Failed(format!(
            "`{}` is a process of this machine; there is nobody to log in to",
            arguments.name
        )));
    };
    let web = &target.surroundings.web;
    let is_kept = wait(async {
        if arguments.again {
            web.logout(&target.config).await?;
        }
        let server = target.server();
        server.list(Listed::Tools).await?;
        server.close().await;
        Ok::<_, Failed>(web.has_login(&target.config).await?)
    })??;
    Ok(tell(ctx, &arguments.name, &endpoint.url, is_kept))
}

fn tell(ctx: &mut Ctx<'_>, name: &str, url: &str, is_kept: bool) -> io::Result<Outcome> {
    match (ctx.form, is_kept) {
        (Form::Json, _) => {
            let told = json!({"server": name, "url": url, "logged_in": is_kept});
            ctx.output.json(&told)?;
        }
        (Form::Text, true) => writeln!(ctx.output, "logged in to {}", Untrusted(name))?,
        (Form::Text, false) => {
            writeln!(ctx.output, "{} wants nobody to log in", Untrusted(name))?;
        }
    }
    Ok(Outcome::Done)
}
