//! Where the tools may go.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::failed;
use super::lent::Lent;
use super::limits::Limits;
use super::place::Place;
use crate::command_gate::CommandGate;
use crate::fence::Fenced;
use crate::host::HostBridge;
use crate::protected_paths::{ProtectedPaths, Protection};
use crate::real_path::resolve;
use crate::tool::{Caution, ToolError};

/// What a command may know of the environment it is run in. Everything else may be a secret.
const HARMLESS_VARIABLES: [&str; 7] = ["PATH", "HOME", "LANG", "TERM", "TMPDIR", "USER", "SHELL"];

/// The folders that the tools may work in, and how much they may do there.
#[derive(Clone, Debug)]
pub struct Workspace {
    /// Without links. Relative paths start at the first.
    roots: Vec<PathBuf>,
    /// How much the tools may do.
    pub limits: Limits,
    /// What commands find in their environment.
    pub(super) environment: BTreeMap<OsString, OsString>,
    /// What whoever runs the program allows of all this.
    pub(super) fence: Fenced,
    /// What decides about commands before they are run.
    pub(super) gate: Option<CommandGate>,
    /// What the host lends the tools.
    pub(super) lent: Lent,
    /// What care has to be taken with.
    protected: Arc<ProtectedPaths>,
    /// The file that a person has agreed to, for one call.
    agreed: Option<PathBuf>,
}

/// What is done with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    Read,
    Write,
}

impl Use {
    fn verb(self) -> &'static str {
        match self {
            Self::Read => "reads",
            Self::Write => "writes",
        }
    }
}

/// What a person is told about a file, if one has to agree to what is done with it.
fn about(protection: Protection, usage: Use) -> Option<&'static str> {
    match (protection, usage) {
        (Protection::Guarded { by_harn: true }, Use::Write) => {
            Some("which Harn itself acts upon at its next start")
        }
        (Protection::Guarded { by_harn: false }, Use::Write) => {
            Some("which editors, shells or servers act upon by themselves")
        }
        (Protection::Secret, _) => Some("which probably holds secrets"),
        (Protection::Guarded { .. } | Protection::State | Protection::Git, _) => None,
    }
}

