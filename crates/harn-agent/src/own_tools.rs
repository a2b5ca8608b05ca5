//! Tools that the runtime answers itself, even when a program gives handlers for their names.
//!
//! Their errors are texts like every other answer, because a model reads them.
//! Which folder relative paths start from is told by the caller; what a session may touch at all
//! is decided by its policy before a call comes here.

mod window;

use std::fs;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use harn_llm::sorted_json_pretty;
use serde_json::Value;

use crate::plan::plan_artifact;
use crate::protected_paths::Protection;
use crate::real_path::{open_regular, resolve};
use crate::runtime::Runtime;
use crate::tool::Caution;

pub(crate) use window::{Damaged, LOOKED_BYTES_MAX, Window, is_binary};

const READ_FILE: &str = "read_file";
const LIST_DIRECTORY: &str = "list_directory";
const EMIT_PLAN: &str = "emit_plan";
const UPDATE_PLAN: &str = "update_plan";

/// All of them.
pub(crate) const NAMES: [&str; 4] = [READ_FILE, LIST_DIRECTORY, EMIT_PLAN, UPDATE_PLAN];

/// How many lines `read_file` shows at once.
const LINES_MAX: usize = 2000;
/// A longer line is cut, so that a file of one line cannot fill the memory.
const LINE_BYTES_MAX: usize = 256 * 1024;
/// Lines beyond this many bytes are left for the next call.
const TEXT_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Whether the runtime answers this tool itself.
pub fn is_own_tool(name: &str) -> bool {
    NAMES.contains(&name)
}

/// Whether this tool makes a plan, which is told to hosts as well.
pub fn is_plan_tool(name: &str) -> bool {
    matches!(name, EMIT_PLAN | UPDATE_PLAN)
}

/// The answer of one of the runtime's own tools; `None`: it is somebody else's.
pub fn answer(name: &str, arguments: &Value, base: &Path) -> Option<String> {
    match name {
        READ_FILE => Some(read_file(arguments, base)),
        LIST_DIRECTORY => {
            let path = text(arguments, "path").unwrap_or(".");
            Some(list_directory(path, &base.join(path)))
        }
        EMIT_PLAN | UPDATE_PLAN => Some(sorted_json_pretty(&plan_artifact(name, arguments))),
        _ => None,
    }
}

/// The first argument of a call that one of these tools does not take. A plan may hold anything.
pub(crate) fn first_unknown<'a>(name: &str, arguments: &'a Value) -> Option<&'a str> {
    let taken: &[&str] = match name {
        READ_FILE => &["path", "name", "offset", "limit"],
        LIST_DIRECTORY => &["path"],
        _ => return None,
    };
    let mut names = arguments.as_object()?.keys().map(String::as_str);
    names.find(|name| !taken.contains(name))
}

/// Whether the fence of a runtime lets one of its own tools answer.
pub(crate) fn allowed(name: &str, arguments: &Value, runtime: &Runtime) -> Result<(), String> {
    let path = match name {
        READ_FILE => path_of(arguments).unwrap_or("."),
        LIST_DIRECTORY => text(arguments, "path").unwrap_or("."),
        _ => return Ok(()),
    };
    let place = runtime.folder.join(path);
    runtime.fence.read(&place)?;
    match protection(&place, runtime) {
        Some(Protection::State) => Err(format!(
            "path '{path}' belongs to Harn, which keeps its sessions there."
        )),
        _ => Ok(()),
    }
}

/// Why a person has to agree to a call each time.
pub(crate) fn caution(name: &str, arguments: &Value, runtime: &Runtime) -> Option<Caution> {
    let path = path_of(arguments).filter(|_| name == READ_FILE)?;
    let place = runtime.folder.join(path);
    match protection(&place, runtime)? {
        Protection::Secret => Some(Caution {
            reason: format!("reads '{path}', which probably holds secrets"),
            path: place,
        }),
        Protection::State | Protection::Git | Protection::Guarded { .. } => None,
    }
}

