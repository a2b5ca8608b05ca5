//! Options of guards and judges, with one text for each kind of mistake.

use std::sync::Arc;

use harn_llm::desk::Thrown;
use harn_llm::options::value::{display, kind};
use serde_json::{Map, Value};

use crate::callback::{Callback, Functions};

/// The options of a loop and the functions among them.
#[derive(Clone, Copy)]
pub(super) struct Given<'a>(pub(super) &'a Map<String, Value>, pub(super) &'a Functions);

/// A feature that is switched on.
pub(super) struct Config {
    /// Its options; empty if it was only switched on.
    pub(super) options: Map<String, Value>,
    /// The functions among them.
    pub(super) functions: Functions,
}

impl Given<'_> {
    fn value(&self, key: &str) -> Option<&Value> {
        self.0.get(key).filter(|value| !value.is_null())
    }

    /// A function, or nil.
    pub(super) fn closure(&self, key: &str) -> Result<Option<Arc<dyn Callback>>, Thrown> {
        if let Some(function) = self.1.at(&format!("/{key}")) {
            return Ok(Some(Arc::clone(function)));
        }
        match self.value(key) {
            None => Ok(None),
            Some(other) => refuse(key, &format!("a closure or nil; got {}", kind(other))),
        }
    }

    /// A dict, a switch, or nil; `None` if it is off.
    pub(super) fn config(&self, key: &str) -> Result<Option<Config>, Thrown> {
        let is_function = self.1.at(&format!("/{key}")).is_some();
        let options = match self.value(key) {
            None if !is_function => return Ok(None),
            Some(Value::Bool(false)) => return Ok(None),
            Some(Value::Bool(true)) => Map::new(),
            Some(Value::Object(options)) => options.clone(),
            other => {
                let kind = other.map_or("closure", kind);
                return refuse(key, &format!("a dict, bool, or nil; got {kind}"));
            }
        };
        Ok(Some(Config {
            options,
            functions: self.1.below(&format!("/{key}")),
        }))
    }

    /// Whether a feature is switched on; a dict may say otherwise by itself.
    pub(super) fn is_on(&self, key: &str) -> Result<bool, Thrown> {
        let config = self.config(key)?;
        Ok(config.is_some_and(|config| config.options.get("enabled") != Some(&Value::Bool(false))))
    }

    /// An int above 0.
    pub(super) fn positive(&self, key: &str) -> Result<Option<u64>, Thrown> {
        match self.value(key) {
            None => Ok(None),
            Some(value) => match value.as_u64().filter(|number| *number > 0) {
                Some(number) => Ok(Some(number)),
                None => refuse(key, &format!("a positive integer; got {}", display(value))),
            },
        }
    }
}

impl Given<'_> {
    /// What is thrown for an option of the wrong type.
    pub(super) fn wrong(key: &str, expected: &str, value: &Value) -> Thrown {
        let got = kind(value);
        Thrown::Plain(format!("agent_loop: `{key}` must be {expected}; got {got}"))
    }
}

/// A whole number of a dict that is an option: at least 1, or at least 0.
///
/// # Errors
/// It is none.
pub(super) fn whole(
    fields: &Map<String, Value>,
    place: &str,
    key: &str,
    least: u64,
) -> Result<Option<u64>, Thrown> {
    let Some(value) = fields.get(key).filter(|value| !value.is_null()) else {
        return Ok(None);
    };
    let place = format!("{place}.{key}");
    match value.as_u64().filter(|number| *number >= least) {
        Some(number) => Ok(Some(number)),
        None if least == 0 => refuse(&place, ">= 0"),
        None => refuse(
            &place,
            &format!("a positive integer; got {}", display(value)),
        ),
    }
}

fn refuse<T>(key: &str, expected: &str) -> Result<T, Thrown> {
    Err(Thrown::Plain(format!(
        "agent_loop: `{key}` must be {expected}"
    )))
}
