//! `edit`: one text of a file in place of another.

use std::io::Read;

use harn_events::{SideEffectLevel, ToolKind};

use super::arguments::Arguments;
use super::background::Cancelled;
use super::declare::Declare;
use super::failed;
use super::near_miss::near_miss;
use super::place::Place;
use super::workspace::Workspace;
use crate::tool::{Declaration, ToolError};

/// How many places are named when there are too many.
const PLACES_NAMED: usize = 20;

/// What the tool is called.
pub(super) const NAME: &str = "edit";

pub(super) fn declaration() -> Declaration {
    Declare::new(
        NAME,
        "Changes a part of a file of the workspace. old_text must be in the file exactly as written, with its white space and without line numbers, and only once; take in lines around it to make it unique, or set replace_all.",
    )
    .does(ToolKind::Edit, SideEffectLevel::WorkspaceWrite, "workspace", "apply_edit")
    .needs("path", "string", "The file, relative to the workspace.")
    .needs("old_text", "string", "The text that is replaced.")
    .needs("new_text", "string", "The text that takes its place; it may be empty.")
    .takes("replace_all", "boolean", "Whether to replace old_text everywhere in the file.")
    .also("path", &["file", "file_path", "filename"])
    .also("old_text", &["old_string", "old_str", "search"])
    .also("new_text", &["new_string", "new_str", "replace"])
    .done()
}

pub(super) fn edit(
    workspace: &Workspace,
    arguments: Arguments<'_>,
    cancelled: &Cancelled,
) -> Result<String, ToolError> {
    let path = arguments.text("path")?;
    let old = arguments.text("old_text")?;
    let new = arguments.text("new_text")?;
    if old.is_empty() {
        return Err(failed(
            "old_text is empty. Use the tool write to make a file or to replace all of it.",
        ));
    }
    if old == new {
        return Err(failed(
            "old_text and new_text are the same, so there is nothing to change.",
        ));
    }
    workspace.place(path)?;
    let place = workspace.place_to_write(path)?;
    let content = current(workspace, &place, cancelled)?;
    let ending = Ending::of(&content);
    let (old, new) = (ending.applied_to(old), ending.applied_to(new));
    let lines = lines_with(&content, &old);
    match lines.len() {
        0 => return Err(not_found(path, &content, &old)),
        1 => {}
        _ if arguments.flag("replace_all") => {}
        _ => return Err(not_unique(path, &lines)),
    }
    // Known before it is made: many small texts may be replaced by large ones.
    let left = content.len() - lines.len() * old.len();
    let bytes = lines.len().saturating_mul(new.len()).saturating_add(left);
    if bytes > workspace.limits.file_bytes_max {
        return Err(failed(format!(
            "cannot write '{path}': it would become too large"
        )));
    }
    let changed = content.replace(&old, &new);
    workspace.replace_text(&place, &changed, cancelled)?;
    Ok(match lines.len() {
        1 => format!("edited '{path}': 1 replacement, at line {}", lines[0]),
        many => format!(
            "edited '{path}': {many} replacements, at lines {}",
            named(&lines)
        ),
    })
}

/// What the file says now, with what was typed in an editor and not saved.
fn current(
    workspace: &Workspace,
    place: &Place,
    cancelled: &Cancelled,
) -> Result<String, ToolError> {
    let bytes_max = workspace.limits.file_bytes_max;
    let cannot = |reason: String| failed(format!("cannot edit '{}': {reason}", place.given));
    match workspace.lent_text(place, None, cancelled)? {
        None => content(place, bytes_max),
        Some(Err(reason)) => Err(cannot(reason)),
        Some(Ok(text)) if text.len() > bytes_max => {
            Err(cannot(format!("it has more than {bytes_max} bytes")))
        }
        Some(Ok(text)) => Ok(text),
    }
}

