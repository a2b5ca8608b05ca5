//! What a host lends the tools: its view of the files, its terminals, and limits of its own.
//!
//! An editor knows files better than the disk does, because what a person has typed and not
//! saved is only there. So `read`, `edit` and `write` go through the host where it can do that,
//! and through the disk otherwise. Where a path may lead is decided here in both cases, before
//! anybody is asked.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::background::{Cancelled, wait};
use super::failed;
use super::place::Place;
use super::replace::{Before, may_replace, replace};
use super::workspace::Workspace;
use crate::callback::BoxFuture;
use crate::host::HostBridge;
use crate::tool::ToolError;

/// Text files as a host sees them. Paths are absolute and without links.
pub trait TextFiles: Send + Sync {
    /// What a file says, or some lines of it; `None`: the host cannot tell, and the disk has to.
    fn read<'a>(
        &'a self,
        path: &'a Path,
        lines: Option<Lines>,
    ) -> BoxFuture<'a, Option<Result<String, String>>>;

    /// Gives a file a new text; `None`: the host cannot do that, and the disk has to.
    fn write<'a>(
        &'a self,
        path: &'a Path,
        text: &'a str,
    ) -> BoxFuture<'a, Option<Result<(), String>>>;
}

/// Some lines of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lines {
    /// The number of the first one, from 1.
    pub first: u64,
    /// How many, at most.
    pub count: u64,
}

/// A host that runs commands where a person can see them.
pub trait Terminals: Send + Sync {
    /// Runs a command to its end; `None`: the host cannot do that, and a process of our own has
    /// to.
    ///
    /// # Cancel safety
    /// Dropping the future ends the command.
    fn run<'a>(
        &'a self,
        command: TerminalCommand<'a>,
    ) -> BoxFuture<'a, Option<Result<TerminalEnd, String>>>;
}

/// A command for a terminal of the host.
#[derive(Clone, Copy, Debug)]
pub struct TerminalCommand<'a> {
    /// The call that it belongs to.
    pub call_id: &'a str,
    /// The session of that call.
    pub session_id: &'a str,
    /// The program.
    pub program: &'a str,
    /// Its arguments.
    pub arguments: &'a [&'a str],
    /// What it finds in its environment.
    pub environment: &'a [(String, String)],
    /// Where it works: absolute.
    pub folder: &'a Path,
    /// How long it may take.
    pub timeout: Duration,
    /// How much of its output is kept.
    pub output_bytes_max: usize,
}

/// How a command in a terminal ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TerminalEnd {
    /// The terminal it ran in, by the host's name for it.
    pub terminal_id: String,
    /// Its exit code, or what a shell would give for a signal.
    pub exit_code: i32,
    /// Whether it was stopped because its time was over.
    pub timed_out: bool,
    /// What it wrote.
    pub output: String,
    /// Whether the beginning of that is missing.
    pub is_cut: bool,
}

/// What a host lends the tools of a workspace.
#[derive(Clone, Default)]
pub(super) struct Lent {
    files: Option<Arc<dyn TextFiles>>,
    pub(super) terminals: Option<Arc<dyn Terminals>>,
    /// Without links. What is outside of all of them does not exist for the tools.
    roots: Option<Vec<PathBuf>>,
}

impl fmt::Debug for Lent {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("Lent");
        shown.field("files", &self.files.is_some());
        shown.field("terminals", &self.terminals.is_some());
        shown.field("roots", &self.roots).finish()
    }
}

impl Lent {
    pub(super) fn by(host: &dyn HostBridge) -> Self {
        let roots = host.roots().map(|roots| {
            let real = |root: PathBuf| root.canonicalize().unwrap_or(root);
            roots.into_iter().map(real).collect()
        });
        Self {
            files: host.text_files(),
            terminals: host.terminals(),
            roots,
        }
    }

    /// Whether a path without links is where the host wants the tools to be.
    pub(super) fn admits(&self, path: &Path) -> bool {
        let roots = self.roots.as_ref();
        roots.is_none_or(|roots| roots.iter().any(|root| path.starts_with(root)))
    }
}

impl Workspace {
    /// What the host says that a file says; `None`: the disk has to tell.
    pub(super) fn lent_text(
        &self,
        place: &Place,
        lines: Option<Lines>,
        cancelled: &Cancelled,
    ) -> Result<Option<Result<String, String>>, ToolError> {
        let Some(files) = &self.lent.files else {
            return Ok(None);
        };
        wait(files.read(&place.absolute(), lines), cancelled)
    }

    /// Gives a file a new text, through the host where it wants that.
    pub(super) fn replace_text(
        &self,
        place: &Place,
        text: &str,
        cancelled: &Cancelled,
    ) -> Result<Before, ToolError> {
        let cannot =
            |reason: &dyn fmt::Display| failed(format!("cannot write '{}': {reason}", place.given));
        if let Some(files) = &self.lent.files {
            let before = may_replace(place).map_err(|error| cannot(&error))?;
            let written = wait(files.write(&place.absolute(), text), cancelled)?;
            if let Some(written) = written {
                return written.map(|()| before).map_err(|reason| cannot(&reason));
            }
        }
        replace(place, text.as_bytes()).map_err(|error| cannot(&error))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fs;
    use std::sync::Mutex;

    use serde_json::{Value, json};

    use super::*;
    use crate::coding::scene::Scene;
    use crate::host::{HostError, Seam};

    /// An editor with unsaved texts.
    #[derive(Default)]
    struct Editor {
        unsaved: Mutex<BTreeMap<PathBuf, String>>,
        asked: Mutex<Vec<(PathBuf, Option<Lines>)>>,
        reads_only: bool,
        roots: Option<Vec<PathBuf>>,
    }

    impl TextFiles for Arc<Editor> {
        fn read<'a>(
            &'a self,
            path: &'a Path,
            lines: Option<Lines>,
        ) -> BoxFuture<'a, Option<Result<String, String>>> {
            self.asked.lock().unwrap().push((path.to_owned(), lines));
            let text = self.unsaved.lock().unwrap().get(path).cloned();
            let text = text.map(|text| match lines {
                None => text,
                Some(Lines { first, count }) => {
                    let lines = text.split_inclusive('\n').skip(first as usize - 1);
                    lines.take(count as usize).collect()
                }
            });
            let answer = text.ok_or_else(|| "Resource not found (-32002)".to_owned());
            Box::pin(std::future::ready(Some(answer)))
        }

