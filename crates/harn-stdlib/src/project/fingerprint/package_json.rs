//! What a `package.json` says.

use harn_machine::Value;
use harn_machine::value::Dict;

use super::files::tested_by;
use super::signals::Signals;
use crate::json;

/// Reads a `package.json`. One that cannot be read still tells that something is for Node.
pub(super) fn read(text: &str, signals: &mut Signals) {
    signals.is_node = true;
    let Ok(Value::Dict(package)) = json::parse(text) else {
        return;
    };
    for name in dependencies(&package) {
        dependency(&name, signals);
    }
    if let Some(Value::Text(manager)) = package.get("packageManager") {
        for known in ["pnpm", "yarn", "npm"] {
            if manager.starts_with(&format!("{known}@")) {
                signals.managers.insert(known);
            }
        }
    }
    if let Some(Value::Dict(scripts)) = package.get("scripts") {
        for command in scripts.values() {
            script(&command.show().to_lowercase(), signals);
        }
    }
}

fn dependencies(package: &Dict) -> Vec<String> {
    let kinds = [
        "dependencies",
        "devDependencies",
        "peerDependencies",
        "optionalDependencies",
    ];
    let tables = kinds.iter().filter_map(|kind| match package.get(kind) {
        Some(Value::Dict(table)) => Some(table.keys().map(ToString::to_string)),
        _ => None,
    });
    tables.flatten().collect()
}

fn dependency(name: &str, signals: &mut Signals) {
    match name {
        "react" => {
            signals.frameworks.insert("react");
            signals.languages.insert("typescript");
        }
        "typescript" => drop(signals.languages.insert("typescript")),
        "next" => {
            signals.depends_on_next = true;
            signals.builds.insert("next");
        }
        "vite" => drop(signals.builds.insert("vite")),
        "vitest" => tested_by("vitest", signals),
        "jest" => tested_by("jest", signals),
        "mocha" => tested_by("mocha", signals),
        _ => {}
    }
}

/// What a command of a script shows, in lower case.
fn script(command: &str, signals: &mut Signals) {
    let has = |part: &str| command.contains(part);
    if has("next build") || has("next dev") {
        signals.builds.insert("next");
    }
    if has("vite build") || has("vite dev") || has("npx vite") {
        signals.builds.insert("vite");
    }
    if has("swift build") {
        signals.builds.insert("spm");
    }
    for (part, runner) in [
        ("vitest", "vitest"),
        ("jest", "jest"),
        ("mocha", "mocha"),
        ("cargo nextest", "nextest"),
        ("cargo test", "cargo-test"),
        ("pytest", "pytest"),
        ("unittest", "unittest"),
        ("go test", "go-test"),
        ("swift test", "xctest"),
    ] {
        if has(part) {
            signals.runners.insert(runner);
        }
    }
}
