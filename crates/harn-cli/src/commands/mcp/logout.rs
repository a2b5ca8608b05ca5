//! `harn mcp logout`: forgets a login.

use std::io::{self, Write};

use clap::Args;
use serde_json::json;

use super::servers::Target;
use super::web::Logins;
use super::{Ctx, Failed, Form, Outcome, wait};
use crate::arguments::after_help;
use crate::output::Untrusted;

const EXAMPLES: &str = "  \
  harn mcp logout github               Forget the login to a server of harn.toml
  harn mcp logout https://mcp.example.com/mcp";

/// Forget the login to a server
///
/// Removes the tokens from the keychain and from the file. The server is not asked. Forgetting
/// what is not there is no mistake.
///
/// With --json the answer is {"server", "forgotten"}.
#[derive(Debug, Args)]
#[command(after_help = after_help(EXAMPLES))]
pub(super) struct Arguments {
    /// The name of a server in harn.toml, or a URL
    #[arg(value_name = "NAME")]
    name: String,
}

pub(super) fn run(arguments: &Arguments, ctx: &mut Ctx<'_>) -> Result<io::Result<Outcome>, Failed> {
    let target = Target::find(&arguments.name, Logins::Unwanted)?;
    let web = &target.surroundings.web;
    let is_forgotten = wait(web.logout(&target.config))??;
    let name = &arguments.name;
    let told = match (ctx.form, is_forgotten) {
        (Form::Json, _) => ctx
            .output
            .json(&json!({"server": name, "forgotten": is_forgotten})),
        (Form::Text, true) => writeln!(ctx.output, "logged out of {}", Untrusted(name)),
        (Form::Text, false) => writeln!(ctx.output, "nobody was logged in to {}", Untrusted(name)),
    };
    Ok(told.map(|()| Outcome::Done))
}
