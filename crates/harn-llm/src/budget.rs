//! What calls may cost, checked before they are made and counted afterwards.

use serde_json::{Value, json};

use crate::Totals;
use crate::options::limits::Limits;

/// What a call will take at most, as far as one can tell before it is made.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Projection {
    /// Tokens of the question.
    pub input_tokens: u64,
    /// Tokens of the answer: its cap.
    pub output_tokens: u64,
    /// Both at their price.
    pub cost_usd: f64,
}

/// What one program has spent, and may spend.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spending {
    /// The cap on everything, in dollars.
    pub cap_usd: Option<f64>,
    /// Spent so far.
    pub spent_usd: f64,
}

/// Which limit a call would pass.
#[derive(Clone, Debug, PartialEq)]
pub struct OverBudget {
    /// The limit's key.
    pub limit: &'static str,
    /// Its value.
    pub limit_value: f64,
    /// What the call was projected to take.
    pub projection: Projection,
    /// What was spent before.
    pub spent_usd: f64,
    /// What would pass the limit, in words.
    what: String,
}

impl OverBudget {
    /// The message programs see.
    pub fn message(&self) -> String {
        let Self { what, limit, .. } = self;
        format!("LLM budget exceeded before provider call: {what} would exceed {limit}")
    }

    /// The dict programs catch.
    pub fn thrown(&self, provider: &str, model: &str) -> Value {
        json!({
            "category": "budget_exceeded",
            "kind": "terminal",
            "reason": "budget_exceeded",
            "limit": self.limit,
            "limit_value": self.limit_value,
            "projected_cost_usd": self.projection.cost_usd,
            "session_cost_usd": self.spent_usd,
            "projected_input_tokens": self.projection.input_tokens,
            "projected_output_tokens": self.projection.output_tokens,
            "provider": provider,
            "model": model,
            "message": self.message(),
        })
    }
}

impl Spending {
    /// Whether a call fits.
    ///
    /// # Errors
    /// The first limit it would pass.
    pub fn check(&self, limits: &Limits, call: Projection) -> Result<(), OverBudget> {
        let session = self.spent_usd + call.cost_usd;
        let input = format!("projected input tokens {}", call.input_tokens);
        let output = format!("projected output tokens {}", call.output_tokens);
        let cost = format!("projected cost ${:.6}", call.cost_usd);
        let total = format!("projected session cost ${session:.6}");
        #[expect(clippy::cast_precision_loss, reason = "programs see limits as floats")]
        let rows = [
            (
                "max_input_tokens",
                limits.max_input_tokens.map(|limit| limit as f64),
                call.input_tokens as f64,
                &input,
            ),
            (
                "max_output_tokens",
                limits.max_output_tokens.map(|limit| limit as f64),
                call.output_tokens as f64,
                &output,
            ),
            ("max_cost_usd", limits.max_cost_usd, call.cost_usd, &cost),
            ("total_budget_usd", limits.total_budget_usd, session, &total),
            ("llm_budget", self.cap_usd, session, &total),
        ];
        for (limit, value, projected, what) in rows {
            let Some(limit_value) = value.filter(|value| projected > *value) else {
                continue;
            };
            return Err(OverBudget {
                limit,
                limit_value,
                projection: call,
                spent_usd: self.spent_usd,
                what: what.clone(),
            });
        }
        Ok(())
    }

    /// Counts what a call really took.
    ///
    /// # Errors
    /// The message programs see when the cap is passed.
    pub fn charge(&mut self, cost_usd: f64) -> Result<(), String> {
        self.spent_usd += cost_usd;
        match self.cap_usd {
            Some(cap) if self.spent_usd > cap => Err(format!(
                "LLM budget exceeded: spent ${:.4} of ${cap:.4} budget",
                self.spent_usd
            )),
            _ => Ok(()),
        }
    }

    /// What is left of the cap.
    pub fn remaining_usd(&self) -> Option<f64> {
        self.cap_usd.map(|cap| cap - self.spent_usd)
    }
}

