//! The shells of this machine.
//!
//! ```text
//! $HARN_DEFAULT_SHELL  configured ─┐
//! $SHELL               env         │
//! /etc/passwd          login       ├─► the first of every name ─► the first that is there
//! /etc/shells          etc_shells  │
//! the usual ones       fallback   ─┘
//! ```

use std::path::{Path, PathBuf};

use harn_machine::value::{Dict, Text};
use harn_machine::{Answer, Context, Failure, Fault, Request, Value};

use super::Params;
use crate::files::{read_text, status};

const USUAL: [&str; 6] = [
    "/bin/zsh",
    "/bin/bash",
    "/bin/sh",
    "/usr/bin/zsh",
    "/usr/bin/bash",
    "/usr/bin/sh",
];

/// The shells of a run, once somebody asked, and the one that was chosen.
#[derive(Default)]
struct Shells {
    all: Option<Vec<Shell>>,
    chosen: Option<Text>,
}

/// A shell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Shell {
    /// The name of its file, in lower case.
    id: Text,
    pub(super) path: String,
    /// Where it was found.
    source: &'static str,
    /// Whether it is there.
    is_available: bool,
}

/// How a shell takes a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Family {
    Posix,
    Cmd,
    PowerShell,
}

/// How a command is to be run.
pub(super) struct Manner {
    pub(super) is_login: bool,
    pub(super) is_interactive: bool,
}

impl Manner {
    pub(super) fn of(params: &Params) -> Self {
        Self {
            is_login: params.is_set("login"),
            is_interactive: params.is_set("interactive"),
        }
    }
}

impl Shell {
    fn new(path: &str, source: &'static str, is_available: bool) -> Self {
        let name = Path::new(path).file_name().unwrap_or_default();
        Self {
            id: Text::from(name.to_string_lossy().to_lowercase()),
            path: path.to_owned(),
            source,
            is_available,
        }
    }

    fn family(&self) -> Family {
        match self.id.trim_end_matches(".exe") {
            "cmd" => Family::Cmd,
            "powershell" | "pwsh" => Family::PowerShell,
            _ => Family::Posix,
        }
    }

    /// The arguments that come before a command.
    pub(super) fn arguments(&self, manner: &Manner) -> Vec<String> {
        let arguments: &[&str] = match self.family() {
            Family::Cmd => &["/C"],
            Family::PowerShell => &["-NoProfile", "-Command"],
            Family::Posix => match (manner.is_login, manner.is_interactive) {
                (false, false) => &["-c"],
                (true, false) => &["-l", "-c"],
                (false, true) => &["-i", "-c"],
                (true, true) => &["-l", "-i", "-c"],
            },
        };
        arguments.iter().map(|it| (*it).to_owned()).collect()
    }

    /// As programs see it.
    pub(super) fn described(&self) -> Value {
        let arguments = |is_login: bool| -> Value {
            let manner = Manner {
                is_login,
                is_interactive: false,
            };
            self.arguments(&manner)
                .into_iter()
                .map(Value::from)
                .collect()
        };
        let is_posix = self.family() == Family::Posix;
        let platform = match std::env::consts::OS {
            "macos" => "darwin",
            other => other,
        };
        Value::dict([
            ("available", self.is_available.into()),
            ("default_args", arguments(false)),
            ("id", self.id.clone().into()),
            ("label", self.id.clone().into()),
            ("login_args", arguments(true)),
            ("path", self.path.as_str().into()),
            ("platform", platform.into()),
            ("source", self.source.into()),
            ("supports_interactive", is_posix.into()),
            ("supports_login", is_posix.into()),
        ])
    }
}

/// Every shell there is or should be, the first of each name.
fn all(context: &mut Context<'_>) -> Vec<Shell> {
    if let Some(all) = &context.state::<Shells>().all {
        return all.clone();
    }
    let mut candidates = Vec::new();
    for (name, source) in [("HARN_DEFAULT_SHELL", "configured"), ("SHELL", "env")] {
        candidates.extend(variable(context, name).map(|path| (path, source)));
    }
    candidates.extend(login_shell(context).map(|path| (path, "login")));
    let listed = read_text(context, PathBuf::from("/etc/shells")).unwrap_or_default();
    let listed = listed.lines().map(str::trim);
    let listed = listed.filter(|line| line.starts_with('/'));
    candidates.extend(listed.map(|path| (path.to_owned(), "etc_shells")));
    candidates.extend(USUAL.map(|path| (path.to_owned(), "fallback")));
    let mut shells: Vec<Shell> = Vec::new();
    for (path, source) in candidates {
        let facts = status(context, PathBuf::from(&path));
        let is_available = facts.is_some_and(|facts| facts.is_file);
        let shell = Shell::new(&path, source, is_available);
        let is_named = matches!(source, "configured" | "env" | "login");
        let is_new = shells.iter().all(|known| known.id != shell.id);
        if is_new && (is_available || is_named) {
            shells.push(shell);
        }
    }
    context.state::<Shells>().all = Some(shells.clone());
    shells
}

