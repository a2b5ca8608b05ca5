//! How to compact.

use std::fmt;
use std::sync::Arc;

use harn_llm::desk::Thrown;
use serde_json::Value;

use crate::callback::{Callback, Functions};

/// From how many tokens on a loop compacts, if nobody says.
pub(super) const THRESHOLD_TOKENS: u64 = 48_000;
/// How long the output of a tool may be, if nobody says.
pub(super) const TOOL_OUTPUT_CHARS: usize = 16_000;

/// The option under which whoever can render templates hands over a function that does.
pub(super) const RENDER: &str = "/__render_prompt";

/// How to compact.
#[derive(Clone)]
pub struct Policy {
    /// What reports call it.
    pub name: String,
    /// How the summary of the archived messages is made.
    pub strategy: Strategy,
    /// How a summary is made shorter that does not fit.
    pub hard_limit_strategy: Strategy,
    /// How many messages are kept at the beginning.
    pub keep_first: usize,
    /// How many messages are kept at the end, at least.
    pub keep_last: usize,
    /// From how many tokens on a loop compacts. [`compact`](super::compact) does not ask.
    pub threshold_tokens: u64,
    /// How long the output of a tool may be before it is shortened.
    pub tool_output_max_chars: usize,
    /// How many tokens there may be afterwards.
    pub hard_limit_tokens: Option<u64>,
    /// The template that asks for a summary.
    pub summarize_prompt: Option<String>,
    /// Renders it, given where it is and what to put into it; `None`: what is put into it replaces
    /// its name, and nothing else happens.
    pub render: Option<Arc<dyn Callback>>,
    /// The program's own strategy.
    pub custom: Custom,
    /// Gives for each message a text to stand for it, or nil.
    pub mask: Option<Arc<dyn Callback>>,
    /// Shortens the output of a tool.
    pub compress: Option<Arc<dyn Callback>>,
}

impl Policy {
    /// What builtins start from.
    pub(super) fn usual() -> Self {
        Self {
            name: Strategy::ObservationMask.name().to_owned(),
            strategy: Strategy::ObservationMask,
            hard_limit_strategy: Strategy::Llm,
            keep_first: 0,
            keep_last: 12,
            threshold_tokens: THRESHOLD_TOKENS,
            tool_output_max_chars: TOOL_OUTPUT_CHARS,
            hard_limit_tokens: None,
            summarize_prompt: None,
            render: None,
            custom: Custom::Missing,
            mask: None,
            compress: None,
        }
    }

    /// Takes a strategy that reports know by its own name.
    pub(super) fn use_strategy(&mut self, strategy: Strategy) {
        self.strategy = strategy;
        strategy.name().clone_into(&mut self.name);
    }
}

impl fmt::Debug for Policy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Policy")
            .field("name", &self.name)
            .field("strategy", &self.strategy)
            .field("hard_limit_strategy", &self.hard_limit_strategy)
            .field("keep_first", &self.keep_first)
            .field("keep_last", &self.keep_last)
            .field("threshold_tokens", &self.threshold_tokens)
            .field("hard_limit_tokens", &self.hard_limit_tokens)
            .finish_non_exhaustive()
    }
}

/// How a summary is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// A model is asked.
    Llm,
    /// The first messages, each cut.
    Truncate,
    /// The program does it.
    Custom,
    /// What the assistant said, and long observations masked.
    ObservationMask,
}

impl Strategy {
    /// What programs call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Llm => "llm",
            Self::Truncate => "truncate",
            Self::Custom => "custom",
            Self::ObservationMask => "observation_mask",
        }
    }

    /// The strategy that programs call so.
    pub fn named(name: &str) -> Result<Self, Thrown> {
        let all = [
            Self::Llm,
            Self::Truncate,
            Self::Custom,
            Self::ObservationMask,
        ];
        let found = all.into_iter().find(|strategy| strategy.name() == name);
        found.ok_or_else(|| {
            Thrown::Runtime(format!(
                "unknown compact_strategy '{name}' (expected 'llm', 'truncate', 'custom', or 'observation_mask')"
            ))
        })
    }
}

/// The program's own strategy. Whether there is one matters only once it is needed.
#[derive(Clone)]
pub enum Custom {
    /// Nothing was given.
    Missing,
    /// Something else was given.
    NotAFunction,
    /// A function of the archived messages.
    Function(Arc<dyn Callback>),
}

impl Custom {
    /// What stands under a key of options.
    pub(super) fn under(key: &str, value: Option<&Value>, functions: &Functions) -> Self {
        match (functions.at(&format!("/{key}")), value) {
            (Some(function), _) => Self::Function(Arc::clone(function)),
            (None, None | Some(Value::Null)) => Self::Missing,
            (None, Some(_)) => Self::NotAFunction,
        }
    }

    /// Whether anything was given.
    pub(super) fn is_given(&self) -> bool {
        !matches!(self, Self::Missing)
    }

    /// The function.
    pub(super) fn function(&self) -> Result<&Arc<dyn Callback>, Thrown> {
        match self {
            Self::Function(function) => Ok(function),
            Self::NotAFunction => Err(Thrown::Runtime(
                "compact_callback must be a closure when compact_strategy is 'custom'".to_owned(),
            )),
            Self::Missing => Err(Thrown::Runtime(
                "compact_callback is required when compact_strategy is 'custom'".to_owned(),
            )),
        }
    }
}
