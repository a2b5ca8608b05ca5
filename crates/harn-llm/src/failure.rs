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
    /// A server of tools failed, or the connection to it.
    McpServerError,
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
    /// Another process or program uses what is wanted.
    ResourceBusy,
    /// Anything else.
    Generic,
}

impl Category {
    /// All of them with their words.
    const WORDS: [(Category, &'static str); 18] = [
        (Category::Timeout, "timeout"),
        (Category::Auth, "auth"),
        (Category::RateLimit, "rate_limit"),
        (Category::Overloaded, "overloaded"),
        (Category::ServerError, "server_error"),
        (Category::TransientNetwork, "transient_network"),
        (Category::SchemaValidation, "schema_validation"),
        (Category::ToolError, "tool_error"),
        (Category::McpServerError, "mcp_server_error"),
        (Category::ToolRejected, "tool_rejected"),
        (Category::EgressBlocked, "egress_blocked"),
        (Category::Cancelled, "cancelled"),
        (Category::NotFound, "not_found"),
        (Category::CircuitOpen, "circuit_open"),
        (Category::BudgetExceeded, "budget_exceeded"),
        (Category::StreamTruncated, "stream_truncated"),
        (Category::ResourceBusy, "resource_busy"),
        (Category::Generic, "generic"),
    ];

    /// The word programs see.
    pub fn word(self) -> &'static str {
        let row = Self::WORDS.iter().find(|(category, _)| *category == self);
        row.map_or("generic", |(_, word)| word)
    }

    /// What it means, in a sentence.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Timeout => "Time was over.",
            Self::Auth => "The key is missing or refused.",
            Self::RateLimit => "The provider wants us to slow down.",
            Self::Overloaded => "The provider has too much to do.",
            Self::ServerError => "The provider failed.",
            Self::TransientNetwork => "The network failed.",
            Self::SchemaValidation => "The answer does not fit the schema.",
            Self::ToolError => "A tool failed.",
            Self::McpServerError => "A server of tools failed, or the connection to it.",
            Self::ToolRejected => "A tool was not allowed to run.",
            Self::EgressBlocked => "Traffic to that place is forbidden.",
            Self::Cancelled => "The caller no longer wants an answer.",
            Self::NotFound => "There is no such model or endpoint.",
            Self::CircuitOpen => "Too many failures lately; nobody was asked.",
            Self::BudgetExceeded => "It would cost more than allowed.",
            Self::StreamTruncated => "The stream ended before the answer did.",
            Self::ResourceBusy => "Another process or program uses what is wanted.",
            Self::Generic => "Anything else.",
        }
    }

    /// Every category.
    pub fn all() -> impl Iterator<Item = Self> {
        Self::WORDS.iter().map(|(category, _)| *category)
    }

    /// The category of that word, if there is one.
    pub fn from_word(word: &str) -> Option<Self> {
        let row = Self::WORDS.iter().find(|(_, known)| *known == word);
        row.map(|(category, _)| *category)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_category_has_a_word_of_its_own() {
        for (category, word) in Category::WORDS {
            assert_eq!(category.word(), word);
            assert_eq!(Category::from_word(word), Some(category));
        }
        assert_eq!(Category::from_word("nonsense"), None);
    }
}
