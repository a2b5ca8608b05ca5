//! Ours and the languages it is measured against, which are programs of their own.

use std::path::{Path, PathBuf};
use std::process::Command;

use harn_bench::{Selection, process};

/// Names, as the tables show them.
pub(crate) const HARN: &str = "Harn";
pub(crate) const PYTHON: &str = "CPython";
pub(crate) const NODE: &str = "Node";

/// A language and the program that runs it.
pub(crate) struct Language {
    pub(crate) name: &'static str,
    /// What its files end with.
    pub(crate) extension: &'static str,
    /// As the program tells it; for the head of the table.
    pub(crate) version: String,
    program: PathBuf,
}

impl Language {
    /// Ours first.
    pub(crate) fn all(options: &Selection) -> Result<Vec<Self>, String> {
        let harn = match &options.harn {
            Some(path) => path.clone(),
            None => beside_us()?,
        };
        if !harn.is_file() {
            let advice = "`cargo xtask bench stdlib` builds it";
            return Err(format!("there is no {}; {advice}", harn.display()));
        }
        let languages = [
            (HARN, "harn", harn),
            (PYTHON, "py", python()),
            (NODE, "js", PathBuf::from("node")),
        ];
        let languages = languages.into_iter().map(|(name, extension, program)| {
            let version = version(&program)?;
            // Ours and theirs say their names, Node does not.
            let version = match name {
                NODE => format!("{NODE} {version}"),
                _ => version,
            };
            Ok(Self {
                name,
                extension,
                version,
                program,
            })
        });
        languages.collect()
    }

    /// The command that runs a file.
    pub(crate) fn command(&self, file: &Path, words: [&str; 3]) -> Command {
        let mut command = Command::new(&self.program);
        match self.name {
            HARN => command.arg("run").arg(file).arg("--"),
            // It would leave what it compiled beside our programs.
            PYTHON => command.arg("-B").arg(file),
            _ => command.arg(file),
        };
        command.args(words);
        command
    }
}

/// Where cargo puts what it builds in the same profile.
fn beside_us() -> Result<PathBuf, String> {
    let ours = std::env::current_exe().map_err(|why| format!("where are we? {why}"))?;
    Ok(ours.with_file_name("harn"))
}

/// Debian's, because a version manager on the path may have built one without its
/// optimisations.
fn python() -> PathBuf {
    let debian = PathBuf::from("/usr/bin/python3");
    match debian.is_file() {
        true => debian,
        false => PathBuf::from("python3"),
    }
}

fn version(program: &Path) -> Result<String, String> {
    let mut command = Command::new(program);
    command.arg("--version");
    process::run(command).map(|run| run.output)
}
