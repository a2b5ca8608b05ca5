//! What a client can choose in a session: a model, how much it thinks, a mode.
//!
//! A mode is a word that the program gives a meaning to: the pipeline that answers takes it as
//! its parameter `mode`. Programs that declare none have no modes.

use harn_vm::llm::catalog::Environment;
use harn_vm::llm::catalog::config::AuthStyle;
use harn_vm::llm::catalog::resolve::{Wanted, select};
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
    known: Option<KnownModels>,
    /// Who answers if nobody chooses.
    default_model: String,
    /// Their ids and providers.
    models: Vec<(String, String)>,
    modes: Vec<Mode>,
}

impl Choices {
    /// What there is to choose for a program that is run like this.
    pub(crate) fn new(options: &RunOptions, modes: Vec<Mode>) -> Self {
        let world = &options.world;
        let environment = &world.environment;
        let known = KnownModels::read(world.models.manifest.as_deref(), environment);
        let Ok(known) = known else {
            // Whoever runs the program is told why.
            return Self {
                modes,
                ..Self::default()
            };
        };
        let chosen = select(&known.config, environment, Wanted::default());
        // Scripted models answer to every name.
        let models = &world.models;
        let is_scripted = models.scenario.is_some() || !models.fixtures.is_empty();
        let can_be_asked = |provider: &str| {
            let entry = known.config.providers.get(provider);
            let entry = entry.filter(|entry| entry.auth_style != AuthStyle::None);
            let keys = entry.map_or(&[][..], |entry| entry.auth_env.items());
            keys.is_empty() || keys.iter().any(|key| environment.filled(key).is_some())
        };
        let models = known.config.models.iter();
        let models = models.filter(|(id, model)| {
            **id == chosen.model || is_scripted || can_be_asked(&model.provider)
        });
        let mut models: Vec<_> = models
            .map(|(id, model)| (id.clone(), model.provider.clone()))
            .collect();
        if !models.iter().any(|(id, _)| *id == chosen.model) {
            models.push((chosen.model.clone(), chosen.provider));
        }
        models.sort();
        Self {
            default_model: chosen.model,
            models,
            known: Some(known),
            modes,
        }
    }

    /// The model that answers in a session.
    fn model<'a>(&'a self, settings: &'a Settings) -> &'a str {
        settings.model.as_deref().unwrap_or(&self.default_model)
    }

    /// Who offers a model.
    pub(crate) fn provider_of(&self, model: &str) -> Option<&str> {
        let (_, provider) = self.models.iter().find(|(id, _)| id == model)?;
        Some(provider)
    }

    /// The mode of a session: the one that was chosen, or the first.
    pub(crate) fn mode<'a>(&'a self, settings: &'a Settings) -> Option<&'a str> {
        let first = self.modes.first()?;
        Some(settings.mode.as_deref().unwrap_or(&first.id))
    }

    /// How much the model of a session can be made to think.
    fn thought_levels(&self, settings: &Settings) -> Vec<(&'static str, &'static str)> {
        let model = self.model(settings);
        let provider = self.models.iter().find(|(id, _)| id == model);
        let (Some(known), Some((_, provider))) = (&self.known, provider) else {
            return Vec::new();
        };
        let capability = known.capabilities.of(provider, model);
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
            let current = self.model(settings);
            options.push(select_option("model", "Model", current, values.collect()));
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
        if !values.any(|value| value["value"] == chosen) {
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
