//! The tools of servers that were approved, in a file of the person who did.
//!
//! It is no file of the project, which may have come from anywhere: `pins.toml` in our part of
//! `XDG_STATE_HOME`, or else of `~/.local/state`, readable for its owner alone.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process;

use harn_vm::agent::tool_servers::{PinnedServer, ToolDigests, ToolPins};
use serde::{Deserialize, Serialize};

use crate::environment;

/// The approved tools of the servers of one project.
pub(super) struct FilePins {
    folder: PathBuf,
    project: String,
}

#[derive(Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Pins {
    #[serde(default)]
    server: Vec<Pin>,
}

/// What was approved of a server.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Pin {
    project: String,
    name: String,
    identity: String,
    tools: ToolDigests,
}

impl FilePins {
    /// Those of the project in a folder; `None` if there is no place for them.
    pub(super) fn of_project(base: &Path) -> Option<Self> {
        let folder = environment::state_folder()?;
        let base = std::env::current_dir().ok()?.join(base);
        let base = base.canonicalize().unwrap_or(base);
        Some(Self {
            folder,
            project: base.display().to_string(),
        })
    }

    fn path(&self) -> PathBuf {
        self.folder.join("pins.toml")
    }

    fn read(&self) -> Result<Pins, String> {
        let path = self.path();
        let named = |why: String| format!("{}: {why}", path.display());
        match fs::read_to_string(&path) {
            Ok(text) => toml::from_str(&text).map_err(|error| named(error.message().to_owned())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Pins::default()),
            Err(error) => Err(named(error.to_string())),
        }
    }

    /// Replaces the file as a whole, so that nobody reads half of it.
    fn write(&self, pins: &Pins) -> io::Result<()> {
        let text = toml::to_string(pins).map_err(io::Error::other)?;
        let new = self.folder.join(format!("pins.toml.{}", process::id()));
        let mut options = OpenOptions::new();
        let options = options.write(true).create(true).truncate(true).mode(0o600);
        let mut file = options.open(&new)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&new, self.path())
    }

    /// Held while the file is read and written anew, also against other processes.
    fn lock(&self) -> io::Result<File> {
        let mut builder = DirBuilder::new();
        builder.recursive(true).mode(0o700).create(&self.folder)?;
        let mut options = OpenOptions::new();
        let options = options.write(true).create(true).truncate(false).mode(0o600);
        let file = options.open(self.folder.join("pins.lock"))?;
        file.lock()?;
        Ok(file)
    }

    fn is_of(&self, pin: &Pin, server: &PinnedServer) -> bool {
        pin.project == self.project && pin.name == server.name && pin.identity == server.identity
    }
}

impl ToolPins for FilePins {
    fn approved(&self, server: &PinnedServer) -> Result<Option<ToolDigests>, String> {
        let pins = self.read()?.server.into_iter();
        let mut of_server = pins.filter(|pin| self.is_of(pin, server));
        Ok(of_server.next().map(|pin| pin.tools))
    }

    fn approve(&self, server: &PinnedServer, tools: &ToolDigests) -> Result<(), String> {
        let _lock = self.lock().map_err(|error| error.to_string())?;
        let mut pins = self.read()?;
        pins.server.retain(|pin| !self.is_of(pin, server));
        pins.server.push(Pin {
            project: self.project.clone(),
            name: server.name.clone(),
            identity: server.identity.clone(),
            tools: tools.clone(),
        });
        self.write(&pins).map_err(|error| error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn server(identity: &str) -> PinnedServer {
        PinnedServer {
            name: "tracker".to_owned(),
            identity: identity.to_owned(),
        }
    }

    #[test]
    fn approved_tools_are_remembered_by_project_and_server() {
        let scratch = tempfile::tempdir().unwrap();
        let pins = |project: &str| FilePins {
            folder: scratch.path().join("harn"),
            project: project.to_owned(),
        };
        let tools: ToolDigests = [("add".to_owned(), "sha256:1".to_owned())].into();
        let one = pins("/one");
        assert_eq!(one.approved(&server("a")), Ok(None));
        one.approve(&server("a"), &tools).unwrap();
        assert_eq!(one.approved(&server("a")), Ok(Some(tools.clone())));
        assert_eq!(one.approved(&server("b")), Ok(None), "another command");
        assert_eq!(pins("/two").approved(&server("a")), Ok(None));
        let mode = fs::metadata(one.path()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let changed = [("add".to_owned(), "sha256:2".to_owned())].into();
        one.approve(&server("a"), &changed).unwrap();
        assert_eq!(one.approved(&server("a")), Ok(Some(changed)));
    }

    #[test]
    fn a_file_that_is_not_understood_approves_nothing() {
        let scratch = tempfile::tempdir().unwrap();
        let pins = FilePins {
            folder: scratch.path().to_owned(),
            project: "/one".to_owned(),
        };
        fs::write(pins.path(), "[[server]]\nprojekt = \"/one\"\n").unwrap();
        let why = pins.approved(&server("a")).unwrap_err();
        assert!(why.contains("pins.toml: unknown field"), "{why}");
        assert!(pins.approve(&server("a"), &ToolDigests::new()).is_err());
    }
}
