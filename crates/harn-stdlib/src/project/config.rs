//! What people have set up in a folder: its name, scripts, commands and targets.

use std::path::Path;

use harn_machine::value::Dict;
use harn_machine::{Context, Value};

use super::catalogue::Kind;
use super::folder::Entry;
use super::scan::once;
use super::walk::Options;
use crate::files::read_text;
use crate::json;

/// What people have set up. Without the tier `config` only what follows from the kinds is
/// known.
pub(super) fn config(
    context: &mut Context<'_>,
    folder: &Path,
    here: &[Entry],
    kinds: &[&Kind],
    options: &Options,
) -> [(&'static str, Value); 6] {
    let mut commands: Vec<String> = Vec::new();
    for kind in kinds {
        let usual = [kind.build_command, kind.test_command];
        commands.extend(usual.into_iter().flatten().map(str::to_owned));
    }
    let mut found = Found::default();
    if options.has_config {
        found.read(context, folder, here);
        commands.extend(found.commands());
    }
    [
        ("package_name", found.name.into()),
        ("build_commands", once(commands.iter().map(String::as_str))),
        ("declared_scripts", found.scripts.into()),
        (
            "readme_code_fences",
            once(found.fences.iter().map(String::as_str)),
        ),
        (
            "dockerfile_commands",
            found.docker.into_iter().map(Value::from).collect(),
        ),
        (
            "makefile_targets",
            once(found.targets.iter().map(String::as_str)),
        ),
    ]
}

/// What was read.
#[derive(Default)]
struct Found {
    name: Option<String>,
    /// The scripts of a `package.json`, by name.
    scripts: Dict,
    fences: Vec<String>,
    docker: Vec<String>,
    targets: Vec<String>,
}

impl Found {
    fn read(&mut self, context: &mut Context<'_>, folder: &Path, here: &[Entry]) {
        let mut text = |name: &str| -> Option<String> {
            let mut files = here.iter().filter(|entry| !entry.is_folder);
            let found = files.find(|entry| entry.name.eq_ignore_ascii_case(name))?;
            read_text(context, folder.join(&found.name)).ok()
        };
        let package = text("package.json").and_then(|text| json::parse(&text).ok());
        if let Some(Value::Dict(package)) = &package
            && let Some(Value::Dict(scripts)) = package.get("scripts")
        {
            self.scripts = scripts.clone();
        }
        self.name = text("pyproject.toml")
            .and_then(|text| python_name(&text))
            .or_else(|| node_name(package.as_ref()))
            .or_else(|| text("go.mod").and_then(|text| go_name(&text)))
            .or_else(|| text("Cargo.toml").and_then(|text| rust_name(&text)));
        let readmes = ["README.md", "README", "README.markdown", "README.rst"];
        let readme = readmes.iter().find_map(|name| text(name));
        self.fences = readme.as_deref().map(fences).unwrap_or_default();
        self.docker = text("Dockerfile")
            .as_deref()
            .map(docker)
            .unwrap_or_default();
        self.targets = text("Makefile").as_deref().map(targets).unwrap_or_default();
    }

    fn commands(&self) -> Vec<String> {
        let scripts = ["build", "test", "lint", "dev", "start"];
        let scripts = scripts.iter().filter(|name| self.scripts.contains(name));
        let scripts = scripts.map(|name| match *name {
            "test" => "npm test".to_owned(),
            name => format!("npm run {name}"),
        });
        let targets = ["build", "test"].into_iter();
        let targets = targets.filter(|name| self.targets.iter().any(|target| target == name));
        scripts
            .chain(targets.map(|name| format!("make {name}")))
            .collect()
    }
}

fn table_text(table: &toml::Table, path: &[&str]) -> Option<String> {
    let (last, tables) = path.split_last()?;
    let mut table = table;
    for name in tables {
        table = table.get(*name)?.as_table()?;
    }
    table.get(*last)?.as_str().map(str::to_owned)
}

fn python_name(text: &str) -> Option<String> {
    let table: toml::Table = text.parse().ok()?;
    table_text(&table, &["project", "name"])
        .or_else(|| table_text(&table, &["tool", "poetry", "name"]))
}

fn node_name(package: Option<&Value>) -> Option<String> {
    match package? {
        Value::Dict(package) => match package.get("name")? {
            Value::Text(name) => Some(name.to_string()),
            _ => None,
        },
        _ => None,
    }
}

/// The last part of the path of a module.
fn go_name(text: &str) -> Option<String> {
    let mut lines = text.lines().map(str::trim);
    let module = lines.find_map(|line| line.strip_prefix("module "))?;
    let name = module.trim().rsplit('/').next()?;
    Some(name.to_owned())
}

fn rust_name(text: &str) -> Option<String> {
    let table: toml::Table = text.parse().ok()?;
    table_text(&table, &["package", "name"])
}

/// The languages of the blocks of code in a text.
fn fences(text: &str) -> Vec<String> {
    let mut languages = Vec::new();
    let mut is_open = false;
    for line in text.lines() {
        let Some(rest) = line.trim_start().strip_prefix("```") else {
            continue;
        };
        let language = rest.split_whitespace().next().unwrap_or_default();
        if !is_open && !language.is_empty() {
            languages.push(language.to_lowercase());
        }
        is_open = !is_open;
    }
    languages
}

/// The commands of a Dockerfile, without the words that begin them.
fn docker(text: &str) -> Vec<String> {
    let joined = text.replace("\\\n", " ");
    let lines = joined.lines().map(str::trim);
    let commands = lines.filter_map(|line| {
        let (word, rest) = line.split_once(char::is_whitespace)?;
        let is_command = ["RUN", "CMD", "ENTRYPOINT"]
            .iter()
            .any(|known| word.eq_ignore_ascii_case(known));
        is_command.then(|| rest.trim().to_owned())
    });
    commands.filter(|command| !command.is_empty()).collect()
}

/// The targets of a Makefile that people call.
fn targets(text: &str) -> Vec<String> {
    let mut targets = Vec::new();
    for line in text.lines() {
        let begins_a_rule = !line.starts_with([' ', '\t', '#', '.']);
        let Some((names, rest)) = line.split_once(':').filter(|_| begins_a_rule) else {
            continue;
        };
        // `NAME := value` sets a variable.
        if rest.starts_with('=') || names.contains(['=', '%', '$']) {
            continue;
        }
        targets.extend(names.split_whitespace().map(str::to_owned));
    }
    targets
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_what_can_be_made() {
        let text =
            ".PHONY: all\nCC := gcc\nall build: main.o\n\tcc x: y\n%.o: %.c\n# note: x\ntest:\n";
        assert_eq!(targets(text), ["all", "build", "test"]);
    }

    #[test]
    fn fences_name_their_languages() {
        let text = "```sh\nls\n```\n\n```\nplain\n```\n```Rust\n```\n";
        assert_eq!(fences(text), ["sh", "rust"]);
    }

    #[test]
    fn commands_of_a_dockerfile_lose_their_first_word() {
        let text = "FROM x\nRUN apt \\\n  update\ncmd [\"a\"]\n";
        assert_eq!(docker(text), ["apt    update", "[\"a\"]"]);
    }

    #[test]
    fn the_name_of_a_module_is_the_last_part() {
        assert_eq!(
            go_name("module example.com/x/tool\n\ngo 1.22\n").as_deref(),
            Some("tool")
        );
    }
}
