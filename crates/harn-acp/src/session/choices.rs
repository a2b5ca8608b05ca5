//! What a client can choose in a session: a model, how much it thinks, a mode.
//!
//! A mode is a word that the program gives a meaning to: the pipeline that answers takes it as
//! its parameter `mode`. Programs that declare none have no modes.

use std::collections::BTreeMap;

use harn_vm::llm::catalog::Environment;
use harn_vm::llm::catalog::config::AuthStyle;
use harn_vm::llm::catalog::resolve::{Wanted, find, select};
use harn_vm::{KnownModels, RunOptions};
use serde_json::{Value, json};

use super::settings::Settings;
use crate::error::Refusal;

/// A mode that a program declares.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mode {
    /// What the program calls it.
    pub id: String,
    /// What people call it.
    pub name: String,
    /// What it is for.
    pub description: Option<String>,
}

/// How much a model can be asked to think. `off` is what programs get that say nothing.
const THOUGHT_LEVELS: [(&str, &str); 5] = [
    ("off", "Off"),
    ("low", "Low"),
    ("medium", "Medium"),
    ("high", "High"),
    ("on", "On"),
];

/// What a client can choose.
#[derive(Default)]
pub(crate) struct Choices {
    known: Option<Known>,
    /// Who answers if nobody chooses.
    default_model: String,
    /// The models that are listed, with their providers. A model need not be listed to be asked.
    models: Vec<(String, String)>,
    modes: Vec<Mode>,
}

/// What is known about models.
struct Known {
    models: KnownModels,
    environment: BTreeMap<String, String>,
    /// Whether models are scripted: then all of them can be asked.
    is_scripted: bool,
}

impl Known {
    fn new(options: &RunOptions) -> Option<Self> {
        let world = &options.world;
        let asked = &world.models;
        let environment = world.environment.clone();
        Some(Self {
            // What is wrong with it is told to whoever runs the program.
            models: KnownModels::read(asked.manifest.as_deref(), asked.trust.known(), &environment)
                .ok()?,
            environment,
            is_scripted: asked.scenario.is_some() || !asked.fixtures.is_empty(),
        })
    }

    /// Whether the key of a provider is there, or none is needed.
    fn can_be_asked(&self, provider: &str) -> bool {
        let entry = self.models.config.providers.get(provider);
        let Some(entry) = entry else {
            return self.is_scripted;
        };
        let keys = match entry.auth_style {
            AuthStyle::None => &[][..],
            _ => entry.auth_env.items(),
        };
        let is_there = |key: &String| self.environment.filled(key).is_some();
        self.is_scripted || keys.is_empty() || keys.iter().any(is_there)
    }

    /// The provider that a model belongs to, as far as its id tells.
    fn provider_of(&self, model: &str) -> String {
        find(&self.models.config, &self.environment, model).provider
    }
}

impl Choices {
    /// What there is to choose for a program that is run like this.
    pub(crate) fn new(options: &RunOptions, modes: Vec<Mode>) -> Self {
        let Some(known) = Known::new(options) else {
            return Self {
                modes,
                ..Self::default()
            };
        };
        let config = &known.models.config;
        let chosen = select(config, &known.environment, Wanted::default());
        let listed = config.models.iter();
        let listed = listed.map(|(id, model)| (id.clone(), model.provider.clone()));
        let aliased = config.aliases.values();
        let aliased = aliased.map(|alias| (alias.id.clone(), alias.provider.clone()));
        let models: BTreeMap<String, String> = listed
            .chain(aliased)
            .filter(|(_, provider)| known.can_be_asked(provider))
            .chain([(chosen.model.clone(), chosen.provider)])
            .collect();
        Self {
            default_model: chosen.model,
            models: models.into_iter().collect(),
            known: Some(known),
            modes,
        }
    }

    /// The model that answers in a session.
    fn model<'a>(&'a self, settings: &'a Settings) -> &'a str {
        settings.model.as_deref().unwrap_or(&self.default_model)
    }

    /// Who offers a model.
    pub(crate) fn provider_of(&self, model: &str) -> Option<String> {
        let listed = self.models.iter().find(|(id, _)| id == model);
        let listed = listed.map(|(_, provider)| provider.clone());
        listed.or_else(|| Some(self.known.as_ref()?.provider_of(model)))
    }

    /// The mode of a session: the one that was chosen, or the first.
    pub(crate) fn mode<'a>(&'a self, settings: &'a Settings) -> Option<&'a str> {
        let first = self.modes.first()?;
        Some(settings.mode.as_deref().unwrap_or(&first.id))
    }

