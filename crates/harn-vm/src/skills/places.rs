//! Where a program's skills are looked for.

use std::path::{Path, PathBuf};

use harn_agent::llm::catalog::ProjectTrust;
use harn_agent::skills::{ManifestSkills, ManifestSource, SkillPlaces};
use serde::Deserialize;
use serde_json::Value;

use crate::agents::AgentOptions;
use crate::program::RunOptions;

/// Where everybody's skills are.
const SYSTEM: &str = "/etc/harn/skills";

/// The tables of a manifest that are about skills.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Manifest {
    skills: ManifestSkills,
    skill: Sources,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Sources {
    source: Vec<ManifestSource>,
}

/// The places of a program. What is wrong with its manifest is told with `warn`.
pub(super) fn of(options: &RunOptions, program: &Path, warn: &dyn Fn(&str)) -> SkillPlaces {
    let world = &options.world;
    let variable = |name: &str| {
        let value = world.environment.get(name).map(String::as_str);
        value.filter(|value| !value.is_empty())
    };
    let here = options
        .folder
        .clone()
        .or_else(|| std::path::absolute(".").ok());
    let here = here.unwrap_or_default();
    let at = |path: PathBuf| here.join(path);
    // What came with a project that is not trusted is not read at all.
    let is_trusted = world.models.trust.known() == ProjectTrust::Trusted;
    let manifest_path = world.models.manifest.as_deref().filter(|_| is_trusted);
    let path = variable("HARN_SKILLS_PATH").unwrap_or_default();
    let listed = std::env::split_paths(path).filter(|path| !path.as_os_str().is_empty());
    let config = variable("XDG_CONFIG_HOME").map(|config| Path::new(config).join("harn/skills"));
    SkillPlaces {
        cli: world.agents.skill_folders.iter().cloned().map(at).collect(),
        env: listed.map(at).collect(),
        program: is_trusted.then(|| folder_of(program, &here)),
        root: manifest_path.and_then(|path| real(path.parent()?)),
        manifest: manifest_path
            .map_or_else(ManifestSkills::default, |path| manifest_skills(path, warn)),
        home: variable("HOME").and_then(|home| real(Path::new(home))),
        system: [Some(PathBuf::from(SYSTEM)), config]
            .into_iter()
            .flatten()
            .collect(),
        host: lent(&world.agents),
        signer_registry: variable("HARN_SKILL_SIGNER_REGISTRY_URL").map(str::to_owned),
    }
}

/// The skills of the host: those that whoever runs the program knows, and those that the host
/// tells itself.
fn lent(agents: &AgentOptions) -> Vec<Value> {
    let mut lent = agents.host_skills.clone();
    lent.extend(agents.bridge.iter().flat_map(|bridge| bridge.skills()));
    lent
}

/// The folder of a program. What is typed or given as text belongs where one is.
fn folder_of(program: &Path, here: &Path) -> PathBuf {
    let program = here.join(program);
    match program.is_file() {
        true => program.parent().and_then(real),
        false => real(here),
    }
    .unwrap_or_else(|| here.to_owned())
}

/// A folder by its real name, so that folders above it are those it is in.
fn real(folder: &Path) -> Option<PathBuf> {
    let folder = match folder.as_os_str().is_empty() {
        true => Path::new("."),
        false => folder,
    };
    folder.canonicalize().ok()
}

/// What a manifest says about skills. What is wrong with it is told with `warn`.
pub(crate) fn manifest_skills(path: &Path, warn: &dyn Fn(&str)) -> ManifestSkills {
    let Ok(text) = harn_agent::real_path::read_text(path) else {
        return ManifestSkills::default();
    };
    let manifest: Manifest = toml::from_str(&text).unwrap_or_else(|error| {
        let name = path.display();
        warn(&format!("skills: {name}: {}", error.message()));
        Manifest::default()
    });
    ManifestSkills {
        sources: manifest.skill.source,
        ..manifest.skills
    }
}
