use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use rmcp::transport::auth::AuthorizationMetadata;
use serde_json::json;
use tempfile::TempDir;

use super::*;

fn server() -> Url {
    Url::parse("https://mcp.example.com/mcp").unwrap()
}

fn login(token: &str) -> Credential {
    let stored = json!({
        "client_id": "c", "token_response": {"access_token": token, "token_type": "bearer"},
    });
    let stored = serde_json::from_value(stored).unwrap();
    let mut metadata = AuthorizationMetadata::default();
    metadata.token_endpoint = "https://as.test/token".to_owned();
    Credential::new(&server(), &metadata, None, &stored).unwrap()
}

fn in_files(folder: &Path) -> Vault {
    Vault::new(None, Some(folder.join("logins")))
}

fn files(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(folder.join("logins"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// A program that keeps texts in files, in the manner of `secret-tool`.
fn secret_tool(folder: &Path, script: &str) -> Arc<dyn Keychain> {
    let program = folder.join("secret-tool");
    let kept = folder.join("kept").display().to_string();
    fs::write(&program, format!("#!/bin/sh\nkept='{kept}'\n{script}")).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    Arc::new(CommandKeychain::secret_tool(program))
}

const WORKING: &str = r#"
echo "$@" >> "$kept.arguments"
case "$1" in
store) cat > "$kept" ;;
lookup) cat "$kept" 2>/dev/null || exit 1 ;;
clear) rm -f "$kept" ;;
esac
"#;

#[tokio::test]
async fn a_file_can_be_read_by_its_owner_alone() {
    let folder = TempDir::new().unwrap();
    let vault = in_files(folder.path());
    vault.save(&server(), &login("t1")).await.unwrap();
    let names = files(folder.path());
    assert_eq!(names, ["mcp.example.com-7a930d27a3f5c464.json"]);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let inside = folder.path().join("logins");
    assert_eq!(mode(&inside), 0o700);
    assert_eq!(mode(&inside.join(&names[0])), 0o600);
    let other = in_files(folder.path());
    let kept = other.load(&server()).await.unwrap().unwrap();
    assert_eq!(kept.access_token().unwrap().expose(), "t1");
}

#[tokio::test]
async fn a_file_that_others_can_read_is_not_believed() {
    let folder = TempDir::new().unwrap();
    in_files(folder.path())
        .save(&server(), &login("t1"))
        .await
        .unwrap();
    let path = folder.path().join("logins").join(&files(folder.path())[0]);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    let Err(error) = in_files(folder.path()).load(&server()).await else {
        panic!("others could have read it");
    };
    let error = error.to_string();
    assert!(error.contains("others can read"), "{error}");
    assert!(!error.contains("t1"), "{error}");
}

#[tokio::test]
async fn a_login_is_for_one_server() {
    let folder = TempDir::new().unwrap();
    let vault = in_files(folder.path());
    vault.save(&server(), &login("t1")).await.unwrap();
    let other = Url::parse("https://mcp.example.com/other").unwrap();
    assert!(vault.load(&other).await.unwrap().is_none());
    // Nor does renaming the file make it one for another.
    let from = folder.path().join("logins").join(&files(folder.path())[0]);
    vault.save(&other, &login("t2")).await.unwrap();
    let names = files(folder.path());
    let to = names.iter().find(|name| !from.ends_with(name)).unwrap();
    fs::copy(&from, folder.path().join("logins").join(to)).unwrap();
    assert!(vault.load_anew(&other).await.unwrap().is_none());
}

#[tokio::test]
async fn a_login_is_forgotten_when_that_is_asked_for() {
    let folder = TempDir::new().unwrap();
    let vault = in_files(folder.path());
    assert!(!vault.remove(&server()).await.unwrap());
    vault.save(&server(), &login("t1")).await.unwrap();
    assert!(vault.remove(&server()).await.unwrap());
    assert!(files(folder.path()).is_empty());
    assert!(vault.load(&server()).await.unwrap().is_none());
}

#[tokio::test]
async fn another_process_that_renews_is_waited_for_and_heard() {
    let folder = TempDir::new().unwrap();
    let (ours, theirs) = (in_files(folder.path()), in_files(folder.path()));
    ours.save(&server(), &login("old")).await.unwrap();
    let lock = theirs.lock(&server()).await.unwrap();
    let server = server();
    let waiting = async {
        let _lock = ours.lock(&server).await.unwrap();
        ours.load_anew(&server).await.unwrap().unwrap()
    };
    let renewing = async {
        theirs.save(&server, &login("new")).await.unwrap();
        drop(lock);
    };
    let (seen, ()) = tokio::join!(waiting, renewing);
    assert_eq!(seen.access_token().unwrap().expose(), "new");
}

#[tokio::test]
async fn the_keychain_comes_first_and_sees_no_secret_in_its_arguments() {
    let folder = TempDir::new().unwrap();
    let keychain = secret_tool(folder.path(), WORKING);
    let logins = folder.path().join("logins");
    let vault = || Vault::new(Some(keychain.clone()), Some(logins.clone()));
    vault().save(&server(), &login("t1")).await.unwrap();
    assert!(!logins.exists());
    let kept = vault().load(&server()).await.unwrap().unwrap();
    assert_eq!(kept.access_token().unwrap().expose(), "t1");
    let arguments = fs::read_to_string(folder.path().join("kept.arguments")).unwrap();
    assert!(
        arguments.contains("account https://mcp.example.com/mcp"),
        "{arguments}"
    );
    assert!(!arguments.contains("t1"), "{arguments}");
    assert!(vault().remove(&server()).await.unwrap());
    assert!(vault().load(&server()).await.unwrap().is_none());
}

#[tokio::test]
async fn a_keychain_that_cannot_keep_anything_is_replaced_by_a_file() {
    for script in ["echo locked >&2; exit 1", "exit 0"] {
        let folder = TempDir::new().unwrap();
        let keychain = secret_tool(folder.path(), script);
        let logins = folder.path().join("logins");
        let vault = Vault::new(Some(keychain), Some(logins));
        vault.save(&server(), &login("t1")).await.unwrap();
        assert_eq!(files(folder.path()).len(), 1);
        let kept = vault.load_anew(&server()).await.unwrap().unwrap();
        assert_eq!(kept.access_token().unwrap().expose(), "t1");
    }
}

#[tokio::test]
async fn without_a_place_logins_end_with_the_process() {
    let vault = Vault::default();
    vault.save(&server(), &login("t1")).await.unwrap();
    assert!(vault.has_login(&server()).await.unwrap());
    assert!(vault.load_anew(&server()).await.unwrap().is_some());
    assert!(!Vault::default().has_login(&server()).await.unwrap());
}
