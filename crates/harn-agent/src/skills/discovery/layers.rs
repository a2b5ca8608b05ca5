//! The layers that skills come from.

use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};

use super::{ManifestSkills, SkillPlaces};
use crate::skills::entry::HOST;

/// How many folders of packages are looked at.
const PACKAGE_FOLDERS_MAX: usize = 20_000;

/// How deep a folder of skills may be in a package.
const PACKAGE_DEPTH_MAX: usize = 8;

/// A layer. A skill of a higher layer stands before one of the same id in a lower one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layer {
    Cli,
    Env,
    Project,
    Manifest,
    User,
    Package,
    System,
    Host,
}

/// A folder of a layer.
pub(super) struct Folder {
    pub(super) path: PathBuf,
    pub(super) namespace: Option<String>,
}

impl Folder {
    fn plain(path: PathBuf) -> Self {
        Self {
            path,
            namespace: None,
        }
    }
}

impl Layer {
    /// All of them, the highest first.
    const ALL: [Self; 8] = [
        Self::Cli,
        Self::Env,
        Self::Project,
        Self::Manifest,
        Self::User,
        Self::Package,
        Self::System,
        Self::Host,
    ];

    /// The word for it.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Cli => "cli",
            Self::Env => "env",
            Self::Project => "project",
            Self::Manifest => "manifest",
            Self::User => "user",
            Self::Package => "package",
            Self::System => "system",
            Self::Host => HOST,
        }
    }

    /// The layers in the order that a manifest wants: those it lists first, the others after
    /// them, without those it disables.
    pub(super) fn in_order(manifest: &ManifestSkills, warn: &dyn Fn(&str)) -> Vec<Self> {
        let read = |words: &[String], key: &str| -> Vec<Self> {
            let known = words.iter().filter_map(|word| {
                let layer = Self::ALL.into_iter().find(|layer| layer.word() == word);
                if layer.is_none() {
                    warn(&format!(
                        "skills: harn.toml: skills.{key}: there is no layer `{word}`"
                    ));
                }
                layer
            });
            known.collect()
        };
        let disabled = read(&manifest.disable, "disable");
        let mut order: Vec<Self> = Vec::new();
        let first = read(&manifest.lookup_order, "lookup_order");
        for layer in first.into_iter().chain(Self::ALL) {
            if !order.contains(&layer) && !disabled.contains(&layer) {
                order.push(layer);
            }
        }
        order
    }

    /// The folders of a layer, the nearest first.
    pub(super) fn folders(self, places: &SkillPlaces, warn: &dyn Fn(&str)) -> Vec<Folder> {
        let named = |paths: &[PathBuf]| {
            for path in paths.iter().filter(|path| !path.is_dir()) {
                let (word, path) = (self.word(), path.display());
                warn(&format!("skills: {word}: there is no folder {path}"));
            }
            paths.iter().cloned().map(Folder::plain).collect()
        };
        match self {
            Self::Cli => named(&places.cli),
            Self::Env => named(&places.env),
            Self::Project => project(places),
            Self::Manifest => of_manifest(places, warn),
            Self::User => {
                let home = places.home.iter().map(|home| home.join(".harn/skills"));
                home.map(Folder::plain).collect()
            }
            Self::Package => packages(places),
            Self::System => places.system.iter().cloned().map(Folder::plain).collect(),
            Self::Host => Vec::new(),
        }
    }
}

/// `.harn/skills` of the program's folder and of those above it: up to the manifest, or, where
/// there is none, up to the first that has one. What is the user's is no project.
fn project(places: &SkillPlaces) -> Vec<Folder> {
    let user = places.home.as_ref().map(|home| home.join(".harn/skills"));
    let mut folders = Vec::new();
    for folder in places
        .program
        .iter()
        .flat_map(|program| program.ancestors())
    {
        let skills = folder.join(".harn/skills");
        if Some(&skills) != user.as_ref() && skills.is_dir() {
            folders.push(Folder::plain(skills));
        }
        let is_last = match &places.root {
            Some(root) => folder == root,
            None => !folders.is_empty(),
        };
        if is_last {
            break;
        }
    }
    folders
}

fn of_manifest(places: &SkillPlaces, warn: &dyn Fn(&str)) -> Vec<Folder> {
    let root = places.root.clone().unwrap_or_default();
    let paths = places.manifest.paths.iter();
    let mut folders: Vec<Folder> = paths.map(|path| Folder::plain(root.join(path))).collect();
    for source in &places.manifest.sources {
        match source.kind.as_deref() {
            None | Some("fs") if !source.path.is_empty() => folders.push(Folder {
                path: root.join(&source.path),
                namespace: source.namespace.clone().filter(|name| !name.is_empty()),
            }),
            None | Some("fs") => warn("skills: harn.toml: a skill.source has no `path`"),
            Some(other) => warn(&format!(
                "skills: harn.toml: a skill.source of the type `{other}` is not supported"
            )),
        }
    }
    for folder in folders.iter().filter(|folder| !folder.path.is_dir()) {
        let path = folder.path.display();
        warn(&format!("skills: harn.toml: there is no folder {path}"));
    }
    folders
}

/// All folders called `skills` below `.harn/packages`. Links are not followed: a package that
/// links to itself would have no end.
fn packages(places: &SkillPlaces) -> Vec<Folder> {
    let root = places.root.as_ref().or(places.program.as_ref());
    let Some(root) = root else {
        return Vec::new();
    };
    let mut folders = Vec::new();
    let mut waiting = VecDeque::from([(root.join(".harn/packages"), 0)]);
    let mut seen = 0;
    while let Some((folder, depth)) = waiting.pop_front() {
        seen += 1;
        if seen > PACKAGE_FOLDERS_MAX {
            break;
        }
        for inner in folders_in(&folder) {
            match inner.file_name().and_then(|name| name.to_str()) {
                Some("skills") => folders.push(Folder::plain(inner)),
                Some(".git" | "node_modules") => {}
                _ if depth < PACKAGE_DEPTH_MAX => waiting.push_back((inner, depth + 1)),
                _ => {}
            }
        }
    }
    folders
}

fn folders_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let mut folders: Vec<PathBuf> = folders.map(|entry| entry.path()).collect();
    folders.sort_unstable();
    folders
}
