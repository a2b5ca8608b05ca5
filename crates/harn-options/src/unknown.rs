//! What is said about an option that cannot be followed.

use std::fmt;

use crate::dict::{OptionDict, Others};

/// How many keys are listed at most when none of them is close to what was written.
const LISTED_MAX: usize = 12;

/// A key that a dict of options does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unknown {
    /// The way to it: `turn_policy.max_prose`.
    pub path: String,
    /// The key that was meant, if one is close.
    pub meant: Option<&'static str>,
    /// All that there are, if they are few.
    expected: Vec<&'static str>,
}

impl Unknown {
    /// What a key is in a dict that stands below `path`, where every option has a dot behind it;
    /// `None` if it may stand there.
    pub fn find(
        dict: &OptionDict,
        path: &str,
        key: &str,
        is_provider: impl Fn(&str) -> bool,
    ) -> Option<Self> {
        if !dict.lacks(key) {
            return None;
        }
        let meant = dict.meant_by(key);
        let may_stand = match dict.others {
            Others::Refused => false,
            Others::Providers => is_provider(key),
            Others::KeptUnlessMisspelt => meant.is_none(),
            Others::Kept => true,
        };
        if may_stand {
            return None;
        }
        let is_listed = dict.family.is_empty() && dict.keys.len() <= LISTED_MAX;
        let expected = dict.keys.iter().filter(|_| is_listed);
        Some(Self {
            path: format!("{path}{key}"),
            meant,
            expected: expected.map(|key| key.name).collect(),
        })
    }
}

impl Unknown {
    /// The same with all keys that there are, for builtins that have always listed them.
    pub fn listed(&self) -> String {
        let expected = self.expected.join(", ");
        format!(
            "unknown option key '{}' (expected one of: {expected})",
            self.path
        )
    }
}

impl fmt::Display for Unknown {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "unknown option key '{}'", self.path)?;
        match self.meant {
            Some(meant) => write!(formatter, "; did you mean '{meant}'?"),
            None if self.expected.is_empty() => Ok(()),
            None => write!(
                formatter,
                " (expected one of: {})",
                self.expected.join(", ")
            ),
        }
    }
}

/// What is said about an option that this build cannot follow.
pub fn unavailable(path: &str) -> String {
    format!("`{path}` is not available in this build")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AGENT_LOOP, SKILL, TOOL, TURN_POLICY};

    fn told(dict: &OptionDict, key: &str) -> Option<String> {
        Unknown::find(dict, "", key, |name| name == "acme").map(|unknown| unknown.to_string())
    }

    #[test]
    fn the_nearest_key_is_suggested() {
        for (key, expected) in [
            (
                "max_iteration",
                "unknown option key 'max_iteration'; did you mean 'max_iterations'?",
            ),
            (
                "approval_polcy",
                "unknown option key 'approval_polcy'; did you mean 'approval_policy'?",
            ),
            ("colour", "unknown option key 'colour'"),
        ] {
            assert_eq!(told(&AGENT_LOOP, key).as_deref(), Some(expected));
        }
    }

    #[test]
    fn few_keys_are_listed_where_none_is_close() {
        assert_eq!(
            told(&TURN_POLICY, "verbose").as_deref(),
            Some(
                "unknown option key 'verbose' (expected one of: require_action_or_yield, \
                 allow_done_sentinel, max_prose_chars)"
            )
        );
    }

    #[test]
    fn what_has_a_meaning_somewhere_is_known() {
        for key in [
            "max_iterations",
            "temperature",
            "returns",
            "carry",
            "acme",
            "_stage",
        ] {
            assert_eq!(told(&AGENT_LOOP, key), None, "{key}");
        }
    }

    #[test]
    fn keys_of_others_stay() {
        assert_eq!(told(&TOOL, "parameter"), None);
        assert_eq!(told(&SKILL, "priority"), None);
        assert_eq!(
            told(&SKILL, "alowed_tools").as_deref(),
            Some("unknown option key 'alowed_tools'; did you mean 'allowed_tools'?")
        );
    }
}
