//! What the files of a project could do.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use harn_agent::llm::sorted_json;
use harn_agent::skills::{SkillPlaces, project_skill_folders};
use harn_agent::tool_servers::{Endpoint, ServerConfig};
use serde_json::{Map, Value, json};

use super::files::{digest_of, digest_of_file, digest_of_folder, text_of};
use crate::skills::manifest_skills;

/// The tables of a manifest that say what is started, sent, or told to a model.
const TABLES: [&str; 15] = [
    "llm",
    "capabilities",
    "mcp",
    "hooks",
    "exports",
    "skills",
    "skill",
    "sandbox",
    "permissions",
    "secrets",
    "provenance",
    "personas",
    "triggers",
    "event_log",
    "runs",
];

/// Files in which projects tell agents what to know.
const INSTRUCTIONS: [&str; 2] = ["AGENTS.md", "CLAUDE.md"];

/// Where the state of a project is.
const STATE: &str = ".harn";

/// What a part of a project could do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Start or reach a server of tools.
    Server,
    /// Run a function of the project when agents do something.
    Hook,
    /// Say where models are asked, and with which key.
    Provider,
    /// Say where sessions are kept.
    Log,
    /// Tell a model what to do, when it fits.
    Skill,
    /// Tell a model what to know, always.
    Instructions,
    /// Nothing by itself.
    Setting,
}

/// Something in a project that counts for its digest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// What it could do.
    pub kind: Kind,
    /// What it is called; no two parts of a project have the same name.
    pub name: String,
    /// The command, host, function or file.
    pub detail: String,
    /// The digest of all that is said about it.
    pub digest: String,
}

/// What the files of a project could do.
#[derive(Clone, Debug)]
pub struct Contents {
    /// The folder of the project.
    pub root: PathBuf,
    /// What could act, commands and hosts first, and then what counts besides.
    pub parts: Vec<Part>,
    /// The digest of all of it.
    pub digest: String,
    /// What could not be looked at, and why.
    pub unreadable: Vec<String>,
}

impl Contents {
    /// Looks at the project of a folder. Skills of the user, below `home`, are not of it.
    pub(super) fn read(folder: &Path, manifest: Option<&Path>, home: Option<&Path>) -> Self {
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let folder = real(folder);
        let root = manifest.and_then(Path::parent).map(real);
        let mut reading = Reading {
            root: root.unwrap_or_else(|| folder.clone()),
            parts: Vec::new(),
            tables: Map::new(),
            files: BTreeMap::new(),
            unreadable: Vec::new(),
        };
        if let Some(manifest) = manifest {
            reading.manifest(manifest);
        }
        reading.skills(&folder, manifest, home);
        reading.instructions(&folder);
        reading.finish()
    }

    /// Whether anything in it could act.
    pub fn could_act(&self) -> bool {
        self.acting().next().is_some() || !self.unreadable.is_empty()
    }

    /// The parts that could act.
    pub fn acting(&self) -> impl Iterator<Item = &Part> {
        self.parts.iter().filter(|part| part.kind != Kind::Setting)
    }

    /// `1 server, 2 skills and AGENTS.md are not used`
    pub(super) fn not_used(&self) -> String {
        let count = |kind: Kind, one: &str| {
            let count = self.acting().filter(|part| part.kind == kind).count();
            let plural = if count == 1 { "" } else { "s" };
            (count > 0).then(|| (count, format!("{count} {one}{plural}")))
        };
        let counted = [
            count(Kind::Server, "server"),
            count(Kind::Hook, "hook"),
            count(Kind::Provider, "provider"),
            count(Kind::Skill, "skill"),
        ];
        let named = self
            .acting()
            .filter(|part| matches!(part.kind, Kind::Log | Kind::Instructions))
            .map(|part| (1, part.name.clone()));
        let unreadable = self.unreadable.iter();
        let unreadable =
            unreadable.map(|what| (1, what.split(':').next().unwrap_or(what).to_owned()));
        let all: Vec<(usize, String)> = counted
            .into_iter()
            .flatten()
            .chain(named)
            .chain(unreadable)
            .collect();
        let verb = match all.as_slice() {
            [(1, _)] => "is",
            _ => "are",
        };
        let texts: Vec<String> = all.into_iter().map(|(_, text)| text).collect();
        let list = match texts.split_last() {
            Some((last, [])) => last.clone(),
            Some((last, others)) => format!("{} and {last}", others.join(", ")),
            None => "nothing".to_owned(),
        };
        format!("{list} {verb} not used")
    }
}

