//! Names of fields, headers and query parameters that hold secrets.

use std::collections::BTreeSet;
use std::sync::Arc;

/// Names that are secret as a whole, in lower case with `_` for `-`.
const NAMES: &[&str] = &[
    "access_key",
    "access_token",
    "api_key",
    "apikey",
    "auth_token",
    "authorization",
    "client_secret",
    "cookie",
    "credential",
    "credentials",
    "id_token",
    "passphrase",
    "passwd",
    "password",
    "private_key",
    "proxy_authorization",
    "pwd",
    "refresh_token",
    "secret",
    "secret_access_key",
    "secret_key",
    "session_token",
    "set_cookie",
    "token",
    "x_api_key",
    "x_auth_token",
    "x_csrf_token",
    "x_xsrf_token",
];

/// Endings that make any name a secret one, after an underscore or, for those that
/// end no ordinary word, after anything.
pub(super) const SUFFIXES: &[&str] = &[
    "_access_key",
    "_api_key",
    "_credential",
    "_credentials",
    "_key_base",
    "_passphrase",
    "_private_key",
    "_pwd",
    "_secret",
    "_secret_key",
    "_token",
    "apikey",
    "encryption_key",
    "passwd",
    "password",
    "signing_key",
];

/// Endings of names in capitals, as of variables. In small letters they end ordinary words.
const CAPITAL_SUFFIXES: &[&str] = &["_PASS", "_PASSWD", "_KEYS"];

/// Variables that say which folder one works in, and end like a secret.
const FOLDERS: &[&str] = &["PWD", "OLDPWD"];

/// Names that end like a secret one and hold none: by this one a peer knows which of its own
/// requests a report of progress is about.
const NO_SECRETS: &[&str] = &["progress_token"];

/// The standard names and those a policy adds.
#[derive(Clone, Debug, Default)]
pub(super) struct FieldNames {
    added: Arc<BTreeSet<String>>,
}

impl FieldNames {
    pub(super) fn add(&mut self, name: &str) {
        Arc::make_mut(&mut self.added).insert(normalise(name));
    }

    pub(super) fn contains(&self, name: &str) -> bool {
        if self.added.is_empty() && !may_be_secret(name) || FOLDERS.contains(&name) {
            return false;
        }
        if CAPITAL_SUFFIXES.iter().any(|suffix| name.ends_with(suffix)) {
            return true;
        }
        let name = normalise(name);
        let ends_as_one = || SUFFIXES.iter().any(|suffix| name.ends_with(suffix));
        NAMES.binary_search(&name.as_str()).is_ok()
            || ends_as_one() && !NO_SECRETS.contains(&name.as_str())
            || self.added.contains(&name)
    }

    /// The names a policy has added to the standard ones.
    pub(super) fn added(&self) -> impl Iterator<Item = &str> {
        self.added.iter().map(String::as_str)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        let added = self.added.iter().map(String::as_str);
        NAMES.iter().copied().chain(added)
    }
}

/// Whether a name holds three letters that every secret name holds some of. Nearly
/// none does, and looking is cheaper than normalising.
fn may_be_secret(name: &str) -> bool {
    name.as_bytes().windows(3).any(|three| {
        let folded = [three[0] | 0x20, three[1] | 0x20, three[2] | 0x20];
        matches!(
            &folded,
            b"key" | b"tok" | b"sec" | b"pas" | b"pwd" | b"aut" | b"coo" | b"cre"
        )
    })
}

/// `X-Api-Key`, `xApiKey`, `XAPIKey` and `x_api_key` are one name.
fn normalise(name: &str) -> String {
    let mut normal = String::with_capacity(name.len() + 4);
    let mut before = '_';
    let mut characters = name.chars().peekable();
    while let Some(character) = characters.next() {
        let after = characters.peek().copied().unwrap_or('_');
        // A word begins where small letters end, and with the last of several capitals.
        let begins_word = character.is_ascii_uppercase()
            && (before.is_ascii_lowercase()
                || before.is_ascii_digit()
                || (before.is_ascii_uppercase() && after.is_ascii_lowercase()));
        if begins_word {
            normal.push('_');
        }
        normal.push(match character {
            '-' | ' ' => '_',
            other => other.to_ascii_lowercase(),
        });
        before = character;
    }
    normal
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_sorted_for_the_search() {
        assert!(NAMES.is_sorted());
    }

    #[test]
    fn no_secret_name_is_overlooked() {
        for name in NAMES.iter().chain(SUFFIXES) {
            assert!(
                may_be_secret(name) && may_be_secret(&name.to_uppercase()),
                "{name}"
            );
        }
    }

    #[test]
    fn spelling_does_not_hide_a_secret_name() {
        let names = FieldNames::default();
        for name in [
            "Authorization",
            "X-API-Key",
            "apiKey",
            "access_token",
            "DEPLOY_TOKEN",
            "clientSecret",
            "APIToken",
            "AWS_SECRET_ACCESS_KEY",
            "SECRET_KEY",
            "PGPASSWORD",
            "dbPassword",
            "OPENAI_APIKEY",
            "SMTP_PASS",
            "HARN_API_KEYS",
            "SECRET_KEY_BASE",
            "ENCRYPTION_KEY",
        ] {
            assert!(names.contains(name), "{name}");
        }
    }

    #[test]
    fn ordinary_names_are_left_alone() {
        let names = FieldNames::default();
        for name in [
            "input_tokens",
            "tokens_saved",
            "progressToken",
            "key",
            "author",
            "passing",
            "secretary",
            "PWD",
            "OLDPWD",
            "first_pass",
        ] {
            assert!(!names.contains(name), "{name}");
        }
    }
}
