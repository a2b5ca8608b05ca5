//! What a program may do in the world.
//!
//! ```text
//! request ─► World::perform/begin ─► Policy ─► every layer agrees? ─► performed
//!                                       └─ one does not ─► Answer::Refused, which names the rule
//! ```
//!
//! A policy is a list of layers, and what a program does has to pass all of them. So whoever
//! adds a layer can only forbid more: the operator narrows what is possible, an embedder what
//! the operator left, the agent runtime what the embedder left. Without a layer everything is
//! allowed, which is what a plain script gets.
//!
//! The world asks before it performs anything, so no builtin can forget to. What is asked for
//! files is answered by `crate::files`, which also opens them so that links cannot lead astray.
//! A program that may be run is not kept in by any of this: it can do what its user can do.

mod exec;
mod fence;
mod hosts;
mod rules;
mod transport;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use harn_agent::real_path::resolve;

pub use hosts::Host;
pub use rules::{Rule, Rules};

pub(crate) use exec::can_be_run;
pub(crate) use fence::AgentFence;
pub(crate) use transport::guarded;

/// Variables that say nothing about anybody. Commands find them whatever the rules say, because
/// most do not work without.
const HARMLESS_VARIABLES: [&str; 7] = ["PATH", "HOME", "LANG", "TERM", "TMPDIR", "USER", "SHELL"];

/// What a program may do. The default is everything.
///
/// ```
/// use harn_vm::policy::{Policy, Rule, Rules};
///
/// let policy = Policy::default().narrowed(Rules {
///     write: Rule::Nothing,
///     exec: Rule::Only(vec!["git".to_owned()]),
///     ..Rules::default()
/// })?;
/// assert!(!policy.is_permissive());
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Policy {
    layers: Vec<Layer>,
}

/// Rules, and the paths in them without links.
#[derive(Clone, Debug)]
struct Layer {
    rules: Rules,
    roots: Vec<PathBuf>,
    read: Vec<PathBuf>,
    write: Vec<PathBuf>,
}

/// What is done with a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// It is looked at.
    Read,
    /// It is made or changed.
    Write,
    /// It is removed, which the rules about writing allow or not.
    Delete,
}

impl Access {
    pub(crate) fn verb(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Delete => "delete",
        }
    }
}

/// Why something is not allowed: what was attempted, and against which rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal(String);