/// The path that one of these tools looks at, if it does.
pub(crate) fn path_argument<'a>(name: &str, arguments: &'a Value) -> Option<&'a str> {
    match name {
        READ_FILE => path_of(arguments),
        LIST_DIRECTORY => Some(text(arguments, "path").unwrap_or(".")),
        _ => None,
    }
}

fn protection(place: &Path, runtime: &Runtime) -> Option<Protection> {
    let absolute = std::path::absolute(place).ok()?;
    let real = resolve(&absolute)?;
    runtime.protected.protection(&real.path, None)
}

fn path_of(arguments: &Value) -> Option<&str> {
    text(arguments, "path").or_else(|| text(arguments, "name"))
}

fn read_file(arguments: &Value, base: &Path) -> String {
    let Some(path) = path_of(arguments) else {
        return "Error: missing path parameter".to_owned();
    };
    let place = base.join(path);
    if place.is_dir() {
        return list_directory(path, &place);
    }
    let number = |key: &str| arguments.get(key).and_then(Value::as_i64);
    let offset = number("offset").unwrap_or(1).max(1);
    let limit = number("limit").map_or(LINES_MAX, |limit| {
        usize::try_from(limit).unwrap_or(0).clamp(1, LINES_MAX)
    });
    let window = Window {
        offset: offset.unsigned_abs(),
        limit,
        line_bytes_max: LINE_BYTES_MAX,
        text_bytes_max: TEXT_BYTES_MAX,
        looked_bytes_max: LOOKED_BYTES_MAX,
        counted_bytes_max: u64::MAX,
        damaged: Damaged::Refuse,
    };
    match numbered_lines(&place, &window) {
        Ok(text) => text,
        Err(error) => format!("Error: cannot read file '{path}': {error}"),
    }
}

fn numbered_lines(place: &Path, window: &Window) -> io::Result<String> {
    // Opening a pipe would wait for somebody to write, and a device may never end.
    let mut reader = BufReader::new(open_regular(place)?);
    if is_binary(reader.fill_buf()?) {
        return Err(io::Error::other("it is a binary file"));
    }
    let view = window.view(&mut reader)?;
    Ok(match view.lines_left {
        0 => view.text,
        left => format!(
            "{}\n\n[... {left} more lines not shown. Use offset={} to continue reading]",
            view.text, view.next_line
        ),
    })
}

fn list_directory(path: &str, place: &Path) -> String {
    match listing(place) {
        Ok(lines) => lines.join("\n"),
        Err(error) => format!("Error: cannot list directory '{path}': {error}"),
    }
}

fn listing(place: &Path) -> io::Result<Vec<String>> {
    let mut lines = Vec::new();
    for entry in fs::read_dir(place)? {
        let entry = entry?;
        let mut line = entry.file_name().to_string_lossy().into_owned();
        if entry.path().is_dir() {
            line.push('/');
        }
        lines.push(line);
    }
    lines.sort_unstable();
    Ok(lines)
}