        fn write<'a>(
            &'a self,
            path: &'a Path,
            text: &'a str,
        ) -> BoxFuture<'a, Option<Result<(), String>>> {
            if self.reads_only {
                return Box::pin(std::future::ready(None));
            }
            let mut unsaved = self.unsaved.lock().unwrap();
            unsaved.insert(path.to_owned(), text.to_owned());
            Box::pin(std::future::ready(Some(Ok(()))))
        }
    }

    struct Host(Arc<Editor>);

    impl HostBridge for Host {
        fn request<'a>(&'a self, _: &'a str, _: Value) -> BoxFuture<'a, Result<Value, HostError>> {
            Box::pin(std::future::ready(Err("nothing is lent".into())))
        }

        fn notify(&self, _: &str, _: Value) {}

        fn take_messages(&self, _: &str, _: Seam) -> Vec<String> {
            Vec::new()
        }

        fn take_resume(&self, _: &str) -> bool {
            false
        }

        fn text_files(&self) -> Option<Arc<dyn TextFiles>> {
            Some(Arc::new(Arc::clone(&self.0)))
        }

        fn roots(&self) -> Option<Vec<PathBuf>> {
            self.0.roots.clone()
        }
    }

    fn scene(editor: &Arc<Editor>) -> Scene {
        let mut scene = Scene::new();
        scene.workspace = scene.workspace.lent_by(&Host(Arc::clone(editor)));
        scene
    }

    #[test]
    fn an_unsaved_text_is_what_is_read_and_edited() {
        let editor = Arc::<Editor>::default();
        let scene = scene(&editor);
        scene.write("a.txt", "on disk\n");
        let path = scene.root().join("a.txt");
        let unsaved = "one\ntwo\nthree\n".to_owned();
        editor.unsaved.lock().unwrap().insert(path.clone(), unsaved);
        scene.says(
            "read",
            json!({"path": "a.txt", "offset": 2}),
            "2\ttwo\n3\tthree",
        );
        scene.says(
            "read",
            json!({"path": "a.txt", "limit": 1}),
            "1\tone\n\n[... more lines not shown. Use offset=2 to continue reading]",
        );
        let said = "edited 'a.txt': 1 replacement, at line 2";
        scene.says(
            "edit",
            json!({"path": "a.txt", "old_text": "two", "new_text": "2"}),
            said,
        );
        assert_eq!(editor.unsaved.lock().unwrap()[&path], "one\n2\nthree\n");
        assert_eq!(scene.content("a.txt"), "on disk\n");
        let first = editor.asked.lock().unwrap()[0].clone();
        // One more than is shown, to know whether there is more.
        assert_eq!(
            first,
            (
                path,
                Some(Lines {
                    first: 2,
                    count: 2001
                })
            )
        );
    }

    #[test]
    fn a_host_that_cannot_write_leaves_it_to_the_disk() {
        let editor = Arc::new(Editor {
            reads_only: true,
            ..Editor::default()
        });
        let scene = scene(&editor);
        scene.says(
            "write",
            json!({"path": "b", "content": "x"}),
            "created 'b': 1 lines, 1 bytes",
        );
        assert_eq!(scene.content("b"), "x");
    }

    #[test]
    fn what_the_host_cannot_find_is_not_there() {
        let editor = Arc::<Editor>::default();
        let scene = scene(&editor);
        scene.fails(
            "read",
            json!({"path": "no"}),
            "cannot read 'no': Resource not found (-32002)",
        );
    }

    #[test]
    fn the_host_is_never_asked_about_what_is_outside() {
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("secret"), "s").unwrap();
        let editor = Arc::<Editor>::default();
        let scene = scene(&editor);
        scene.link(outside.path(), "out");
        for path in ["../x", "/etc/passwd", "out/secret"] {
            scene.rejects("read", json!({"path": path}));
            scene.rejects("write", json!({"path": path, "content": ""}));
            scene.rejects(
                "edit",
                json!({"path": path, "old_text": "a", "new_text": "b"}),
            );
        }
        assert_eq!(*editor.asked.lock().unwrap(), []);
        assert!(editor.unsaved.lock().unwrap().is_empty());
    }

    #[test]
    fn a_program_cannot_grant_more_than_the_host() {
        let folder = tempfile::tempdir().unwrap();
        let editor = Arc::new(Editor {
            roots: Some(vec![folder.path().to_owned()]),
            ..Editor::default()
        });
        let scene = scene(&editor);
        scene.write("a", "x");
        for tool in ["read", "list"] {
            scene.rejects(tool, json!({"path": "a"}));
        }
        scene.rejects("grep", json!({"pattern": "x", "path": "a"}));
        scene.rejects("write", json!({"path": "a", "content": ""}));
        assert_eq!(scene.content("a"), "x");
    }
}
