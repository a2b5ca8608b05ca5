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
    "session_token",
    "set_cookie",
    "token",
    "x_api_key",
    "x_auth_token",
    "x_csrf_token",
    "x_xsrf_token",
];

/// Endings that make any name a secret one.
const SUFFIXES: &[&str] = &["_token", "_secret", "_password", "_api_key", "_private_key"];

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
        let name = normalise(name);
        NAMES.binary_search(&name.as_str()).is_ok()
            || SUFFIXES.iter().any(|suffix| name.ends_with(suffix))
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

/// `X-Api-Key`, `xApiKey` and `x_api_key` are one name.
fn normalise(name: &str) -> String {
    let mut normal = String::with_capacity(name.len() + 4);
    let mut after_lower = false;
    for character in name.chars() {
        if character.is_ascii_uppercase() && after_lower {
            normal.push('_');
        }
        after_lower = character.is_ascii_lowercase() || character.is_ascii_digit();
        normal.push(if character == '-' {
            '_'
        } else {
            character.to_ascii_lowercase()
        });
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
    fn spelling_does_not_hide_a_secret_name() {
        let names = FieldNames::default();
        for name in [
            "Authorization",
            "X-API-Key",
            "apiKey",
            "access_token",
            "DEPLOY_TOKEN",
            "clientSecret",
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
            "key",
            "author",
            "passing",
            "secretary",
        ] {
            assert!(!names.contains(name), "{name}");
        }
    }
}
