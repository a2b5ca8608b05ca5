//! The policies by their names.

use std::sync::Arc;

use harn_llm::desk::Thrown;
use harn_llm::options::value::display;
use serde_json::Value;

use crate::callback::{Callback, Functions};

/// Where a dict may have the function of a custom policy; the empty path is the policy itself.
const FUNCTION_PLACES: [&str; 7] = [
    "",
    "/custom",
    "/callback",
    "/closure",
    "/project",
    "/projector",
    "/function",
];

/// What decides what a model sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Policy {
    Raw,
    CleanToolRepair,
    SquashFailedCalls,
    SummaryPrefix,
    ReachabilityGc,
    Custom,
}

impl Policy {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Raw => "raw",
            Self::CleanToolRepair => "clean_tool_repair",
            Self::SquashFailedCalls => "squash_failed_calls",
            Self::SummaryPrefix => "summary_prefix",
            Self::ReachabilityGc => "reachability_gc",
            Self::Custom => "custom",
        }
    }

    /// The policy that a program means: a name, a dict with a name, or a function.
    pub(super) fn meant(value: &Value, functions: &Functions) -> Result<Self, Thrown> {
        let name = match value {
            Value::Null if functions.at("").is_some() => return Ok(Self::Custom),
            Value::Null => return Ok(Self::Raw),
            Value::String(name) => Some(name.clone()),
            Value::Object(fields) => {
                let keys = ["policy", "type", "kind", "name"].into_iter();
                let mut given = keys.filter_map(|key| fields.get(key));
                given.find(|value| !value.is_null()).map(display)
            }
            _ => {
                return Err(Thrown::Plain(
                    "transcript_project: policy must be a string, dict, or closure".to_owned(),
                ));
            }
        };
        match name {
            Some(name) => Self::named(&name),
            None if function(functions).is_some() => Ok(Self::Custom),
            None => Ok(Self::Raw),
        }
    }

    fn named(name: &str) -> Result<Self, Thrown> {
        let all = [
            Self::Raw,
            Self::CleanToolRepair,
            Self::SquashFailedCalls,
            Self::SummaryPrefix,
            Self::ReachabilityGc,
            Self::Custom,
        ];
        let found = all.into_iter().find(|policy| policy.name() == name);
        found.ok_or_else(|| {
            Thrown::Plain(format!(
                "transcript_project: unknown policy '{name}' (expected raw, clean_tool_repair, squash_failed_calls, summary_prefix, reachability_gc, or custom)"
            ))
        })
    }
}

/// The function of a custom policy.
pub(super) fn function(functions: &Functions) -> Option<&Arc<dyn Callback>> {
    FUNCTION_PLACES.iter().find_map(|place| functions.at(place))
}
