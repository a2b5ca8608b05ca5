//! Options that nobody reads are refused before anything begins.

use harn_llm::desk::Thrown;
use harn_llm::options::known::{self, Refusal};
use harn_options::OptionDict;
use serde_json::{Map, Value};

use crate::callback::Functions;
use crate::runtime::Runtime;

/// Refuses what a builtin that asks models does not know, and what this build cannot follow.
///
/// # Errors
/// What the program catches.
pub(crate) fn refuse(
    runtime: &Runtime,
    label: &str,
    dict: &'static OptionDict,
    options: &Map<String, Value>,
    functions: &Functions,
) -> Result<(), Thrown> {
    let is_provider = |name: &str| runtime.desk.knows_provider(name);
    known::refuse_unknown(label, dict, options, &is_provider)
        .map_err(|invalid| Thrown::Plain(invalid.to_string()))?;
    let is_function = |path: &str| functions.at(path).is_some();
    let available = known::refuse_unavailable(label, dict, options, &is_function);
    available.map_err(|refusal| match refusal {
        Refusal::Wrong(invalid) => Thrown::Plain(invalid.to_string()),
        Refusal::Unavailable(invalid) => Thrown::Runtime(invalid.to_string()),
    })
}

/// Refuses what a dict does not have.
///
/// # Errors
/// What the program catches.
pub(crate) fn refuse_unknown(
    label: &str,
    dict: &'static OptionDict,
    options: &Map<String, Value>,
) -> Result<(), Thrown> {
    known::refuse_unknown(label, dict, options, &|_| false)
        .map_err(|invalid| Thrown::Plain(invalid.to_string()))
}

/// Refuses what a dict does not have, if it is a misspelt key of ours. Programs may keep other
/// keys in it.
///
/// # Errors
/// What the program catches.
pub(crate) fn refuse_misspelt(
    label: &str,
    dict: &'static OptionDict,
    options: &Map<String, Value>,
) -> Result<(), Thrown> {
    let is_ours = |key: &str| !dict.lacks(key) || dict.meant_by(key).is_some();
    let ours = options.iter().filter(|(key, _)| is_ours(key));
    let ours = ours.map(|(key, value)| (key.clone(), value.clone()));
    refuse_unknown(label, dict, &ours.collect())
}

#[cfg(test)]
mod every_option;