/// An argument that is a text with something in it.
fn text<'a>(arguments: &'a Value, key: &str) -> Option<&'a str> {
    let text = arguments.get(key).and_then(Value::as_str);
    text.filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(base: &Path, name: &str, arguments: Value, expected: &str) {
        assert_eq!(answer(name, &arguments, base).as_deref(), Some(expected));
    }

    /// A folder with files of all kinds.
    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, content: &[u8]| fs::write(folder.path().join(name), content);
        write("five.txt", b"a\nb\nc\nd\ne\n").unwrap();
        write("windows.txt", b"a\r\nb").unwrap();
        write("empty.txt", b"").unwrap();
        write("umlaut.txt", "Grüße\n\n✓".as_bytes()).unwrap();
        write("latin.txt", b"ok\nGr\xfc\xdfe\n").unwrap();
        write("program", b"\x7fELF\0\0").unwrap();
        fs::create_dir(folder.path().join("sub")).unwrap();
        fs::write(folder.path().join("sub/inner.txt"), "x").unwrap();
        folder
    }

    #[test]
    fn files_are_read_with_numbered_lines() {
        let folder = folder();
        let rows = [
            (json!({"path": "five.txt"}), "1\ta\n2\tb\n3\tc\n4\td\n5\te"),
            (json!({"name": "sub/inner.txt"}), "1\tx"),
            (json!({"path": "five.txt", "offset": 4}), "4\td\n5\te"),
            (
                json!({"path": "five.txt", "offset": 0, "limit": 9999}),
                "1\ta\n2\tb\n3\tc\n4\td\n5\te",
            ),
            (
                json!({"path": "five.txt", "offset": 2, "limit": 2}),
                "2\tb\n3\tc\n\n[... 2 more lines not shown. Use offset=4 to continue reading]",
            ),
            (
                json!({"path": "five.txt", "limit": -3}),
                "1\ta\n\n[... 4 more lines not shown. Use offset=2 to continue reading]",
            ),
            (json!({"path": "five.txt", "offset": 6}), ""),
            (json!({"path": "windows.txt"}), "1\ta\n2\tb"),
            (json!({"path": "empty.txt"}), ""),
            (json!({"path": "umlaut.txt"}), "1\tGrüße\n2\t\n3\t✓"),
            (json!({}), "Error: missing path parameter"),
            (json!({"path": ""}), "Error: missing path parameter"),
            (
                json!({"path": "no.txt"}),
                "Error: cannot read file 'no.txt': No such file or directory (os error 2)",
            ),
            (
                json!({"path": "latin.txt"}),
                "Error: cannot read file 'latin.txt': stream did not contain valid UTF-8",
            ),
            (
                json!({"path": "program"}),
                "Error: cannot read file 'program': it is a binary file",
            ),
            (
                json!({"path": "/dev/null"}),
                "Error: cannot read file '/dev/null': '/dev/null' is not a file",
            ),
        ];
        for (arguments, expected) in rows {
            check(folder.path(), READ_FILE, arguments, expected);
        }
        let absolute = folder.path().join("windows.txt");
        check(
            Path::new("/"),
            READ_FILE,
            json!({"path": absolute}),
            "1\ta\n2\tb",
        );
    }

    #[test]
    fn two_thousand_lines_are_shown_at_once() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("long"), "x\n".repeat(2001)).unwrap();
        let text = answer(READ_FILE, &json!({"path": "long"}), folder.path()).unwrap();
        let end = "2000\tx\n\n[... 1 more lines not shown. Use offset=2001 to continue reading]";
        assert!(text.ends_with(end), "{}", &text[text.len() - 100..]);
    }

    #[test]
    fn folders_are_listed() {
        let folder = folder();
        let all = "empty.txt\nfive.txt\nlatin.txt\nprogram\nsub/\numlaut.txt\nwindows.txt";
        for path in [json!({}), json!({"path": ""}), json!({"path": "."})] {
            check(folder.path(), LIST_DIRECTORY, path, all);
        }
        check(
            folder.path(),
            READ_FILE,
            json!({"path": "sub"}),
            "inner.txt",
        );
        check(
            folder.path(),
            LIST_DIRECTORY,
            json!({"path": "no"}),
            "Error: cannot list directory 'no': No such file or directory (os error 2)",
        );
        check(
            folder.path(),
            LIST_DIRECTORY,
            json!({"path": "five.txt"}),
            "Error: cannot list directory 'five.txt': Not a directory (os error 20)",
        );
    }

    #[test]
    fn plans_are_pretty() {
        let text = answer(UPDATE_PLAN, &json!({"title": "T"}), Path::new(".")).unwrap();
        let plan: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(plan, plan_artifact(UPDATE_PLAN, &json!({"title": "T"})));
        assert!(
            text.starts_with("{\n  \"_type\": \"plan_artifact\",\n"),
            "{text}"
        );
    }

    #[test]
    fn other_tools_are_not_ours() {
        assert_eq!(answer("run", &json!({}), Path::new(".")), None);
        assert!(!is_own_tool("run") && !is_plan_tool(READ_FILE));
        for name in [READ_FILE, LIST_DIRECTORY, EMIT_PLAN, UPDATE_PLAN] {
            assert!(is_own_tool(name));
            assert!(answer(name, &json!({}), Path::new(".")).is_some());
        }
        assert!(is_plan_tool(EMIT_PLAN) && is_plan_tool(UPDATE_PLAN));
    }
}
