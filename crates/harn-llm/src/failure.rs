//! What can go wrong between a question and its answer.

use std::time::Duration;

/// Why a model gave no answer. The kind is decided here, where the cause is known.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    /// What kind of failure.
    pub category: Category,
    /// What happened, in one line and without secrets.
    pub message: String,
    /// The status of the HTTP answer, where there was one.
    pub status: Option<u16>,
    /// How long the provider wants us to wait.
    pub retry_after: Option<Duration>,
}

impl Error {
    /// A failure of that kind.
    pub fn new(category: Category, message: impl Into<String>) -> Self {
        Self {
            category,
            message: message.into(),
            status: None,
            retry_after: None,
        }
    }
}

/// The kinds of failures. The words are those programs see.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Category {
    /// Time was over.
    Timeout,
    /// The key is missing or refused.
    Auth,
    /// The provider wants us to slow down.
    RateLimit,
    /// The provider has too much to do.
    Overloaded,
    /// The provider failed.
    ServerError,
    /// The network failed.
    TransientNetwork,
    /// The answer does not fit the schema.
    SchemaValidation,
    /// A tool failed.
    ToolError,
    /// A tool was not allowed to run.
    ToolRejected,
    /// Traffic to that place is forbidden.
    EgressBlocked,
    /// The caller no longer wants an answer.
    Cancelled,
    /// There is no such model or endpoint.
    NotFound,
    /// Too many failures lately; nobody was asked.
    CircuitOpen,
    /// It would cost more than allowed.
    BudgetExceeded,
    /// The stream ended before the answer did.
    StreamTruncated,
    /// Anything else.
    Generic,
}

impl Category {
    /// All of them with their words, and what these mean.
    const WORDS: [(Category, &'static str, &'static str); 16] = [
        (Category::Timeout, "timeout", "Time was over."),
        (Category::Auth, "auth", "The key is missing or refused."),
        (
            Category::RateLimit,
            "rate_limit",
            "The provider wants us to slow down.",
        ),
        (
            Category::Overloaded,
            "overloaded",
            "The provider has too much to do.",
        ),
        (
            Category::ServerError,
            "server_error",
            "The provider failed.",
        ),
        (
            Category::TransientNetwork,
            "transient_network",
            "The network failed.",
        ),
        (
            Category::SchemaValidation,
            "schema_validation",
            "The answer does not fit the schema.",
        ),
        (Category::ToolError, "tool_error", "A tool failed."),
        (
            Category::ToolRejected,
            "tool_rejected",
            "A tool was not allowed to run.",
        ),
        (
            Category::EgressBlocked,
            "egress_blocked",
            "Traffic to that place is forbidden.",
        ),
        (
            Category::Cancelled,
            "cancelled",
            "The caller no longer wants an answer.",
        ),
        (
            Category::NotFound,
            "not_found",
            "There is no such model or endpoint.",
        ),
        (
            Category::CircuitOpen,
            "circuit_open",
            "Too many failures lately; nobody was asked.",
        ),
        (
            Category::BudgetExceeded,
            "budget_exceeded",
            "It would cost more than allowed.",
        ),
        (
            Category::StreamTruncated,
            "stream_truncated",
            "The stream ended before the answer did.",
        ),
        (Category::Generic, "generic", "Anything else."),
    ];

    /// The word programs see.
    pub fn word(self) -> &'static str {
        self.row().map_or("generic", |row| row.1)
    }

    /// What it means, in a sentence.
    pub fn meaning(self) -> &'static str {
        self.row().map_or("", |row| row.2)
    }

    /// Every category.
    pub fn all() -> impl Iterator<Item = Self> {
        Self::WORDS.iter().map(|(category, ..)| *category)
    }

    fn row(self) -> Option<&'static (Category, &'static str, &'static str)> {
        Self::WORDS.iter().find(|(category, ..)| *category == self)
    }

    /// The category of that word, if there is one.
    pub fn from_word(word: &str) -> Option<Self> {
        let row = Self::WORDS.iter().find(|(_, known, _)| *known == word);
        row.map(|(category, ..)| *category)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_category_has_a_word_of_its_own() {
        for (category, word, meaning) in Category::WORDS {
            assert_eq!((category.word(), category.meaning()), (word, meaning));
            assert_eq!(Category::from_word(word), Some(category));
        }
        assert_eq!(Category::from_word("nonsense"), None);
    }
}
