//! What a call costs, and what caching saved.

use super::config::{Config, Pricing};

/// Dollars for a million tokens read and written, by what the id contains; the first row all
/// of whose parts occur.
const TABLE: [(&[&str], f64, f64); 18] = [
    (&["claude-3-5-haiku"], 0.80, 4.0),
    (&["claude-haiku-4"], 0.80, 4.0),
    (&["claude-3-5-sonnet"], 3.0, 15.0),
    (&["claude-sonnet-4"], 3.0, 15.0),
    (&["claude-3-opus"], 15.0, 75.0),
    (&["claude-opus-4"], 15.0, 75.0),
    (&["gpt-4o-mini"], 0.15, 0.60),
    (&["gpt-4o"], 2.5, 10.0),
    (&["gpt-4-turbo"], 10.0, 30.0),
    (&["o1-mini"], 3.0, 12.0),
    (&["o1"], 15.0, 60.0),
    (&["o3"], 15.0, 60.0),
    (&["llama", "70b"], 0.59, 0.79),
    (&["llama", "8b"], 0.05, 0.08),
    (&["mistral-large"], 2.0, 6.0),
    (&["mistral-small"], 0.2, 0.6),
    (&["gemini-2", "flash"], 0.1, 0.4),
    (&["gemini-2", "pro"], 1.25, 5.0),
];

/// Dollars for tokens. Prices are kept by the million or the thousand, as they were given, so
/// that what a call costs is rounded once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Price {
    input: f64,
    output: f64,
    /// For how many tokens those are.
    tokens: f64,
}

impl Price {
    /// Dollars for so many tokens read and written.
    pub fn of(self, input_tokens: f64, output_tokens: f64) -> f64 {
        (input_tokens * self.input + output_tokens * self.output) / self.tokens
    }

    /// Dollars for a thousand tokens that the model reads.
    pub fn input_per_thousand(self) -> f64 {
        self.of(1000.0, 0.0)
    }

    /// Dollars for a thousand tokens that it writes.
    pub fn output_per_thousand(self) -> f64 {
        self.of(0.0, 1000.0)
    }
}

/// What a model costs, if anybody knows. The provider is asked last, and only if it is given.
pub fn price(config: &Config, provider: Option<&str>, model: &str) -> Option<Price> {
    if let Some(pricing) = pricing(config, model) {
        return Some(per_million(pricing.input_per_mtok, pricing.output_per_mtok));
    }
    let id = model.to_lowercase();
    let row = TABLE
        .iter()
        .find(|(parts, _, _)| parts.iter().all(|part| id.contains(part)));
    if let Some((_, input, output)) = row {
        return Some(per_million(*input, *output));
    }
    let entry = config.providers.get(provider?)?;
    Some(Price {
        input: entry.cost_per_1k_in?,
        output: entry.cost_per_1k_out?,
        tokens: 1e3,
    })
}

/// `llm_cost`: dollars for so many tokens; nothing for a model nobody knows.
pub fn cost(
    config: &Config,
    provider: Option<&str>,
    model: &str,
    input_tokens: i64,
    output_tokens: i64,
) -> f64 {
    let price = price(config, provider, model);
    price.map_or(0.0, |price| {
        price.of(input_tokens as f64, output_tokens as f64)
    })
}

/// The share of the prompt that the provider remembered.
pub fn cache_hit_ratio(input: u64, read: u64, write: u64) -> f64 {
    let cached = read.saturating_add(write);
    // Some providers count cached tokens as input and some beside it.
    let total = match cached <= input {
        true => input,
        false => input.saturating_add(cached),
    };
    match total {
        0 => 0.0,
        total => read as f64 / total as f64,
    }
}

/// The dollars that caching saved; less than nothing while it only costs.
pub fn cache_savings_usd(config: &Config, model: &str, read: u64, write: u64) -> f64 {
    let Some(pricing) = pricing(config, model) else {
        return 0.0;
    };
    let input = pricing.input_per_mtok / 1000.0;
    let saved = |tokens: u64, per_mtok: Option<f64>| {
        let cached = per_mtok.map_or(input, |price| price / 1000.0);
        tokens as f64 * (input - cached) / 1000.0
    };
    saved(read, pricing.cache_read_per_mtok) + saved(write, pricing.cache_write_per_mtok)
}

fn pricing<'a>(config: &'a Config, model: &str) -> Option<&'a Pricing> {
    let id = config.aliases.get(model).map_or(model, |alias| &alias.id);
    config.models.get(id)?.pricing.as_ref()
}

fn per_million(input: f64, output: f64) -> Price {
    Price {
        input,
        output,
        tokens: 1e6,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn near(value: f64, expected: f64) {
        assert!((value - expected).abs() < 1e-9, "{value} is not {expected}");
    }

    #[test]
    fn every_row_of_the_table_prices_its_models() {
        let config = Config::built_in();
        let rows = [
            ("claude-3-5-haiku-20241022", 0.80, 4.0),
            ("claude-haiku-4-5", 0.80, 4.0),
            ("claude-3-5-sonnet-latest", 3.0, 15.0),
            ("claude-sonnet-4-5", 3.0, 15.0),
            ("claude-3-opus-20240229", 15.0, 75.0),
            ("claude-opus-4-6", 15.0, 75.0),
            ("gpt-4o-mini", 0.15, 0.60),
            ("gpt-4o-2024-08-06", 2.5, 10.0),
            ("gpt-4-turbo", 10.0, 30.0),
            ("o1-mini", 3.0, 12.0),
            ("o1-preview", 15.0, 60.0),
            ("o3", 15.0, 60.0),
            ("meta-llama/Llama-3-70B", 0.59, 0.79),
            ("llama-3-8b", 0.05, 0.08),
            ("mistral-large-latest", 2.0, 6.0),
            ("mistral-small", 0.2, 0.6),
            ("gemini-2.5-flash", 0.1, 0.4),
            ("gemini-2.5-pro", 1.25, 5.0),
            ("unknown", 0.0, 0.0),
        ];
        for (model, input, output) in rows {
            near(cost(&config, None, model, 1_000_000, 0), input);
            near(cost(&config, None, model, 0, 1_000_000), output);
        }
        near(cost(&config, Some("groq"), "unknown", 1000, 1000), 0.0004);
        near(cost(&config, Some("nobody"), "unknown", 1000, 1000), 0.0);
    }

    #[test]
    fn the_ratio_counts_cached_tokens_once() {
        let rows = [
            (100, 40, 10, 0.4),
            (10, 40, 50, 0.4),
            (0, 0, 0, 0.0),
            (100, 0, 100, 0.0),
            (0, u64::MAX, u64::MAX, 1.0),
        ];
        for (input, read, write, expected) in rows {
            near(cache_hit_ratio(input, read, write), expected);
        }
    }

    #[test]
    fn caching_saves_and_costs() {
        let config = Config::built_in();
        let model = "claude-sonnet-4-20250514";
        near(cache_savings_usd(&config, model, 1_000_000, 0), 2.7);
        near(cache_savings_usd(&config, model, 0, 1_000_000), -0.75);
        near(cache_savings_usd(&config, "gpt-4o-mini", 5, 5), 0.0);
        near(cache_savings_usd(&config, "unknown", 5, 5), 0.0);
    }
}
