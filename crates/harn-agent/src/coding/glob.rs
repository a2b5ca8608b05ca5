//! `glob`: files whose paths match a pattern.

use globset::{GlobBuilder, GlobMatcher};
use harn_events::{SideEffectLevel, ToolKind};
use rustix::fs::FileType;

use super::arguments::Arguments;
use super::background::Cancelled;
use super::declare::Declare;
use super::failed;
use super::walk::{Next, walk};
use super::workspace::{Workspace, is_kept_apart};
use crate::tool::{Declaration, ToolError};

pub(super) fn declaration() -> Declaration {
    Declare::new(
        "glob",
        "Finds files of the workspace by a pattern for their paths, in the order of paths: `*.rs` finds files in the folder itself, `**/*.rs` also in all folders below, `src/**/*.{ts,tsx}` two kinds. Links, .git and .harn are passed over.",
    )
    .does(ToolKind::Search, SideEffectLevel::ReadOnly, "workspace", "list")
    .needs("pattern", "string", "The pattern, for paths that start at the folder.")
    .takes("path", "string", "The folder to look in; the workspace itself if left out.")
    .takes("limit", "integer", "How many paths to show.")
    .also("path", &["folder", "directory", "dir"])
    .done()
}

pub(super) fn glob(
    workspace: &Workspace,
    arguments: Arguments<'_>,
    cancelled: &Cancelled,
) -> Result<String, ToolError> {
    let pattern = arguments.text("pattern")?;
    let path = arguments.folder()?;
    let entries_max = workspace.limits.entries_max;
    let entries_max = arguments.count("limit", entries_max, entries_max)?;
    let matcher = matcher(pattern)?;
    let place = workspace.place(path)?;
    let cannot = |error| failed(format!("cannot look in '{path}': {error}"));
    let folder = place.open_folder().map_err(cannot)?;
    let start = place.path();
    let mut paths = Vec::new();
    let mut has_more = false;
    let walked = walk(folder, cancelled, &mut |entry| {
        if is_kept_apart(entry.path) || place.is_state(entry.path) {
            return Next::Pass;
        }
        if entry.kind == FileType::RegularFile && matcher.is_match(entry.path) {
            if paths.len() == entries_max {
                has_more = true;
                return Next::Stop;
            }
            paths.push(start.join(entry.path).to_string_lossy().into_owned());
        }
        Next::Enter
    })
    .map_err(cannot)?;
    if paths.is_empty() {
        paths.push(format!("[no file matches '{pattern}']"));
    }
    if has_more {
        paths.push(format!(
            "\n[only the first {entries_max} files are shown. Use a narrower pattern]"
        ));
    }
    paths.extend(walked.note());
    Ok(paths.join("\n"))
}

/// A pattern where `*` stays in one folder.
pub(super) fn matcher(pattern: &str) -> Result<GlobMatcher, ToolError> {
    let bare = pattern.strip_prefix("./").unwrap_or(pattern);
    if bare.starts_with('/') || bare.split('/').any(|part| part == "..") {
        return Err(failed(format!(
            "the pattern '{pattern}' must start at the folder and stay in it. Give the folder as `path`."
        )));
    }
    let glob = GlobBuilder::new(bare).literal_separator(true).build();
    let glob = glob.map_err(|error| failed(format!("the pattern is not valid: {error}")))?;
    Ok(glob.compile_matcher())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::coding::Workspace;
    use crate::coding::scene::Scene;

    fn scene() -> Scene {
        let scene = Scene::new();
        for path in [
            "a.rs",
            "src/b.rs",
            "src/in/c.rs",
            "src/in/d.ts",
            ".git/e.rs",
            ".harn/f.rs",
            ".hidden.rs",
        ] {
            scene.write(path, "");
        }
        scene.link("src", "link");
        scene.link("a.rs", "link.rs");
        scene
    }

    #[test]
    fn files_are_found_by_their_paths() {
        let scene = scene();
        let rows = [
            (json!({"pattern": "*.rs"}), ".hidden.rs\na.rs"),
            (json!({"pattern": "./*.rs"}), ".hidden.rs\na.rs"),
            (
                json!({"pattern": "**/*.rs"}),
                ".hidden.rs\na.rs\nsrc/b.rs\nsrc/in/c.rs",
            ),
            (json!({"pattern": "*.rs", "path": "src"}), "src/b.rs"),
            (
                json!({"pattern": "**/*.{rs,ts}", "path": "src/in"}),
                "src/in/c.rs\nsrc/in/d.ts",
            ),
            (json!({"pattern": "src/*/?.ts"}), "src/in/d.ts"),
            (json!({"pattern": "*.py"}), "[no file matches '*.py']"),
            (
                json!({"pattern": "**/*.rs", "limit": 1}),
                ".hidden.rs\n\n[only the first 1 files are shown. Use a narrower pattern]",
            ),
        ];
        for (arguments, expected) in rows {
            scene.says("glob", arguments, expected);
        }
    }

    #[test]
    fn it_is_said_when_folders_were_left_out() {
        let scene = Scene::new();
        scene.write(&format!("{}/x", vec!["d"; 150].join("/")), "");
        scene.says(
            "glob",
            json!({"pattern": "**/x"}),
            "[no file matches '**/x']\n\n[1 folder could not be read]",
        );
        scene.says(
            "grep",
            json!({"pattern": "x"}),
            "[no line matches in 0 files]\n\n[1 folder could not be read]",
        );
    }

    #[test]
    fn files_of_a_second_root_have_whole_paths() {
        let mut scene = scene();
        let other = tempfile::tempdir().unwrap();
        std::fs::write(other.path().join("x.rs"), "").unwrap();
        scene.workspace = Workspace::new([scene.root(), other.path().to_owned()]).unwrap();
        let file = scene.workspace.roots()[1].join("x.rs");
        let arguments = json!({"pattern": "*.rs", "path": other.path()});
        scene.says("glob", arguments, file.to_str().unwrap());
    }

    #[test]
    fn what_cannot_be_looked_for_is_said() {
        let scene = scene();
        scene.fails("glob", json!({}), "the argument `pattern` is missing");
        for pattern in ["/etc/*", "../*", "src/../../*"] {
            let said = format!(
                "the pattern '{pattern}' must start at the folder and stay in it. Give the folder as `path`."
            );
            scene.fails("glob", json!({"pattern": pattern}), &said);
        }
        assert!(scene.call("glob", json!({"pattern": "[a"})).is_err());
        scene.fails(
            "glob",
            json!({"pattern": "*", "path": "a.rs"}),
            "cannot look in 'a.rs': Not a directory (os error 20)",
        );
        scene.rejects("glob", json!({"pattern": "*", "path": "/etc"}));
    }
}
