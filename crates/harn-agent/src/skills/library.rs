//! The skills that were discovered: cards that programs see, bodies that are read when needed.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::discovery::of_host;
use super::front_matter;
use super::registry::{SkillRegistry, Unresolved};
use crate::callback::Functions;
use crate::real_path::open_regular;

/// How large a file may be that describes a skill.
pub(super) const FILE_BYTES_MAX: u64 = 1 << 20;

/// What a runtime knows about skills.
#[derive(Clone, Debug, Default)]
pub struct SkillSetup {
    /// The skills that were discovered.
    pub library: Arc<SkillLibrary>,
    /// The variables that bodies may mention: those that the operator has lent to skills.
    pub variables: BTreeMap<String, String>,
    /// Whether every skill that is used must be signed.
    pub requires_signatures: bool,
}

/// The skills that were discovered.
#[derive(Debug, Default)]
pub struct SkillLibrary {
    skills: Vec<Discovered>,
    registry: SkillRegistry,
    by_id: HashMap<String, usize>,
    /// Skills that another of the same id stands before.
    shadowed: Vec<Shadowed>,
}

/// A skill that was discovered.
#[derive(Clone, Debug)]
pub struct Discovered {
    /// `namespace/name`, or its name.
    pub id: String,
    /// What programs see of it.
    pub card: Value,
    /// Where its body is.
    pub place: Place,
}

/// A skill that is not used because another one of the same id stands before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shadowed {
    /// The id.
    pub id: String,
    /// The layer it is in.
    pub layer: String,
    /// The layer of the one that is used.
    pub by: String,
}

/// Where the body of a skill is.
#[derive(Clone, Debug)]
pub enum Place {
    /// In a file, whose bytes had this digest when it was discovered.
    File {
        /// The file.
        path: PathBuf,
        /// The SHA-256 of its bytes, if somebody signed them: what was signed must be what is
        /// read.
        digest: Option<[u8; 32]>,
    },
    /// With the host, under an id of its own.
    Host(String),
}

/// What a skill says, and where it is.
pub struct Body {
    /// As it is written, with nothing put in.
    pub text: String,
    /// The folder of its file.
    pub folder: Option<String>,
}

/// Why a body cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum BodyError {
    /// The file cannot be read.
    #[error("cannot read {}: {error}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// The file is not what was signed.
    #[error("{} has changed since it was found", .0.display())]
    Changed(PathBuf),
    /// Only the host has it.
    #[error("only the host has it")]
    OnHost(String),
}

impl SkillLibrary {
    /// These skills, the ones of the highest layer first. Of several with the same id the first
    /// is used.
    pub fn of(found: Vec<Discovered>) -> Self {
        let mut library = Self::default();
        for skill in found {
            let layer = |skill: &Discovered| skill.card["source"].as_str().map(str::to_owned);
            match library.by_id.get(&skill.id) {
                Some(at) => library.shadowed.push(Shadowed {
                    layer: layer(&skill).unwrap_or_default(),
                    by: layer(&library.skills[*at]).unwrap_or_default(),
                    id: skill.id,
                }),
                None => {
                    let at = library.skills.len();
                    library.by_id.insert(skill.id.clone(), at);
                    library.skills.push(skill);
                }
            }
        }
        let registry = library.to_value();
        library.registry = SkillRegistry::parse(Some(&registry), &Functions::default());
        library
    }

    /// The same skills, with those that the host has now in the place of those that it had.
    pub(crate) fn with_host(&self, told: &[Value]) -> Self {
        let is_lent = |skill: &Discovered| matches!(skill.place, Place::Host(_));
        let first = self.skills.iter().position(is_lent);
        let others = self.skills.iter().filter(|skill| !is_lent(skill));
        let mut found: Vec<Discovered> = others.cloned().collect();
        let at = first.unwrap_or(found.len()).min(found.len());
        found.splice(at..at, told.iter().filter_map(of_host));
        Self::of(found)
    }

    /// The skills that the host lends.
    pub(crate) fn lent(&self) -> impl Iterator<Item = &super::Skill> {
        let skills = self.registry.skills().iter();
        skills.filter(|skill| skill.is_lent())
    }

    /// The ids of all of them.
    pub(crate) fn ids(&self) -> impl Iterator<Item = &str> {
        self.skills.iter().map(|skill| &*skill.id)
    }

    /// The registry of cards that a program sees.
    pub fn to_value(&self) -> Value {
        let cards: Vec<&Value> = self.skills.iter().map(|skill| &skill.card).collect();
        json!({"_type": "skill_registry", "skills": cards})
    }

    /// Whether nothing was discovered.
    pub fn is_empty(&self) -> bool {
        self.skills.is_empty()
    }

    /// The skill that a name or an id stands for.
    ///
    /// # Errors
    /// There is none, or there are several.
    pub fn resolve(&self, name: &str) -> Result<&super::Skill, Unresolved> {
        self.registry.resolve(name)
    }

    /// What was discovered under an id in a layer. A program may make a skill of the same name;
    /// that one is not ours.
    pub fn get(&self, id: &str, source: Option<&str>) -> Option<&Discovered> {
        let skill = &self.skills[*self.by_id.get(id)?];
        (skill.card["source"].as_str() == source).then_some(skill)
    }

    /// Skills that another of the same id stands before.
    pub fn shadowed(&self) -> &[Shadowed] {
        &self.shadowed
    }
}

impl Discovered {
    /// Reads its body.
    ///
    /// # Errors
    /// The file cannot be read any more, or is not the one that was signed.
    pub fn body(&self) -> Result<Body, BodyError> {
        let (path, digest) = match &self.place {
            Place::File { path, digest } => (path, digest),
            Place::Host(id) => return Err(BodyError::OnHost(id.clone())),
        };
        let bytes = read_bounded(path).map_err(|error| BodyError::Unreadable {
            path: path.clone(),
            error,
        })?;
        if digest.is_some_and(|digest| Sha256::digest(&bytes)[..] != digest) {
            return Err(BodyError::Changed(path.clone()));
        }
        let text = String::from_utf8_lossy(&bytes);
        let (_, body) = front_matter::split(&text);
        Ok(Body {
            text: body.to_owned(),
            folder: self.folder(),
        })
    }

    /// The folder of its file.
    pub fn folder(&self) -> Option<String> {
        match &self.place {
            Place::File { path, .. } => {
                let folder = path.parent()?;
                Some(folder.to_string_lossy().into_owned())
            }
            Place::Host(_) => None,
        }
    }
}

/// The bytes of a file that is not too large.
pub(super) fn read_bounded(path: &Path) -> io::Result<Vec<u8>> {
    // A pipe or a device may never end.
    if !path.metadata()?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    let mut bytes = Vec::new();
    let file = open_regular(path)?;
    file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > FILE_BYTES_MAX {
        true => Err(io::Error::other("it is too large for a skill")),
        false => Ok(bytes),
    }
}
