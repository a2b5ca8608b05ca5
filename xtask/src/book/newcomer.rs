//! The pages a newcomer follows, played as the newcomer would: in a fresh clone, with an empty
//! home, all commands of a page in one terminal.
//!
//! ```text
//! git clone ──► checkout ┐
//! empty folder ─► HOME   ├─► one bash for all `console` blocks of the page ─► what it printed
//! `harn`, built here     ┘
//! ```
//!
//! Building takes minutes, and what is built in the clone is what is built here. So the program
//! that is built here is in the search path, and a small `cargo` stands for the build: it knows
//! the commands of our pages that build or install, runs `harn` for them, and refuses all others.
//! With `cargo xtask newcomer` the real one builds and installs, for those who have the time.
//!
//! The clone has what git knows, committed or not: an example that somebody forgot to add is
//! missing. It is made once; every page finds it as it was.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use super::console::{Exchange, exchanges};
use super::fences::{self, Block};
use crate::error::Error;
use crate::process;
use crate::repo::Repo;
use crate::scoreboard::Tally;
use crate::scratch::Scratch;
use crate::sources::{SourceFile, Sources};
use crate::verdict::{Complaint, Verdict, complain};

/// The pages, besides those of examples.
const PAGES: &[&str] = &[
    "README.md",
    "docs/src/getting-started.md",
    "docs/src/cookbook.md",
];

/// Where examples are. Their pages must leave the checkout as it was.
const EXAMPLES: &str = "examples/";

/// A page that takes longer is stuck.
const TIMEOUT_SECONDS: &str = "120";

/// How long a build may take on top of that.
const BUILD_TIMEOUT_SECONDS: &str = "3600";

/// What stands before the end of a command in what the terminal prints. No page has it.
const MARK: &str = "==== newcomer";

/// Stands for the build of a newcomer; `harn` is in the search path.
const CARGO: &str = r#"#!/bin/sh
case "$*" in
  "run -q -p harn-cli -- "*) shift 5; exec harn "$@" ;;
  "run -q -p rust-sink") exec rust-sink ;;
  "install --path crates/harn-cli --locked") echo "Installed package harn-cli" >&2 ;;
  *) echo "no page builds with: cargo $*" >&2; exit 1 ;;
esac
"#;

/// Who builds what a page runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Builder {
    /// Nobody: it was built before.
    Stand,
    /// Cargo, in the clone.
    Cargo,
}

/// Whether the commands of a page are played here.
pub(super) fn is_page(path: &str) -> bool {
    PAGES.contains(&path) || is_example(path)
}

/// Whether this is the page of an example.
pub(super) fn is_example(path: &str) -> bool {
    path.strip_prefix(EXAMPLES)
        .is_some_and(|rest| rest.ends_with("/README.md") && rest.matches('/').count() == 1)
}

/// `cargo xtask newcomer`: every page, with a real build, or with what was built before.
pub(crate) fn run(repo: &Repo, arguments: &[String]) -> Result<ExitCode, Error> {
    let builder = builder(arguments)?;
    let sources = Sources::read(repo)?;
    let newcomer = Newcomer::new(repo, builder)?;
    let mut tally = Tally::default();
    for page in sources.files.iter().filter(|file| is_page(&file.path)) {
        for (name, verdict) in newcomer.check(page) {
            tally.check(&name, verdict);
        }
    }
    Ok(match tally.failed {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    })
}

fn builder(arguments: &[String]) -> Result<Builder, Error> {
    match arguments {
        [] => Ok(Builder::Cargo),
        [built] if built == "--built" => Ok(Builder::Stand),
        _ => Err(Error::usage("`newcomer` takes `--built` or nothing")),
    }
}

/// All commands, each followed by its status behind the mark.
fn script<'a>(exchanges: impl Iterator<Item = &'a Exchange>) -> String {
    let mut script = "exec 2>&1\n".to_string();
    for exchange in exchanges {
        script += &exchange.command;
        script += &format!("\nprintf '\\n{MARK} %s\\n' $?\n");
    }
    script
}

/// What the terminal has printed and nobody has looked at yet.
struct Answers<'a>(&'a str);

impl Answers<'_> {
    /// Looks at all commands of a block, also after a failure, so that the next block finds the
    /// output of its own.
    fn check_all(&mut self, exchanges: &[Exchange]) -> Verdict {
        let verdicts: Vec<Verdict> = exchanges.iter().map(|one| self.check(one)).collect();
        verdicts.into_iter().collect()
    }

    /// Takes the output of the next command and compares it.
    fn check(&mut self, exchange: &Exchange) -> Verdict {
        let command = &exchange.command;
        let Some((printed, rest)) = self.0.split_once(MARK) else {
            return complain(format!("`{command}` never ended; it printed\n{}", self.0));
        };
        let (status, rest) = rest.split_once('\n').unwrap_or((rest, ""));
        self.0 = rest;
        if status.trim() != "0" {
            return complain(format!(
                "`{command}` failed ({}) and printed\n{printed}",
                status.trim()
            ));
        }
        exchange.compare(printed)
    }
}