impl Refusal {
    /// A refusal that says what was attempted, and against what.
    pub(crate) fn new(text: String) -> Self {
        Self(text)
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for Refusal {}

impl Policy {
    /// The same policy with more rules. Relative paths in them start where the process works,
    /// and their links are followed now, once.
    ///
    /// # Errors
    /// A path goes in circles, or the process works nowhere.
    pub fn narrowed(mut self, rules: Rules) -> io::Result<Self> {
        self.layers.push(Layer {
            roots: real_paths(&rules.workspace_roots)?,
            read: real_paths(rules.read.allowed())?,
            write: real_paths(rules.write.allowed())?,
            rules,
        });
        Ok(self)
    }

    /// Whether everything is allowed.
    pub fn is_permissive(&self) -> bool {
        let mut layers = self.layers.iter();
        layers.all(|layer| layer.rules == Rules::default())
    }

    /// Whether every file may be read, written and removed.
    pub(crate) fn is_open_to_files(&self) -> bool {
        self.layers.iter().all(|layer| {
            let rules = &layer.rules;
            let is_open = rules.read.is_anything() && rules.write.is_anything();
            // The environment is a file as well.
            layer.roots.is_empty() && is_open && rules.env.is_anything()
        })
    }

    /// Whether something may be done with a path without links. `shown` is how the program
    /// wrote it.
    ///
    /// # Errors
    /// The first rule that forbids it.
    pub fn check_path(&self, access: Access, real: &Path, shown: &Path) -> Result<(), Refusal> {
        for layer in &self.layers {
            let attempt = || format!("attempted to {} '{}'", access.verb(), shown.display());
            let is_in = |roots: &[PathBuf]| roots.iter().any(|root| real.starts_with(root));
            layer.check_roots(real, &attempt)?;
            let (rule, name, allowed) = match access {
                Access::Read => (&layer.rules.read, "read", &layer.read),
                Access::Write | Access::Delete => (&layer.rules.write, "write", &layer.write),
            };
            if !rule.is_anything() && !is_in(allowed) {
                let rule = rule.describe(name, |path| path.display().to_string());
                return Err(Refusal(format!("{} against {rule}", attempt())));
            }
            if !layer.rules.env.is_anything() && is_environment(real) {
                let rule = layer.rules.env.describe("env", Clone::clone);
                return Err(Refusal(format!("{} against {rule}", attempt())));
            }
        }
        Ok(())
    }

    /// Whether files have to be in certain folders.
    pub(crate) fn has_roots(&self) -> bool {
        self.layers.iter().any(|layer| !layer.roots.is_empty())
    }

    /// Whether a path without links lies in those folders.
    ///
    /// # Errors
    /// The first layer whose folders it is outside of.
    pub(crate) fn check_roots(
        &self,
        real: &Path,
        attempt: &dyn Fn() -> String,
    ) -> Result<(), Refusal> {
        let mut layers = self.layers.iter();
        layers.try_for_each(|layer| layer.check_roots(real, attempt))
    }

    /// Whether a variable of the environment may be seen.
    ///
    /// # Errors
    /// The first rule that forbids it.
    pub fn check_variable(&self, name: &str) -> Result<(), Refusal> {
        let is_it = |allowed: &String| allowed == name;
        self.check_each(
            |rules| &rules.env,
            "env",
            is_it,
            Clone::clone,
            || format!("attempted to read the variable '{name}'"),
        )
    }

    /// Whether a host may be spoken with.
    ///
    /// # Errors
    /// The first rule that forbids it.
    pub fn check_host(&self, host: &str, port: Option<u16>) -> Result<(), Refusal> {
        let is_it = |allowed: &Host| allowed.admits(host, port);
        self.check_each(
            |rules| &rules.net,
            "net",
            is_it,
            Host::to_string,
            || {
                let port = port.map(|port| format!(":{port}")).unwrap_or_default();
                format!("attempted to reach '{host}{port}'")
            },
        )
    }

    /// Whether the host of a URL may be spoken with. Every URL that something is sent to comes
    /// by here, those that a redirect names included.
    ///
    /// # Errors
    /// The first rule that forbids it.
    pub fn check_url(&self, url: &str) -> Result<(), Refusal> {
        let (host, port) = hosts::of_url(url);
        self.check_host(&host, port)
    }

    /// The variables that a process finds, of those there are.
    pub(crate) fn variables_of_processes(
        &self,
        all: &BTreeMap<String, String>,
    ) -> BTreeMap<String, String> {
        let is_seen =
            |name: &str| HARMLESS_VARIABLES.contains(&name) || self.check_variable(name).is_ok();
        let seen = all.iter().filter(|(name, _)| is_seen(name));
        seen.map(|(name, value)| (name.clone(), value.clone()))
            .collect()
    }

    /// Whether one of the things that each layer allows is what is attempted.
    fn check_each<T>(
        &self,
        rule_of: impl Fn(&Rules) -> &Rule<T>,
        name: &str,
        is_it: impl Fn(&T) -> bool,
        show: impl Fn(&T) -> String,
        attempt: impl Fn() -> String,
    ) -> Result<(), Refusal> {
        for layer in &self.layers {
            let rule = rule_of(&layer.rules);
            if !rule.is_anything() && !rule.allowed().iter().any(&is_it) {
                let rule = rule.describe(name, &show);
                return Err(Refusal(format!("{} against {rule}", attempt())));
            }
        }
        Ok(())
    }
}

impl Layer {
    fn check_roots(&self, real: &Path, attempt: &dyn Fn() -> String) -> Result<(), Refusal> {
        let mut roots = self.roots.iter();
        if roots.len() == 0 || roots.any(|root| real.starts_with(root)) {
            return Ok(());
        }
        let roots = listed(&self.rules.workspace_roots);
        let attempt = attempt();
        Err(Refusal(format!(
            "{attempt} outside workspace_roots [{roots}]"
        )))
    }
}

fn real_paths(paths: &[PathBuf]) -> io::Result<Vec<PathBuf>> {
    let real = paths.iter().map(|path| {
        let absolute = std::path::absolute(path)?;
        let circles = || io::Error::other(format!("'{}' goes in circles", path.display()));
        Ok(resolve(&absolute).ok_or_else(circles)?.path)
    });
    real.collect()
}

/// Whether a file shows the environment of a process.
fn is_environment(real: &Path) -> bool {
    real.starts_with("/proc") && real.ends_with("environ")
}

fn listed(paths: &[PathBuf]) -> String {
    let paths: Vec<String> = paths
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    paths.join(", ")
}
