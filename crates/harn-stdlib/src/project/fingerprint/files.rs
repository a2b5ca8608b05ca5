//! What a single file or folder says.

use std::path::Path;

use harn_machine::Context;

use super::package_json;
use super::signals::Signals;
use crate::files::read_text;
use crate::project::folder::extension;

/// A folder, by its path from the root and its name.
pub(super) fn folder(path: &str, name: &str, signals: &mut Signals) {
    let lower = name.to_lowercase();
    match lower.as_str() {
        "tests" | "__tests__" | "e2e" | "cypress" => signals.has_tests = true,
        "test" => (signals.has_tests, signals.has_test_folder) = (true, true),
        "spec" => (signals.has_tests, signals.has_spec_folder) = (true, true),
        _ => {}
    }
    match name {
        "crates" => drop(signals.languages.insert("rust")),
        "cmd" | "pkg" => drop(signals.languages.insert("go")),
        ".circleci" => drop(signals.ci.insert("circleci")),
        ".buildkite" => drop(signals.ci.insert("buildkite")),
        "workflows" if path == ".github/workflows" || path.ends_with("/.github/workflows") => {
            signals.ci.insert("github-actions");
        }
        _ => {}
    }
}

/// A file, by where it is, its path from the root and its name.
pub(super) fn file(
    context: &mut Context<'_>,
    place: &Path,
    path: &str,
    name: &str,
    signals: &mut Signals,
) {
    by_extension(name, signals);
    by_name(name, signals);
    if let Some((_, manager)) = LOCKFILES.iter().find(|(known, _)| *known == name) {
        signals.lockfiles.insert(path.to_owned());
        signals.managers.insert(manager);
    }
    let is_read = matches!(
        name,
        "Cargo.toml"
            | "package.json"
            | "pyproject.toml"
            | "requirements.txt"
            | "requirements-dev.txt"
            | "requirements-test.txt"
            | "setup.py"
            | "Gemfile"
    );
    if !is_read {
        return;
    }
    let text = read_text(context, place.to_owned()).unwrap_or_default();
    match name {
        "Cargo.toml" => cargo(&text, signals),
        "package.json" => package_json::read(&text, signals),
        "pyproject.toml" => pyproject(&text, signals),
        "Gemfile" => gemfile(&text, signals),
        _ => python_packages(&text, signals),
    }
}

const LOCKFILES: [(&str, &str); 13] = [
    ("Cargo.lock", "cargo"),
    ("package-lock.json", "npm"),
    ("pnpm-lock.yaml", "pnpm"),
    ("yarn.lock", "yarn"),
    ("uv.lock", "uv"),
    ("poetry.lock", "poetry"),
    ("Pipfile.lock", "pip"),
    ("requirements.lock", "pip"),
    ("go.sum", "go-mod"),
    ("Gemfile.lock", "bundler"),
    ("Package.resolved", "spm"),
    ("bun.lockb", "npm"),
    ("bun.lock", "npm"),
];

fn by_extension(name: &str, signals: &mut Signals) {
    let language = match extension(name).as_str() {
        "rs" => "rust",
        "ts" | "tsx" | "js" | "jsx" | "mjs" | "cjs" => {
            signals.is_node = true;
            "typescript"
        }
        "py" => "python",
        "go" => "go",
        "swift" => "swift",
        "rb" => "ruby",
        _ => return,
    };
    signals.languages.insert(language);
}