/// A look at a project.
struct Reading {
    root: PathBuf,
    parts: Vec<Part>,
    /// The tables that count, as they are written.
    tables: Map<String, Value>,
    /// Digests of files by path.
    files: BTreeMap<String, String>,
    unreadable: Vec<String>,
}

impl Reading {
    fn manifest(&mut self, manifest: &Path) {
        let parsed = match text_of(manifest) {
            Ok(text) => text.unwrap_or_default().parse::<toml::Table>(),
            Err(error) => return self.unreadable.push(format!("harn.toml: {error}")),
        };
        // Whoever uses the file tells what is wrong with it, and uses nothing of it.
        let Ok(tables) = parsed else {
            return self.file(Kind::Setting, manifest);
        };
        for name in TABLES {
            let Some(value) = tables.get(name) else {
                continue;
            };
            let value = serde_json::to_value(value).unwrap_or_default();
            match (name, &value) {
                ("mcp", Value::Array(servers)) => servers.iter().for_each(|one| self.server(one)),
                ("hooks", Value::Array(hooks)) => hooks.iter().for_each(|one| self.hook(one)),
                ("llm", Value::Object(llm)) => self.models(llm),
                ("event_log", value) => self.log(value),
                _ => self.part(Kind::Setting, format!("[{name}]"), "", &value),
            }
            self.tables.insert(name.to_owned(), value);
        }
        self.file(Kind::Setting, &self.root.join("harn.lock"));
        if self.tables.contains_key("hooks") {
            let exports = self.tables.get("exports").and_then(Value::as_object);
            let exports = exports.into_iter().flat_map(Map::values);
            let modules = exports.filter_map(Value::as_str).chain(["lib.harn"]);
            let modules: Vec<PathBuf> = modules.map(|path| self.root.join(path)).collect();
            for module in modules {
                self.file(Kind::Setting, &module);
            }
        }
        self.packages();
    }

    fn server(&mut self, table: &Value) {
        let name = table["name"].as_str().unwrap_or_default();
        let detail = match ServerConfig::read(table) {
            Ok(server) => match &server.endpoint {
                Endpoint::Stdio(stdio) => {
                    let mut words = vec![stdio.command.clone()];
                    words.extend(stdio.arguments.iter().cloned());
                    words.join(" ")
                }
                Endpoint::Http(http) => http.url.clone(),
            },
            Err(why) => why,
        };
        self.part(Kind::Server, format!("server {name}"), &detail, table);
    }

    fn hook(&mut self, table: &Value) {
        let text = |key: &str| table[key].as_str().unwrap_or_default();
        let name = format!("hook {}", text("event"));
        self.part(Kind::Hook, name, text("handler"), table);
    }

    fn models(&mut self, llm: &Map<String, Value>) {
        let providers = llm.get("providers").and_then(Value::as_object);
        for (name, entry) in providers.into_iter().flatten() {
            let text = |key: &str| entry[key].as_str().unwrap_or_default();
            let detail = match text("auth_env") {
                "" => text("base_url").to_owned(),
                key => format!("{}, with the key in {key}", text("base_url")),
            };
            self.part(Kind::Provider, format!("provider {name}"), &detail, entry);
        }
        let mut others = llm.clone();
        others.remove("providers");
        if !others.is_empty() {
            self.part(
                Kind::Setting,
                "[llm]".to_owned(),
                "",
                &Value::Object(others),
            );
        }
    }

