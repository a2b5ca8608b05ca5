//! Finds skills in folders.
//!
//! ```text
//! layers, highest first ─► folders ─► SKILL.md ─► card, signature ─► library
//!                                        └─► what is wrong with it: a warning
//! ```
//!
//! Nothing that a file says can fail a program: what cannot be read is left out and told. Files
//! are read here and nowhere chosen by a program, so no policy of a program is asked.

mod card;
mod layers;
mod signature;

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::front_matter;
use super::library::{Discovered, Place, SkillLibrary, read_bounded};
use super::provenance::Provenance;
use card::Card;
use layers::Layer;
use signature::Signers;

/// The file that makes a folder a skill.
const FILE: &str = "SKILL.md";

/// How many skills are taken in at most.
const SKILLS_MAX: usize = 10_000;

/// Where skills are looked for.
#[derive(Clone, Debug, Default)]
pub struct SkillPlaces {
    /// Folders given on the command line.
    pub cli: Vec<PathBuf>,
    /// Folders given in the environment.
    pub env: Vec<PathBuf>,
    /// The folder of the program: its project is there or above.
    pub program: Option<PathBuf>,
    /// The folder of the manifest, if there is one.
    pub root: Option<PathBuf>,
    /// What the manifest says.
    pub manifest: ManifestSkills,
    /// The folder of the user.
    pub home: Option<PathBuf>,
    /// Folders of everybody on this machine.
    pub system: Vec<PathBuf>,
    /// What the host has, as it tells it.
    pub host: Vec<Value>,
    /// Where keys of signers are, if the environment says so.
    pub signer_registry: Option<String>,
}

/// What a manifest says about skills.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct ManifestSkills {
    /// Folders of skills, relative to the manifest.
    pub paths: Vec<String>,
    /// Folders with more to say about them.
    #[serde(skip)]
    pub sources: Vec<ManifestSource>,
    /// Layers that are not looked at.
    #[serde(alias = "disabled")]
    pub disable: Vec<String>,
    /// Layers that come first, in this order.
    pub lookup_order: Vec<String>,
    /// Where keys of signers are.
    pub signer_registry_url: Option<String>,
}

/// An entry of `[[skill.source]]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct ManifestSource {
    /// What it is; `fs`, a folder, if nothing is said.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// The folder, relative to the manifest.
    pub path: String,
    /// The namespace of its skills.
    pub namespace: Option<String>,
}

/// What discovery cannot do itself.
pub struct Means<'a> {
    /// Reads YAML.
    pub yaml: &'a dyn Fn(&str) -> Result<Value, String>,
    /// Fetches a text over the network.
    pub fetch: &'a dyn Fn(&str) -> Result<String, String>,
    /// Hears what is wrong with files.
    pub warn: &'a dyn Fn(&str),
}

/// Finds the skills in these places.
pub fn discover(places: &SkillPlaces, means: &Means<'_>) -> SkillLibrary {
    let signers = Signers::new(places);
    let mut found = Vec::new();
    for layer in Layer::in_order(&places.manifest, means.warn) {
        if layer == Layer::Host {
            found.extend(places.host.iter().filter_map(of_host));
            continue;
        }
        for folder in layer.folders(places, means.warn) {
            let looking = Looking {
                layer,
                namespace: folder.namespace.as_deref(),
                means,
                signers: &signers,
            };
            looking.in_folder(&folder.path, &mut found);
        }
    }
    SkillLibrary::of(found)
}

/// The folders of the skills that came with a project: in its own folders, in those that its
/// manifest names, and in its packages.
pub fn project_skill_folders(places: &SkillPlaces) -> Vec<PathBuf> {
    let layers = [Layer::Project, Layer::Manifest, Layer::Package].into_iter();
    let folders = layers.flat_map(|layer| layer.folders(places, &|_| {}));
    let skills = folders.flat_map(|folder| skills_in(&folder.path));
    skills.take(SKILLS_MAX).collect()
}

/// The folders of skills in a folder: itself, or those in it.
fn skills_in(folder: &Path) -> Vec<PathBuf> {
    if folder.join(FILE).is_file() {
        return vec![folder.to_owned()];
    }
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let folders = entries.map(|entry| entry.path());
    let mut folders: Vec<PathBuf> = folders.filter(|path| path.join(FILE).is_file()).collect();
    folders.sort_unstable();
    folders
}

/// A look at one folder of one layer.
struct Looking<'a> {
    layer: Layer,
    namespace: Option<&'a str>,
    means: &'a Means<'a>,
    signers: &'a Signers,
}

impl Looking<'_> {
    /// A folder is a skill itself, or holds folders that are.
    fn in_folder(&self, folder: &Path, found: &mut Vec<Discovered>) {
        for folder in skills_in(folder) {
            self.at(&folder, found);
        }
    }

    fn at(&self, folder: &Path, found: &mut Vec<Discovered>) {
        if found.len() >= SKILLS_MAX {
            return;
        }
        let path = folder.join(FILE);
        match self.read(folder, &path) {
            Ok(skill) => found.push(skill),
            Err(why) => self.warn(&path, &format!("is no skill: {why}")),
        }
    }

    fn warn(&self, path: &Path, text: &str) {
        (self.means.warn)(&format!("skills: {} {text}", path.display()));
    }

    fn read(&self, folder: &Path, path: &Path) -> Result<Discovered, String> {
        let bytes = read_bounded(path).map_err(|error| error.to_string())?;
        let text = std::str::from_utf8(&bytes).map_err(|_| "it is not UTF-8".to_owned())?;
        let (front, _) = front_matter::split(text);
        let front = front.ok_or("it has no front matter between `---` lines")?;
        let fields = (self.means.yaml)(front)?;
        let card = Card::read(&fields, &name_of(folder))?;
        if !card.unknown.is_empty() {
            let unknown = card.unknown.join(", ");
            self.warn(path, &format!("has fields that mean nothing: {unknown}"));
        }
        let provenance = self
            .signers
            .provenance(path, &bytes, &card.trusted_signers(), self.means);
        let digest = provenance.signed.then(|| Sha256::digest(&bytes).into());
        let (id, card) = card.finish(self.layer.word(), self.namespace, &provenance);
        Ok(Discovered {
            id,
            card,
            place: Place::File {
                path: path.to_owned(),
                digest,
            },
        })
    }
}

fn name_of(folder: &Path) -> String {
    let name = folder.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

/// A skill as the host tells it: `{id, name, description, …}`.
pub(super) fn of_host(told: &Value) -> Option<Discovered> {
    let id = told["id"].as_str().or(told["name"].as_str())?.to_owned();
    let mut fields = told.clone();
    if let Some(map) = fields.as_object_mut() {
        map.remove("id");
        let short = map.get("short").or(map.get("description")).cloned();
        map.insert("short".to_owned(), short.unwrap_or_else(|| Value::from("")));
    }
    let namespace = told["namespace"].as_str();
    let card = Card::read_lenient(&fields, &id);
    let (own_id, card) = card.finish(Layer::Host.word(), namespace, &Provenance::default());
    Some(Discovered {
        id: own_id,
        card,
        place: Place::Host(id),
    })
}

#[cfg(test)]
mod tests;
