//! What is looked at about configuration, keys and providers.

use std::collections::BTreeMap;

use harn_vm::llm::catalog::resolve::{self, Wanted};
use harn_vm::llm::catalog::{Config, Environment};
use harn_vm::llm::mock::PROVIDER as MOCK;
use harn_vm::{KnownModels, ModelAsker, ModelOptions};

use super::super::models::{key_of, next_step};
use super::super::project::{Projects, manifest_here};
use super::Finding;

type Variables = BTreeMap<String, String>;

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
    match KnownModels::read(manifest_here().as_deref(), environment) {
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
        let named = ["HARN_LLM_PROVIDER", "LLM_PROVIDER", "HARN_DEFAULT_PROVIDER"];
        let named = named.iter().find(|name| environment.filled(name).is_some());
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
    let options = ModelOptions {
        manifest: manifest_here(),
        ..ModelOptions::default()
    };
    let Ok(known) = KnownModels::read(options.manifest.as_deref(), environment) else {
        return Vec::new();
    };
    let asker = match ModelAsker::new(&options, environment) {
        Ok(asker) => asker,
        Err(why) => return vec![Finding::broken("online", why, "correct that first")],
    };
    let names = known.config.providers.keys();
    let names = names.filter(|name| name.as_str() != MOCK);
    let names = names.filter(|name| key_of(&known, environment, name).available);
    names
        .map(|name| reached(&asker, name, &known, environment))
        .collect()
}

fn reached(
    asker: &ModelAsker,
    name: &str,
    known: &KnownModels,
    environment: &Variables,
) -> Finding {
    let health = asker.healthcheck(name);
    let message = health["message"].as_str().unwrap_or_default();
    let message = format!("{name}: {message}");
    if health["valid"] == true {
        return Finding::ok("online", message);
    }
    let key = key_of(known, environment, name);
    let reason = health["metadata"]["reason"].as_str().unwrap_or_default();
    let chosen = resolve::select(&known.config, environment, Wanted::default());
    // Local servers that nobody chose are often just not running.
    match key.found_in.is_some() || chosen.provider == name {
        true => Finding::broken("online", message, next_step(reason, name, &key)),
        false => Finding::warning("online", message, "start it if you want to use it"),
    }
}
