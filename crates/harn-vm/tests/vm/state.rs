//! What programs keep between runs, when several of them do at once.

use std::path::Path;
use std::thread;

use harn_check::modules::{Disk, Workspace};
use harn_vm::machine::Stream;
use harn_vm::{Outcome, Program, RunOptions, Sink};

struct Silent;

impl Sink for Silent {
    fn write(&mut self, _stream: Stream, _text: &str) {}

    fn flush(&mut self) {}
}

/// Runs a program in a folder, as a process of its own would.
fn run(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    std::fs::write(&path, text).expect("the folder can be written");
    let options = RunOptions {
        folder: Some(folder.to_owned()),
        ..RunOptions::default()
    };
    let mut workspace = Workspace::new(Box::new(Disk));
    let mut program = Program::new(&mut workspace, &path);
    let outcome = program
        .run(&options, Box::new(Silent))
        .expect("the program can be loaded");
    assert!(matches!(outcome, Outcome::Ended(Ok(_))), "{outcome:?}");
}

fn read(folder: &Path, name: &str) -> serde_json::Value {
    let text = std::fs::read_to_string(folder.join(name)).expect("the file is there");
    serde_json::from_str(&text).expect("it is JSON")
}

/// Runs a program for each of some writers at the same time. `WRITER` in it is their number.
fn run_together(folder: &Path, text: &str) {
    thread::scope(|scope| {
        for writer in 0..4 {
            scope.spawn(move || {
                let text = text.replace("WRITER", &writer.to_string());
                run(folder, &format!("{writer}.harn"), &text);
            });
        }
    });
}

#[test]
fn of_programs_that_store_at_the_same_time_none_loses_a_key() {
    let folder = tempfile::tempdir().unwrap();
    run_together(
        folder.path(),
        "for i in 1 to 10 {\n  store_set(\"WRITER-${i}\", i)\n}\n",
    );
    let store = read(folder.path(), ".harn/store.json");
    assert_eq!(store.as_object().unwrap().len(), 40);
}

#[test]
fn notes_of_several_programs_about_one_folder_are_merged() {
    let folder = tempfile::tempdir().unwrap();
    run_together(
        folder.path(),
        "metadata_set(\".\", \"n\", {\"fWRITER\": 1})\nmetadata_save()\n",
    );
    let notes = read(folder.path(), ".harn/metadata/n/entries.json");
    assert_eq!(notes[""].as_object().unwrap().len(), 4);
}

#[test]
fn of_lines_that_are_remembered_at_the_same_time_none_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    run_together(
        folder.path(),
        "import \"std/memory\"\n\nfor i in 1 to 10 {\n  memory_store(\"n\", \"WRITER-${i}\", i)\n}\n",
    );
    let path = folder.path().join(".harn/memory/n/events.jsonl");
    let lines = std::fs::read_to_string(path).unwrap();
    assert_eq!(lines.lines().count(), 40);
    for line in lines.lines() {
        serde_json::from_str::<serde_json::Value>(line).unwrap();
    }
}

#[test]
fn of_writers_that_must_not_replace_each_other_only_one_writes() {
    let folder = tempfile::tempdir().unwrap();
    let text = "\
import \"std/agent_state\"

let handle = agent_state_init(\"s\", \"state\", {writer_id: \"WRITER\", conflict_policy: \"error\"})
try {
  agent_state_write(handle, \"key\", \"WRITER\")
  store_set(\"WRITER\", true)
} catch (e) {
  println(e)
}
";
    run_together(folder.path(), text);
    let store = read(folder.path(), ".harn/store.json");
    let written = std::fs::read_to_string(folder.path().join("state/s/key")).unwrap();
    let winners: Vec<&String> = store.as_object().unwrap().keys().collect();
    assert_eq!(winners, [&written]);
}
