//! `read`: some lines of a file, with their numbers.

use std::io::{BufRead, BufReader, Read};

use harn_events::{SideEffectLevel, ToolKind};
use rustix::fs::FileType;

use super::arguments::Arguments;
use super::background::{Cancelled, WhileWaiting};
use super::declare::Declare;
use super::failed;
use super::lent::Lines;
use super::limits::Limits;
use super::workspace::Workspace;
use crate::own_tools::{Damaged, LOOKED_BYTES_MAX, Window, is_binary};
use crate::tool::{Declaration, ToolError};

/// How far to go on in a large file to say how many lines are left.
const COUNTED_BYTES_MAX: u64 = 64 * 1024 * 1024;

pub(super) fn declaration(limits: &Limits) -> Declaration {
    let lines = limits.read_lines_max;
    let about = format!(
        "Reads a text file of the workspace. Each line is shown as its number, a tab and its text. At most {lines} lines are shown at once; use offset to go on."
    );
    Declare::new("read", about)
        .does(
            ToolKind::Read,
            SideEffectLevel::ReadOnly,
            "workspace",
            "read_text",
        )
        .needs("path", "string", "The file, relative to the workspace.")
        .takes(
            "offset",
            "integer",
            "The number of the first line to show; 1 if left out.",
        )
        .takes("limit", "integer", "How many lines to show.")
        .also("path", &["file", "file_path", "filename"])
        .done()
}

pub(super) fn read(
    workspace: &Workspace,
    arguments: Arguments<'_>,
    cancelled: &Cancelled,
) -> Result<String, ToolError> {
    let path = arguments.text("path")?;
    let limits = &workspace.limits;
    let offset = arguments.number("offset", 1)?.unwrap_or(1);
    let lines_max = limits.read_lines_max;
    let window = Window {
        offset,
        limit: arguments.count("limit", lines_max, lines_max)?,
        line_bytes_max: limits.line_bytes_max,
        text_bytes_max: limits.read_bytes_max,
        looked_bytes_max: LOOKED_BYTES_MAX,
        counted_bytes_max: COUNTED_BYTES_MAX,
        damaged: Damaged::Replace,
    };
    let place = workspace.place(path)?;
    if let Ok(Some(FileType::Directory)) = place.kind() {
        return Err(failed(format!(
            "'{path}' is a folder. Use the tool list to see what is in it."
        )));
    }
    let lines = Lines {
        first: offset,
        // One more than is shown, to know whether there is more.
        count: window.limit as u64 + 1,
    };
    match workspace.lent_text(&place, Some(lines), cancelled)? {
        None => {}
        Some(Ok(text)) => return Ok(show_lent(&text, &window)),
        Some(Err(reason)) => return Err(failed(format!("cannot read '{path}': {reason}"))),
    }
    let cannot = |error| failed(format!("cannot read '{path}': {error}"));
    let file = place.open_file().map_err(cannot)?;
    let bytes = file.metadata().map_err(cannot)?.len();
    show(WhileWaiting(file, cancelled), bytes, &window)
        .map_err(cannot)?
        .ok_or_else(|| {
            failed(format!(
                "'{path}' is a binary file of {bytes} bytes, which cannot be shown as text."
            ))
        })
}

/// The lines that a host gave, which begin where the window does.
fn show_lent(text: &str, window: &Window) -> String {
    if text.is_empty() {
        return match window.offset {
            1 => "[the file is empty]".to_owned(),
            offset => format!("[the file ends before line {offset}]"),
        };
    }
    let before = std::io::repeat(b'\n').take(window.offset - 1);
    let mut reader = BufReader::new(before.chain(text.as_bytes()));
    let view = window.view(&mut reader);
    let view = view.expect("a text in memory can be read, and it is text");
    match view.lines_left {
        0 => view.text,
        _ => format!(
            "{}\n\n[... more lines not shown. Use offset={} to continue reading]",
            view.text, view.next_line
        ),
    }
}

