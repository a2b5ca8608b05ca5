//! What a model is shown of a folder: the files that tell the most, and how it is worked on.

use std::path::{Path, PathBuf};

use harn_machine::{Context, Failure, Registry, Value, argument};

use super::catalogue::KINDS;
use super::folder::{entries, extension, start};
use super::walk::Options;
use crate::files::{read_text, status};

pub(super) fn register(registry: &mut Registry) {
    registry.plain(&[
        ("__project_ci", project_ci),
        ("__project_files", project_files),
        ("__project_start", |context, arguments| {
            let folder = start(context, "project.enrich", argument(arguments, 0))?;
            Ok(folder.display().to_string().into())
        }),
    ]);
    registry.harn("project", &[("project_enrich_native", "enrich")]);
}

/// How many files are shown, how many of them as examples of source, and how much of each.
const FILES_MAX: usize = 12;
const SOURCES_MAX: usize = 8;
const FILE_CHARACTERS_MAX: usize = 4000;
const CHARACTERS_MAX: usize = 24_000;

/// How many folders are looked at to find sources.
const FOLDERS_MAX: usize = 200;

/// Files that say who looks after a project and what checks it.
const UPKEEP: [&str; 8] = [
    ".gitlab-ci.yml",
    ".circleci/config.yml",
    "azure-pipelines.yml",
    "bitrise.yml",
    "CODEOWNERS",
    ".github/CODEOWNERS",
    "docs/CODEOWNERS",
    ".github/dependabot.yml",
];

/// Files that describe a project, whatever its kind.
const MANIFESTS: [&str; 7] = [
    "README.md",
    "harn.toml",
    "Makefile",
    "Dockerfile",
    "docker-compose.yml",
    "Justfile",
    "setup.cfg",
];

/// `__project_files(folder, languages)`: the files that tell the most.
fn project_files(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let folder = PathBuf::from(argument(arguments, 0).to_text().as_str());
    let languages: Vec<String> = match argument(arguments, 1) {
        Value::List(languages) => languages.iter().map(Value::show).collect(),
        _ => Vec::new(),
    };
    let mut names = told_by_name(context, &folder);
    let examples = sources(context, &folder, &languages);
    names.extend(examples.into_iter().take(SOURCES_MAX));
    let mut shown: Vec<Value> = Vec::new();
    let (mut seen, mut left) = (Vec::new(), CHARACTERS_MAX);
    for name in names {
        if shown.len() == FILES_MAX || left == 0 {
            break;
        }
        if seen.contains(&name) {
            continue;
        }
        let Ok(text) = read_text(context, folder.join(&name)) else {
            continue;
        };
        let most = FILE_CHARACTERS_MAX.min(left);
        let content: String = text.chars().take(most).collect();
        left -= content.chars().count();
        let truncated = content.len() < text.len();
        shown.push(Value::dict([
            ("path", name.as_str().into()),
            ("content", content.into()),
            ("truncated", truncated.into()),
        ]));
        seen.push(name);
    }
    Ok(Value::list(shown))
}

/// The files that are known by their names.
fn told_by_name(context: &mut Context<'_>, folder: &Path) -> Vec<String> {
    let workflows = workflows(context, folder);
    let kinds = KINDS.iter();
    let kinds = kinds.flat_map(|kind| kind.anchors.iter().chain(kind.lockfiles));
    let known = UPKEEP.iter().chain(kinds).chain(&MANIFESTS);
    let known = known.map(|name| (*name).to_owned());
    let names: Vec<String> = workflows.into_iter().chain(known).collect();
    let is_file = |name: &String| {
        let found = status(context, folder.join(name));
        found.is_some_and(|found| found.is_file)
    };
    names.into_iter().filter(is_file).collect()
}

fn workflows(context: &mut Context<'_>, folder: &Path) -> Vec<String> {
    let files = entries(context, &folder.join(".github/workflows"));
    let files = files.into_iter().filter(|entry| !entry.is_folder);
    files
        .filter(|entry| matches!(extension(&entry.name).as_str(), "yml" | "yaml"))
        .map(|entry| format!(".github/workflows/{}", entry.name))
        .collect()
}

/// Source files of some languages, those near the top first.
fn sources(context: &mut Context<'_>, folder: &Path, languages: &[String]) -> Vec<String> {
    let spoken = |kind: &&super::catalogue::Kind| {
        let mut known = kind.languages.iter();
        known.any(|language| languages.iter().any(|one| one == language))
    };
    let kinds = KINDS.iter().filter(spoken);
    let wanted: Vec<&str> = kinds.flat_map(|kind| kind.extensions).copied().collect();
    let options = Options::read(&Value::Nil);
    let (mut found, mut at) = (Vec::new(), 0);
    let mut folders = vec![String::new()];
    while at < folders.len() && at < FOLDERS_MAX && found.len() < SOURCES_MAX {
        let inside = folders[at].clone();
        at += 1;
        for entry in entries(context, &folder.join(&inside)) {
            let path = match inside.as_str() {
                "" => entry.name.clone(),
                inside => format!("{inside}/{}", entry.name),
            };
            if entry.is_folder {
                if options.enters(&entry) {
                    folders.push(path);
                }
            } else if wanted.contains(&extension(&entry.name).as_str()) {
                found.push(path);
            }
        }
    }
    found
}

/// `__project_ci(folder)`: how a project is worked on.
fn project_ci(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let folder = PathBuf::from(argument(arguments, 0).to_text().as_str());
    let workflows = workflows(context, &folder);
    let mut there = |names: &[&str]| -> Vec<Value> {
        let found = names.iter().filter(|name| {
            let found = status(context, folder.join(name));
            found.is_some()
        });
        found.map(|name| Value::from(*name)).collect()
    };
    let hooks = there(&[
        ".pre-commit-config.yaml",
        ".husky",
        ".githooks",
        "lefthook.yml",
        "lefthook.yaml",
    ]);
    let anchors: Vec<&str> = KINDS
        .iter()
        .flat_map(|kind| kind.anchors)
        .copied()
        .collect();
    let mut manifests = there(&anchors);
    manifests.dedup_by(|one, other| one.show() == other.show());
    let policy = there(&[
        "CODEOWNERS",
        ".github/CODEOWNERS",
        "docs/CODEOWNERS",
        ".github/pull_request_template.md",
        ".github/PULL_REQUEST_TEMPLATE.md",
        ".mergify.yml",
        ".github/mergify.yml",
    ]);
    Ok(Value::dict([
        (
            "workflows",
            workflows.into_iter().map(Value::from).collect(),
        ),
        ("hooks", Value::list(hooks)),
        ("package_manifests", Value::list(manifests)),
        ("merge_policy", Value::list(policy)),
    ]))
}
