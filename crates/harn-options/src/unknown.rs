//! What is said about an option that cannot be followed.

use std::fmt;

use crate::dict::{OptionDict, Others};

/// How many keys are listed at most when none of them is close to what was written.
const LISTED_MAX: usize = 12;

/// Options of loops that say what may be done. A misspelt one is no option that does nothing.
const RULES_OF_LOOPS: [&str; 6] = [
    "policy",
    "approval_policy",
    "permissions",
    "command_policy",
    "sandbox",
    "provenance",
];

/// A key that a dict of options does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unknown {
    /// The way to the dict, with a dot behind every option: `turn_policy.`.
    path: String,
    /// The key itself.
    key: String,
    /// Whether it was to be a rule about what may be done.
    is_rule: bool,
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
        let meant = dict.meant_by(key);
        let may_stand = match dict.others {
            Others::Refused | Others::RefusedByRules => false,
            Others::Providers => is_provider(key),
            Others::KeptUnlessMisspelt => meant.is_none(),
            Others::Kept => true,
        };
        match dict.lacks(key) && !may_stand {
            true => Some(Self::new(dict, path, key, meant)),
            false => None,
        }
    }

    /// What a key is in a dict that stands below rules. A misspelt one of ours is refused there,
    /// also where other keys stay.
    pub fn find_below_rules(dict: &OptionDict, path: &str, key: &str) -> Option<Self> {
        let keeps = matches!(dict.others, Others::Kept | Others::KeptUnlessMisspelt);
        let meant = dict.meant_by(key);
        match dict.lacks(key) && (meant.is_some() || !keeps) {
            true => Some(Self {
                is_rule: true,
                ..Self::new(dict, path, key, meant)
            }),
            false => None,
        }
    }

    fn new(dict: &OptionDict, path: &str, key: &str, meant: Option<&'static str>) -> Self {
        let is_rule_of_loop =
            !dict.family.is_empty() && meant.is_some_and(|meant| RULES_OF_LOOPS.contains(&meant));
        let is_listed = dict.family.is_empty() && dict.keys.len() <= LISTED_MAX;
        let expected = dict.keys.iter().filter(|_| is_listed);
        Self {
            path: path.to_owned(),
            key: key.to_owned(),
            is_rule: dict.others == Others::RefusedByRules || is_rule_of_loop,
            meant,
            expected: expected.map(|key| key.name).collect(),
        }
    }
}

impl Unknown {
    /// The same with all keys that there are, for builtins that have always listed them.
    pub fn listed(&self) -> String {
        let expected = self.expected.join(", ");
        format!(
            "unknown option key '{}{}' (expected one of: {expected})",
            self.path, self.key
        )
    }
}

impl fmt::Display for Unknown {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, key, .. } = self;
        match (self.is_rule, path.strip_suffix('.')) {
            (false, _) => write!(formatter, "unknown option key '{path}{key}'")?,
            (true, None) => write!(formatter, "unknown key '{key}'")?,
            (true, Some(place)) => write!(formatter, "{place}: unknown key '{key}'")?,
        }
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
    use crate::{AGENT_LOOP, ANNOTATIONS, SKILL, TABLES, TOOL, TURN_POLICY};

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
                "unknown key 'approval_polcy'; did you mean 'approval_policy'?",
            ),
            (
                "permision",
                "unknown key 'permision'; did you mean 'permissions'?",
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
    fn every_misspelt_key_of_every_dict_of_rules_is_refused() {
        let mut dicts = 0;
        for dict in TABLES {
            if dict.others != Others::RefusedByRules {
                continue;
            }
            dicts += 1;
            for key in dict.keys {
                let doubled = format!("{}{}", key.name, key.name.chars().last().unwrap());
                let (shortened, _) = key.name.split_at(key.name.len() - 1);
                for wrong in [&*doubled, shortened] {
                    // Some have a key and its plural.
                    if dict.find(wrong).is_some() {
                        continue;
                    }
                    let told = told(dict, wrong).unwrap_or_default();
                    let meant = format!("unknown key '{wrong}'; did you mean '");
                    assert!(told.starts_with(&meant), "{}.{wrong}: {told}", dict.name);
                }
            }
            assert!(told(dict, "quite_different").is_some(), "{}", dict.name);
        }
        assert_eq!(dicts, 8);
    }

    #[test]
    fn below_rules_a_misspelt_key_is_refused_where_others_stay() {
        let told = |key: &str| {
            let found =
                Unknown::find_below_rules(&ANNOTATIONS, "policy.tool_annotations.run.", key);
            found.map(|unknown| unknown.to_string())
        };
        assert_eq!(
            told("side_efect_level").as_deref(),
            Some(
                "policy.tool_annotations.run: unknown key 'side_efect_level'; did you mean \
                 'side_effect_level'?"
            )
        );
        assert_eq!(told("mine"), None);
        assert_eq!(told("kind"), None);
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