impl Workspace {
    /// A workspace of folders that exist. Relative paths start at the first one.
    ///
    /// # Errors
    /// There is no folder, or one of them cannot be found.
    pub fn new<P: AsRef<Path>>(roots: impl IntoIterator<Item = P>) -> io::Result<Self> {
        let mut resolved = Vec::new();
        for root in roots {
            let root = fs::canonicalize(root)?;
            if !root.is_dir() {
                return Err(io::ErrorKind::NotADirectory.into());
            }
            resolved.push(root);
        }
        if resolved.is_empty() {
            let reason = "a workspace needs a folder";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, reason));
        }
        let mut protected = ProtectedPaths::default();
        for root in &resolved {
            protected.add(root, &|_| None);
        }
        Ok(Self {
            roots: resolved,
            protected: Arc::new(protected),
            agreed: None,
            limits: Limits::default(),
            environment: BTreeMap::new(),
            fence: Fenced::default(),
            gate: None,
            lent: Lent::default(),
        })
    }

    /// Changes how much the tools may do.
    #[must_use]
    pub fn with_limits(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// Gives commands what is harmless of an environment: `PATH`, `HOME`, `LANG`, `TERM`,
    /// `TMPDIR`, `USER` and `SHELL`.
    #[must_use]
    pub fn with_environment(
        mut self,
        variables: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Self {
        let harmless = variables
            .into_iter()
            .filter(|(name, _)| HARMLESS_VARIABLES.iter().any(|harmless| name == harmless));
        self.environment.extend(harmless);
        self
    }

    /// Gives commands one more variable, whatever it is.
    #[must_use]
    pub fn with_variable(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.environment.insert(name.into(), value.into());
        self
    }

    /// The same workspace, as far as a fence allows.
    pub(crate) fn behind(self, fence: Fenced) -> Self {
        Self { fence, ..self }
    }

    /// The same workspace, with what else care has to be taken with: the variables of the
    /// environment can say that the memory of Harn lies somewhere else.
    #[must_use]
    pub fn protecting(
        self,
        mut protected: ProtectedPaths,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Self {
        for root in &self.roots {
            protected.add(root, variable);
        }
        let protected = Arc::new(protected);
        Self { protected, ..self }
    }

    /// The same workspace with what a host lends: its view of files, its terminals, and the
    /// folders it keeps the tools in.
    #[must_use]
    pub fn lent_by(self, host: &dyn HostBridge) -> Self {
        let lent = Lent::by(host);
        Self { lent, ..self }
    }

    /// Whether commands are run in terminals of the host, if it has them.
    pub(super) fn with_terminals(mut self, in_terminals: bool) -> Self {
        if !in_terminals {
            self.lent.terminals = None;
        }
        self
    }

    /// The folders, without links. Relative paths start at the first.
    pub fn roots(&self) -> &[PathBuf] {
        &self.roots
    }

    /// The place that a path leads to, where something is to be read.
    pub(super) fn place(&self, path: &str) -> Result<Place, ToolError> {
        let place = self.find(path)?;
        let allowed = self.fence.read(&place.root.join(&place.inside));
        allowed.map_err(ToolError::Rejected)?;
        self.admit(&place, Use::Read)?;
        Ok(place)
    }

    /// Why a person has to agree each time that something is done with a path.
    pub(super) fn caution(&self, path: &str, usage: Use) -> Option<Caution> {
        let place = self.find(path).ok()?;
        let reason = about(place.protection?, usage)?;
        let verb = usage.verb();
        Some(Caution {
            reason: format!("{verb} '{}', {reason}", place.path().display()),
            path: place.absolute(),
        })
    }

    /// The same workspace, in which a person has agreed to what is done with one file.
    pub(super) fn agreed(&self, file: PathBuf) -> Self {
        Self {
            agreed: Some(file),
            ..self.clone()
        }
    }

    /// Whether something may be done with a place that care has to be taken with.
    fn admit(&self, place: &Place, usage: Use) -> Result<(), ToolError> {
        let (Some(protection), path) = (place.protection, &place.given) else {
            return Ok(());
        };
        if let Some(reason) = about(protection, usage) {
            return match self.agreed.as_ref() == Some(&place.absolute()) {
                true => Ok(()),
                false => Err(ToolError::Rejected(format!(
                    "path '{path}' is a file {reason}. A person has to agree to this call, and nobody was asked."
                ))),
            };
        }
        match (protection, usage) {
            // What is in there is the memory of this run and of all others.
            (Protection::State, Use::Write) => Err(ToolError::Rejected(format!(
                "path '{path}' belongs to Harn, which keeps its sessions there. Write somewhere else."
            ))),
            (Protection::State, Use::Read) => Err(ToolError::Rejected(format!(
                "path '{path}' belongs to Harn, which keeps its sessions there."
            ))),
            // Hooks and settings in there are run by git, which would let a file become a command.
            (Protection::Git, Use::Write) => Err(ToolError::Rejected(format!(
                "path '{path}' belongs to git, which is the only one to change it. Use git commands instead."
            ))),
            (Protection::Git | Protection::Guarded { .. } | Protection::Secret, _) => Ok(()),
        }
    }

    fn find(&self, path: &str) -> Result<Place, ToolError> {
        if path.is_empty() {
            return Err(failed("the path is empty"));
        }
        if path.contains('\0') {
            return Err(failed("the path contains a NUL character"));
        }
        let resolved = resolve(&self.roots[0].join(path))
            .ok_or_else(|| failed(format!("path '{path}' goes through too many links")))?;
        let is_admitted = self.lent.admits(&resolved.path);
        let roots = self.roots.iter().enumerate().filter(|_| is_admitted);
        let inside = roots.into_iter().find_map(|(at, root)| {
            let inside = resolved.path.strip_prefix(root).ok()?;
            Some((at, root, inside))
        });
        let protection = self
            .protected
            .protection(&resolved.path, inside.map(|(_, root, _)| &**root));
        match inside {
            Some((at, root, inside)) => Ok(Place {
                given: path.to_owned(),
                root: root.clone(),
                inside: inside.to_owned(),
                is_in_first_root: at == 0,
                protection,
                protected: Arc::clone(&self.protected),
            }),
            None => Err(self.outside(path, resolved.has_links)),
        }
    }

    /// The place that a path leads to, where something is to be written.
    pub(super) fn place_to_write(&self, path: &str) -> Result<Place, ToolError> {
        let place = self.find(path)?;
        let allowed = self.fence.write(&place.root.join(&place.inside));
        allowed.map_err(ToolError::Rejected)?;
        self.admit(&place, Use::Write)?;
        Ok(place)
    }

    fn outside(&self, path: &str, has_links: bool) -> ToolError {
        let roots: Vec<_> = self
            .roots
            .iter()
            .map(|root| root.to_string_lossy())
            .collect();
        let verb = if has_links {
            "leads through a link to somewhere"
        } else {
            "is"
        };
        ToolError::Rejected(format!(
            "path '{path}' {verb} outside the workspace ({}). Use a path inside the workspace; relative paths start at {}.",
            roots.join(", "),
            roots[0]
        ))
    }
}

/// Where git keeps what it knows.
const GIT_FOLDER: &str = ".git";

/// Where Harn keeps what it knows.
const STATE_FOLDER: &str = ".harn";

/// Whether a path ends with a folder in which somebody keeps what is not for reading, so that
/// nobody looks into it who looks around.
pub(super) fn is_kept_apart(path: &Path) -> bool {
    let names = [GIT_FOLDER, STATE_FOLDER];
    path.file_name()
        .is_some_and(|last| names.iter().any(|name| is_named(last, name)))
}

/// Some file systems do not tell capitals from small letters.
fn is_named(part: &OsStr, name: &str) -> bool {
    part.eq_ignore_ascii_case(name)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use serde_json::json;

    use super::*;
    use crate::coding::scene::Scene;

    /// The place in the workspace, or what is said about the path.
    fn place(scene: &Scene, path: &str) -> Result<String, String> {
        match scene.workspace.place(path) {
            Ok(place) => Ok(place.inside.to_string_lossy().into_owned()),
            Err(ToolError::Rejected(reason) | ToolError::Failed(reason)) => Err(reason),
            Err(other) => panic!("{other}"),
        }
    }

    #[test]
    fn paths_inside_are_found() {
        let scene = Scene::new();
        scene.write("src/main.rs", "");
        scene.link("src", "sources");
        scene.link(scene.root().join("src"), "absolute");
        scene.link("../src/main.rs", "src/self.rs");
        scene.link("not/yet", "dangling");
        let absolute = scene.root().join("src/main.rs");
        let rows = [
            (".", ""),
            ("./", ""),
            ("src/main.rs", "src/main.rs"),
            ("src//./main.rs", "src/main.rs"),
            ("src/../src/main.rs", "src/main.rs"),
            ("sources/main.rs", "src/main.rs"),
            ("absolute/main.rs", "src/main.rs"),
            ("sources/../x", "x"),
            ("src/self.rs", "src/main.rs"),
            ("dangling/too", "not/yet/too"),
            ("new/folder/file", "new/folder/file"),
            ("src/main.rs/below", "src/main.rs/below"),
            ("...", "..."),
            ("~", "~"),
            (absolute.to_str().unwrap(), "src/main.rs"),
        ];
        for (path, expected) in rows {
            assert_eq!(place(&scene, path).as_deref(), Ok(expected), "{path}");
        }
        // Out and in again is inside.
        let name = scene
            .root()
            .file_name()
            .unwrap()
            .to_str()
            .unwrap()
            .to_owned();
        assert_eq!(place(&scene, &format!("../{name}/a")).as_deref(), Ok("a"));
    }

    #[test]
    fn paths_outside_are_rejected() {
        let scene = Scene::new();
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("secret"), "s").unwrap();
        scene.write("src/a", "");
        scene.link(outside.path(), "folder");
        scene.link(outside.path().join("secret"), "file");
        scene.link(outside.path().join("nothing"), "dangling");
        scene.link("../..", "src/up");
        scene.link("folder", "twice");
        let root = scene.root().to_string_lossy().into_owned();
        let rows = [
            ("/etc/passwd", false),
            ("/", false),
            ("..", false),
            ("../other", false),
            ("src/../../other", false),
            ("missing/../../other", false),
            ("folder", true),
            ("folder/secret", true),
            ("file", true),
            ("dangling", true),
            ("src/up/other", true),
            ("twice/secret", true),
        ];
        for (path, by_link) in rows {
            let verb = if by_link {
                "leads through a link to somewhere"
            } else {
                "is"
            };
            let expected = format!(
                "path '{path}' {verb} outside the workspace ({root}). Use a path inside the \
                 workspace; relative paths start at {root}."
            );
            assert_eq!(place(&scene, path), Err(expected));
            let rejected = scene.workspace.place(path);
            assert!(matches!(rejected, Err(ToolError::Rejected(_))), "{path}");
        }
        // A name that only begins like the root is another folder.
        let beside = format!("{root}-beside/file");
        assert!(place(&scene, &beside).is_err());
    }

    #[test]
    fn strange_paths_are_refused() {
        let scene = Scene::new();
        scene.link("b", "a");
        scene.link("a", "b");
        let rows = [
            ("", "the path is empty"),
            ("a\0b", "the path contains a NUL character"),
            ("a/x", "path 'a/x' goes through too many links"),
        ];
        for (path, expected) in rows {
            assert_eq!(place(&scene, path), Err(expected.to_owned()));
        }
    }

    #[test]
    fn what_belongs_to_git_is_not_written() {
        let scene = Scene::new();
        scene.write(".git/config", "");
        scene.link(".git", "innocent");
        for path in [
            ".git/hooks/pre-commit",
            ".GIT/config",
            "sub/.git/x",
            "innocent/config",
        ] {
            let place = scene.workspace.place_to_write(path);
            assert!(matches!(place, Err(ToolError::Rejected(_))), "{path}");
        }
        for path in [
            ".harn/events.sqlite",
            ".Harn/store.json",
            "sub/.harn/x",
            ".HARN./x",
            ".h\u{200d}arn/x",
        ] {
            let place = scene.workspace.place_to_write(path);
            let Err(ToolError::Rejected(reason)) = place else {
                panic!("{path}");
            };
            assert!(reason.contains("belongs to Harn"), "{reason}");
        }
        for path in [
            ".gitignore",
            ".github/CODEOWNERS",
            "git/x",
            "main.harn",
            "harn/x",
        ] {
            assert!(scene.workspace.place_to_write(path).is_ok(), "{path}");
        }
    }

    #[test]
    fn the_memory_of_harn_is_not_read_either() {
        let scene = Scene::new();
        scene.write(".harn/store.json", "needle");
        scene.write(".harn/skills/x/SKILL.md", "needle");
        scene.link(".harn/store.json", "innocent");
        fs::hard_link(
            scene.root().join(".harn/store.json"),
            scene.root().join("twin"),
        )
        .unwrap();
        for path in [".harn/store.json", "innocent"] {
            scene.rejects("read", json!({"path": path}));
        }
        scene.rejects("list", json!({"path": ".harn"}));
        scene.fails(
            "read",
            json!({"path": "twin"}),
            "cannot read 'twin': it belongs to Harn under another name",
        );
        scene.says(
            "grep",
            json!({"pattern": "needle"}),
            "[no line matches in 0 files]\n\n[1 files could not be read]",
        );
        scene.says(
            "read",
            json!({"path": ".harn/skills/x/SKILL.md"}),
            "1\tneedle",
        );
    }

    #[test]
    fn who_looks_around_does_not_look_where_others_keep_what_they_know() {
        let scene = Scene::new();
        for folder in [".git", ".harn", "sub/.harn", "src"] {
            scene.write(&format!("{folder}/file"), "needle\n");
        }
        scene.says("grep", json!({"pattern": "needle"}), "src/file:1:needle");
        scene.says("glob", json!({"pattern": "**/file"}), "src/file");
        let listed = ".git/\n.harn/\nsrc/\nsrc/file\nsub/\nsub/.harn/";
        scene.says("list", json!({"depth": 3}), listed);
    }

    #[test]
    fn there_may_be_more_than_one_root() {
        let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let link = first.path().join("other");
        symlink(second.path(), link).unwrap();
        let workspace = Workspace::new([first.path(), second.path()]).unwrap();
        let place = workspace.place("other/file").unwrap();
        assert_eq!(place.root, fs::canonicalize(second.path()).unwrap());
        assert_eq!(place.inside, Path::new("file"));
    }

    #[test]
    fn a_workspace_needs_folders() {
        let scene = Scene::new();
        scene.write("file", "");
        assert!(Workspace::new(Vec::<PathBuf>::new()).is_err());
        assert!(Workspace::new([scene.root().join("file")]).is_err());
        assert!(Workspace::new([scene.root().join("missing")]).is_err());
    }
}
