//! What a program may do, as its operator says.

use std::fmt::Display;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use harn_vm::policy::{Host, Policy, Rule, Rules};

use crate::output::{Output, Untrusted};

/// What a program may do. Everything, unless one of these options says less.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Permissions")]
pub(in crate::commands) struct Permissions {
    /// Forbid all of it: read, write, exec, net or env, separated by commas
    #[arg(long, value_name = "WHAT", value_delimiter = ',')]
    deny: Vec<What>,

    /// Let it read this file or folder and no other; may be given several times
    #[arg(long, value_name = "PATH")]
    allow_read: Vec<PathBuf>,

    /// Let it write this file or folder and no other
    #[arg(long, value_name = "PATH")]
    allow_write: Vec<PathBuf>,

    /// Let it run this program and no other: a name in PATH, or a path
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    allow_exec: Vec<String>,

    /// Let it reach this host and no other, such as example.com, *.example.com or localhost:80
    #[arg(long, value_name = "HOST", value_delimiter = ',')]
    allow_net: Vec<Host>,

    /// Let it see this variable of the environment and no other
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    allow_env: Vec<String>,
}

/// What can be forbidden.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum What {
    Read,
    Write,
    Exec,
    Net,
    Env,
}

impl Permissions {
    /// As the policy of a run. `None`: the options make no sense, which was told.
    pub(super) fn policy_or_complaint(&self, output: &mut Output) -> Option<Policy> {
        match self.policy() {
            Ok(policy) => Some(policy),
            Err(why) => {
                output.error(format_args!("{}", Untrusted(why)));
                None
            }
        }
    }

    /// As the policy of a run.
    ///
    /// # Errors
    /// Two options contradict each other, or a path leads nowhere.
    pub(in crate::commands) fn policy(&self) -> Result<Policy, String> {
        let rules = Rules {
            workspace_roots: Vec::new(),
            read: self.rule(What::Read, "read", &self.allow_read)?,
            write: self.rule(What::Write, "write", &self.allow_write)?,
            exec: self.rule(What::Exec, "exec", &self.allow_exec)?,
            net: self.rule(What::Net, "net", &self.allow_net)?,
            env: self.rule(What::Env, "env", &self.allow_env)?,
        };
        if rules == Rules::default() {
            return Ok(Policy::default());
        }
        let policy = Policy::default().narrowed(rules);
        policy.map_err(|error| error.to_string())
    }

    /// Whether nothing can be started.
    pub(in crate::commands) fn forbids_processes(&self) -> bool {
        self.deny.contains(&What::Exec)
    }

    fn rule<T: Clone>(
        &self,
        what: What,
        name: impl Display,
        allowed: &[T],
    ) -> Result<Rule<T>, String> {
        match (self.deny.contains(&what), allowed.is_empty()) {
            (false, true) => Ok(Rule::Anything),
            (true, true) => Ok(Rule::Nothing),
            (false, false) => Ok(Rule::Only(allowed.to_vec())),
            (true, false) => Err(format!(
                "--deny {name} and --allow-{name} contradict each other; --allow-{name} alone \
                 forbids everything else"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Command {
        #[command(flatten)]
        permissions: Permissions,
    }

    fn policy(words: &[&str]) -> Result<Policy, String> {
        let words = std::iter::once("run").chain(words.iter().copied());
        let command = Command::try_parse_from(words).map_err(|error| error.to_string())?;
        command.permissions.policy()
    }

    #[test]
    fn options_only_forbid() {
        assert!(policy(&[]).unwrap().is_permissive());
        assert!(!policy(&["--deny", "net,exec"]).unwrap().is_permissive());
        assert!(!policy(&["--allow-env=A,B"]).unwrap().is_permissive());
    }

    #[test]
    fn what_makes_no_sense_is_said() {
        let both = policy(&["--deny=net", "--allow-net=example.com"]);
        assert!(both.unwrap_err().contains("contradict each other"));
        let host = policy(&["--allow-net=http://example.com"]);
        assert!(host.unwrap_err().contains("is not a host such as"));
        assert!(policy(&["--deny=everything"]).is_err());
    }
}
