//! `write`: a file with new content.

use std::io::{self, Read};

use harn_events::{SideEffectLevel, ToolKind};

use super::arguments::Arguments;
use super::background::Cancelled;
use super::declare::Declare;
use super::failed;
use super::replace::Before;
use super::workspace::Workspace;
use crate::shown::Shown;
use crate::tool::{Declaration, ToolError};

/// Bytes of a file that are read to be shown. Larger ones are not.
const SHOWN_BYTES_MAX: u64 = 256 * 1024;

/// What the tool is called.
pub(super) const NAME: &str = "write";

pub(super) fn declaration() -> Declaration {
    Declare::new(
        NAME,
        "Writes a file of the workspace, and makes the folders it is in. A file that is there gets the new content as a whole; use the tool edit to change a part.",
    )
    .does(ToolKind::Edit, SideEffectLevel::WorkspaceWrite, "workspace", "write_text")
    .needs("path", "string", "The file, relative to the workspace.")
    .needs("content", "string", "All that the file is to contain.")
    .also("path", &["file", "file_path", "filename"])
    .done()
}

pub(super) fn write(
    workspace: &Workspace,
    arguments: Arguments<'_>,
    cancelled: &Cancelled,
) -> Result<String, ToolError> {
    let path = arguments.text("path")?;
    let content = arguments.text("content")?;
    let place = workspace.place_to_write(path)?;
    let bytes_max = workspace.limits.file_bytes_max;
    if content.len() > bytes_max {
        return Err(failed(format!(
            "cannot write '{path}': {} bytes are more than the {bytes_max} that a file may have",
            content.len()
        )));
    }
    let before = workspace.replace_text(&place, content, cancelled)?;
    let (lines, bytes) = (content.lines().count(), content.len());
    Ok(match before {
        Before::Nothing => format!("created '{path}': {lines} lines, {bytes} bytes"),
        Before::File(old) => {
            format!("replaced '{path}': {lines} lines, {bytes} bytes ({old} bytes before)")
        }
    })
}

/// What people see of a call that goes well: the file as it is now, and as it will be. `None`
/// where that cannot be told, because it is no text or too large to be shown.
pub(super) fn shown(workspace: &Workspace, arguments: Arguments<'_>) -> Option<Shown> {
    let path = arguments.text("path").ok()?;
    // Who may write a file but not read it must not see it this way.
    workspace.place(path).ok()?;
    let place = workspace.place_to_write(path).ok()?;
    let old_text = match place.open_file() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(_) => return None,
        Ok(file) => {
            let mut text = String::new();
            let read = file.take(SHOWN_BYTES_MAX).read_to_string(&mut text).ok()?;
            (read < SHOWN_BYTES_MAX as usize).then_some(())?;
            Some(text)
        }
    };
    Some(Shown::Edit {
        path: place
            .root
            .join(&place.inside)
            .to_string_lossy()
            .into_owned(),
        old_text,
        new_text: arguments.text("content").ok()?.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::json;

    use crate::coding::scene::Scene;
    use crate::shown::Shown;

    #[test]
    fn files_are_made_and_replaced() {
        let scene = Scene::new();
        scene.says(
            "write",
            json!({"path": "new/folder/a.txt", "content": "Grüße\n✓"}),
            "created 'new/folder/a.txt': 2 lines, 11 bytes",
        );
        assert_eq!(scene.content("new/folder/a.txt"), "Grüße\n✓");
        scene.says(
            "write",
            json!({"path": "new/folder/a.txt", "content": ""}),
            "replaced 'new/folder/a.txt': 0 lines, 0 bytes (11 bytes before)",
        );
        assert_eq!(scene.content("new/folder/a.txt"), "");
    }

    #[test]
    fn a_file_is_shown_before_and_after() {
        let scene = Scene::new();
        let edit = |old_text: Option<&str>, new_text: &str| Shown::Edit {
            path: scene.root().join("f").to_string_lossy().into_owned(),
            old_text: old_text.map(str::to_owned),
            new_text: new_text.to_owned(),
        };
        let write = |content: &str| scene.shows("write", json!({"path": "f", "content": content}));
        assert_eq!(write("one"), [edit(None, "one")]);
        assert_eq!(write("two"), [edit(Some("one"), "two")]);
        scene.write("f", b"\xff");
        assert_eq!(write("three"), [], "what was there is no text");
        assert_eq!(
            scene.shows("write", json!({"path": "../f", "content": ""})),
            []
        );
    }

    #[test]
    fn a_link_inside_stays_a_link() {
        let scene = Scene::new();
        scene.write("real", "old");
        scene.link("real", "link");
        scene.link("folder/new", "dangling");
        scene
            .call("write", json!({"path": "link", "content": "a"}))
            .unwrap();
        scene
            .call("write", json!({"path": "dangling", "content": "b"}))
            .unwrap();
        assert_eq!(
            (scene.content("real"), scene.content("folder/new")),
            ("a".into(), "b".into())
        );
        assert!(scene.root().join("link").is_symlink());
        assert!(scene.root().join("dangling").is_symlink());
    }

    #[test]
    fn nothing_outside_is_written() {
        let scene = Scene::new();
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("file"), "untouched").unwrap();
        scene.link(outside.path(), "out");
        scene.link(outside.path().join("file"), "link");
        scene.link(outside.path().join("new"), "dangling");
        for path in ["../x", "/tmp/x", "out/file", "out/new", "link", "dangling"] {
            scene.rejects("write", json!({"path": path, "content": "x"}));
        }
        scene.rejects(
            "write",
            json!({"path": ".git/hooks/pre-commit", "content": "x"}),
        );
        let names: Vec<_> = fs::read_dir(outside.path()).unwrap().collect();
        assert_eq!(names.len(), 1);
        let content = fs::read_to_string(outside.path().join("file")).unwrap();
        assert_eq!(content, "untouched");
        assert_eq!(scene.names(), ["dangling", "link", "out"]);
    }

    #[test]
    fn what_cannot_be_written_is_said() {
        let scene = Scene::with_limits(|limits| limits.file_bytes_max = 5);
        scene.write("folder/file", "");
        let rows = [
            (json!({"path": "a"}), "the argument `content` is missing"),
            (
                json!({"path": "a", "content": "123456"}),
                "cannot write 'a': 6 bytes are more than the 5 that a file may have",
            ),
            (
                json!({"path": "folder", "content": ""}),
                "cannot write 'folder': is a directory",
            ),
            (
                json!({"path": ".", "content": ""}),
                "cannot write '.': is a directory",
            ),
            (
                json!({"path": "folder/file/below", "content": ""}),
                "cannot write 'folder/file/below': Not a directory (os error 20)",
            ),
        ];
        for (arguments, expected) in rows {
            scene.fails("write", arguments, expected);
        }
        assert_eq!(scene.names(), ["folder"]);
    }
}
