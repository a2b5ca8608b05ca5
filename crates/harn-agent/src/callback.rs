//! Functions that the runtime calls and that belong to somebody else.
//!
//! A program gives closures, a Rust embedder functions. The loop knows neither: it calls a
//! [`Callback`] with JSON and gets JSON back. The interpreter implements the trait for its
//! closures.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use harn_llm::desk::Thrown;
use serde_json::Value;

/// A future that can be sent to another thread.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A function of whoever runs the loop.
pub trait Callback: Send + Sync {
    /// Calls it. What it throws is given back as it was thrown.
    fn call(&self, arguments: Vec<Value>) -> BoxFuture<'_, Result<Value, Thrown>>;

    /// Calls it as a reader of events, so many readers deep. A function that asks the runtime
    /// for something in another task says this number there, as
    /// [`Asked::subscriber_depth`](crate::Asked::subscriber_depth).
    fn call_as_subscriber(
        &self,
        arguments: Vec<Value>,
        _depth: u32,
    ) -> BoxFuture<'_, Result<Value, Thrown>> {
        self.call(arguments)
    }
}

impl<F> Callback for F
where
    F: Fn(Vec<Value>) -> Result<Value, Thrown> + Send + Sync,
{
    fn call(&self, arguments: Vec<Value>) -> BoxFuture<'_, Result<Value, Thrown>> {
        let result = self(arguments);
        Box::pin(std::future::ready(result))
    }
}

/// The functions among the options of a program, by their place.
///
/// Options are JSON, where a function is `null`; what it is stands here under the path to that
/// place, in the manner of JSON Pointer: `/tools/tools/0/handler`.
#[derive(Clone, Default)]
pub struct Functions(BTreeMap<String, Arc<dyn Callback>>);

impl Functions {
    /// Notes a function.
    pub fn insert(&mut self, path: impl Into<String>, function: Arc<dyn Callback>) {
        self.0.insert(path.into(), function);
    }

    /// The function at a path.
    pub fn at(&self, path: &str) -> Option<&Arc<dyn Callback>> {
        self.0.get(path)
    }

    /// The functions below a path, with paths that start there.
    pub fn below(&self, path: &str) -> Functions {
        let inner = self.0.iter().filter_map(|(place, function)| {
            let rest = place.strip_prefix(path)?;
            rest.starts_with('/')
                .then(|| (rest.to_owned(), Arc::clone(function)))
        });
        Functions(inner.collect())
    }

    /// The same, with the function at the path itself under the empty path.
    pub fn below_or_at(&self, path: &str) -> Functions {
        let mut inner = self.below(path);
        if let Some(function) = self.at(path) {
            inner.insert("", Arc::clone(function));
        }
        inner
    }

    /// The functions below a path, with paths that start at another place.
    #[must_use]
    pub fn moved(&self, path: &str, to: &str) -> Functions {
        let inner = self.below(path).0.into_iter();
        let moved = inner.map(|(place, function)| (format!("{to}{place}"), function));
        Functions(moved.collect())
    }

    /// Notes the functions of another list; where both have one, the other's counts.
    pub fn extend(&mut self, other: Functions) {
        self.0.extend(other.0);
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn functions_are_found_by_their_place() {
        let mut functions = Functions::default();
        let twice = |arguments: Vec<Value>| {
            let number = arguments[0].as_i64().unwrap_or_default();
            Ok(json!(number * 2))
        };
        functions.insert("/permissions/allow/run", Arc::new(twice));
        let inner = functions.below("/permissions");
        let found = inner.at("/allow/run").expect("it was noted");
        let result = harn_log::block_on(found.call(vec![json!(21)]));
        assert_eq!(result, Ok(json!(42)));
        assert!(functions.below("/perm").is_empty());
        assert!(inner.at("/permissions/allow/run").is_none());
    }
}
