//! What a session takes.

use serde_json::Value;

use crate::commands::run::live::prices::Prices;

/// What a session has taken so far, and how full the context of its model is.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in super::super) struct Meter {
    pub(in super::super) model: String,
    pub(in super::super) input_tokens: u64,
    pub(in super::super) output_tokens: u64,
    pub(in super::super) cost_usd: f64,
    /// What the model read and wrote last: so much of its window is in use.
    pub(in super::super) context_tokens: u64,
    /// How much it can see, if anybody knows.
    pub(in super::super) context_window: Option<u64>,
}

impl Meter {
    /// An answer of a model. Only those of the agent itself tell about its context.
    pub(super) fn add(&mut self, info: &Value, is_own: bool, prices: &Prices) {
        let number = |key: &str| info[key].as_u64().unwrap_or(0);
        let text = |key: &str| info[key].as_str().unwrap_or_default();
        let (input, output) = (number("input_tokens"), number("output_tokens"));
        self.input_tokens += input;
        self.output_tokens += output;
        self.cost_usd += prices.cost(text("provider"), text("model"), input, output);
        if is_own && input > 0 {
            self.context_tokens = input + output;
            self.context_window = prices.context_window(text("model"));
        }
    }

    /// How much of the context is in use, in percent.
    pub(in super::super) fn percent(&self) -> Option<u64> {
        let window = self.context_window.filter(|window| *window > 0)?;
        Some((self.context_tokens.saturating_mul(100) / window).min(100))
    }
}
