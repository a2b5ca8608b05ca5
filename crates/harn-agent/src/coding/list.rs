//! `list`: what is in a folder.

use harn_events::{SideEffectLevel, ToolKind};
use rustix::fs::FileType;

use super::arguments::Arguments;
use super::background::Cancelled;
use super::declare::Declare;
use super::failed;
use super::limits::Limits;
use super::walk::{Entry, Next, walk};
use super::workspace::{Workspace, is_kept_apart};
use crate::tool::{Declaration, ToolError};

pub(super) fn declaration(limits: &Limits) -> Declaration {
    let depth = format!(
        "How many levels of folders to show, at most {}; 1 if left out.",
        limits.depth_max
    );
    Declare::new(
        "list",
        "Lists a folder of the workspace in the order of names. Folders end with a slash, links show where they lead.",
    )
    .does(ToolKind::Read, SideEffectLevel::ReadOnly, "workspace", "list")
    .takes("path", "string", "The folder, relative to the workspace; the workspace itself if left out.")
    .takes("depth", "integer", &depth)
    .takes("limit", "integer", "How many entries to show.")
    .also("path", &["folder", "directory", "dir"])
    .done()
}

pub(super) fn list(
    workspace: &Workspace,
    arguments: Arguments<'_>,
    cancelled: &Cancelled,
) -> Result<String, ToolError> {
    let path = arguments.folder()?;
    let depth_max = arguments.count("depth", 1, workspace.limits.depth_max)?;
    let entries_max = workspace.limits.entries_max;
    let entries_max = arguments.count("limit", entries_max, entries_max)?;
    let place = workspace.place(path)?;
    let cannot = |error| failed(format!("cannot list '{path}': {error}"));
    if let Some(FileType::RegularFile) = place.kind().map_err(cannot)? {
        return Err(failed(format!(
            "'{path}' is a file. Use the tool read to see what it contains."
        )));
    }
    let folder = place.open_folder().map_err(cannot)?;
    let mut lines = Vec::new();
    let mut has_more = false;
    let walked = walk(folder, cancelled, &mut |entry| {
        if lines.len() == entries_max {
            has_more = true;
            return Next::Stop;
        }
        lines.push(line(entry));
        let is_apart = is_kept_apart(entry.path) || place.is_state(entry.path);
        match entry.depth < depth_max && !is_apart {
            true => Next::Enter,
            false => Next::Pass,
        }
    })
    .map_err(cannot)?;
    if lines.is_empty() {
        return Ok("[the folder is empty]".to_owned());
    }
    if has_more {
        lines.push(format!(
            "\n[only the first {entries_max} entries are shown. List a folder below, or use the tool glob]"
        ));
    }
    lines.extend(walked.note());
    Ok(lines.join("\n"))
}

fn line(entry: &Entry<'_>) -> String {
    let path = entry.path.to_string_lossy();
    match entry.kind {
        FileType::Directory => format!("{path}/"),
        FileType::Symlink => {
            let name = entry.path.file_name().unwrap_or_default();
            match rustix::fs::readlinkat(entry.folder, name, Vec::new()) {
                Ok(target) => format!("{path} -> {}", target.to_string_lossy()),
                Err(_) => path.into_owned(),
            }
        }
        _ => path.into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::fs;
    use std::os::unix::ffi::OsStrExt;

    use serde_json::json;

    use crate::coding::scene::Scene;

    fn scene() -> Scene {
        let scene = Scene::new();
        for path in [
            "src/main.rs",
            "src/deep/er/x",
            "README.md",
            ".git/config",
            "ümlaut",
        ] {
            scene.write(path, "");
        }
        scene.link("src", "link");
        scene
    }

    #[test]
    fn a_folder_is_listed_in_order() {
        let scene = scene();
        let all = ".git/\nREADME.md\nlink -> src\nsrc/\nümlaut";
        for arguments in [json!({}), json!({"path": ""}), json!({"path": "."})] {
            scene.says("list", arguments, all);
        }
        scene.says("list", json!({"path": "src"}), "deep/\nmain.rs");
        scene.says("list", json!({"path": "link"}), "deep/\nmain.rs");
        scene.says(
            "list",
            json!({"depth": 2}),
            ".git/\nREADME.md\nlink -> src\nsrc/\nsrc/deep/\nsrc/main.rs\nümlaut",
        );
        scene.says(
            "list",
            json!({"path": "src", "depth": 99}),
            "deep/\ndeep/er/\ndeep/er/x\nmain.rs",
        );
        scene.says(
            "list",
            json!({"limit": 2}),
            ".git/\nREADME.md\n\n[only the first 2 entries are shown. List a folder below, or use the tool glob]",
        );
    }

    #[test]
    fn names_that_are_no_text_are_shown_as_well_as_can_be() {
        let scene = Scene::new();
        fs::write(scene.root().join(OsStr::from_bytes(b"a\xffb")), "").unwrap();
        scene.says("list", json!({}), "a\u{fffd}b");
    }

    #[test]
    fn what_cannot_be_listed_is_said() {
        let scene = scene();
        fs::create_dir(scene.root().join("empty")).unwrap();
        scene.says("list", json!({"path": "empty"}), "[the folder is empty]");
        scene.fails(
            "list",
            json!({"path": "README.md"}),
            "'README.md' is a file. Use the tool read to see what it contains.",
        );
        scene.fails(
            "list",
            json!({"path": "no"}),
            "cannot list 'no': No such file or directory (os error 2)",
        );
        scene.link("/", "out");
        for path in ["..", "/etc", "out", "out/etc"] {
            scene.rejects("list", json!({"path": path}));
        }
    }
}
