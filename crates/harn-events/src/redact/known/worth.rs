//! Whether a value is worth looking for.
//!
//! To hide `production` or `/home/me` wherever they turn up would make records unreadable and
//! protect nobody, so a value that was not declared has to look like one that nobody guesses.

use std::collections::BTreeMap;

/// Declared values shorter than this are not looked for.
const DECLARED_CHARACTERS_MIN: usize = 4;

/// Other values shorter than this are not looked for.
const CHARACTERS_MIN: usize = 8;

/// From this length on nobody asks how mixed a value is.
const LONG_CHARACTERS_MIN: usize = 16;

/// Bits per character that a short value needs.
const ENTROPY_MIN: f64 = 3.0;

/// Folders of which paths begin with one.
const ROOT_FOLDERS: &[&str] = &[
    "Applications",
    "Library",
    "Users",
    "Volumes",
    "app",
    "bin",
    "boot",
    "data",
    "dev",
    "etc",
    "home",
    "lib",
    "lib64",
    "media",
    "mnt",
    "nix",
    "opt",
    "private",
    "proc",
    "root",
    "run",
    "sbin",
    "snap",
    "srv",
    "sys",
    "tmp",
    "usr",
    "var",
    "workspace",
    "workspaces",
];

/// What people write where a secret belongs and is none, and what is in every text.
const WORDS: &[&str] = &[
    "changeit",
    "changeme",
    "database",
    "default",
    "development",
    "disabled",
    "document",
    "environment",
    "function",
    "localhost",
    "password",
    "password1",
    "password123",
    "placeholder",
    "postgres",
    "postgresql",
    "production",
    "qwertyuiop",
    "redacted",
    "required",
    "security",
    "sensitive",
    "template",
    "undefined",
    "username",
    "yourpassword",
    "your_api_key",
    "your-api-key",
    "your_token_here",
];

/// Whether somebody who declared this value gets it hidden.
pub(super) fn is_worth_when_declared(value: &str) -> bool {
    value.trim().chars().count() >= DECLARED_CHARACTERS_MIN
}

/// Whether a value that stands where secrets stand is one.
pub(super) fn is_worth(value: &str) -> bool {
    let value = value.trim();
    let characters = value.chars().count();
    characters >= CHARACTERS_MIN
        && (characters >= LONG_CHARACTERS_MIN || entropy(value) >= ENTROPY_MIN)
        && !is_path(value)
        && !is_host(value)
        && !is_word(value)
}

/// Bits per character.
pub(in crate::redact) fn entropy(text: &str) -> f64 {
    let mut counts: BTreeMap<char, f64> = BTreeMap::new();
    let mut all = 0.0;
    for character in text.chars() {
        *counts.entry(character).or_default() += 1.0;
        all += 1.0;
    }
    let bits = counts
        .values()
        .map(|count| -(count / all) * (count / all).log2());
    bits.sum()
}

/// A random value may begin with a slash as well, so the folder has to be one that there is.
fn is_path(value: &str) -> bool {
    let below_root = || {
        let first = value.strip_prefix('/')?.split('/').next()?;
        Some(ROOT_FOLDERS.contains(&first))
    };
    ["~/", "./", "../"]
        .iter()
        .any(|start| value.starts_with(start))
        || below_root() == Some(true)
}

/// A host, perhaps with a port, or a URL that holds no credentials.
fn is_host(value: &str) -> bool {
    let host = match value.split_once("://") {
        Some((_, rest)) if rest.contains('@') => return false,
        Some((_, rest)) => rest.split(['/', '?']).next().unwrap_or_default(),
        None => value,
    };
    let host = host.rsplit_once(':').map_or(host, |(host, _)| host);
    let is_label = |label: &str| {
        let is_plain =
            |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        !label.is_empty() && label.bytes().all(is_plain)
    };
    let is_named = host.contains('.') || host == "localhost" || value.contains("://");
    is_named && host.split('.').all(is_label)
}

fn is_word(value: &str) -> bool {
    let lower = value.to_lowercase();
    let is_number =
        value.len() < LONG_CHARACTERS_MIN && value.bytes().all(|byte| byte.is_ascii_digit());
    is_number || WORDS.contains(&lower.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_guesses_is_worth_looking_for() {
        for value in [
            "q7Zr2PLm",
            "correct horse battery",
            "/wJalrXUtnFEMI/K7MDENG",
            "hunter2hunter2x9",
        ] {
            assert!(is_worth(value), "{value}");
        }
    }

    #[test]
    fn paths_hosts_words_and_short_values_are_not() {
        for value in [
            "short",
            "aaaaaaaa",
            "/home/me/secrets",
            "~/keys/some-key",
            "localhost:8080",
            "api.example.org",
            "https://api.example.org/v1/things",
            "changeme",
            "Production",
            "20261231",
        ] {
            assert!(!is_worth(value), "{value}");
        }
        assert!(is_worth("postgres://u:pass1@db.internal/x"));
        assert!(is_worth_when_declared("open") && !is_worth_when_declared(" abc "));
    }
}
