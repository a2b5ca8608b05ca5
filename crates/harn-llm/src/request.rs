//! What a model is asked, before anybody decides which one and over which wire.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{Messages, SharedList};

/// One question to a model: plain data that can be kept and asked again.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Request {
    /// The id the provider knows the model by.
    pub model: String,
    /// The system prompt.
    pub system: Option<String>,
    /// The conversation, as the transcript has it: each message in one of the shapes that
    /// [`wire::conversation`](crate::wire::conversation) reads. They are kept as they came,
    /// so that what a program gave is what the mock, the log and the tape show.
    pub messages: Messages,
    /// What the model may call.
    pub tools: SharedList<ToolSpec>,
    /// Which tool it must or must not call, in the words of the wire; a string or an object.
    pub tool_choice: Option<Value>,
    /// The provider searches among the tools by itself.
    pub tool_search: Option<ToolSearch>,
    /// What the answer has to look like.
    pub output: Output,
    /// How much the model thinks before it answers.
    pub thinking: Thinking,
    /// How the next word is chosen, and where to stop.
    pub sampling: Sampling,
    /// How the answer begins.
    pub prefill: Option<String>,
    /// Whether the provider should remember the beginning of the conversation.
    pub cache: bool,
    /// Whether the answer comes in pieces.
    pub stream: bool,
    /// Whether the caller wants to see arguments of calls while they are written.
    pub wants_partial_arguments: bool,
    /// Whether the model may think between calls; a beta of Anthropic's.
    pub interleaved_thinking: bool,
    /// More names for Anthropic's `anthropic-beta` header.
    pub beta_features: Vec<String>,
    /// Merged into the body as the last step, key by key.
    pub extra: Map<String, Value>,
}

/// A function the model may call.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ToolSpec {
    /// Its name.
    pub name: String,
    /// What it does, for the model.
    pub description: String,
    /// The JSON Schema of its arguments; always an object.
    pub parameters: Value,
    /// The JSON Schema of its result, where one was declared.
    pub output_schema: Option<Value>,
    /// Whether the model sees it only after a search.
    pub defer_loading: bool,
    /// The group it belongs to.
    pub namespace: Option<String>,
    /// Whether the provider must hold the model to the schema.
    pub strict: Option<bool>,
}

/// Search among deferred tools that the provider runs itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolSearch {
    /// How it searches.
    pub variant: SearchVariant,
}

/// How tools are searched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SearchVariant {
    /// By words, ranked.
    #[default]
    Bm25,
    /// By a pattern.
    Regex,
}

/// What an answer has to look like.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Output {
    /// Any text.
    #[default]
    Text,
    /// Any JSON object.
    JsonObject,
    /// JSON that fits a schema.
    JsonSchema {
        /// The schema.
        schema: Value,
        /// Whether the provider must hold the model to it.
        strict: bool,
    },
}

/// How much a model thinks before it answers. Serialised as programs see it:
/// `{mode: "enabled", budget_tokens: 10000}`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "mode", rename_all = "snake_case")]
pub enum Thinking {
    /// Not at all, as far as one can ask.
    #[default]
    Disabled,
    /// It does, within a budget if one is given.
    Enabled {
        /// How many tokens.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        budget_tokens: Option<u64>,
    },
    /// As much as it finds fit.
    Adaptive,
    /// By a level instead of a budget.
    Effort {
        /// Which.
        level: Effort,
    },
}

/// How hard a model thinks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effort {
    /// A little.
    Low,
    /// Some.
    Medium,
    /// A lot.
    High,
}

impl Effort {
    /// The word for it on every wire.
    pub fn word(self) -> &'static str {
        match self {
            Effort::Low => "low",
            Effort::Medium => "medium",
            Effort::High => "high",
        }
    }
}

/// How the next word is chosen, and where to stop. What is `None` is left to the provider.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Sampling {
    /// How many tokens the answer may have; always sent.
    pub max_tokens: u64,
    /// How daring.
    pub temperature: Option<f64>,
    /// Only the likeliest words that make up this share.
    pub top_p: Option<f64>,
    /// Only so many of the likeliest words.
    pub top_k: Option<i64>,
    /// The same seed gives the same answer, where providers keep that promise.
    pub seed: Option<i64>,
    /// Less of what was said often.
    pub frequency_penalty: Option<f64>,
    /// Less of what was said at all.
    pub presence_penalty: Option<f64>,
    /// Texts that end the answer.
    pub stop: Vec<String>,
}

/// The output cap when nobody says otherwise.
const MAX_TOKENS_DEFAULT: u64 = 16_384;

impl Default for Sampling {
    fn default() -> Self {
        Self {
            max_tokens: MAX_TOKENS_DEFAULT,
            temperature: None,
            top_p: None,
            top_k: None,
            seed: None,
            frequency_penalty: None,
            presence_penalty: None,
            stop: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn thinking_is_serialised_as_programs_see_it() {
        let rows = [
            (Thinking::Disabled, json!({"mode": "disabled"})),
            (
                Thinking::Enabled {
                    budget_tokens: None,
                },
                json!({"mode": "enabled"}),
            ),
            (
                Thinking::Enabled {
                    budget_tokens: Some(512),
                },
                json!({"mode": "enabled", "budget_tokens": 512}),
            ),
            (Thinking::Adaptive, json!({"mode": "adaptive"})),
            (
                Thinking::Effort {
                    level: Effort::High,
                },
                json!({"mode": "effort", "level": "high"}),
            ),
        ];
        for (thinking, expected) in rows {
            assert_eq!(serde_json::to_value(thinking).unwrap(), expected);
            assert_eq!(
                serde_json::from_value::<Thinking>(expected).unwrap(),
                thinking
            );
        }
    }
}
