//! Which model a `route_policy` leads to.

use serde_json::{Map, Value, json};

use super::config::Config;
use super::{Environment, Invalid, price, resolve};
use crate::options::value::display;

/// Who chooses the model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Policy {
    /// The caller.
    #[default]
    Manual,
    /// Always that one: `provider:model`, an alias or an id.
    Always(String),
    /// The cheapest that is good enough.
    Cheapest(String),
    /// The fastest that is good enough.
    Fastest(String),
}

/// What a policy led to.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// The provider.
    pub provider: String,
    /// The model.
    pub model: String,
    /// What the event `routing_decision` shows.
    pub record: Value,
}

/// A model that could be asked.
#[derive(Clone, Debug)]
struct Candidate {
    provider: String,
    model: String,
    tier: String,
    available: bool,
    price: Option<price::Price>,
    latency_ms: Option<i64>,
}

impl Policy {
    /// Reads the option `route_policy`.
    ///
    /// # Errors
    /// It is no policy.
    pub fn parse(value: &Value) -> Result<Self, Invalid> {
        match value {
            Value::Null => Ok(Policy::Manual),
            Value::String(text) => Self::parse_text(text),
            Value::Object(fields) => Self::parse_fields(fields),
            _ => Err(Invalid::new("route_policy: expected string or dict")),
        }
    }

    fn parse_text(text: &str) -> Result<Self, Invalid> {
        let trimmed = text.trim();
        let (mode, target) = match trimmed.split_once('(') {
            Some((mode, rest)) => (mode.trim(), rest.strip_suffix(')')),
            None if trimmed == "manual" => return Ok(Policy::Manual),
            None => (trimmed, None),
        };
        let policy = target.and_then(|target| Self::of(mode, target));
        match policy {
            Some(policy) => policy.with_target(),
            None => Err(Invalid::new(format!(
                "route_policy: expected manual, always(id), cheapest_over_quality(t), or \
                 fastest_over_quality(t), got \"{text}\""
            ))),
        }
    }

    fn parse_fields(fields: &Map<String, Value>) -> Result<Self, Invalid> {
        let mode = fields.get("mode").map_or("manual".to_owned(), display);
        if mode == "manual" {
            return Ok(Policy::Manual);
        }
        let target = ["target", "quality", "id"]
            .into_iter()
            .find_map(|key| fields.get(key).filter(|value| !value.is_null()));
        let target = target.map(display).unwrap_or_default();
        match Self::of(&mode, &target) {
            Some(policy) => policy.with_target(),
            None => Err(Invalid::new(format!(
                "route_policy.mode: unsupported value \"{mode}\""
            ))),
        }
    }

    fn of(mode: &str, target: &str) -> Option<Self> {
        let target = unquoted(target.trim()).to_owned();
        match mode {
            "always" => Some(Policy::Always(target)),
            "cheapest_over_quality" => Some(Policy::Cheapest(target)),
            "fastest_over_quality" => Some(Policy::Fastest(target)),
            _ => None,
        }
    }

    fn with_target(self) -> Result<Self, Invalid> {
        match &self {
            Policy::Always(target) | Policy::Cheapest(target) | Policy::Fastest(target)
                if target.is_empty() =>
            {
                Err(Invalid::new("route_policy: target must not be empty"))
            }
            _ => Ok(self),
        }
    }

    /// How it is written.
    pub fn text(&self) -> String {
        match self {
            Policy::Manual => "manual".to_owned(),
            Policy::Always(id) => format!("always({id})"),
            Policy::Cheapest(tier) => format!("cheapest_over_quality({tier})"),
            Policy::Fastest(tier) => format!("fastest_over_quality({tier})"),
        }
    }
}

/// Where a policy leads; nowhere if the caller chooses.
///
/// # Errors
/// Nothing that can be asked is good enough.
pub fn decide(
    config: &Config,
    environment: &dyn Environment,
    policy: &Policy,
) -> Result<Option<Decision>, Invalid> {
    match policy {
        Policy::Manual => Ok(None),
        Policy::Always(id) => Ok(Some(always(config, environment, policy, id))),
        Policy::Cheapest(tier) => {
            let price = |candidate: &Candidate| candidate.price.map(|price| price.of(1e3, 1e3));
            best(config, environment, policy, tier, price).map(Some)
        }
        Policy::Fastest(tier) => {
            let latency = |candidate: &Candidate| candidate.latency_ms.map(|ms| ms as f64);
            best(config, environment, policy, tier, latency).map(Some)
        }
    }
}

fn always(config: &Config, environment: &dyn Environment, policy: &Policy, id: &str) -> Decision {
    let named = id
        .split_once(':')
        .filter(|(provider, _)| config.knows(provider) && !config.aliases.contains_key(id));
    let (provider, model) = match named {
        Some((provider, model)) => (provider.to_owned(), model.to_owned()),
        None => {
            let found = resolve::find(config, environment, id);
            (found.provider, found.id)
        }
    };
    let candidate = candidate(config, environment, provider, model);
    let rows = vec![(candidate.clone(), "selected by policy".to_owned())];
    decision(policy, None, &candidate, &rows)
}