    /// How much the model of a session can be made to think.
    fn thought_levels(&self, settings: &Settings) -> Vec<(&'static str, &'static str)> {
        let model = self.model(settings);
        let (Some(known), Some(provider)) = (&self.known, self.provider_of(model)) else {
            return Vec::new();
        };
        let capability = known.models.capabilities.of(&provider, model);
        let thinks = capability.thinks("enabled") || capability.thinks("adaptive");
        let levels = THOUGHT_LEVELS
            .into_iter()
            .filter(|(level, _)| match *level {
                "off" => true,
                "on" => thinks,
                _ => capability.thinks("effort"),
            });
        let levels: Vec<_> = levels.collect();
        match levels.len() {
            1 => Vec::new(), // It cannot be made to think.
            _ => levels,
        }
    }

    /// `modes` of a session; nothing if the program declares none.
    pub(crate) fn modes(&self, settings: &Settings) -> Option<Value> {
        let current = self.mode(settings)?;
        let modes = self.modes.iter().map(|mode| {
            let mut told = json!({"id": mode.id, "name": mode.name});
            if let Some(description) = &mode.description {
                told["description"] = json!(description);
            }
            told
        });
        let modes: Vec<Value> = modes.collect();
        Some(json!({"currentModeId": current, "availableModes": modes}))
    }

    /// `configOptions` of a session.
    pub(crate) fn options(&self, settings: &Settings) -> Vec<Value> {
        let mut options = Vec::new();
        if let Some(current) = self.mode(settings) {
            let modes = self.modes.iter();
            let values = modes.map(|mode| value(&mode.id, &mode.name, mode.description.as_deref()));
            options.push(select_option("mode", "Mode", current, values.collect()));
        }
        if !self.models.is_empty() {
            let models = self.models.iter();
            let values = models.map(|(id, provider)| value(id, id, Some(provider)));
            let mut values: Vec<Value> = values.collect();
            let current = self.model(settings);
            if !self.models.iter().any(|(id, _)| id == current) {
                values.push(value(
                    current,
                    current,
                    self.provider_of(current).as_deref(),
                ));
            }
            options.push(select_option("model", "Model", current, values));
        }
        let levels = self.thought_levels(settings);
        if !levels.is_empty() {
            let current = settings.thought_level.as_deref().unwrap_or("off");
            let values = levels.iter().map(|(id, name)| value(id, name, None));
            let values = values.collect();
            options.push(select_option("thought_level", "Thinking", current, values));
        }
        options
    }

    /// Whether a model that is not listed can be asked all the same.
    fn can_be_asked(&self, model: &str) -> bool {
        let known = self.known.as_ref();
        let can = |known: &Known| known.can_be_asked(&known.provider_of(model));
        !model.trim().is_empty() && known.is_some_and(can)
    }

    /// Chooses a mode.
    ///
    /// # Errors
    /// The program declares no such mode.
    pub(crate) fn set_mode(&self, settings: &mut Settings, id: &str) -> Result<(), Refusal> {
        if !self.modes.iter().any(|mode| mode.id == id) {
            let why = format!("there is no mode `{id}`");
            return Err(Refusal::bad_parameters(why).with(json!({"modeId": id})));
        }
        settings.mode = Some(id.to_owned());
        Ok(())
    }

    /// Chooses something.
    ///
    /// # Errors
    /// There is no such option, or it does not have that value.
    pub(crate) fn set(
        &self,
        settings: &mut Settings,
        option: &str,
        chosen: &str,
    ) -> Result<(), Refusal> {
        let known = self.options(settings);
        let Some(known) = known.iter().find(|one| one["id"] == option) else {
            let why = format!("there is no option `{option}`");
            return Err(Refusal::bad_parameters(why).with(json!({"configId": option})));
        };
        let mut values = known["options"].as_array().into_iter().flatten();
        let is_listed = values.any(|value| value["value"] == chosen);
        let is_known = is_listed || (option == "model" && self.can_be_asked(chosen));
        if !is_known {
            let why = format!("`{chosen}` is no value of the option `{option}`");
            let data = json!({"configId": option, "value": chosen});
            return Err(Refusal::bad_parameters(why).with(data));
        }
        match option {
            "mode" => settings.mode = Some(chosen.to_owned()),
            "thought_level" => settings.thought_level = Some(chosen.to_owned()),
            _ => {
                settings.model = Some(chosen.to_owned());
                // Another model may not think like that.
                let levels = self.thought_levels(settings);
                let is_known = |level: &String| levels.iter().any(|(id, _)| id == level);
                settings.thought_level = settings.thought_level.take().filter(is_known);
            }
        }
        Ok(())
    }
}

fn value(id: &str, name: &str, description: Option<&str>) -> Value {
    let mut value = json!({"value": id, "name": name});
    if let Some(description) = description {
        value["description"] = json!(description);
    }
    value
}

/// An option. Its category is its id: both are words of the protocol.
fn select_option(id: &str, name: &str, current: &str, values: Vec<Value>) -> Value {
    json!({
        "id": id,
        "name": name,
        "category": id,
        "type": "select",
        "currentValue": current,
        "options": values,
    })
}
