//! `project_scan_native`: what one folder of a project is.
//!
//! ```text
//! an anchor or a lock file ─► the kind applies ─► sources, lock file ─► score ─► labels ≥ 0.5
//! ```

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use harn_machine::value::{Dict, Text};
use harn_machine::{Context, Failure, Registry, Value, argument};

use super::catalogue::{KINDS, Kind, is_project};
use super::config;
use super::folder::{Entry, entries, extension, start, version_control};
use super::walk::Options;

pub(super) fn register(registry: &mut Registry) {
    registry.plain(&[("project_scan_native", project_scan)]);
}

/// How sure one must be to say something.
const SCORE_MIN: f64 = 0.5;

/// How many files are looked at to find sources. Whoever has more has found some by then.
const FILES_MAX: usize = 20_000;

/// `project_scan(path = ".", options?)`
fn project_scan(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let options = Options::read(argument(arguments, 1));
    let folder = start(context, "project.scan", argument(arguments, 0))?;
    Ok(scan(context, &folder, &options).into())
}

/// What a folder is.
pub(super) fn scan(context: &mut Context<'_>, folder: &Path, options: &Options) -> Dict {
    let here = entries(context, folder);
    let has = |name: &str| {
        here.iter()
            .any(|entry| !entry.is_folder && entry.name == name)
    };
    let mut kinds: Vec<(&Kind, f64)> = Vec::new();
    let applies = |kind: &&Kind| {
        let mut names = kind.anchors.iter().chain(kind.lockfiles);
        names.any(|name| has(name))
    };
    let applying: Vec<&Kind> = KINDS.iter().filter(applies).collect();
    let sources = sources(context, folder, &here, &applying, options);
    for (kind, has_sources) in applying.into_iter().zip(sources) {
        kinds.push((kind, score(kind, &has, has_sources)));
    }
    let mut scan = ambient(context, folder, &kinds, &has);
    let config = config::config(context, folder, &here, &surely(&kinds), options);
    for (key, value) in config {
        scan.insert(Text::new(key), value);
    }
    scan
}

fn score(kind: &Kind, has: &impl Fn(&str) -> bool, has_sources: bool) -> f64 {
    let any = |names: &[&str]| names.iter().any(|name| has(name));
    let mut score = match any(kind.anchors) {
        true => kind.anchor_score,
        false => 0.0,
    };
    if has_sources {
        score = score.max(SCORE_MIN);
    }
    match (any(kind.lockfiles), has_sources) {
        (true, true) => 1.0,
        (true, false) => (score + 0.45).min(1.0),
        (false, _) => score,
    }
}

/// The kinds that one is sure of.
fn surely<'a>(kinds: &[(&'a Kind, f64)]) -> Vec<&'a Kind> {
    let sure = kinds.iter().filter(|(_, score)| *score >= SCORE_MIN);
    sure.map(|(kind, _)| *kind).collect()
}

fn ambient(
    context: &mut Context<'_>,
    folder: &Path,
    kinds: &[(&Kind, f64)],
    has: &impl Fn(&str) -> bool,
) -> Dict {
    let found = |names: fn(&Kind) -> &'static [&'static str]| {
        let kinds = KINDS.iter().flat_map(|kind| names(kind).iter());
        once(kinds.filter(|name| has(name)).copied())
    };
    let languages = scores(kinds, |kind| kind.languages);
    let frameworks = scores(kinds, |kind| kind.frameworks);
    let confidence = languages.iter().chain(&frameworks);
    let confidence = confidence.map(|(label, score)| (Text::new(label), Value::Float(*score)));
    let build_systems = once(surely(kinds).into_iter().map(|kind| kind.build_system));
    let fields = [
        ("path", folder.display().to_string().into()),
        ("languages", best(&languages)),
        ("frameworks", best(&frameworks)),
        ("build_systems", build_systems),
        ("vcs", version_control(context, folder)),
        ("lockfiles", found(|kind| kind.lockfiles)),
        ("anchors", found(|kind| kind.anchors)),
        ("confidence", Value::Dict(confidence.collect())),
    ];
    let fields = fields.map(|(key, value)| (Text::new(key), value));
    fields.into_iter().collect()
}

/// The best score of each label.
fn scores(
    kinds: &[(&Kind, f64)],
    labels: fn(&Kind) -> &'static [&'static str],
) -> BTreeMap<&'static str, f64> {
    let mut best = BTreeMap::new();
    for (kind, score) in kinds {
        for label in labels(kind) {
            let known = best.entry(*label).or_insert(*score);
            *known = f64::max(*known, *score);
        }
    }
    best
}

/// The labels that one is sure of, the surest first.
fn best(scores: &BTreeMap<&'static str, f64>) -> Value {
    let sure = scores.iter().filter(|(_, score)| **score >= SCORE_MIN);
    let mut sure: Vec<(&str, f64)> = sure.map(|(label, score)| (*label, *score)).collect();
    let by_score = |one: &f64, other: &f64| other.partial_cmp(one).unwrap_or(Ordering::Equal);
    // They are sorted by name already, and sorting keeps that.
    sure.sort_by(|(_, one), (_, other)| by_score(one, other));
    sure.into_iter()
        .map(|(label, _)| Value::from(label))
        .collect()
}

/// Names, each once.
pub(super) fn once<'a>(names: impl IntoIterator<Item = &'a str>) -> Value {
    let mut seen: Vec<&str> = Vec::new();
    for name in names {
        if !seen.contains(&name) {
            seen.push(name);
        }
    }
    seen.into_iter().map(Value::from).collect()
}

/// Whether each of some kinds has a source file here or below, where no other project begins.
fn sources(
    context: &mut Context<'_>,
    folder: &Path,
    here: &[Entry],
    kinds: &[&Kind],
    options: &Options,
) -> Vec<bool> {
    let mut found = vec![false; kinds.len()];
    let mut left = FILES_MAX;
    let mut folders: Vec<(PathBuf, String)> = Vec::new();
    let mut look = |inside: &str, entries: &[Entry], found: &mut Vec<bool>| {
        let mut deeper = Vec::new();
        for entry in entries {
            let path = match inside {
                "" => entry.name.clone(),
                inside => format!("{inside}/{}", entry.name),
            };
            if entry.is_folder {
                if options.enters(entry) {
                    deeper.push(path);
                }
                continue;
            }
            let extension = extension(&entry.name);
            for (kind, found) in kinds.iter().zip(found.iter_mut()) {
                *found |= kind.has_source(&path, &extension);
            }
        }
        left = left.saturating_sub(entries.len());
        let is_over = left == 0 || found.iter().all(|found| *found);
        if is_over { Vec::new() } else { deeper }
    };
    let below = |paths: Vec<String>| paths.into_iter().map(|path| (folder.join(&path), path));
    folders.extend(below(look("", here, &mut found)));
    while let Some((place, inside)) = folders.pop() {
        let entries = entries(context, &place);
        if is_project(entries.iter().map(|entry| entry.name.as_str())) {
            continue;
        }
        let deeper = look(&inside, &entries, &mut found);
        if found.iter().all(|found| *found) {
            break;
        }
        folders.extend(below(deeper));
    }
    found
}