fn content(place: &Place, bytes_max: usize) -> Result<String, ToolError> {
    let path = &place.given;
    let cannot = |reason: &dyn std::fmt::Display| failed(format!("cannot edit '{path}': {reason}"));
    let file = place.open_file().map_err(|error| cannot(&error))?;
    let mut bytes = Vec::new();
    let read = file.take(bytes_max as u64 + 1).read_to_end(&mut bytes);
    read.map_err(|error| cannot(&error))?;
    if bytes.len() > bytes_max {
        return Err(cannot(&format!("it has more than {bytes_max} bytes")));
    }
    String::from_utf8(bytes).map_err(|_| cannot(&"it is not UTF-8 text"))
}

/// How the lines of a file end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ending {
    /// All of them with CR and LF.
    Windows,
    /// With LF, or this way and that. Texts are taken as they are.
    AsWritten,
}

impl Ending {
    fn of(content: &str) -> Self {
        let lines = content.matches('\n').count();
        match lines > 0 && lines == content.matches("\r\n").count() {
            true => Self::Windows,
            false => Self::AsWritten,
        }
    }

    /// Models write LF, whatever is in the file.
    fn applied_to(self, text: &str) -> String {
        match self {
            Self::Windows => text.replace("\r\n", "\n").replace('\n', "\r\n"),
            Self::AsWritten => text.to_owned(),
        }
    }
}

/// The numbers of the lines where a text begins.
fn lines_with(content: &str, text: &str) -> Vec<usize> {
    let mut lines = Vec::new();
    let (mut line, mut counted) = (1, 0);
    for (at, _) in content.match_indices(text) {
        line += content[counted..at].matches('\n').count();
        counted = at;
        lines.push(line);
    }
    lines
}

fn not_found(path: &str, content: &str, old: &str) -> ToolError {
    let hint = near_miss(content, old);
    let hint = hint.unwrap_or_else(|| "Read the file again to see what it contains.".to_owned());
    failed(format!("old_text is not in '{path}'. {hint}"))
}

fn not_unique(path: &str, lines: &[usize]) -> ToolError {
    failed(format!(
        "old_text is {} times in '{path}', at lines {}. Take in more of the lines around it to make it unique, or set replace_all.",
        lines.len(),
        named(lines)
    ))
}