/// The text of a window; `None`: the file is no text.
fn show(file: impl Read, bytes: u64, window: &Window) -> std::io::Result<Option<String>> {
    let mut reader = BufReader::new(file);
    if is_binary(reader.fill_buf()?) {
        return Ok(None);
    }
    let view = window.view(&mut reader)?;
    let more = if view.is_uncounted { "more than " } else { "" };
    Ok(Some(match view.lines_left {
        _ if bytes == 0 => "[the file is empty]".to_owned(),
        0 if !view.is_uncounted && view.text.is_empty() => {
            format!("[the file ends before line {}]", window.offset)
        }
        0 if !view.is_uncounted => view.text,
        left => format!(
            "{}\n\n[... {more}{left} more lines not shown. Use offset={} to continue reading]",
            view.text, view.next_line
        ),
    }))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use serde_json::json;

    use crate::coding::scene::Scene;

    #[test]
    fn lines_are_numbered() {
        let scene = Scene::new();
        scene.write("a.txt", "one\r\ntwo\nGrüße ✓");
        scene.write("latin.txt", b"Gr\xfc\xdfe\n");
        scene.write("empty", "");
        scene.link("a.txt", "link");
        let rows = [
            (json!({"path": "a.txt"}), "1\tone\n2\ttwo\n3\tGrüße ✓"),
            (json!({"path": "link", "offset": "3"}), "3\tGrüße ✓"),
            (
                json!({"path": "a.txt", "offset": 2, "limit": 1}),
                "2\ttwo\n\n[... 1 more lines not shown. Use offset=3 to continue reading]",
            ),
            (
                json!({"path": "a.txt", "offset": 4}),
                "[the file ends before line 4]",
            ),
            (json!({"path": "latin.txt"}), "1\tGr\u{fffd}\u{fffd}e"),
            (json!({"path": "empty"}), "[the file is empty]"),
        ];
        for (arguments, expected) in rows {
            scene.says("read", arguments, expected);
        }
    }

    #[test]
    fn what_cannot_be_read_is_said() {
        let scene = Scene::new();
        scene.write("folder/file", "");
        scene.write("program", b"\x7fELF\0");
        let rows = [
            (json!({}), "the argument `path` is missing"),
            (json!({"path": ""}), "the path is empty"),
            (
                json!({"path": "no"}),
                "cannot read 'no': No such file or directory (os error 2)",
            ),
            (
                json!({"path": "folder/file/below"}),
                "cannot read 'folder/file/below': Not a directory (os error 20)",
            ),
            (
                json!({"path": "folder"}),
                "'folder' is a folder. Use the tool list to see what is in it.",
            ),
            (
                json!({"path": "."}),
                "'.' is a folder. Use the tool list to see what is in it.",
            ),
            (
                json!({"path": "program"}),
                "'program' is a binary file of 5 bytes, which cannot be shown as text.",
            ),
            (
                json!({"path": "program", "offset": 0}),
                "the argument `offset` must be a whole number of at least 1, not 0",
            ),
        ];
        for (arguments, expected) in rows {
            scene.fails("read", arguments, expected);
        }
    }

    #[test]
    fn what_nobody_may_read_is_said_to_all_but_the_superuser() {
        let scene = Scene::new();
        scene.write("closed/file", "x");
        scene.write("file", "x");
        for path in ["file", "closed"] {
            let none = fs::Permissions::from_mode(0o000);
            fs::set_permissions(scene.root().join(path), none).unwrap();
        }
        if fs::File::open(scene.root().join("file")).is_err() {
            let denied = "Permission denied (os error 13)";
            let file = format!("cannot read 'file': {denied}");
            scene.fails("read", json!({"path": "file"}), &file);
            let below = format!("cannot read 'closed/file': {denied}");
            scene.fails("read", json!({"path": "closed/file"}), &below);
            let folder = format!("cannot list 'closed': {denied}");
            scene.fails("list", json!({"path": "closed"}), &folder);
            let rest = "[no line matches in 0 files]\n\n[1 files could not be read]\n\n[1 folder could not be read]";
            scene.says("grep", json!({"pattern": "x"}), rest);
            let write = format!("cannot write 'closed/new': {denied}");
            scene.fails(
                "write",
                json!({"path": "closed/new", "content": ""}),
                &write,
            );
        }
        // So that the scratch folder can be removed.
        let all = fs::Permissions::from_mode(0o700);
        fs::set_permissions(scene.root().join("closed"), all).unwrap();
    }

    #[test]
    fn nothing_outside_is_read() {
        let scene = Scene::new();
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("secret"), "secret").unwrap();
        scene.link(outside.path(), "out");
        for path in ["/etc/passwd", "../secret", "out/secret", "out/../../x"] {
            scene.rejects("read", json!({"path": path}));
        }
    }

    #[test]
    fn large_files_are_shown_in_parts() {
        let scene = Scene::with_limits(|limits| {
            limits.read_lines_max = 3;
            limits.read_bytes_max = 100;
            limits.line_bytes_max = 10;
        });
        scene.write("lines", "x\n".repeat(100_000));
        scene.says(
            "read",
            json!({"path": "lines", "limit": 50}),
            "1\tx\n2\tx\n3\tx\n\n[... 99997 more lines not shown. Use offset=4 to continue reading]",
        );
        scene.says(
            "read",
            json!({"path": "lines", "offset": 100_000}),
            "100000\tx",
        );
        scene.write("line", "y".repeat(1_000_000));
        scene.says(
            "read",
            json!({"path": "line"}),
            "1\tyyyyyyyyyy… [line cut: it has 1000000 bytes]",
        );
    }

    #[test]
    fn a_file_with_a_hole_of_many_gigabytes_costs_nothing() {
        let scene = Scene::new();
        scene.write("sparse", "first\nsecond\n".repeat(1000));
        let file = fs::File::options()
            .write(true)
            .open(scene.root().join("sparse"));
        file.unwrap().set_len(1 << 36).unwrap();
        let text = scene
            .call("read", json!({"path": "sparse", "limit": 1}))
            .unwrap();
        let expected = "1\tfirst\n\n[... more than 1999 more lines not shown. Use offset=2";
        assert!(text.starts_with(expected), "{text}");
    }
}
