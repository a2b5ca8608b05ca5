//! A folder that becomes a link, and a link that becomes a folder, while tools work in it.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde_json::json;

use super::scene::Scene;

/// How often each tool is called.
const ROUNDS: usize = 1000;

/// Exchanges two names until it is told to stop.
fn exchange(one: &Path, other: &Path, is_over: &AtomicBool) {
    while !is_over.load(Ordering::Relaxed) {
        renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE).expect("both names are there");
    }
}

#[test]
fn a_folder_that_becomes_a_link_leads_no_tool_outside() {
    let scene = Scene::new();
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("file"), "secret").unwrap();
    scene.write("folder/file", "mine");
    scene.link(outside.path(), "link");
    let (folder, link) = (scene.root().join("folder"), scene.root().join("link"));
    let is_over = AtomicBool::new(false);
    let calls = [
        ("read", json!({"path": "folder/file"})),
        ("list", json!({"path": "folder"})),
        ("glob", json!({"path": "folder", "pattern": "*"})),
        ("grep", json!({"path": "folder", "pattern": "secret"})),
        ("write", json!({"path": "folder/file", "content": "mine"})),
        ("write", json!({"path": "folder/new", "content": "mine"})),
        (
            "edit",
            json!({"path": "folder/file", "old_text": "e", "new_text": "e!"}),
        ),
    ];
    std::thread::scope(|scope| {
        scope.spawn(|| exchange(&folder, &link, &is_over));
        for (tool, arguments) in &calls {
            for _ in 0..ROUNDS {
                if let Ok(said) = scene.call(tool, arguments.clone()) {
                    assert!(!said.contains("secret"), "{tool}: {said}");
                }
            }
        }
        is_over.store(true, Ordering::Relaxed);
    });
    assert_eq!(
        fs::read_to_string(outside.path().join("file")).unwrap(),
        "secret"
    );
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 1);
}
