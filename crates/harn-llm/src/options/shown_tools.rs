//! The tools of a call, as programs see them in the log of the mock.

use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use serde_json::Value;

use super::tools::native_projection;
use crate::catalog::route::Style;
use crate::{SharedList, ToolSpec};

/// The tools of a call, as programs see them in the log of the mock. Only the mock, the log of
/// calls and who counts tokens look at them, so they are made when somebody does, once for all
/// who hold them.
#[derive(Clone, Debug, Default)]
pub struct ShownTools(Arc<Inner>);

#[derive(Clone, Debug, Default)]
struct Inner {
    /// What they are made of, and in which shape; `None` where they were made from the start.
    made_of: Option<(SharedList<ToolSpec>, Style)>,
    made: OnceLock<Vec<Value>>,
}

impl ShownTools {
    /// Those tools, in that shape.
    pub fn new(specs: SharedList<ToolSpec>, style: Style) -> Self {
        Self(Arc::new(Inner {
            made_of: Some((specs, style)),
            made: OnceLock::new(),
        }))
    }

    /// Changes them. Others who hold them see nothing of it.
    pub fn change(&mut self, change: impl FnOnce(&mut Vec<Value>)) {
        let inner = Arc::make_mut(&mut self.0);
        let mut tools = inner.made.take().unwrap_or_else(|| inner.make());
        change(&mut tools);
        *inner = Inner::from(tools);
    }
}

impl Inner {
    fn make(&self) -> Vec<Value> {
        let Some((specs, style)) = &self.made_of else {
            return Vec::new();
        };
        let specs = specs.iter();
        specs.map(|spec| native_projection(spec, *style)).collect()
    }
}

impl From<Vec<Value>> for Inner {
    fn from(tools: Vec<Value>) -> Self {
        Self {
            made_of: None,
            made: OnceLock::from(tools),
        }
    }
}

impl From<Vec<Value>> for ShownTools {
    fn from(tools: Vec<Value>) -> Self {
        Self(Arc::new(tools.into()))
    }
}

impl Deref for ShownTools {
    type Target = [Value];

    fn deref(&self) -> &[Value] {
        self.0.made.get_or_init(|| self.0.make())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tools() -> ShownTools {
        let spec = ToolSpec {
            name: "add".to_owned(),
            ..ToolSpec::default()
        };
        ShownTools::new(vec![spec].into(), Style::Anthropic)
    }

    #[test]
    fn they_are_made_when_somebody_looks() {
        let first = tools();
        let second = first.clone();
        assert!(first.0.made.get().is_none());
        assert_eq!(second[0]["name"], "add");
        assert!(first.0.made.get().is_some());
    }

    #[test]
    fn a_change_is_seen_by_nobody_else() {
        let first = tools();
        let mut second = first.clone();
        second.change(|tools| tools.push(json!({"name": "more"})));
        assert_eq!((first.len(), second.len()), (1, 2));
        second.change(Vec::clear);
        assert_eq!((first.len(), second.len()), (1, 0));
    }
}
