//! Skills, as programs find them.
//!
//! ```text
//! command line, environment, manifest ─► places ─► discovery (harn-agent) ─► library
//!                                                     the global `skills` ◄──┤
//!                                       load_skill, skill_render, loops ◄────┘
//! ```
//!
//! Looking into folders takes time that most programs need not spend: only one that mentions
//! skills has them discovered.

mod builtins;
mod places;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use harn_agent::skills::{Means, SkillLibrary, SkillSetup, discover};
use harn_machine::{Isolate, Value};

use crate::json::{from_json, to_json};
use crate::program::RunOptions;
use crate::world::WorldOptions;

pub(crate) use builtins::{VARIABLE, register};
pub(crate) use places::manifest_skills;

/// Words without which a program has no use for skills that were discovered.
const MENTIONS: [&str; 2] = ["skills", "load_skill"];

/// What a body calls the folder of the project.
const PROJECT_DIR: &str = "HARN_PROJECT_DIR";

/// How many values front matter may have.
const FIELDS_MAX: usize = 10_000;

/// How deep they may be nested.
const DEPTH_MAX: usize = 64;

/// The skills of a program.
#[derive(Clone, Default)]
pub(crate) struct Skills {
    /// Those that were discovered, from when they are.
    library: Arc<OnceLock<Arc<SkillLibrary>>>,
    /// What bodies may mention as `${NAME}`.
    variables: Arc<BTreeMap<String, String>>,
}

impl Skills {
    /// None yet, with the variables that the operator has lent them.
    pub(crate) fn new(options: &RunOptions) -> Self {
        Self {
            library: Arc::default(),
            variables: Arc::new(skill_variables(options)),
        }
    }

    /// A variable that bodies may mention.
    pub(crate) fn variable(&self, name: &str) -> Option<&String> {
        self.variables.get(name)
    }

    /// Discovers skills and makes them the global `skills`, if the program that was loaded
    /// mentions them.
    pub(crate) fn discover_for(&self, isolate: &mut Isolate, options: &RunOptions, program: &Path) {
        let is_mentioned = isolate.loaded().any(|file| {
            let text = &file.source.text;
            !file.source.is_library && MENTIONS.iter().any(|word| text.contains(word))
        });
        if is_mentioned {
            self.discover(isolate, options, program);
        }
    }

    /// Discovers skills and makes them the global `skills`.
    pub(crate) fn discover(&self, isolate: &mut Isolate, options: &RunOptions, program: &Path) {
        let library = self
            .library
            .get_or_init(|| discover_skills(options, program));
        let registry: Value = from_json(&library.to_value());
        isolate.set_skills(registry);
    }

    /// What a runtime of agents knows about skills.
    pub(crate) fn setup(&self, environment: &BTreeMap<String, String>) -> SkillSetup {
        let required = environment.get("HARN_REQUIRE_SIGNED_SKILLS");
        SkillSetup {
            library: self.library.get().cloned().unwrap_or_default(),
            variables: (*self.variables).clone(),
            requires_signatures: required
                .is_some_and(|value| matches!(&**value, "1" | "true" | "yes")),
        }
    }
}

/// What bodies of skills may mention as `${NAME}`, besides what is known of the skill itself:
/// where the project is, and the variables that the operator has lent to skills. Others could
/// be secrets, and whoever wrote a skill could have them told to a model.
pub fn skill_variables(options: &RunOptions) -> BTreeMap<String, String> {
    let WorldOptions {
        environment,
        policy,
        agents,
        models,
        ..
    } = &options.world;
    let project = models.manifest.as_deref().and_then(Path::parent);
    let project = project.or(options.folder.as_deref()).map(Path::to_owned);
    let project = project.or_else(|| std::path::absolute(".").ok());
    let project = project.map(|folder| (PROJECT_DIR.to_owned(), folder.display().to_string()));
    let lent = agents.skill_variables.iter();
    let lent = lent.filter(|name| policy.check_variable(name).is_ok());
    lent.filter_map(|name| Some((name.clone(), environment.get(name)?.clone())))
        .chain(project)
        .collect()
}

/// The skills that a program finds that is run like this, whether it mentions them or not.
pub fn discover_skills(options: &RunOptions, program: &Path) -> Arc<SkillLibrary> {
    let options = &options.judged();
    let warn = |text: &str| match &options.world.models.warn {
        Some(warn) => (warn.0)(text),
        None => tracing::warn!("{text}"),
    };
    let places = places::of(options, program, &warn);
    let means = Means {
        yaml: &yaml,
        fetch: &|url| fetch(url, options),
        warn: &warn,
    };
    Arc::new(discover(&places, &means))
}

/// YAML as JSON. Aliases repeat values without end in a few lines, so what is large is refused,
/// and so is what is nested deeply.
fn yaml(text: &str) -> Result<serde_json::Value, String> {
    let value = harn_stdlib::yaml_value(text)?;
    let mut left = FIELDS_MAX;
    match is_within(&value, &mut left, DEPTH_MAX) {
        true => Ok(to_json(&value)),
        false => Err("its front matter is too large".to_owned()),
    }
}

fn is_within(value: &Value, left: &mut usize, depth: usize) -> bool {
    let (Some(fewer), Some(depth)) = (left.checked_sub(1), depth.checked_sub(1)) else {
        return false;
    };
    *left = fewer;
    match value {
        Value::List(items) => items.iter().all(|item| is_within(item, left, depth)),
        Value::Dict(fields) => fields
            .iter()
            .all(|(_, value)| is_within(value, left, depth)),
        _ => true,
    }
}

/// Fetches the key of a signer.
#[cfg(feature = "net")]
fn fetch(url: &str, options: &RunOptions) -> Result<String, String> {
    let world = &options.world;
    let allowed = world.policy.check_url(url);
    allowed.map_err(|refusal| refusal.to_string())?;
    crate::http::fetch_text(url, &world.environment)
}

#[cfg(not(feature = "net"))]
fn fetch(_: &str, _: &RunOptions) -> Result<String, String> {
    Err("there is no network in this build".to_owned())
}
