//! What follows from the signals of a tree.

use harn_machine::Value;

use super::signals::{Names, Signals};

const LANGUAGES: &[&str] = &["rust", "typescript", "python", "go", "swift", "ruby"];

const FRAMEWORKS: &[&str] = &["axum", "next", "react", "django", "fastapi", "rails"];

const MANAGERS: &[&str] = &[
    "cargo", "spm", "pnpm", "npm", "yarn", "uv", "poetry", "pip", "go-mod", "bundler",
];

const RUNNERS: &[&str] = &[
    "nextest",
    "cargo-test",
    "vitest",
    "jest",
    "mocha",
    "pytest",
    "unittest",
    "go-test",
    "xctest",
    "rspec",
    "minitest",
];

const BUILDS: &[&str] = &[
    "cargo", "spm", "next", "vite", "uv", "poetry", "pnpm", "npm", "yarn", "go", "bundler", "pip",
];

const CI: &[&str] = &[
    "github-actions",
    "gitlab-ci",
    "circleci",
    "buildkite",
    "azure-pipelines",
    "bitrise",
];

const NODE_MANAGERS: &[&str] = &["pnpm", "npm", "yarn"];
const PYTHON_MANAGERS: &[&str] = &["uv", "poetry", "pip"];

/// The fingerprint of a tree.
pub(super) fn concluded(mut signals: Signals, vcs: Value) -> Value {
    add_what_is_usual(&mut signals);
    let languages = ordered(&signals.languages, LANGUAGES);
    let primary = match languages.as_slice() {
        [] => "unknown",
        [one] => one,
        _ => "mixed",
    };
    let managers = ordered(&signals.managers, MANAGERS);
    let lockfiles = signals.lockfiles.iter().map(|path| path.as_str().into());
    Value::dict([
        ("primary_language", primary.into()),
        ("languages", texts(&languages)),
        (
            "frameworks",
            texts(&ordered(&signals.frameworks, FRAMEWORKS)),
        ),
        ("package_manager", first(&managers)),
        ("package_managers", texts(&managers)),
        ("test_runner", first(&ordered(&signals.runners, RUNNERS))),
        ("build_tool", first(&ordered(&signals.builds, BUILDS))),
        ("vcs", vcs),
        ("has_ci", (!signals.ci.is_empty()).into()),
        ("ci", texts(&ordered(&signals.ci, CI))),
        ("has_tests", signals.has_tests.into()),
        ("lockfile_paths", lockfiles.collect()),
    ])
}

/// Adds what people use who do not say what they use.
fn add_what_is_usual(signals: &mut Signals) {
    if signals.depends_on_next && signals.configures_next {
        signals.frameworks.insert("next");
    }
    if signals.is_node && !has_any(&signals.managers, NODE_MANAGERS) {
        signals.managers.insert("npm");
    }
    let speaks = |language| signals.languages.contains(language);
    let (rust, go, swift) = (speaks("rust"), speaks("go"), speaks("swift"));
    let (python, ruby) = (speaks("python"), speaks("ruby"));
    if rust {
        signals.builds.insert("cargo");
        signals.runners.insert("cargo-test");
    }
    if go {
        signals.managers.insert("go-mod");
        signals.builds.insert("go");
        signals.runners.insert("go-test");
    }
    if swift {
        signals.managers.insert("spm");
        signals.builds.insert("spm");
        signals.runners.insert("xctest");
    }
    if python && signals.runners.is_empty() {
        signals.runners.insert("pytest");
    }
    if ruby && signals.runners.is_empty() {
        if signals.has_spec_folder {
            signals.runners.insert("rspec");
        } else if signals.has_test_folder {
            signals.runners.insert("minitest");
        }
    }
    if signals.builds.contains("vite") && signals.has_tests && signals.runners.is_empty() {
        signals.runners.insert("vitest");
    }
    for (is_used, managers) in [(signals.is_node, NODE_MANAGERS), (python, PYTHON_MANAGERS)] {
        if is_used && signals.builds.is_empty() {
            let manager = ordered(&signals.managers, managers).into_iter().next();
            signals.builds.extend(manager);
        }
    }
}

fn has_any(names: &Names, wanted: &[&str]) -> bool {
    wanted.iter().any(|name| names.contains(name))
}

/// Names in the order of a list.
fn ordered(names: &Names, order: &[&'static str]) -> Vec<&'static str> {
    let known = order.iter().filter(|name| names.contains(*name));
    known.copied().collect()
}

fn texts(names: &[&str]) -> Value {
    names.iter().map(|name| Value::from(*name)).collect()
}

fn first(names: &[&str]) -> Value {
    names.first().map_or(Value::Nil, |name| (*name).into())
}
