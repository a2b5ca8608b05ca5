//! The environment, read once.
//!
//! Nobody else asks for a variable, so this file is the list of all that can
//! change what the program does from outside its arguments. The variables of the
//! event log are listed by `harn_log::EventLogConfig`, which asks here. Secrets are taken out of
//! the environment of the process when it starts ([`take_secrets`]), and are here still.

mod withheld;

use std::collections::BTreeMap;
use std::env::VarError;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

pub(crate) use withheld::take_secrets;

use crate::clock::Clock;
use crate::timestamp;

/// What the environment says.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Environment {
    /// `NO_COLOR` is set and not empty: <https://no-color.org>.
    pub(crate) no_color: bool,
    /// `COLUMNS`: how wide lines may be, for those who know better than their terminal.
    pub(crate) columns: Option<usize>,
    /// What time it is. `HARN_NOW` stops the clock at a time such as
    /// `2026-01-31T12:00:00Z`, so that pages and tests look the same every day.
    pub(crate) clock: Clock,
}

impl Environment {
    pub(crate) fn read() -> Self {
        let now = variable("HARN_NOW").and_then(|text| timestamp::parse(&text));
        Self {
            no_color: is_set("NO_COLOR"),
            columns: variable("COLUMNS").and_then(|text| text.parse().ok()),
            clock: now.map_or(Clock::System, Clock::Stopped),
        }
    }
}

/// The value of a variable. What is not Unicode cannot be meant for us.
pub(crate) fn variable(name: &str) -> Option<String> {
    value_of(name).ok()
}

/// Where we keep what should outlive us but is no setting, such as histories: our part of
/// `XDG_STATE_HOME`, or else of `~/.local/state`.
pub(crate) fn state_folder() -> Option<PathBuf> {
    let given = variable("XDG_STATE_HOME").map(PathBuf::from);
    let given = given.filter(|path| path.is_absolute());
    let home = || Some(PathBuf::from(variable("HOME")?).join(".local/state"));
    given.or_else(home).map(|state| state.join("harn"))
}

/// All variables, for programs. What is not Unicode cannot be a text of theirs.
pub(crate) fn all() -> BTreeMap<String, String> {
    let mut variables = of_process();
    variables.extend(withheld::variables().into_iter().flatten().map(owned));
    variables
}

fn owned((name, value): (&String, &String)) -> (String, String) {
    (name.clone(), value.clone())
}

/// The variables that the process has still.
fn of_process() -> BTreeMap<String, String> {
    let variables = std::env::vars_os();
    let variables = variables.filter_map(|(name, value)| {
        let (name, value) = (name.into_string().ok()?, value.into_string().ok()?);
        Some((name, value))
    });
    variables.collect()
}

/// The same for programs that may call `harn` themselves, as an agent does that runs tests. Where
/// it cannot be found, because it runs from where it was built, its folder is searched last.
pub(crate) fn for_programs() -> BTreeMap<String, String> {
    let mut variables = all();
    let harn = std::env::current_exe().ok();
    if let (Some(path), Some(harn)) = (variables.get_mut("PATH"), harn)
        && let Some(longer) = with_folder_of(&harn, path)
    {
        *path = longer;
    }
    variables
}

/// The search path with the folder of a program at its end; nothing if the program, or another
/// one of its name, is found already.
fn with_folder_of(program: &Path, path: &str) -> Option<String> {
    let (folder, name) = (program.parent()?, program.file_name()?);
    let mut folders: Vec<PathBuf> = std::env::split_paths(path).collect();
    if folders.iter().any(|folder| folder.join(name).is_file()) {
        return None;
    }
    folders.push(folder.to_owned());
    let joined = std::env::join_paths(folders).ok();
    joined.map(OsString::into_string)?.ok()
}

fn is_set(name: &str) -> bool {
    match value_of(name) {
        Ok(value) => !value.is_empty(),
        Err(VarError::NotPresent) => false,
        Err(VarError::NotUnicode(_)) => true,
    }
}

fn value_of(name: &str) -> Result<String, VarError> {
    if let Some(value) = withheld::variables().and_then(|secrets| secrets.get(name)) {
        return Ok(value.clone());
    }
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the one place that reads the environment"
    )]
    std::env::var(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_is_not_found_is_looked_for_last() {
        let folder = Path::new("/no/such/folder");
        let longer = with_folder_of(&folder.join("harn"), "/usr/bin:/bin");
        assert_eq!(longer.as_deref(), Some("/usr/bin:/bin:/no/such/folder"));
    }

    #[test]
    fn a_program_that_is_found_is_left_where_it_is() {
        assert_eq!(
            with_folder_of(Path::new("/no/such/sh"), "/usr/bin:/bin"),
            None
        );
    }
}
