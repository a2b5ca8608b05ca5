//! What "always" remembers about a call that runs a command.
//!
//! The very command, not the start of its text: its parts, the folder it runs in, and the
//! contents of the files that it runs and that commands may change. So what was agreed to once is
//! asked again when the script behind it is another one.

use std::fmt::Write as _;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use harn_llm::sorted_json;
use harn_shell::{Part, Surroundings};
use serde_json::{Value, json};

use super::command_place::CommandPlace;
use super::commands::parts;
use super::digest::digest;

/// How much of a file is read. A command that runs a larger one is asked about each time.
const FILE_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// What a call is known by; `None`: its answer is not to be remembered.
pub(crate) fn remembered_call(
    arguments: &Value,
    commands: &[String],
    place: &CommandPlace,
) -> Option<String> {
    let mut rest = arguments.clone();
    let mut known = Vec::new();
    for name in commands {
        let Some(command) = rest.as_object_mut().and_then(|fields| fields.remove(name)) else {
            continue;
        };
        let script = parts(&command).ok()?;
        let mut files = String::new();
        for part in &script.parts {
            note_files(part, place, &mut files)?;
        }
        // Where a part is written says nothing about what it does.
        let parts = script.parts.into_iter().map(|part| Part {
            position: 0,
            ..part
        });
        let parts: Vec<Part> = parts.collect();
        known.push(json!([name, format!("{parts:?}"), files]));
    }
    let folder = place.folder().map(Path::to_string_lossy);
    let all = json!({"arguments": rest, "commands": known, "folder": folder});
    Some(digest(&sorted_json(&all)))
}

/// Notes the files that a part runs and that commands may change; `None`: one cannot be read.
fn note_files(part: &Part, place: &CommandPlace, noted: &mut String) -> Option<()> {
    let layers = part.via.iter().map(|layer| &*layer.program);
    let programs = part.program.as_deref().into_iter().chain(layers);
    let changeable = programs.filter_map(|program| {
        let files = place.files(program);
        files
            .iter()
            .any(|file| place.is_writable(file))
            .then_some(files)
    });
    // A shell or an interpreter runs a file that it is given, wherever among its words.
    let words = part.words.iter().filter_map(|word| word.literal());
    let scripts = words.filter(|_| {
        part.program
            .as_deref()
            .is_some_and(harn_shell::reads_programs)
    });
    let scripts = scripts.map(|word| match word.contains('/') {
        true => place.files(word),
        false => place.files(&format!("./{word}")),
    });
    for files in changeable.chain(scripts) {
        let Some(file) = files.last() else { continue };
        let mut content = Vec::new();
        let opened = File::open(file).ok()?;
        let mut limited = opened.take(FILE_BYTES_MAX + 1);
        limited.read_to_end(&mut content).ok()?;
        if content.len() as u64 > FILE_BYTES_MAX {
            return None;
        }
        let digested = digest(&String::from_utf8_lossy(&content));
        let _a_string_takes_all = writeln!(noted, "{} {digested}", file.display());
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn known(root: &Path, command: &str) -> Option<String> {
        let place = CommandPlace::new(vec![root.to_owned()], "/usr/bin:/bin");
        let arguments = json!({"command": command});
        remembered_call(&arguments, &["command".to_owned()], &place)
    }

    #[test]
    fn the_very_command_in_its_folder_is_remembered() {
        let root = Path::new("/tmp");
        let one = known(root, "ls -l; true");
        assert!(one.is_some());
        assert_eq!(known(root, "ls   -l\ntrue"), one);
        for other in [
            "ls -l",
            "ls -la; true",
            "ls -l; true x",
            "env ls -l; true",
            "ls -l; true >x",
        ] {
            assert_ne!(known(root, other), one, "{other}");
        }
        assert_ne!(known(Path::new("/usr"), "ls -l; true"), one);
    }

    #[test]
    fn what_is_not_understood_is_not_remembered() {
        for command in ["$x", "eval ls", "ls '", "(("] {
            assert_eq!(known(Path::new("/tmp"), command), None, "{command}");
        }
    }

    #[test]
    fn a_script_that_has_changed_is_another_command() {
        let folder = tempfile::tempdir().unwrap();
        let root: PathBuf = folder.path().canonicalize().unwrap();
        let commands = [
            "./build",
            "sh build",
            "sh ./build x",
            "env ./build",
            ". ./build",
        ];
        std::fs::write(root.join("build"), "true").unwrap();
        let before: Vec<_> = commands.map(|command| known(&root, command)).into();
        std::fs::write(root.join("build"), "false").unwrap();
        for (command, before) in commands.iter().zip(before) {
            assert!(before.is_some(), "{command}");
            assert_ne!(known(&root, command), before, "{command}");
        }
    }
}
