//! Names of files that probably hold secrets.

use super::names::fits;

/// Names of files, with at most one star.
const FILES: [&str; 27] = [
    ".env",
    ".env.*",
    "*.pem",
    "*.key",
    "*.p12",
    "*.pfx",
    "*.jks",
    "*.kdbx",
    ".netrc",
    "_netrc",
    ".git-credentials",
    ".npmrc",
    ".pypirc",
    ".htpasswd",
    "credentials",
    "credentials.*",
    "secrets.*",
    "*.tfstate",
    "*.tfvars",
    "service-account*.json",
    "id_rsa*",
    "id_dsa*",
    "id_ecdsa*",
    "id_ed25519*",
    ".bash_history",
    ".zsh_history",
    ".python_history",
];

/// Those that are there to be shown.
const SHOWN: [&str; 2] = [".env.example", "*.pub"];

/// Folders, and files in a folder of a certain name.
const PLACES: [&str; 16] = [
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".config/gh",
    ".config/gcloud",
    ".config/op",
    ".config/rclone",
    ".config/sops",
    ".kube",
    ".docker/config.json",
    ".password-store",
    ".mozilla",
    ".config/google-chrome",
    ".local/share/keyrings",
    ".local/share/kwalletd",
];

/// Whether a path is that of something that probably holds secrets. Its names are as they are
/// compared.
pub(super) fn is_like_a_secret(names: &[String]) -> bool {
    let Some(last) = names.last() else {
        return false;
    };
    let named = |patterns: &[&str]| patterns.iter().any(|pattern| fits(pattern, last));
    // A key has no extension; a source file that is about ids has one.
    let is_key = last.starts_with("id_") && !last.contains('.');
    let is_secret = (named(&FILES) || is_key) && !named(&SHOWN);
    is_secret || PLACES.iter().any(|place| super::has_part(names, place))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::names::folded_names;
    use super::*;

    #[test]
    fn files_that_hold_secrets_are_known_by_their_names() {
        for (path, expected) in [
            (".env", true),
            ("sub/.env.local", true),
            (".env.example", false),
            ("server.pem", true),
            (".ssh/config", true),
            ("id_ed25519", true),
            ("id_rsa.old", true),
            ("id_rsa.pub", false),
            ("id_map.rs", false),
            ("id_github", true),
            ("credentials", true),
            ("terraform.tfstate", true),
            (".config/gh/hosts.yml", true),
            (".docker/config.json", true),
            (".docker/Dockerfile", false),
            ("service-account-prod.json", true),
            ("environment", false),
            ("monkey.rs", false),
        ] {
            let names = folded_names(Path::new(path));
            assert_eq!(is_like_a_secret(&names), expected, "{path}");
        }
    }
}