fn by_name(name: &str, signals: &mut Signals) {
    match name {
        ".gitlab-ci.yml" => drop(signals.ci.insert("gitlab-ci")),
        "azure-pipelines.yml" => drop(signals.ci.insert("azure-pipelines")),
        "bitrise.yml" => drop(signals.ci.insert("bitrise")),
        "circle.yml" => drop(signals.ci.insert("circleci")),
        "nextest.toml" => drop(signals.runners.insert("nextest")),
        "pytest.ini" | "tox.ini" | "conftest.py" => tested_by("pytest", signals),
        "next.config.js" | "next.config.mjs" | "next.config.ts" => {
            signals.configures_next = true;
            signals.languages.insert("typescript");
            signals.builds.insert("next");
        }
        "go.mod" => made_with("go", ("go-mod", "go", "go-test"), signals),
        "Package.swift" => made_with("swift", ("spm", "spm", "xctest"), signals),
        _ => {}
    }
    for (prefix, runner) in [
        ("vitest.config.", "vitest"),
        ("jest.config.", "jest"),
        (".mocharc.", "mocha"),
    ] {
        if name.starts_with(prefix) {
            tested_by(runner, signals);
        }
    }
    if name.starts_with("vite.config.") {
        signals.builds.insert("vite");
    }
}

/// Somebody has set up a test runner, so there are tests.
pub(super) fn tested_by(runner: &'static str, signals: &mut Signals) {
    signals.runners.insert(runner);
    signals.has_tests = true;
}

fn made_with(
    language: &'static str,
    (manager, build, runner): (&'static str, &'static str, &'static str),
    signals: &mut Signals,
) {
    signals.languages.insert(language);
    signals.managers.insert(manager);
    signals.builds.insert(build);
    signals.runners.insert(runner);
}

fn cargo(text: &str, signals: &mut Signals) {
    made_with("rust", ("cargo", "cargo", "cargo-test"), signals);
    let table: toml::Table = text.parse().unwrap_or_default();
    let workspace = table.get("workspace").and_then(toml::Value::as_table);
    let tables = [Some(&table), workspace];
    let kinds = ["dependencies", "dev-dependencies", "build-dependencies"];
    let uses_axum = tables.into_iter().flatten().any(|table| {
        kinds.iter().any(|kind| {
            let dependencies = table.get(*kind).and_then(toml::Value::as_table);
            dependencies.is_some_and(|dependencies| dependencies.contains_key("axum"))
        })
    });
    if uses_axum {
        signals.frameworks.insert("axum");
    }
}

fn pyproject(text: &str, signals: &mut Signals) {
    let table: toml::Table = text.parse().unwrap_or_default();
    let tools = table.get("tool").and_then(toml::Value::as_table);
    let has = |tool: &str| tools.is_some_and(|tools| tools.contains_key(tool));
    signals.languages.insert("python");
    let mut is_managed = false;
    for tool in ["poetry", "uv"] {
        if has(tool) {
            is_managed = true;
            signals.managers.insert(tool);
            signals.builds.insert(tool);
        }
    }
    if !is_managed {
        signals.managers.insert("pip");
    }
    mentioned_in_python(text, signals);
}

fn python_packages(text: &str, signals: &mut Signals) {
    signals.languages.insert("python");
    signals.managers.insert("pip");
    mentioned_in_python(text, signals);
}

fn mentioned_in_python(text: &str, signals: &mut Signals) {
    let text = text.to_lowercase();
    for framework in ["fastapi", "django"] {
        if text.contains(framework) {
            signals.frameworks.insert(framework);
        }
    }
    for runner in ["pytest", "unittest"] {
        if text.contains(runner) {
            signals.runners.insert(runner);
        }
    }
}

fn gemfile(text: &str, signals: &mut Signals) {
    signals.languages.insert("ruby");
    signals.managers.insert("bundler");
    signals.builds.insert("bundler");
    let lines = text.lines().map(str::trim);
    let gems = lines.filter_map(|line| line.strip_prefix("gem"));
    for gem in gems {
        let gem = gem.trim_start_matches([' ', '\t', '(']);
        let Some(quote) = gem.chars().next().filter(|first| "'\"".contains(*first)) else {
            continue;
        };
        match gem[1..].split(quote).next().unwrap_or_default() {
            "rails" => drop(signals.frameworks.insert("rails")),
            "rspec" | "rspec-rails" => drop(signals.runners.insert("rspec")),
            "minitest" => drop(signals.runners.insert("minitest")),
            _ => {}
        }
    }
}
