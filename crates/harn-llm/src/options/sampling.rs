//! How the next word is chosen: what the caller says, else what the model wants.

use super::CallOptions;
use super::value::Options;
use crate::Sampling;
use crate::catalog::config::{Config, Provider};
use crate::catalog::introspect::Catalog;
use crate::catalog::route;
use crate::wire::Wire;

/// The output cap, when nobody says otherwise, is the default of [`Sampling`].
pub(super) fn parse(options: Options<'_>, config: &Config, model: &str) -> Sampling {
    let defaults = config.defaults_of(model);
    let defaults = Options(&defaults);
    let float = |key: &str| options.float(key).or_else(|| defaults.float(key));
    let unset = Sampling::default();
    Sampling {
        max_tokens: options
            .positive("max_tokens")
            .or_else(|| defaults.positive("max_tokens"))
            .unwrap_or(unset.max_tokens),
        temperature: float("temperature"),
        top_p: float("top_p"),
        top_k: options.int("top_k").or_else(|| defaults.int("top_k")),
        seed: options.int("seed"),
        frequency_penalty: float("frequency_penalty"),
        presence_penalty: float("presence_penalty"),
        stop: options.texts("stop"),
    }
}

/// Leaves out what the provider would refuse, and says so where the caller asked for it.
pub(super) fn drop_unsupported(call: &mut CallOptions, options: Options<'_>, catalog: Catalog<'_>) {
    let model = call.request.model.clone();
    let nobody = Provider::default();
    let entry = catalog.config.providers.get(&call.provider);
    let wire = route::wire(&call.provider, entry.unwrap_or(&nobody));
    let traits = catalog.capabilities.traits(&call.provider, &model);
    let mut unsupported: Vec<&str> = match wire {
        Wire::Anthropic => vec!["seed", "frequency_penalty", "presence_penalty"],
        // Other servers that speak this wire take it.
        Wire::Chat if ["openai", "azure_openai"].contains(&&*call.provider) => vec!["top_k"],
        Wire::Responses => vec!["top_k", "seed", "frequency_penalty", "presence_penalty"],
        Wire::Chat | Wire::Gemini | Wire::Ollama => Vec::new(),
    };
    if traits.adaptive_only {
        unsupported.extend(["temperature", "top_p", "top_k"]);
    }
    let sampling = &mut call.request.sampling;
    for knob in unsupported {
        match knob {
            "temperature" => sampling.temperature = None,
            "top_p" => sampling.top_p = None,
            "top_k" => sampling.top_k = None,
            "seed" => sampling.seed = None,
            "frequency_penalty" => sampling.frequency_penalty = None,
            _ => sampling.presence_penalty = None,
        }
        if options.float(knob).is_some() {
            call.warnings.push(format!(
                "option `{knob}` is not supported by `{model}` (provider `{}`) and was dropped",
                call.provider
            ));
        }
    }
}