/// Somebody with a clone, a home and a folder for temporary files, all gone afterwards.
pub(super) struct Newcomer {
    scratch: Scratch,
    target: PathBuf,
    builder: Builder,
}

impl Newcomer {
    pub(super) fn new(repo: &Repo, builder: Builder) -> Result<Self, Error> {
        let newcomer = Self {
            scratch: Scratch::new("newcomer")?,
            target: repo.target_dir(),
            builder,
        };
        newcomer.clone_from(repo)?;
        let bin = newcomer.path("bin");
        fs::create_dir(&bin).map_err(Error::file(&bin))?;
        if builder == Builder::Stand {
            let cargo = bin.join("cargo");
            fs::write(&cargo, CARGO).map_err(Error::file(&cargo))?;
            let executable = fs::Permissions::from_mode(0o755);
            fs::set_permissions(&cargo, executable).map_err(Error::file(&cargo))?;
        }
        Ok(newcomer)
    }

    /// Plays a page; gives what came of each block, by name.
    pub(super) fn check(&self, page: &SourceFile) -> Vec<(String, Verdict)> {
        let blocks = fences::blocks(&page.text).into_iter();
        let blocks: Vec<Block> = blocks.filter(|one| one.info == "console").collect();
        if blocks.is_empty() {
            return Vec::new();
        }
        let name = |block: &Block| format!("{}:{} newcomer", page.path, block.line);
        match self.play(page, &blocks) {
            Ok(verdicts) => blocks.iter().map(name).zip(verdicts).collect(),
            Err(why) => vec![(name(&blocks[0]), Err(why))],
        }
    }

    fn play(&self, page: &SourceFile, blocks: &[Block]) -> Result<Vec<Verdict>, Complaint> {
        let parts: Vec<Vec<Exchange>> = blocks
            .iter()
            .map(|block| exchanges(&block.text))
            .collect::<Result<_, _>>()?;
        self.begin_anew()?;
        let printed = self.terminal(&script(parts.iter().flatten()))?;
        let mut answers = Answers(&printed);
        let mut verdicts: Vec<Verdict> = parts.iter().map(|part| answers.check_all(part)).collect();
        if is_example(&page.path)
            && let Some(last) = verdicts.last_mut()
            && last.is_ok()
        {
            *last = self.is_as_before();
        }
        Ok(verdicts)
    }

    /// Takes away what the last page has left.
    fn begin_anew(&self) -> Result<(), Error> {
        process::capture(self.git(&["reset", "--quiet", "--hard"]))?;
        process::capture(self.git(&["clean", "--quiet", "-fdx"]))?;
        for name in ["home", "tmp"] {
            let folder = self.path(name);
            if folder.exists() {
                fs::remove_dir_all(&folder).map_err(Error::file(&folder))?;
            }
            fs::create_dir(&folder).map_err(Error::file(&folder))?;
        }
        Ok(())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.scratch.path().join(name)
    }

    fn git(&self, arguments: &[&str]) -> Command {
        let mut git = Command::new("git");
        git.current_dir(self.path("harn"));
        git.args(["-c", "safe.directory=*"]).args(arguments);
        git
    }

    /// What is committed, and on top of it what is about to be.
    fn clone_from(&self, repo: &Repo) -> Result<(), Error> {
        let mut clone = Command::new("git");
        clone.args(["-c", "safe.directory=*", "clone", "--quiet", "--shared"]);
        clone.arg(repo.root()).arg(self.path("harn"));
        process::capture(clone)?;
        let mut diff = Command::new("git");
        diff.current_dir(repo.root());
        diff.args(["-c", "safe.directory=*", "diff", "--binary", "HEAD"]);
        let changes = process::capture(diff)?;
        if !changes.is_empty() {
            let file = self.path("changes");
            fs::write(&file, changes).map_err(Error::file(&file))?;
            process::capture(self.git(&["apply", "--index", "../changes"]))?;
            let somebody = [
                "-c",
                "user.name=newcomer",
                "-c",
                "user.email=newcomer@localhost",
            ];
            let commit = ["commit", "--quiet", "-m", "What is about to be committed"];
            process::capture(self.git(&[&somebody[..], &commit].concat()))?;
        }
        Ok(())
    }

