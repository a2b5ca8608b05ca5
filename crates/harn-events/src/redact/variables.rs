//! Which variables of an environment hold secrets.

use super::known::entropy;
use super::names::FieldNames;

/// Bits per character of a value that a plain `…_KEY` has to have to be taken for a key.
const KEY_ENTROPY_MIN: f64 = 3.5;

/// Shorter values of a plain `…_KEY` are taken for names.
const KEY_CHARACTERS_MIN: usize = 16;

/// Whether a variable holds a secret, by its name; of a plain `…_KEY` its value decides. So it is
/// of a URL, which may hold a password whatever it is called.
pub fn is_secret_variable(name: &str, value: &str) -> bool {
    let is_key = || {
        name.ends_with("_KEY")
            && value.chars().count() >= KEY_CHARACTERS_MIN
            && entropy(value) >= KEY_ENTROPY_MIN
    };
    FieldNames::default().contains(name) || is_key() || has_credentials(value)
}

/// Whether a value is a URL with a password in it.
fn has_credentials(value: &str) -> bool {
    let host = value.split_once("://").map(|(_, rest)| rest);
    let authority = host.and_then(|rest| rest.split(['/', '?', '#']).next());
    let login = authority.and_then(|authority| authority.rsplit_once('@'));
    let password = login.and_then(|(login, _)| login.split_once(':'));
    password.is_some_and(|(_, password)| !password.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_looks_say_which_variables_hold_secrets() {
        for (name, value, is_secret) in [
            ("ANTHROPIC_API_KEY", "x", true),
            ("HARN_API_KEYS", "x", true),
            ("GITHUB_TOKEN", "x", true),
            ("SMTP_PASS", "x", true),
            ("AWS_SECRET_ACCESS_KEY", "x", true),
            ("SOME_KEY", "q7Zr2PLm9XwK4tVbN", true),
            ("SOME_KEY", "primary", false),
            ("DATABASE_URL", "postgres://u:p4ss@h/db", true),
            ("DATABASE_URL", "postgres://h:5432/db", false),
            ("PWD", "/home/me", false),
            ("PATH", "/usr/bin:/bin", false),
            ("SSH_AUTH_SOCK", "/run/agent", false),
        ] {
            assert_eq!(is_secret_variable(name, value), is_secret, "{name}={value}");
        }
    }
}