/// Line numbers in words, the first ones of many.
fn named(lines: &[usize]) -> String {
    let named: Vec<_> = lines
        .iter()
        .take(PLACES_NAMED)
        .map(usize::to_string)
        .collect();
    let more = if lines.len() > PLACES_NAMED {
        ", …"
    } else {
        ""
    };
    named.join(", ") + more
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    use serde_json::json;

    use crate::coding::scene::Scene;

    #[track_caller]
    fn check(content: &str, old: &str, new: &str, said: &str, expected: &str) {
        let scene = Scene::new();
        scene.write("f", content);
        scene.says(
            "edit",
            json!({"path": "f", "old_text": old, "new_text": new}),
            said,
        );
        assert_eq!(scene.content("f"), expected);
        assert_eq!(scene.names(), ["f"]);
    }

    #[test]
    fn a_text_takes_the_place_of_another() {
        check(
            "a\nb\nc\n",
            "b",
            "B",
            "edited 'f': 1 replacement, at line 2",
            "a\nB\nc\n",
        );
        check(
            "a\nb\nc",
            "a\nb\n",
            "",
            "edited 'f': 1 replacement, at line 1",
            "c",
        );
        check(
            "Grüße ✓",
            "ü",
            "ue",
            "edited 'f': 1 replacement, at line 1",
            "Grueße ✓",
        );
        // What looks like a pattern is none.
        check(
            "a.*$1",
            ".*$1",
            "$0",
            "edited 'f': 1 replacement, at line 1",
            "a$0",
        );
    }

    #[test]
    fn line_endings_are_kept() {
        let said = "edited 'f': 1 replacement, at line 2";
        check("a\r\nb\r\nc\r\n", "b\nc", "x\ny", said, "a\r\nx\r\ny\r\n");
        check("a\r\nb\r\n", "b", "x\ny", said, "a\r\nx\r\ny\r\n");
        check("a\r\nb\r\n", "b\r\n", "x\r\n", said, "a\r\nx\r\n");
        check("a\r\nb\nc\n", "b\nc", "x\ny", said, "a\r\nx\ny\n");
    }

    #[test]
    fn a_text_must_be_unique_unless_all_are_meant() {
        let scene = Scene::new();
        scene.write("f", "x\ny\nx x\n");
        scene.fails(
            "edit",
            json!({"path": "f", "old_text": "x", "new_text": "z"}),
            "old_text is 3 times in 'f', at lines 1, 3, 3. Take in more of the lines around it to make it unique, or set replace_all.",
        );
        assert_eq!(scene.content("f"), "x\ny\nx x\n");
        scene.says(
            "edit",
            json!({"path": "f", "old_text": "x", "new_text": "z", "replace_all": true}),
            "edited 'f': 3 replacements, at lines 1, 3, 3",
        );
        assert_eq!(scene.content("f"), "z\ny\nz z\n");
        scene.write("many", "x".repeat(100));
        let all = json!({"path": "many", "old_text": "x", "new_text": "y", "replace_all": true});
        let said = scene.call("edit", all).unwrap();
        assert!(said.ends_with(", 1, 1, …"), "{said}");
    }

    #[test]
    fn what_cannot_be_edited_is_said() {
        let scene = Scene::with_limits(|limits| limits.file_bytes_max = 10);
        scene.write("f", "text");
        scene.write("latin", b"Gr\xfc\xdfe");
        scene.write("large", "12345678901");
        scene.write("folder/x", "");
        let rows = [
            (
                "f",
                "",
                "b",
                "old_text is empty. Use the tool write to make a file or to replace all of it.",
            ),
            (
                "f",
                "a",
                "a",
                "old_text and new_text are the same, so there is nothing to change.",
            ),
            (
                "f",
                "a",
                "b",
                "old_text is not in 'f'. Read the file again to see what it contains.",
            ),
            (
                "no",
                "a",
                "b",
                "cannot edit 'no': No such file or directory (os error 2)",
            ),
            (
                "latin",
                "a",
                "b",
                "cannot edit 'latin': it is not UTF-8 text",
            ),
            (
                "large",
                "a",
                "b",
                "cannot edit 'large': it has more than 10 bytes",
            ),
            ("folder", "a", "b", "cannot edit 'folder': is a directory"),
            (
                "f",
                "x",
                "12345678901",
                "cannot write 'f': it would become too large",
            ),
        ];
        for (path, old, new, expected) in rows {
            scene.fails(
                "edit",
                json!({"path": path, "old_text": old, "new_text": new}),
                expected,
            );
        }
        assert_eq!(scene.content("f"), "text");
        // Two of them are replaced, and the file has room for one.
        scene.fails(
            "edit",
            json!({"path": "f", "old_text": "t", "new_text": "12345", "replace_all": true}),
            "cannot write 'f': it would become too large",
        );
        let fits = json!({"path": "f", "old_text": "t", "new_text": "1234", "replace_all": true});
        scene.says("edit", fits, "edited 'f': 2 replacements, at lines 1, 1");
        assert_eq!(scene.content("f"), "1234ex1234");
    }

    #[test]
    fn permissions_count_and_are_kept() {
        let scene = Scene::new();
        scene.write("f", "old");
        let path = scene.root().join("f");
        let arguments = json!({"path": "f", "old_text": "old", "new_text": "new"});
        fs::set_permissions(&path, Permissions::from_mode(0o444)).unwrap();
        scene.fails(
            "edit",
            arguments.clone(),
            "cannot write 'f': it is read-only",
        );
        fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
        scene.call("edit", arguments).unwrap();
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o755);
        assert_eq!(scene.content("f"), "new");
    }

    #[test]
    fn nothing_outside_is_edited() {
        let scene = Scene::new();
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("f"), "old").unwrap();
        scene.link(outside.path().join("f"), "link");
        scene.write(".git/config", "old");
        for path in ["link", "../x", ".git/config"] {
            scene.rejects(
                "edit",
                json!({"path": path, "old_text": "old", "new_text": "new"}),
            );
        }
        assert_eq!(fs::read_to_string(outside.path().join("f")).unwrap(), "old");
    }
}