    /// What one terminal prints in which all of this is typed.
    fn terminal(&self, script: &str) -> Result<String, Complaint> {
        let file = self.path("script");
        fs::write(&file, script).map_err(Error::file(&file))?;
        let mut bash = Command::new("timeout");
        bash.arg(match self.builder {
            Builder::Stand => TIMEOUT_SECONDS,
            Builder::Cargo => BUILD_TIMEOUT_SECONDS,
        });
        bash.args(["bash", "-uo", "pipefail"]).arg(&file);
        bash.current_dir(self.path("harn")).stdin(Stdio::null());
        bash.env_clear()
            .env("PATH", self.search_path())
            .env("HOME", self.path("home"))
            .env("TMPDIR", self.path("tmp"))
            .env("USER", "ada")
            .env("LC_ALL", "C.UTF-8")
            .env("NO_COLOR", "1");
        if self.builder == Builder::Cargo {
            bash.env("CARGO_TARGET_DIR", self.target.join("newcomer"));
            bash.env("CARGO_INSTALL_ROOT", self.path("installed"));
            bash.envs(toolchain());
        }
        let output = bash.output().map_err(|source| Error::Start {
            program: "bash".to_string(),
            source,
        })?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    fn search_path(&self) -> OsString {
        let built = match self.builder {
            Builder::Stand => self.target.join("debug"),
            Builder::Cargo => self.target.join("newcomer/debug"),
        };
        let mut path = self.path("bin").into_os_string();
        path.push(":");
        path.push(self.path("installed/bin"));
        path.push(":");
        path.push(built);
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap_or_else(|| OsString::from("/usr/bin:/bin")));
        path
    }

    /// Nothing stays but what git ignores: the logs of events.
    fn is_as_before(&self) -> Verdict {
        let mut status = process::capture(self.git(&["diff", "--stat"]))?;
        status += &process::capture(self.git(&["ls-files", "-o", "--exclude-standard"]))?;
        if !status.is_empty() {
            return complain(format!("the checkout is not as it was:\n{status}"));
        }
        let tmp = self.path("tmp");
        let left = fs::read_dir(&tmp).map_err(Error::file(&tmp))?.count();
        match left {
            0 => Ok(()),
            _ => complain(format!("{left} temporary files are left")),
        }
    }
}

/// Where the toolchain is, which an empty home would hide.
fn toolchain() -> Vec<(&'static str, OsString)> {
    let home = std::env::var_os("HOME").unwrap_or_default();
    [("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")]
        .map(|(name, folder)| {
            let usual = || Path::new(&home).join(folder).into_os_string();
            (name, std::env::var_os(name).unwrap_or_else(usual))
        })
        .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdicts(newcomer: &Newcomer, path: &str, text: &str) -> Vec<String> {
        let page = SourceFile::new(path, text);
        let checked = newcomer.check(&page).into_iter();
        let told = checked.map(|(_, verdict)| match verdict {
            Ok(()) => "fine".to_string(),
            Err(why) => why.to_string(),
        });
        told.collect()
    }

    #[test]
    fn a_page_is_one_terminal_in_a_clone_with_an_empty_home() {
        let newcomer = Newcomer::new(&Repo::find().unwrap(), Builder::Stand).unwrap();
        let verdicts = |path: &str, text: &str| verdicts(&newcomer, path, text);
        let page = "\
```console
$ ls Cargo.toml README.md
Cargo.toml
README.md
$ ls -A \"$HOME\" | wc -l
0
$ cd docs; export COLOUR=blue
```

```console
$ basename \"$PWD\"; echo \"$COLOUR\"
docs
blue
$ false
```

```console
$ (echo late > ../late) & wait; cat ../late
late
$ cargo install everything 2>&1 || echo refused
no page builds with: cargo install everything
refused
```
";
        let told = verdicts("README.md", page);
        assert_eq!(told, ["fine", "`false` failed (1) and printed\n\n", "fine"]);
        // The page of an example has to clean up.
        let told = verdicts(
            "examples/one/README.md",
            "```console\n$ touch litter\n```\n",
        );
        assert_eq!(told, ["the checkout is not as it was:\nlitter\n"]);
        let told = verdicts(
            "examples/one/README.md",
            "```console\n$ mktemp -q\n…\n```\n",
        );
        assert_eq!(told, ["1 temporary files are left"]);
    }

    #[test]
    fn the_first_pages_say_how_harn_gets_on_the_path() {
        let repo = Repo::find().unwrap();
        for page in ["README.md", "docs/src/getting-started.md"] {
            let text = repo.read(page).unwrap();
            let install = "$ cargo install --path crates/harn-cli --locked\n";
            assert!(text.contains(install), "{page}");
        }
    }

    #[test]
    fn a_real_build_is_the_usual() {
        assert_eq!(builder(&[]).unwrap(), Builder::Cargo);
        assert_eq!(builder(&["--built".to_string()]).unwrap(), Builder::Stand);
        assert!(builder(&["--bulit".to_string()]).is_err());
    }

    #[test]
    fn pages_of_examples_are_pages() {
        assert!(is_page("README.md"));
        assert!(is_page("examples/quickstart/README.md"));
        assert!(!is_page("examples/quickstart/project/README.md"));
        assert!(!is_page("docs/src/agents/loop.md"));
    }
}
