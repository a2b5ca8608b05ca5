//! Files in which programs keep credentials.
//!
//! A tool that prints such a file, or a part of it, does not print anything that looks like a
//! secret. So the values in them are read, to be found wherever they turn up, and not kept
//! otherwise.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use harn_events::{KnownSecret, is_secret_variable};
use serde_json::Value;

/// Files in the home folder of a user.
const OF_HOME: &[&str] = &[
    ".netrc",
    ".git-credentials",
    ".npmrc",
    ".pypirc",
    ".docker/config.json",
    ".aws/credentials",
    ".config/gh/hosts.yml",
    ".kube/config",
    ".cargo/credentials.toml",
];

/// Folders of which all files that look like credentials are read.
const FOLDERS: &[&str] = &[".ssh", ".config/gcloud"];

/// Files of a folder that are read at most.
const FILES_MAX: usize = 64;

/// A larger file is none of these.
const FILE_BYTES_MAX: u64 = 1024 * 1024;

/// Lines of keys count from this length on.
const KEY_LINE_BYTES_MIN: usize = 32;

/// The secrets in the files of a user.
pub(super) fn of_home(home: &Path) -> Vec<KnownSecret> {
    let single = OF_HOME.iter().map(|name| home.join(name));
    let folders = FOLDERS.iter().flat_map(|name| files_in(&home.join(name)));
    let folders = folders.filter(|path| is_credentials(path));
    single
        .chain(folders)
        .flat_map(|path| of_file(&path))
        .collect()
}

/// The secrets in the files `.env` of a folder that one works in.
pub(super) fn of_root(root: &Path) -> Vec<KnownSecret> {
    let is_settings = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name == ".env" || name.starts_with(".env.") && !name.ends_with(".example")
    };
    let files = files_in(root).into_iter().filter(is_settings);
    files.flat_map(|path| of_file(&path)).collect()
}

fn is_credentials(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let is_json = name.contains("credentials") && name.ends_with(".json");
    let in_ssh = path.parent().is_some_and(|folder| folder.ends_with(".ssh"));
    let is_public = name.ends_with(".pub") || name.starts_with("known_hosts") || name == "config";
    is_json || in_ssh && !is_public && name != "authorized_keys"
}

fn files_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let files = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()));
    files.map(|entry| entry.path()).take(FILES_MAX).collect()
}

fn of_file(path: &Path) -> Vec<KnownSecret> {
    let name = path.display().to_string();
    read(path).map_or_else(Vec::new, |text| secrets_in(&name, &text))
}

/// The text of a file, if it is one and not a pipe that nobody writes to.
fn read(path: &Path) -> Option<String> {
    let is_file = fs::metadata(path).ok()?.is_file();
    let file = is_file.then(|| File::open(path).ok()).flatten()?;
    let mut text = String::new();
    file.take(FILE_BYTES_MAX).read_to_string(&mut text).ok()?;
    Some(text)
}

/// The secrets in a text: what is assigned to secret names, passwords in URLs, lines of keys.
fn secrets_in(place: &str, text: &str) -> Vec<KnownSecret> {
    let mut values: Vec<String> = Vec::new();
    if let Ok(document) = serde_json::from_str::<Value>(text) {
        in_document(&document, &mut values);
    }
    let mut in_key = false;
    for line in text.lines().map(str::trim) {
        if line.starts_with("-----") {
            in_key = line.contains("BEGIN") && line.contains("PRIVATE KEY");
        } else if in_key && line.len() >= KEY_LINE_BYTES_MIN {
            values.push(line.to_owned());
        }
        values.extend(assigned(line).map(str::to_owned));
        values.extend(password_of_url(line).map(str::to_owned));
    }
    values.extend(words_after("password", text).map(str::to_owned));
    let secrets = values.into_iter();
    secrets
        .map(|value| KnownSecret::found(place, value))
        .collect()
}

