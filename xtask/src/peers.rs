//! Programs of other people that our tests talk to, in private folders.
//!
//! ```text
//! crates/harn-llm/tests/peers/models.txt ──► target/peers/models   a Python environment
//!                             proxy.txt  ──► target/peers/proxy    another
//!                             package*.json ► target/peers/aimock  a node_modules
//! crates/harn-cli/tests/acp/python.txt   ──► target/peers/acp-python  a Python environment
//!                           package*.json ► target/peers/acp     a node_modules
//! bench/src/bin/agent/peers.txt          ──► target/peers/agents   a Python environment
//! crates/harn-stdlib/tests/formats/package*.json ► target/peers/suites  a node_modules
//! crates/harn-mcp/tests/peers/package*.json ► target/peers/tool-servers  a node_modules
//!                             servers.txt   ► target/peers/python-tool-servers  a Python environment
//! crates/harn-cli/tests/harn/mcp/suite/package*.json ► target/peers/mcp-suite  a node_modules
//! ```
//!
//! What is installed is written down beside it, so a folder that is up to date is not
//! touched, and one that was interrupted or is out of date is made anew.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use crate::error::Error;
use crate::process;
use crate::repo::Repo;
use crate::scoreboard::Tally;

/// A folder with programs of other people.
struct Peer {
    name: &'static str,
    source: Source,
}

/// What is installed, pinned, by paths from the root of the repository.
enum Source {
    /// The packages of a Python environment.
    Python(&'static str),
    /// A folder with `package.json` and its lock file.
    Node(&'static str),
}

const PEERS: &[Peer] = &[
    Peer {
        name: "models",
        source: Source::Python("crates/harn-llm/tests/peers/models.txt"),
    },
    Peer {
        name: "proxy",
        source: Source::Python("crates/harn-llm/tests/peers/proxy.txt"),
    },
    Peer {
        name: "aimock",
        source: Source::Node("crates/harn-llm/tests/peers"),
    },
    Peer {
        name: "acp",
        source: Source::Node("crates/harn-cli/tests/acp"),
    },
    Peer {
        name: "acp-python",
        source: Source::Python("crates/harn-cli/tests/acp/python.txt"),
    },
    Peer {
        name: "agents",
        source: Source::Python("bench/src/bin/agent/peers.txt"),
    },
    Peer {
        name: "suites",
        source: Source::Node("crates/harn-stdlib/tests/formats"),
    },
    Peer {
        name: "tool-servers",
        source: Source::Node("crates/harn-mcp/tests/peers"),
    },
    Peer {
        name: "mcp-suite",
        source: Source::Node("crates/harn-cli/tests/harn/mcp/suite"),
    },
    Peer {
        name: "python-tool-servers",
        source: Source::Python("crates/harn-mcp/tests/peers/servers.txt"),
    },
];

/// The files of a Node package that say what it needs.
const NODE_FILES: [&str; 2] = ["package.json", "package-lock.json"];

/// In each folder: what was installed there, written last.
const RECEIPT: &str = "installed";

/// `cargo xtask peers`: installs what is missing and nothing else.
pub(crate) fn run(repo: &Repo, arguments: &[String]) -> Result<ExitCode, Error> {
    if let Some(argument) = arguments.first() {
        return Err(Error::usage(format!("`peers` has no use for `{argument}`")));
    }
    ensure(repo)?;
    Ok(ExitCode::SUCCESS)
}

/// Installs what is missing. Only what could not be installed is counted, as a failure.
pub(crate) fn install(repo: &Repo) -> Tally {
    let mut tally = Tally::default();
    for peer in PEERS {
        if let Err(why) = peer.ensure(repo) {
            tally.check::<Error>(peer.name, Err(why));
        }
    }
    tally
}

/// Installs what is missing, for whoever cannot go on without it.
pub(crate) fn ensure(repo: &Repo) -> Result<(), Error> {
    PEERS.iter().try_for_each(|peer| peer.ensure(repo))
}

impl Peer {
    fn ensure(&self, repo: &Repo) -> Result<(), Error> {
        let folder = repo.target_dir().join("peers").join(self.name);
        let wanted = self.wanted(repo)?;
        if is_up_to_date(&folder, &wanted) {
            return Ok(());
        }
        println!("installing the peer {}", self.name);
        if folder.exists() {
            fs::remove_dir_all(&folder).map_err(Error::file(&folder))?;
        }
        fs::create_dir_all(&folder).map_err(Error::file(&folder))?;
        match self.source {
            Source::Python(list) => python(&folder, &repo.path(list))?,
            Source::Node(package) => node(&folder, &repo.path(package))?,
        }
        let receipt = folder.join(RECEIPT);
        fs::write(&receipt, wanted).map_err(Error::file(&receipt))
    }

    /// Everything that says what belongs into the folder.
    fn wanted(&self, repo: &Repo) -> Result<String, Error> {
        match self.source {
            Source::Python(list) => repo.read(list),
            Source::Node(package) => {
                let texts = NODE_FILES.map(|name| repo.read(&format!("{package}/{name}")));
                Ok(texts.into_iter().collect::<Result<Vec<_>, _>>()?.concat())
            }
        }
    }
}

fn is_up_to_date(folder: &Path, wanted: &str) -> bool {
    fs::read_to_string(folder.join(RECEIPT)).is_ok_and(|installed| installed == wanted)
}

/// Lists are complete, so nothing else is looked for; nothing is compiled, because most of
/// what is installed is never imported.
fn python(folder: &Path, list: &Path) -> Result<(), Error> {
    let mut environment = Command::new("python3");
    environment.args(["-m", "venv"]).arg(folder);
    must_succeed(environment)?;
    let mut pip = Command::new(folder.join("bin/python"));
    pip.args(["-m", "pip", "install", "--quiet", "--no-deps"]);
    pip.args(["--no-compile", "--only-binary=:all:", "--requirement"]);
    pip.arg(list);
    must_succeed(pip)
}

fn node(folder: &Path, package: &Path) -> Result<(), Error> {
    for name in NODE_FILES {
        let copy: PathBuf = folder.join(name);
        fs::copy(package.join(name), &copy).map_err(Error::file(&copy))?;
    }
    let mut npm = Command::new("npm");
    npm.current_dir(folder).args(["ci", "--ignore-scripts"]);
    npm.args(["--no-audit", "--no-fund", "--loglevel=error"]);
    must_succeed(npm)
}

fn must_succeed(command: Command) -> Result<(), Error> {
    let described = process::describe(&command);
    let status = process::live(command)?;
    if status.success() {
        return Ok(());
    }
    Err(Error::Failed {
        command: described,
        outcome: status.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;

    #[test]
    fn a_folder_is_up_to_date_when_its_receipt_says_what_is_wanted() {
        let folder = Scratch::new("peers").unwrap();
        assert!(!is_up_to_date(folder.path(), "a==1\n"));
        fs::write(folder.path().join(RECEIPT), "a==1\n").unwrap();
        assert!(is_up_to_date(folder.path(), "a==1\n"));
        assert!(!is_up_to_date(folder.path(), "a==2\n"));
    }

    #[test]
    fn everything_that_is_installed_is_pinned() {
        let repo = Repo::find().unwrap();
        for peer in PEERS {
            let wanted = peer.wanted(&repo).unwrap();
            if let Source::Python(list) = peer.source {
                let packages = wanted.lines().filter(|line| !line.is_empty());
                for line in packages.filter(|line| !line.starts_with('#')) {
                    assert!(line.contains("=="), "{list}: {line}");
                }
            }
        }
    }
}
