//! Ours and the languages it is measured against, which are programs of their own.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::options::Options;
use harn_bench::process;

/// A language and the program that runs it.
pub(crate) struct Language {
    pub(crate) name: &'static str,
    /// What its files end with.
    pub(crate) extension: &'static str,
    /// As the program tells it; for the head of the table.
    pub(crate) version: String,
    /// The program, and what stands before the file.
    command: Vec<PathBuf>,
    /// What stands between the file and its arguments.
    separator: Option<&'static str>,
}

/// Whether there is a machine to measure.
pub(crate) enum Harn {
    /// This program runs others.
    Runs(PathBuf),
    /// There is none, or nobody asked for it.
    Absent,
}

impl Harn {
    pub(crate) fn find(options: &Options) -> Result<Self, String> {
        if options.peers_only {
            return Ok(Self::Absent);
        }
        let program = match &options.harn {
            Some(path) => path.clone(),
            None => beside_us()?,
        };
        if !program.is_file() {
            let advice = "`cargo xtask bench vm` builds it";
            return Err(format!("there is no {}; {advice}", program.display()));
        }
        let mut help = Command::new(&program);
        help.args(["run", "--help"]);
        if let Err(why) = process::run(help) {
            eprintln!("only the peers are measured, for `harn run` does not exist: {why}");
            return Ok(Self::Absent);
        }
        Ok(Self::Runs(program))
    }
}

/// Where cargo puts what it builds in the same profile.
fn beside_us() -> Result<PathBuf, String> {
    let ours = std::env::current_exe().map_err(|why| format!("where are we? {why}"))?;
    Ok(ours.with_file_name("harn"))
}

impl Language {
    /// Ours first, unless it is absent.
    pub(crate) fn all(harn: &Harn) -> Result<Vec<Self>, String> {
        let mut languages = Vec::new();
        if let Harn::Runs(program) = harn {
            languages.push(Self::harn(program)?);
        }
        languages.extend([Self::lua()?, Self::python()?, Self::node()?]);
        Ok(languages)
    }

    fn harn(program: &Path) -> Result<Self, String> {
        Ok(Self {
            name: HARN,
            extension: "harn",
            version: answer(program, &["--version"])?,
            command: vec![program.to_owned(), "run".into()],
            separator: Some("--"),
        })
    }

    fn lua() -> Result<Self, String> {
        let program = Path::new("lua5.4");
        let version = answer(program, &["-v"]).map_err(|why| missing(&why, "lua5.4"))?;
        Ok(Self {
            name: LUA,
            extension: "lua",
            // What follows is who has the rights.
            version: version.split("  ").next().unwrap_or_default().to_string(),
            command: vec![program.to_owned()],
            separator: None,
        })
    }

    /// Debian's, because a version manager on the path may have built one without its
    /// optimisations. Without Debian's, the one that answers to the name: a version manager
    /// has a script there, which would take longer than Python itself.
    fn python() -> Result<Self, String> {
        let debian = PathBuf::from("/usr/bin/python3");
        let program = if debian.is_file() {
            debian
        } else {
            let question = ["-c", "import sys; print(sys.executable)"];
            let found = answer(Path::new("python3"), &question);
            found.map_err(|why| missing(&why, "python3"))?.into()
        };
        Ok(Self {
            name: PYTHON,
            extension: "py",
            version: answer(&program, &["--version"])?,
            command: vec![program],
            separator: None,
        })
    }

    fn node() -> Result<Self, String> {
        let program = Path::new("node");
        let version = answer(program, &["--version"]).map_err(|why| missing(&why, "nodejs"))?;
        Ok(Self {
            name: NODE,
            extension: "js",
            version: format!("Node {version} --jitless"),
            command: vec![program.to_owned(), "--jitless".into()],
            separator: None,
        })
    }

    /// The command that runs a file.
    pub(crate) fn command(&self, file: &Path, size: Option<usize>) -> Command {
        let (program, before) = self.command.split_first().expect("every language has one");
        let mut command = Command::new(program);
        command.args(before).arg(file);
        if let Some(size) = size {
            command.args(self.separator).arg(size.to_string());
        }
        command
    }
}

/// Names, as the tables show them.
pub(crate) const HARN: &str = "Harn";
pub(crate) const LUA: &str = "Lua";
pub(crate) const PYTHON: &str = "CPython";
pub(crate) const NODE: &str = "Node";

fn answer(program: &Path, arguments: &[&str]) -> Result<String, String> {
    let mut command = Command::new(program);
    command.args(arguments);
    process::run(command).map(|run| run.output)
}

fn missing(why: &str, package: &str) -> String {
    format!("{why}; it is in the Debian package `{package}`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_reaches_a_harn_program_behind_two_dashes() {
        let harn = Language {
            name: HARN,
            extension: "harn",
            version: String::new(),
            command: vec!["harn".into(), "run".into()],
            separator: Some("--"),
        };
        let words = |size| {
            let command = harn.command(Path::new("a.harn"), size);
            let words = command.get_args().map(|word| word.to_string_lossy());
            words.collect::<Vec<_>>().join(" ")
        };
        assert_eq!(words(Some(9)), "run a.harn -- 9");
        assert_eq!(words(None), "run a.harn");
    }
}
