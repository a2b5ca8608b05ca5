//! `safety.toml`: what the operator, and the administrator of the machine, say about safety.
//!
//! Where keys may be sent is read with the providers they belong to; here is the rest.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;

use harn_vm::llm::catalog::Config;
use serde::Deserialize;

/// The tables that are read here. The others are for other readers.
#[derive(Default, Deserialize)]
#[serde(default)]
struct SafetyFile {
    skills: Skills,
}

/// `[skills]`
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Skills {
    /// Variables of the environment that bodies of skills may mention.
    variables: Vec<String>,
}

/// The variables of the environment that are lent to skills.
///
/// # Errors
/// A file cannot be read, or does not say what it means; says which.
pub(super) fn skill_variables(
    environment: &BTreeMap<String, String>,
) -> Result<Vec<String>, String> {
    let mut variables = Vec::new();
    for path in Config::safety_files(environment) {
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            Err(error) => return Err(format!("{path}: {error}")),
        };
        let file: SafetyFile =
            toml::from_str(&text).map_err(|error| format!("{path}: {}", error.message()))?;
        variables.extend(file.skills.variables);
    }
    Ok(variables)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_operator_lends_variables_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let own = folder.path().join("harn");
        fs::create_dir(&own).unwrap();
        let place = folder.path().display().to_string();
        let environment = BTreeMap::from([("XDG_CONFIG_HOME".to_owned(), place)]);
        assert_eq!(skill_variables(&environment), Ok(Vec::new()));
        let text = "[skills]\nvariables = [\"TEAM\"]\n[secrets.audience]\nK = \"a.example\"\n";
        fs::write(own.join("safety.toml"), text).unwrap();
        assert_eq!(skill_variables(&environment), Ok(vec!["TEAM".to_owned()]));
        fs::write(own.join("safety.toml"), "[skills]\nvariable = []\n").unwrap();
        let error = skill_variables(&environment).unwrap_err();
        assert!(
            error.contains("safety.toml: unknown field `variable`"),
            "{error}"
        );
    }
}
