//! What is looked at about configuration, keys and providers.

use std::collections::BTreeMap;

use harn_vm::llm::catalog::resolve::{self, Wanted};
use harn_vm::llm::catalog::{Config, Environment, ProjectTrust};
use harn_vm::llm::mock::PROVIDER as MOCK;
use harn_vm::project::TrustSource;
use harn_vm::{KnownModels, ModelAsker, ModelOptions};

use super::super::models::{Key, key_of, next_step};
use super::super::project::{Projects, manifest_here};
use super::super::trust;
use super::Finding;

type Variables = BTreeMap<String, String>;

/// The variables that choose a provider.
const CHOICES: [&str; 3] = ["HARN_LLM_PROVIDER", "LLM_PROVIDER", "HARN_DEFAULT_PROVIDER"];

/// What can be found out without asking anybody.
pub(super) fn offline(environment: &Variables) -> Vec<Finding> {
    let mut findings = vec![Finding::ok(
        "version",
        format!(
            "harn {} on {} {}",
            env!("CARGO_PKG_VERSION"),
            std::env::consts::OS,
            std::env::consts::ARCH
        ),
    )];
    findings.push(manifest());
    findings.extend(project_trust());
    match KnownModels::read(
        manifest_here().as_deref(),
        ProjectTrust::Trusted,
        environment,
    ) {
        Ok(known) => {
            findings.push(configuration(&known));
            findings.extend(keys(&known, environment));
            findings.push(default_model(&known, environment));
        }
        Err(why) => findings.push(Finding::broken(
            "models",
            why,
            "correct that line; `harn models list` shows what is understood",
        )),
    }
    if let Err(why) = resolve::check_enabled(environment, "any") {
        findings.push(Finding::warning(
            "calls",
            why.to_string(),
            "unset HARN_LLM_CALLS_DISABLED to ask real models",
        ));
    }
    findings
}

fn manifest() -> Finding {
    let Some(path) = manifest_here() else {
        return Finding::ok("harn.toml", "there is none here, which is fine");
    };
    match Projects::default().settings_here() {
        Ok(_) => Finding::ok("harn.toml", format!("{} is valid", path.display())),
        Err(why) => Finding::broken("harn.toml", why, "correct that line"),
    }
}

/// Whether what came with the project may act, if anything could.
fn project_trust() -> Option<Finding> {
    let notice = trust::here(&trust::projects()).notice()?;
    let next = "look at it with `harn trust`; `harn trust yes` trusts it as it is";
    Some(Finding::warning("trust", notice, next))
}

fn configuration(known: &KnownModels) -> Finding {
    let Config {
        providers, origin, ..
    } = &known.config;
    let origin = origin.as_deref().unwrap_or("what comes with harn");
    Finding::ok(
        "models",
        format!("{} providers, from {origin}", providers.len()),
    )
}

/// Keys by the names of their variables.
fn keys(known: &KnownModels, environment: &Variables) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut missing = Vec::new();
    for name in known.config.providers.keys() {
        let key = key_of(known, environment, name);
        match &key.found_in {
            Some(variable) => {
                let value = environment.get(variable).map_or("", String::as_str);
                findings.push(key_finding(name, variable, value));
            }
            None if key.available => {}
            None => missing.push(name.as_str()),
        }
    }
    if !missing.is_empty() {
        let text = format!("none is set for {}", missing.join(", "));
        findings.push(Finding::ok("keys", text));
    }
    findings
}

/// Looks at how a key is written, and never shows it.
fn key_finding(provider: &str, variable: &str, value: &str) -> Finding {
    let odd = |what: &str| {
        Finding::warning(
            "keys",
            format!("{provider}: {variable} is set, but {what}"),
            format!("set {variable} again; it was probably copied with something around it"),
        )
    };
    let trimmed = value.trim();
    let is_quoted = trimmed.len() > 1 && trimmed.starts_with(['"', '\'']);
    match value {
        _ if is_quoted => odd("its value begins with a quotation mark"),
        _ if trimmed.contains(char::is_whitespace) => odd("its value has white space in it"),
        _ if trimmed != value => odd("its value has white space around it"),
        _ => Finding::ok("keys", format!("{provider}: {variable} is set")),
    }
}