fn variable(context: &mut Context<'_>, name: &str) -> Option<String> {
    match context.perform(&Request::Environment(name.to_owned())) {
        Answer::Text(value) => value.filter(|value| !value.is_empty()),
        _ => None,
    }
}

/// The shell that the list of users gives for this one.
fn login_shell(context: &mut Context<'_>) -> Option<String> {
    let user = variable(context, "USER").or_else(|| variable(context, "LOGNAME"))?;
    let users = read_text(context, PathBuf::from("/etc/passwd")).ok()?;
    let mut fields = users.lines().map(|line| line.split(':'));
    let mut own = fields.find_map(|mut fields| (fields.next()? == user).then_some(fields))?;
    let shell = own.next_back()?.trim();
    shell.starts_with('/').then(|| shell.to_owned())
}

/// The shell that commands run in.
pub(super) fn default_shell(context: &mut Context<'_>) -> Shell {
    let all = all(context);
    let chosen = context.state::<Shells>().chosen.clone();
    let mut available = all.iter().filter(|shell| shell.is_available);
    let chosen = chosen.and_then(|id| available.clone().find(|shell| shell.id == id));
    let shell = chosen.or_else(|| available.next()).cloned();
    shell.unwrap_or_else(|| Shell::new("/bin/sh", "fallback", false))
}

/// The path of the shell that the program has chosen, if it has.
pub(crate) fn selected_path(context: &mut Context<'_>) -> Option<String> {
    context.state::<Shells>().chosen.as_ref()?;
    Some(default_shell(context).path)
}

/// `process.list_shells`
pub(super) fn list(context: &mut Context<'_>) -> Value {
    let shells = all(context).iter().map(Shell::described).collect();
    let default = default_shell(context);
    Value::dict([("default_shell_id", default.id.into()), ("shells", shells)])
}

/// The shell of an id that is there.
fn find(context: &mut Context<'_>, id: &str) -> Option<Shell> {
    let mut all = all(context).into_iter();
    all.find(|shell| shell.id.as_str() == id && shell.is_available)
}

/// `process.set_default_shell`
pub(super) fn set_default(context: &mut Context<'_>, params: &Params) -> Result<Value, Failure> {
    let id = params.required(&["shell_id", "id"])?;
    let shell = find(context, &id).ok_or_else(|| unknown("process.set_default_shell", &id))?;
    context.state::<Shells>().chosen = Some(shell.id.clone());
    Ok(shell.described())
}

fn unknown(operation: &str, id: &str) -> Failure {
    let message = format!("{operation}: unknown or unavailable shell id \"{id}\"");
    Fault::runtime(message)
}

/// The shell that parameters name, if they do.
pub(super) fn named(
    context: &mut Context<'_>,
    operation: &str,
    params: &Params,
) -> Result<Option<Shell>, Failure> {
    let described = match params.get("shell") {
        Some(Value::Dict(shell)) => Params(shell.clone()),
        _ => Params(Dict::default()),
    };
    if let Some(path) = described.text(&["path"]) {
        let facts = status(context, PathBuf::from(path.as_str()));
        let is_available = facts.is_some_and(|facts| facts.is_file);
        return Ok(Some(Shell::new(&path, "configured", is_available)));
    }
    let id = params
        .text(&["shell_id"])
        .or_else(|| described.text(&["id"]));
    let id = id.or_else(|| match params.get("shell") {
        Some(Value::Text(id)) => Some(id.clone()),
        _ => None,
    });
    let Some(id) = id else {
        return Ok(None);
    };
    let shell = find(context, &id).ok_or_else(|| unknown(operation, &id))?;
    Ok(Some(shell))
}

/// `process.shell_invocation`
pub(super) fn invocation(context: &mut Context<'_>, params: &Params) -> Result<Value, Failure> {
    let command = params.required(&["command"])?;
    let shell = named(context, "process.shell_invocation", params)?;
    let shell = shell.unwrap_or_else(|| default_shell(context));
    let mut arguments = shell.arguments(&Manner::of(params));
    let at = arguments.len();
    arguments.push(command.to_string());
    Ok(Value::dict([
        ("args", arguments.into_iter().map(Value::from).collect()),
        ("command_arg_index", at.into()),
        ("program", shell.path.as_str().into()),
        ("shell", shell.described()),
    ]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_is_called_like_its_file() {
        let shell = Shell::new("/opt/Bin/ZSH", "env", true);
        assert_eq!(shell.id.as_str(), "zsh");
    }

    #[test]
    fn every_family_takes_commands_its_own_way() {
        let manner = |is_login, is_interactive| Manner {
            is_login,
            is_interactive,
        };
        for (path, is_login, is_interactive, expected) in [
            ("/bin/sh", false, false, "-c"),
            ("/bin/bash", true, false, "-l -c"),
            ("/bin/bash", false, true, "-i -c"),
            ("/bin/zsh", true, true, "-l -i -c"),
            ("/x/cmd.exe", true, false, "/C"),
            ("/x/pwsh", false, false, "-NoProfile -Command"),
        ] {
            let shell = Shell::new(path, "env", true);
            let arguments = shell.arguments(&manner(is_login, is_interactive));
            assert_eq!(arguments.join(" "), expected, "{path}");
        }
    }
}
