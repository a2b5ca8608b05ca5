//! Every package we build on has a licence we accept.
//!
//! `cargo deny` asks the same question; this rule needs no tool but cargo and
//! reads the same list.

use serde::Deserialize;

use super::spdx;
use crate::error::Error;
use crate::finding::Finding;
use crate::metadata::Metadata;

/// The accepted licences of `deny.toml`.
pub(super) fn allowed(deny: &str) -> Result<Vec<String>, Error> {
    #[derive(Deserialize)]
    struct Deny {
        licenses: Licences,
    }
    #[derive(Deserialize)]
    struct Licences {
        allow: Vec<String>,
    }
    let deny: Deny = toml::from_str(deny).map_err(|why| Error::malformed("deny.toml", why))?;
    Ok(deny.licenses.allow)
}

/// Every package with another licence, or with none.
pub(super) fn findings(metadata: &Metadata, allowed: &[String]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in &metadata.packages {
        let message = match &package.license {
            Some(licence) if spdx::is_satisfied(licence, allowed) => continue,
            Some(licence) => format!("`{licence}` is not on the list of deny.toml"),
            None => "its manifest names no licence".to_string(),
        };
        let name = format!("{} {}", package.name, package.version);
        findings.push(Finding::in_file(&name, message));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metadata::fixtures;

    #[track_caller]
    fn check(licence: Option<&str>, expected: &[&str]) {
        let mut metadata = fixtures::metadata(&[("left-pad", &[]), ("serde", &[])]);
        metadata.packages[0].license = licence.map(ToString::to_string);
        let allowed = allowed("[licenses]\nallow = [\"MIT\"]\n").unwrap();
        let findings = findings(&metadata, &allowed);
        let texts: Vec<String> = findings.iter().map(ToString::to_string).collect();
        assert_eq!(texts, expected);
    }

    #[test]
    fn an_accepted_licence_is_fine() {
        check(Some("GPL-3.0 OR MIT"), &[]);
    }

    #[test]
    fn another_licence_or_none_is_found() {
        check(
            Some("GPL-3.0"),
            &["left-pad 1.0.0: `GPL-3.0` is not on the list of deny.toml"],
        );
        check(None, &["left-pad 1.0.0: its manifest names no licence"]);
    }
}