/// Who is asked by a program that names nobody.
fn default_model(known: &KnownModels, environment: &Variables) -> Finding {
    let chosen = resolve::select(&known.config, environment, Wanted::default());
    let text = format!("{} of {}", chosen.model, chosen.provider);
    if !known.config.knows(&chosen.provider) {
        let named = CHOICES
            .iter()
            .find(|name| environment.filled(name).is_some());
        let place = named.map_or("default_provider".to_owned(), |name| (*name).to_owned());
        return Finding::broken(
            "default model",
            format!("there is no provider `{}`", chosen.provider),
            format!("change {place}; `harn models list` shows the providers"),
        );
    }
    let key = key_of(known, environment, &chosen.provider);
    match key.available {
        true => Finding::ok("default model", text),
        false => Finding::warning(
            "default model",
            format!("{text}, but {}", key.tell()),
            format!(
                "set {}, or HARN_LLM_PROVIDER to a provider that has a key, or to mock",
                key.variables.join(" or ")
            ),
        ),
    }
}

/// Asks the providers that can be asked.
pub(super) fn online(environment: &Variables) -> Vec<Finding> {
    let trust = trust::of_project_here();
    let Ok(known) = KnownModels::read(manifest_here().as_deref(), trust, environment) else {
        return Vec::new();
    };
    let asker = match asker(environment) {
        Ok(asker) => asker,
        Err(why) => return vec![Finding::broken("online", why, "correct that first")],
    };
    let providers = askable(&known, environment).into_iter();
    providers.map(|one| reached(&asker, &one)).collect()
}

/// Somebody who asks models, and no host that only a project names which is not trusted.
///
/// # Errors
/// What is wrong with the configuration.
pub(super) fn asker(environment: &Variables) -> Result<ModelAsker, String> {
    let options = ModelOptions {
        manifest: manifest_here(),
        trust: TrustSource::Known(trust::of_project_here()),
        ..ModelOptions::default()
    };
    ModelAsker::new(&options, environment)
}

/// A provider that can be asked.
pub(super) struct Provider {
    pub(super) name: String,
    key: Key,
    /// Whether it has a key, or is asked by a program that names nobody. Other local servers are
    /// often just not running.
    is_expected: bool,
    /// Whether somebody has given it a key, or chosen it by a variable.
    pub(super) is_configured: bool,
}

/// What a provider said.
pub(super) struct Asked {
    pub(super) message: String,
    /// What to do about it, if it is not well.
    pub(super) next: Option<String>,
}

/// The providers that can be asked.
pub(super) fn askable(known: &KnownModels, environment: &Variables) -> Vec<Provider> {
    let chosen = resolve::select(&known.config, environment, Wanted::default());
    let is_named = CHOICES
        .iter()
        .any(|name| environment.filled(name).is_some());
    let names = known.config.providers.keys();
    let names = names.filter(|name| name.as_str() != MOCK);
    let providers = names.map(|name| {
        let key = key_of(known, environment, name);
        let (has_key, is_chosen) = (key.found_in.is_some(), chosen.provider == *name);
        Provider {
            is_expected: has_key || is_chosen,
            is_configured: has_key || is_chosen && is_named,
            name: name.clone(),
            key,
        }
    });
    providers.filter(|one| one.key.available).collect()
}

impl Provider {
    /// Asks whether it is there and takes the key.
    pub(super) fn ask(&self, asker: &ModelAsker) -> Asked {
        let health = asker.healthcheck(&self.name);
        let message = health["message"].as_str().unwrap_or_default().to_owned();
        let reason = health["metadata"]["reason"].as_str().unwrap_or_default();
        let is_well = health["valid"] == true;
        Asked {
            message,
            next: (!is_well).then(|| next_step(reason, &self.name, &self.key)),
        }
    }
}

fn reached(asker: &ModelAsker, provider: &Provider) -> Finding {
    let asked = provider.ask(asker);
    let message = format!("{}: {}", provider.name, asked.message);
    match asked.next {
        None => Finding::ok("online", message),
        Some(next) if provider.is_expected => Finding::broken("online", message, next),
        Some(_) => Finding::warning("online", message, "start it if you want to use it"),
    }
}