/// The least of those that are good enough and can be asked. What has no number comes last.
fn best(
    config: &Config,
    environment: &dyn Environment,
    policy: &Policy,
    tier: &str,
    measure: impl Fn(&Candidate) -> Option<f64>,
) -> Result<Decision, Invalid> {
    let candidates: Vec<Candidate> = candidates(config, environment)
        .into_iter()
        .filter(|candidate| rank(&candidate.tier) >= rank(tier))
        .collect();
    let key = |candidate: &Candidate| measure(candidate).unwrap_or(f64::INFINITY);
    // Candidates are sorted by provider and model, and the first of equals is taken.
    let chosen = candidates
        .iter()
        .filter(|candidate| candidate.available)
        .min_by(|one, other| key(one).total_cmp(&key(other)))
        .cloned();
    let Some(chosen) = chosen else {
        return Err(Invalid::new(format!(
            "route_policy: no available model satisfies {}",
            policy.text()
        )));
    };
    let reason = |candidate: &Candidate| match candidate.available {
        false => "key not available",
        true if is(candidate, &chosen) => "best of the available candidates",
        true => "another candidate ranks better",
    };
    let rows: Vec<(Candidate, String)> = candidates
        .iter()
        .map(|candidate| (candidate.clone(), reason(candidate).to_owned()))
        .collect();
    Ok(decision(policy, Some(tier), &chosen, &rows))
}

/// All models that have a name here, sorted by provider and model.
fn candidates(config: &Config, environment: &dyn Environment) -> Vec<Candidate> {
    let aliased = config
        .aliases
        .values()
        .map(|alias| (&alias.provider, &alias.id));
    let listed = config
        .models
        .iter()
        .map(|(id, model)| (&model.provider, id));
    let mut pairs: Vec<(&String, &String)> = aliased.chain(listed).collect();
    pairs.sort();
    pairs.dedup();
    pairs
        .into_iter()
        .map(|(provider, id)| candidate(config, environment, provider.clone(), id.clone()))
        .collect()
}

fn candidate(
    config: &Config,
    environment: &dyn Environment,
    provider: String,
    model: String,
) -> Candidate {
    let entry = config.providers.get(&provider);
    Candidate {
        tier: resolve::tier(config, &model),
        available: resolve::auth_available(config, environment, &provider),
        price: price::price(config, Some(&provider), &model),
        latency_ms: entry.and_then(|entry| entry.latency_p50_ms),
        provider,
        model,
    }
}

fn decision(
    policy: &Policy,
    quality: Option<&str>,
    chosen: &Candidate,
    rows: &[(Candidate, String)],
) -> Decision {
    let alternatives: Vec<Value> = rows
        .iter()
        .map(|(candidate, reason)| {
            json!({
                "provider": candidate.provider,
                "model": candidate.model,
                "quality_tier": candidate.tier,
                "available": candidate.available,
                "cost_per_1k_in": candidate.price.map(price::Price::input_per_thousand),
                "cost_per_1k_out": candidate.price.map(price::Price::output_per_thousand),
                "latency_p50_ms": candidate.latency_ms,
                "selected": is(candidate, chosen),
                "reason": reason,
            })
        })
        .collect();
    Decision {
        provider: chosen.provider.clone(),
        model: chosen.model.clone(),
        record: json!({
            "policy": policy.text(),
            "requested_quality": quality,
            "selected_provider": chosen.provider,
            "selected_model": chosen.model,
            "alternatives": alternatives,
        }),
    }
}

fn is(one: &Candidate, other: &Candidate) -> bool {
    one.provider == other.provider && one.model == other.model
}

fn rank(tier: &str) -> u8 {
    match tier {
        "small" => 0,
        "frontier" => 2,
        _ => 1,
    }
}

fn unquoted(text: &str) -> &str {
    let inner = text
        .strip_prefix('"')
        .and_then(|text| text.strip_suffix('"'));
    inner.unwrap_or(text)
}

/// Who is asked after the failed provider, with the same model: the chain of the caller, then
/// what the provider's entry says. Those without a key are left out, unless a mock answers for
/// everybody.
pub fn fallbacks(
    config: &Config,
    environment: &dyn Environment,
    mocked: bool,
    failed: &str,
    chain: &[String],
) -> Vec<String> {
    let own = config.providers.get(failed);
    let own = own.and_then(|entry| entry.fallback.clone());
    let mut next: Vec<String> = Vec::new();
    for provider in chain.iter().cloned().chain(own) {
        let usable = provider != failed
            && config.knows(&provider)
            && (mocked || resolve::auth_available(config, environment, &provider));
        if usable && !next.contains(&provider) {
            next.push(provider);
        }
    }
    next
}

#[cfg(test)]
mod tests;
