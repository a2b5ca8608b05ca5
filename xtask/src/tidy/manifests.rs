//! Versions live once, in the root manifest, and each has a reason.

use toml::{Table, Value};

use crate::error::Error;
use crate::finding::Finding;
use crate::sources::SourceFile;

const ROOT: &str = "Cargo.toml";

/// A workspace apart, with a manifest that stands alone.
const APART: &str = "fuzz/";

const DEPENDENCY_TABLES: &[&str] = &["dependencies", "dev-dependencies", "build-dependencies"];

/// Every dependency of the workspace whose line does not say what it is for.
/// Our own crates are recognised by their path and need no reason.
///
/// A TOML parser drops comments, so we read lines.
pub(super) fn reasons(root_manifest: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut inside = false;
    for (index, line) in root_manifest.lines().enumerate() {
        let line = line.trim();
        if let Some(header) = line.strip_prefix('[').filter(|_| line.ends_with(']')) {
            inside = header == "workspace.dependencies]";
            if header.starts_with("workspace.dependencies.") {
                let message = "write a dependency on one line, with its reason";
                findings.push(Finding::at(ROOT, index + 1, message));
            }
            continue;
        }
        let Some((name, value)) = line.split_once('=').filter(|_| inside) else {
            continue;
        };
        let is_comment = line.starts_with('#');
        if !is_comment && !has_reason(value) && !has_path(value) {
            let message = format!("say what `{}` is for, in a comment behind it", name.trim());
            findings.push(Finding::at(ROOT, index + 1, message));
        }
    }
    findings
}

/// Every dependency of a crate that does not come from the workspace, and every
/// crate that does not share its lints.
pub(super) fn inheritance(files: &[SourceFile]) -> Result<Vec<Finding>, Error> {
    let is_member =
        |file: &&SourceFile| file.path.ends_with("/Cargo.toml") && !file.path.starts_with(APART);
    let mut findings = Vec::new();
    for file in files.iter().filter(is_member) {
        let manifest: Table =
            toml::from_str(&file.text).map_err(|why| Error::malformed(&file.path, why))?;
        findings.extend(check_member(&file.path, &manifest));
    }
    Ok(findings)
}

fn check_member(path: &str, manifest: &Table) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (name, dependency) in dependencies(manifest) {
        if !inherits(dependency) && dependency.get("path").is_none() {
            let message = format!("`{name}` must come from the workspace (`workspace = true`)");
            findings.push(Finding::in_file(path, message));
        }
    }
    if !manifest.get("lints").is_some_and(inherits) {
        findings.push(Finding::in_file(path, "add `[lints] workspace = true`"));
    }
    findings
}

/// The ordinary tables and those below `[target.….]`.
fn dependencies(manifest: &Table) -> impl Iterator<Item = (&String, &Value)> {
    let targets = manifest.get("target").and_then(Value::as_table);
    let per_target = targets
        .into_iter()
        .flatten()
        .filter_map(|(_, one)| one.as_table());
    std::iter::once(manifest)
        .chain(per_target)
        .flat_map(|owner| DEPENDENCY_TABLES.iter().filter_map(|name| owner.get(*name)))
        .filter_map(Value::as_table)
        .flatten()
}

fn inherits(value: &Value) -> bool {
    value.get("workspace").and_then(Value::as_bool) == Some(true)
}

/// A comment behind the value. Quotes are counted, as a string may hold a `#`.
fn has_reason(value: &str) -> bool {
    let mut in_string = false;
    for (at, c) in value.char_indices() {
        match c {
            '"' => in_string = !in_string,
            '#' if !in_string => return !value[at + 1..].trim().is_empty(),
            _ => {}
        }
    }
    false
}

fn has_path(value: &str) -> bool {
    value.contains("path = ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_reasons(lines: &str, expected: &[usize]) {
        let manifest = format!("[workspace.dependencies]\n{lines}\n[profile.dev]\ndebug = 1\n");
        let findings = reasons(&manifest);
        let found: Vec<usize> = findings.iter().filter_map(|one| one.line).collect();
        assert_eq!(found, expected, "{findings:?}");
    }

    #[track_caller]
    fn check_member(manifest: &str, expected: &[&str]) {
        let files = [SourceFile::new("crates/a/Cargo.toml", manifest)];
        let findings = inheritance(&files).unwrap();
        let messages: Vec<&str> = findings.iter().map(|one| one.message.as_str()).collect();
        assert_eq!(messages, expected);
    }

    #[test]
    fn a_dependency_without_a_reason_is_found() {
        check_reasons("serde = \"1\"", &[2]);
        check_reasons("serde = \"1\" #", &[2]);
        check_reasons("odd = \"a#b\"", &[2]);
    }

    #[test]
    fn a_reason_or_a_path_is_enough() {
        check_reasons("# About the next.\nserde = \"1\" # typed values", &[]);
        check_reasons("harn-events = { path = \"crates/harn-events\" }", &[]);
    }

    #[test]
    fn a_table_of_its_own_hides_the_reason() {
        check_reasons("[workspace.dependencies.serde]\nversion = \"1\"", &[2]);
    }

    #[test]
    fn a_member_takes_everything_from_the_workspace() {
        check_member(
            "[dependencies]\na.workspace = true\nb = { workspace = true }\nc = { path = \"../c\" }\n\
             [lints]\nworkspace = true\n",
            &[],
        );
    }

    #[test]
    fn a_version_of_its_own_is_found_in_every_table() {
        check_member(
            "[dependencies]\na = \"1\"\n[dev-dependencies]\nb = { version = \"1\" }\n\
             [target.'cfg(unix)'.dependencies]\nc = \"1\"\n[lints]\nworkspace = true\n",
            &[
                "`a` must come from the workspace (`workspace = true`)",
                "`b` must come from the workspace (`workspace = true`)",
                "`c` must come from the workspace (`workspace = true`)",
            ],
        );
    }

    #[test]
    fn missing_lints_are_found() {
        check_member(
            "[package]\nname = \"a\"\n",
            &["add `[lints] workspace = true`"],
        );
    }
}