/// The tokens of a text, as budgets count them.
pub fn text_tokens(text: &str) -> u64 {
    (text.len() as u64).div_ceil(4)
}

/// The tokens of one conversation after the other, as budgets count them.
pub fn messages_tokens() -> Totals<1> {
    Totals::of(|message| [value_tokens(message)])
}

/// The tokens of a question, as budgets count them. Those of its messages are known.
pub fn input_tokens(system: Option<&str>, messages: u64, native_tools: &[Value]) -> u64 {
    let system = system.map_or(0, text_tokens);
    let tools = native_tools
        .iter()
        .map(|tool| text_tokens(&tool.to_string()));
    system + messages + tools.sum::<u64>()
}

/// The tokens of a part of a message. Messages come from parsed JSON or from values whose
/// depth is bounded, so this may recurse.
fn value_tokens(value: &Value) -> u64 {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 1,
        Value::String(text) => text_tokens(text),
        Value::Array(items) => items.iter().map(value_tokens).sum(),
        Value::Object(entries) => {
            let entries = entries.iter();
            entries
                .map(|(key, value)| text_tokens(key) + value_tokens(value))
                .sum()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_counted_with_their_keys() {
        // role 1, user 1, content 2 (7 bytes), "hello" 2 (5 bytes): 6.
        let messages = [json!({"role": "user", "content": "hello"})];
        let [messages] = messages_tokens().count(&messages.into_iter().collect());
        assert_eq!(input_tokens(None, messages, &[]), 6);
        assert_eq!(
            input_tokens(Some("12345"), messages, &[json!({"a": 1})]),
            6 + 2 + 2
        );
        assert_eq!(value_tokens(&json!([null, true, 1, "", [2]])), 4);
    }

    #[test]
    fn limits_are_checked_in_order_and_name_themselves() {
        let call = Projection {
            input_tokens: 10,
            output_tokens: 20,
            cost_usd: 0.5,
        };
        let spending = Spending {
            cap_usd: Some(0.6),
            spent_usd: 0.25,
        };
        let all = Limits {
            max_input_tokens: Some(9),
            max_output_tokens: Some(19),
            max_cost_usd: Some(0.4),
            total_budget_usd: Some(0.7),
        };
        let rows = [
            (
                all,
                "projected input tokens 10 would exceed max_input_tokens",
            ),
            (
                Limits {
                    max_input_tokens: None,
                    ..all
                },
                "projected output tokens 20 would exceed max_output_tokens",
            ),
            (
                Limits {
                    max_input_tokens: Some(10),
                    max_output_tokens: None,
                    ..all
                },
                "projected cost $0.500000 would exceed max_cost_usd",
            ),
            (
                Limits {
                    total_budget_usd: Some(0.7),
                    ..Limits::default()
                },
                "projected session cost $0.750000 would exceed total_budget_usd",
            ),
            (
                Limits::default(),
                "projected session cost $0.750000 would exceed llm_budget",
            ),
        ];
        for (limits, expected) in rows {
            let over = spending.check(&limits, call).unwrap_err();
            let expected = format!("LLM budget exceeded before provider call: {expected}");
            assert_eq!(over.message(), expected);
        }
        let rich = Spending {
            cap_usd: None,
            spent_usd: 0.25,
        };
        assert_eq!(rich.check(&Limits::default(), call), Ok(()));
    }

    #[test]
    fn spending_more_than_the_cap_is_told_afterwards() {
        let mut spending = Spending {
            cap_usd: Some(1.0),
            spent_usd: 0.0,
        };
        assert_eq!(spending.charge(0.75), Ok(()));
        assert_eq!(spending.remaining_usd(), Some(0.25));
        let told = "LLM budget exceeded: spent $1.2500 of $1.0000 budget".to_owned();
        assert_eq!(spending.charge(0.5), Err(told));
    }
}
