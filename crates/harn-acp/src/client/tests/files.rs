//! `fs/read_text_file` and `fs/write_text_file`.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use harn_vm::agent::HostBridge;
use harn_vm::agent::coding::{Lines, TextFiles};
use serde_json::{Value, json};

use super::{FakePeer, Reply, facts, host_with};

fn reads_and_writes() -> Value {
    json!({"fs": {"readTextFile": true, "writeTextFile": true}})
}

async fn files(peer: &Arc<FakePeer>, roots: Vec<PathBuf>) -> Arc<dyn TextFiles> {
    let host = host_with(peer, facts(roots)).await;
    host.text_files().expect("an editor has files")
}

#[tokio::test(start_paused = true)]
async fn texts_come_from_the_editor_and_go_to_it() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let path = root.join("new.txt");
    let peer = FakePeer::new(reads_and_writes(), |method, _| match method {
        "fs/read_text_file" => Reply::Ok(json!({"content": "unsaved"})),
        _ => Reply::Ok(Value::Null),
    });
    let files = files(&peer, vec![root]).await;
    assert_eq!(
        files.read(&path, None).await,
        Some(Ok("unsaved".to_owned()))
    );
    assert_eq!(peer.last(), json!({"sessionId": "s", "path": path}));
    let lines = Lines {
        first: 3,
        count: 10,
    };
    assert!(files.read(&path, Some(lines)).await.is_some());
    assert_eq!(
        peer.last(),
        json!({"sessionId": "s", "path": path, "line": 3, "limit": 10})
    );
    assert_eq!(files.write(&path, "new").await, Some(Ok(())));
    assert_eq!(
        peer.last(),
        json!({"sessionId": "s", "path": path, "content": "new"})
    );
    assert!(!path.exists());
}

#[tokio::test(start_paused = true)]
async fn what_the_client_cannot_do_it_is_not_asked() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    let root = folder.path().to_owned();
    let peer = FakePeer::new(json!({"fs": {"readTextFile": true}}), |_, _| {
        Reply::Ok(json!({"content": ""}))
    });
    let reads_only = files(&peer, vec![root.clone()]).await;
    assert_eq!(reads_only.write(&path, "x").await, None);
    assert_eq!(peer.methods(), Vec::<String>::new());
    assert_eq!(reads_only.read(&path, None).await, Some(Ok(String::new())));
    let peer = FakePeer::new(json!({"fs": {"writeTextFile": true}}), |_, _| {
        Reply::Ok(Value::Null)
    });
    let writes_only = files(&peer, vec![root]).await;
    assert_eq!(writes_only.read(&path, None).await, None);
    assert_eq!(peer.methods(), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn no_path_outside_of_the_session_is_sent() {
    let (folder, more, outside) = (
        tempfile::tempdir().unwrap(),
        tempfile::tempdir().unwrap(),
        tempfile::tempdir().unwrap(),
    );
    std::fs::write(outside.path().join("secret"), "s").unwrap();
    symlink(outside.path(), folder.path().join("out")).unwrap();
    symlink(more.path(), folder.path().join("more")).unwrap();
    let roots = vec![folder.path().to_owned(), more.path().to_owned()];
    let peer = FakePeer::new(reads_and_writes(), |_, _| Reply::Ok(json!({"content": ""})));
    let files = files(&peer, roots).await;
    let refused = [
        folder.path().join("out/secret"),
        folder.path().join("../x"),
        outside.path().join("secret"),
        PathBuf::from("relative"),
    ];
    for path in &refused {
        assert!(
            files
                .read(path, None)
                .await
                .is_some_and(|read| read.is_err()),
            "{path:?}"
        );
        assert!(
            files
                .write(path, "x")
                .await
                .is_some_and(|write| write.is_err()),
            "{path:?}"
        );
    }
    assert_eq!(peer.methods(), Vec::<String>::new());
    // A link from one folder of the session to another stays inside, and is sent resolved.
    let inside = folder.path().join("more/a");
    assert!(
        files
            .read(&inside, None)
            .await
            .is_some_and(|read| read.is_ok())
    );
    let real = more.path().canonicalize().unwrap().join("a");
    assert_eq!(Path::new(peer.last()["path"].as_str().unwrap()), real);
}

#[tokio::test(start_paused = true)]
async fn what_the_editor_says_is_what_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    let read = |reply: fn() -> Reply| {
        let (path, root) = (path.clone(), folder.path().to_owned());
        async move {
            let peer = FakePeer::new(reads_and_writes(), move |_, _| reply());
            files(&peer, vec![root]).await.read(&path, None).await
        }
    };
    let error = |text: &str| Some(Err(text.to_owned()));
    assert_eq!(
        read(|| Reply::Err(-32002)).await,
        error("error -32002 (-32002)")
    );
    assert_eq!(
        read(|| Reply::Ok(json!({}))).await,
        error("the editor's answer has no text")
    );
    assert_eq!(
        read(|| Reply::Never).await,
        error("the editor has not answered")
    );
    let gone = "the client has closed the connection (-32000)";
    assert_eq!(read(|| Reply::Gone).await, error(gone));
}
