//! Names of topics and of those who read them.

use std::fmt;
use std::sync::Arc;

use crate::error::LogError;

/// Position of a record in its topic. The first one is 1.
pub type EventId = u64;

/// Where records are kept in order: a plain name. Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Topic(Arc<str>);

impl Topic {
    /// A topic of this name: ASCII letters, digits, `.`, `_` and `-`.
    ///
    /// # Errors
    /// Anything else, also nothing.
    pub fn new(name: impl AsRef<str>) -> Result<Self, LogError> {
        let name = name.as_ref();
        if name.is_empty() {
            return Err(LogError::InvalidTopic("topic cannot be empty".to_owned()));
        }
        if !name.chars().all(is_topic_character) {
            let problem = format!("topic '{name}' contains unsupported characters");
            return Err(LogError::InvalidTopic(problem));
        }
        Ok(Self(Arc::from(name)))
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Topic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Somebody who reads a topic and remembers how far.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConsumerId(String);

impl ConsumerId {
    /// A consumer of this name.
    ///
    /// # Errors
    /// A blank name.
    pub fn new(name: impl Into<String>) -> Result<Self, LogError> {
        let name = name.into();
        if name.trim().is_empty() {
            let problem = "consumer id cannot be empty".to_owned();
            return Err(LogError::InvalidConsumer(problem));
        }
        Ok(Self(name))
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ConsumerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A name as part of a topic: every character a topic cannot have becomes `_`, one
/// for one. Two names may become the same; records carry the name itself in a
/// header where that matters.
pub fn sanitize_topic_component(value: &str) -> String {
    let plain = |character| {
        if is_topic_character(character) {
            character
        } else {
            '_'
        }
    };
    value.chars().map(plain).collect()
}

fn is_topic_character(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '.' | '_' | '-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn topics_are_plain_names() {
        for name in ["a", "observability.agent_events.x-1", "A_9."] {
            assert_eq!(Topic::new(name).unwrap().as_str(), name);
        }
    }

    #[test]
    fn other_names_are_refused_with_a_reason() {
        for (name, reason) in [
            ("", "topic cannot be empty"),
            ("a/b", "topic 'a/b' contains unsupported characters"),
            ("ä", "topic 'ä' contains unsupported characters"),
            (" ", "topic ' ' contains unsupported characters"),
        ] {
            assert_eq!(Topic::new(name).unwrap_err().to_string(), reason);
        }
    }

    #[test]
    fn a_consumer_has_a_name() {
        assert_eq!(ConsumerId::new("portal 1").unwrap().as_str(), "portal 1");
        for blank in ["", "  ", "\t\n"] {
            let error = ConsumerId::new(blank).unwrap_err();
            assert_eq!(error.to_string(), "consumer id cannot be empty");
        }
    }

    #[test]
    fn sanitising_keeps_the_length_in_characters() {
        for (value, component) in [("a/b c", "a_b_c"), ("ä😀", "__"), ("", ""), (" x ", "_x_")] {
            assert_eq!(sanitize_topic_component(value), component);
        }
    }
}
