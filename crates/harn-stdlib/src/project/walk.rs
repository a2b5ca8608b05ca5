//! The folders of a tree, and those of them that are projects.

use std::path::{Path, PathBuf};

use harn_machine::value::{Dict, Text};
use harn_machine::{Answer, Context, Failure, FileRequest, Registry, Value, argument};
use sha2::{Digest, Sha256};

use super::catalogue::is_project;
use super::folder::{Entry, entries, start};
use super::ignore::Ignore;
use super::scan::scan;
use crate::files::{perform, read_text};

pub(super) fn register(registry: &mut Registry) {
    registry.plain(&[
        ("project_scan_tree_native", project_scan_tree),
        ("project_walk_tree_native", project_walk_tree),
    ]);
}

/// How a tree is looked at.
pub(super) struct Options {
    /// Whether what people have set up is read too.
    pub(super) has_config: bool,
    /// How deep below the folder is looked; `None`: to the bottom.
    depth: Option<usize>,
    include_hidden: bool,
    include_vendor: bool,
    respect_gitignore: bool,
}

/// Folders that hold what was made or fetched, and not what was written.
const VENDOR: [&str; 10] = [
    ".git",
    ".hg",
    ".svn",
    ".venv",
    "__pycache__",
    "build",
    "dist",
    "node_modules",
    "target",
    "venv",
];

/// How deep is looked unless somebody says otherwise.
const DEPTH: usize = 3;

impl Options {
    pub(super) fn read(options: &Value) -> Self {
        let options = match options {
            Value::Dict(options) => options.clone(),
            _ => Dict::default(),
        };
        let flag = |key: &str, fallback: bool| match options.get(key) {
            Some(Value::Bool(flag)) => *flag,
            _ => fallback,
        };
        let has_config = match options.get("tiers") {
            Some(Value::List(tiers)) => tiers.iter().any(|tier| tier.show() == "config"),
            _ => false,
        };
        Self {
            has_config,
            depth: match options.get("depth") {
                Some(Value::Int(depth)) => Some(usize::try_from(*depth).unwrap_or(0)),
                Some(Value::Nil) => None,
                _ => Some(DEPTH),
            },
            include_hidden: flag("include_hidden", false),
            include_vendor: flag("include_vendor", false),
            respect_gitignore: flag("respect_gitignore", true),
        }
    }

    /// Whether a folder is looked into, as far as its name tells.
    pub(super) fn enters(&self, folder: &Entry) -> bool {
        let is_vendor = VENDOR.contains(&folder.name.as_str());
        match is_vendor {
            true => self.include_vendor,
            false => self.include_hidden || !folder.is_hidden(),
        }
    }

    fn ignore(&self, context: &mut Context<'_>, root: &Path) -> Ignore {
        let text = match self.respect_gitignore {
            true => read_text(context, root.join(".gitignore")).unwrap_or_default(),
            false => String::new(),
        };
        Ignore::parse(&text)
    }
}

/// A folder of a tree.
struct Folder {
    place: PathBuf,
    /// Its path from the root; `.` for the root.
    path: String,
    /// What is in it and is neither hidden nor left out.
    entries: Vec<Entry>,
    is_project: bool,
}

/// The folders of a tree, each before those in it.
fn folders(context: &mut Context<'_>, root: &Path, options: &Options) -> Vec<Folder> {
    let ignore = options.ignore(context, root);
    let mut found = Vec::new();
    let mut next: Vec<(PathBuf, String, usize)> = vec![(root.to_owned(), ".".to_owned(), 0)];
    while let Some((place, path, depth)) = next.pop() {
        let all = entries(context, &place);
        let is_project = is_project(all.iter().map(|entry| entry.name.as_str()));
        let inside = |name: &str| match path.as_str() {
            "." => name.to_owned(),
            path => format!("{path}/{name}"),
        };
        let is_kept = |entry: &Entry| {
            let is_shown = options.include_hidden || !entry.is_hidden();
            let is_entered = match entry.is_folder {
                true => options.enters(entry),
                false => is_shown,
            };
            is_entered && !ignore.covers(&inside(&entry.name), entry.is_folder)
        };
        let entries: Vec<Entry> = all.into_iter().filter(is_kept).collect();
        if options.depth.is_none_or(|most| depth < most) {
            let below = entries.iter().filter(|entry| entry.is_folder).rev();
            next.extend(below.map(|entry| {
                let place = place.join(&entry.name);
                (place, inside(&entry.name), depth + 1)
            }));
        }
        found.push(Folder {
            place,
            path,
            entries,
            is_project,
        });
    }
    found
}

/// `project_scan_tree(path, options?)`
fn project_scan_tree(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let options = Options::read(argument(arguments, 1));
    let root = start(context, "project.scan", argument(arguments, 0))?;
    let mut scans = Dict::default();
    for folder in folders(context, &root, &options) {
        if folder.is_project || folder.path == "." {
            let found = scan(context, &folder.place, &options);
            scans.insert(Text::from(folder.path), found.into());
        }
    }
    Ok(scans.into())
}

/// `project_walk_tree_native(path, options?)`: every folder with hashes that tell whether it
/// has changed.
fn project_walk_tree(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let options = Options::read(argument(arguments, 1));
    let root = start(context, "project.scan", argument(arguments, 0))?;
    let folders = folders(context, &root, &options);
    let described = folders.iter().map(|folder| {
        Value::dict([
            ("dir", folder.path.as_str().into()),
            ("path", folder.place.display().to_string().into()),
            ("structure_hash", structure_hash(folder).into()),
            ("content_hash", content_hash(context, folder).into()),
        ])
    });
    Ok(described.collect())
}

/// A hash of the names and kinds of what is in a folder.
fn structure_hash(folder: &Folder) -> String {
    let mut hash = Sha256::new();
    for entry in &folder.entries {
        let kind = if entry.is_folder { "folder" } else { "file" };
        hash.update(format!("{kind}:{}\n", entry.name));
    }
    crate::encoding::hex::encode(&hash.finalize())
}

/// A hash of the files in a folder.
fn content_hash(context: &mut Context<'_>, folder: &Folder) -> String {
    let mut hash = Sha256::new();
    for entry in folder.entries.iter().filter(|entry| !entry.is_folder) {
        let place = folder.place.join(&entry.name);
        let octets = match perform(context, FileRequest::Read(place)) {
            Ok(Answer::Octets(octets)) => octets,
            _ => Vec::new(),
        };
        hash.update(format!("{}:{}\n", entry.name, octets.len()));
        hash.update(&octets);
    }
    crate::encoding::hex::encode(&hash.finalize())
}
