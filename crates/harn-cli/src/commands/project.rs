//! What a project asks for in its `harn.toml`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use harn_syntax::LineIndex;
use serde::Deserialize;

use crate::output::{Output, Untrusted};

/// The tables of `harn.toml` that are about its programs. The other tables are none of ours.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(default)]
pub(super) struct Settings {
    /// Where they are from, if there is such a file.
    #[serde(skip)]
    pub(super) manifest: Option<PathBuf>,
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

/// One of `[[personas]]`: a way for the program of the project to work.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
pub(super) struct Persona {
    /// What the program calls it.
    pub(super) name: String,
    /// What it is for.
    #[serde(default)]
    pub(super) description: Option<String>,
}

/// The personas that a manifest declares; none if it cannot be read.
pub(super) fn personas(manifest: &Path) -> Vec<Persona> {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Personas {
        personas: Vec<Persona>,
    }
    let text = harn_vm::agent::real_path::read_text(manifest).unwrap_or_default();
    let read: Personas = toml::from_str(&text).unwrap_or_default();
    read.personas
}

/// The settings of the projects that files belong to, each read once.
#[derive(Debug, Default)]
pub(super) struct Projects {
    known: BTreeMap<PathBuf, Result<Settings, String>>,
}

impl Projects {
    /// The settings for a file: those of the nearest `harn.toml` at or above its folder.
    ///
    /// # Errors
    /// It cannot be read, or does not say what it means.
    pub(super) fn settings(&mut self, file: &Path) -> Result<Settings, String> {
        self.from(manifest_of(file))
    }

    /// The settings for what comes from no file: those of the folder we are in.
    ///
    /// # Errors
    /// As for a file.
    pub(super) fn settings_here(&mut self) -> Result<Settings, String> {
        self.from(manifest_here())
    }

    fn from(&mut self, manifest: Option<PathBuf>) -> Result<Settings, String> {
        let Some(manifest) = manifest else {
            return Ok(Settings::default());
        };
        let settings = self.known.entry(manifest);
        let settings = settings.or_insert_with_key(|manifest| read(manifest));
        settings.clone()
    }
}

/// The `harn.toml` of the project that a file belongs to, whatever is in it.
pub(super) fn manifest_of(file: &Path) -> Option<PathBuf> {
    let file = fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
    manifest_at_or_above(file.parent()?)
}

/// The `harn.toml` of the project that we are in, whatever is in it.
pub(super) fn manifest_here() -> Option<PathBuf> {
    let here = Path::new(".");
    let here = fs::canonicalize(here).unwrap_or_else(|_| here.to_owned());
    manifest_at_or_above(&here)
}

/// Where the state of a project is: beside its manifest, or in the current folder. That one is
/// the empty path, so that messages name files as people would.
pub(super) fn base_of(manifest: Option<&Path>) -> PathBuf {
    let here = fs::canonicalize(".").ok();
    match manifest.and_then(Path::parent) {
        Some(folder) if Some(folder) != here.as_deref() => folder.to_owned(),
        _ => PathBuf::new(),
    }
}

fn manifest_at_or_above(folder: &Path) -> Option<PathBuf> {
    let mut manifests = folder.ancestors().map(|folder| folder.join("harn.toml"));
    manifests.find(|path| path.is_file())
}

fn read(manifest: &Path) -> Result<Settings, String> {
    let name = manifest.display();
    let text = harn_vm::agent::real_path::read_text(manifest)
        .map_err(|error| format!("{name}: {error}"))?;
    let settings: Result<Settings, _> = toml::from_str(&text);
    let mut settings = settings.map_err(|error| {
        let start = error.span().map_or(0, |span| span.start);
        let place = LineIndex::new(&text).position(&text, start as u32);
        format!("{name}:{place}: {}", error.message())
    })?;
    settings.manifest = Some(manifest.to_owned());
    Ok(settings)
}

/// Says what is wrong with files, and the same thing only once: a project may have many files
/// and one mistake.
#[derive(Debug, Default)]
pub(super) struct Complaints {
    told: BTreeSet<String>,
}

impl Complaints {
    pub(super) fn tell(&mut self, why: String, output: &mut Output) {
        if !self.told.contains(&why) {
            output.error(format_args!("{}", Untrusted(&why)));
            self.told.insert(why);
        }
    }
}
