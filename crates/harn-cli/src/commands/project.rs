//! What a project asks for in its `harn.toml`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

/// The tables of `harn.toml` that are about its programs. The other tables are none of ours.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(default)]
pub(super) struct Settings {
    pub(super) check: Check,
    pub(super) fmt: Fmt,
    pub(super) lint: Lint,
}

/// `[check]`
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Check {
    /// Whether values from outside have to be validated before they are used.
    pub(super) strict_types: bool,
}

/// `[fmt]`
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Fmt {
    /// How long lines may be.
    pub(super) line_width: Option<usize>,
}

/// `[lint]`
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Lint {
    /// The rules that are not wanted.
    pub(super) disabled: Vec<String>,
    /// How many paths a function may have.
    pub(super) complexity_max: Option<usize>,
    /// Whether every file begins with a comment.
    pub(super) require_file_header: bool,
}

/// The settings of the projects that files belong to, each read once.
#[derive(Debug, Default)]
pub(super) struct Projects {
    known: BTreeMap<PathBuf, Settings>,
}

impl Projects {
    /// The settings for a file: those of the nearest `harn.toml` at or above its folder.
    ///
    /// # Errors
    /// It cannot be read, or does not say what it means.
    pub(super) fn settings(&mut self, file: &Path) -> Result<Settings, String> {
        let file = fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
        let manifests = file
            .ancestors()
            .skip(1)
            .map(|folder| folder.join("harn.toml"));
        let Some(manifest) = manifests.into_iter().find(|path| path.is_file()) else {
            return Ok(Settings::default());
        };
        if let Some(settings) = self.known.get(&manifest) {
            return Ok(settings.clone());
        }
        let settings = read(&manifest).map_err(|why| format!("{}: {why}", manifest.display()))?;
        self.known.insert(manifest, settings.clone());
        Ok(settings)
    }
}

fn read(manifest: &Path) -> Result<Settings, String> {
    let text = fs::read_to_string(manifest).map_err(|error| error.to_string())?;
    toml::from_str(&text).map_err(|error| error.to_string().trim_end().to_owned())
}