/// Strings under secret names, and logins for registries.
fn in_document(value: &Value, values: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                match field {
                    Value::String(text) if name == "auth" || is_secret_variable(name, text) => {
                        values.push(text.clone());
                        values.extend(
                            text.lines()
                                .map(str::to_owned)
                                .filter(|line| is_key_line(line)),
                        );
                    }
                    other => in_document(other, values),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| in_document(item, values)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn is_key_line(line: &str) -> bool {
    line.len() >= KEY_LINE_BYTES_MIN && !line.starts_with("-----")
}

/// What a line gives a secret name: `NAME=value`, `name: value`, `//host/:_authToken=value`.
fn assigned(line: &str) -> Option<&str> {
    let line = line.strip_prefix("export ").unwrap_or(line);
    let line = line.strip_prefix("- ").unwrap_or(line);
    if line.starts_with(['#', ';']) {
        return None;
    }
    let (name, value) = line.split_once(['=', ':'])?;
    // `//registry.example.org/:_authToken=…`
    let token = value.strip_prefix('_');
    let token = token.and_then(|rest| rest.split_once('='));
    let (name, value) = token.unwrap_or((name, value));
    let name = name.trim().trim_matches(['"', '\'', '_']);
    let value = value.trim().trim_matches(['"', '\'']);
    let is_key_data = matches!(name, "client-key-data" | "auth" | "authToken");
    (is_key_data || is_secret_variable(name, value)).then_some(value)
}

/// The words that follow a word: `machine h login n password s`.
fn words_after<'a>(word: &'a str, text: &'a str) -> impl Iterator<Item = &'a str> {
    let words = text.split_whitespace();
    let next = text.split_whitespace().skip(1);
    let pairs = words.zip(next);
    pairs
        .filter(move |(one, _)| *one == word)
        .map(|(_, next)| next)
}

/// The password in a URL, if there is one.
pub(super) fn password_of_url(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once("://")?;
    let (login, _) = rest.split(['/', '?', '#']).next()?.rsplit_once('@')?;
    let (_, password) = login.split_once(':')?;
    Some(password)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[track_caller]
    fn check(text: &str, value: &str) {
        let expected = KnownSecret::found("f", value);
        assert!(secrets_in("f", text).contains(&expected), "{value}");
    }

    #[test]
    fn values_are_read_from_files_of_every_kind() {
        check("machine h login n password q7Zr2PLm", "q7Zr2PLm");
        check("machine h\n  login n\n  password q7Zr2PLm\n", "q7Zr2PLm");
        check("https://n:q7Zr2PLm@example.org", "q7Zr2PLm");
        check("//registry.example.org/:_authToken=q7Zr2PLm", "q7Zr2PLm");
        check("[pypi]\nusername = n\npassword = q7Zr2PLm\n", "q7Zr2PLm");
        check("{\"auths\": {\"h\": {\"auth\": \"q7Zr2PLm\"}}}", "q7Zr2PLm");
        check("[default]\naws_secret_access_key = q7Zr2PLm\n", "q7Zr2PLm");
        check("github.com:\n    oauth_token: q7Zr2PLm\n", "q7Zr2PLm");
        check("users:\n- user:\n    token: q7Zr2PLm\n", "q7Zr2PLm");
        check("[registry]\ntoken = \"q7Zr2PLm\"\n", "q7Zr2PLm");
        check("export A_TOKEN='q7Zr2PLm'\n", "q7Zr2PLm");
        let line = "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAA";
        let key = format!(
            "-----BEGIN OPENSSH PRIVATE KEY-----\n{line}\n-----END OPENSSH PRIVATE KEY-----"
        );
        check(&key, line);
    }

    #[test]
    fn plain_settings_and_public_keys_are_no_secrets() {
        assert!(secrets_in("f", "PORT=8080\nHOST=example.org\n# TOKEN=q7Zr2PLm\n").is_empty());
        let public = "-----BEGIN CERTIFICATE-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEA\n";
        assert!(secrets_in("f", public).is_empty());
    }

    #[test]
    fn files_of_a_home_and_of_a_root_are_found_and_nothing_else_is_opened() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write(".npmrc", "//h/:_authToken=q7Zr2PLm");
        write(".ssh/id_test.pub", "token=q7Zr2PLm9Xw");
        write(".env", "A_TOKEN=q7Zr2PLm");
        write(".env.example", "A_TOKEN=q7Zr2PLm9Xw");
        symlink("/dev/zero", folder.path().join(".netrc")).unwrap();
        assert_eq!(of_home(folder.path()).len(), 1);
        assert_eq!(of_root(folder.path()).len(), 1);
    }
}