    /// Where sessions are kept: beside what else a project keeps, or somewhere else.
    fn log(&mut self, table: &Value) {
        let paths = ["dir", "sqlite_path"].into_iter();
        let paths = paths.filter_map(|key| table[key].as_str());
        let outside = paths.filter(|path| !is_below_state(Path::new(path)));
        let mut places: Vec<String> = outside.map(str::to_owned).collect();
        if table["backend"] == "nats" {
            let url = &table["nats"]["url"];
            places.push(url.as_str().map_or_else(|| url.to_string(), str::to_owned));
        }
        let kind = match places.is_empty() {
            true => Kind::Setting,
            false => Kind::Log,
        };
        self.part(kind, "[event_log]".to_owned(), &places.join(", "), table);
    }

    fn skills(&mut self, folder: &Path, manifest: Option<&Path>, home: Option<&Path>) {
        let places = SkillPlaces {
            program: Some(folder.to_owned()),
            root: manifest.map(|_| self.root.clone()),
            manifest: manifest
                .map(|path| manifest_skills(path, &|_| {}))
                .unwrap_or_default(),
            home: home.map(Path::to_owned),
            ..SkillPlaces::default()
        };
        let folders: BTreeSet<PathBuf> = project_skill_folders(&places).into_iter().collect();
        for folder in folders {
            let shown = self.shown(&folder);
            match digest_of_folder(&folder) {
                Ok(digest) => {
                    let name = folder.file_name().unwrap_or_default().to_string_lossy();
                    self.files.insert(shown.clone(), digest.clone());
                    self.push(Part {
                        kind: Kind::Skill,
                        name: format!("skill {name}"),
                        detail: shown,
                        digest,
                    });
                }
                Err(error) => self.unreadable.push(format!("{shown}: {error}")),
            }
        }
    }

    fn instructions(&mut self, folder: &Path) {
        for name in INSTRUCTIONS {
            self.file(Kind::Instructions, &self.root.join(name));
            if folder != self.root {
                self.file(Kind::Instructions, &folder.join(name));
            }
        }
    }

    /// The manifests of packages.
    fn packages(&mut self) {
        let folder = self.root.join(STATE).join("packages");
        let packages = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let mut packages: Vec<PathBuf> = packages.map(|entry| entry.path()).collect();
        packages.sort_unstable();
        for package in packages {
            self.file(Kind::Setting, &package.join("harn.toml"));
        }
    }

    /// A file, if it is there.
    fn file(&mut self, kind: Kind, path: &Path) {
        let shown = self.shown(path);
        match digest_of_file(path) {
            Ok(None) => {}
            Ok(Some(digest)) => {
                self.files.insert(shown.clone(), digest.clone());
                self.push(Part {
                    kind,
                    name: shown,
                    detail: String::new(),
                    digest,
                });
            }
            Err(error) => self.unreadable.push(format!("{shown}: {error}")),
        }
    }

    fn part(&mut self, kind: Kind, name: String, detail: &str, value: &Value) {
        self.push(Part {
            kind,
            name,
            detail: detail.to_owned(),
            digest: digest_of(&sorted_json(value)),
        });
    }

    /// Adds a part, under a name of its own.
    fn push(&mut self, mut part: Part) {
        let is_taken = |name: &str| self.parts.iter().any(|known| known.name == name);
        let name = part.name.clone();
        let mut number = 2;
        while is_taken(&part.name) {
            part.name = format!("{name} ({number})");
            number += 1;
        }
        self.parts.push(part);
    }

    /// A path as people write it who work in the project.
    fn shown(&self, path: &Path) -> String {
        let path = path.strip_prefix(&self.root).unwrap_or(path);
        path.display().to_string()
    }

    fn finish(mut self) -> Contents {
        self.parts.sort_by_key(|part| part.kind);
        let all = json!({"tables": self.tables, "files": self.files});
        Contents {
            root: self.root,
            parts: self.parts,
            digest: format!("sha256:{}", digest_of(&sorted_json(&all))),
            unreadable: self.unreadable,
        }
    }
}

/// Whether a path of a manifest stays below the folder of the project's state.
fn is_below_state(path: &Path) -> bool {
    let mut parts = path.components().filter(|part| *part != Component::CurDir);
    parts.next() == Some(Component::Normal(STATE.as_ref()))
        && parts.all(|part| matches!(part, Component::Normal(_)))
}
