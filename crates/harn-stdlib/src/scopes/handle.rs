//! Handles: how programs name what they share.

use harn_machine::value::{Dict, Text};
use harn_machine::{Context, Failure, Fault, Value, argument};

use super::resolve;

/// What is shared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Kind {
    Cell,
    Map,
    Mailbox,
}

impl Kind {
    /// As it is called in handles.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Cell => "shared_cell",
            Self::Map => "shared_map",
            Self::Mailbox => "mailbox",
        }
    }
}

/// Something that tasks share, shown as `{_type, key, scope}`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Handle {
    pub(crate) kind: Kind,
    pub(crate) scope: Text,
    pub(crate) key: Text,
}

impl Handle {
    /// The handle for something that is opened by its name, or by a dict with a name and
    /// perhaps a scope. Of a dict, what else it says is in the second part.
    pub(crate) fn opened(
        kind: Kind,
        builtin: &str,
        context: &mut Context<'_>,
        arguments: &[Value],
    ) -> Result<(Self, Dict), Failure> {
        let (key, options) = match argument(arguments, 0) {
            Value::Dict(options) => {
                let key = ["key", "name"]
                    .into_iter()
                    .find_map(|name| options.get(name));
                (key.cloned().unwrap_or_default(), options.clone())
            }
            key => (key.clone(), Dict::default()),
        };
        if key.is_nil() {
            return Err(Fault::runtime(format!("{builtin}: key/name is required")));
        }
        let scope = options.get("scope").unwrap_or(&Value::Nil);
        let scope = resolve(builtin, scope, &options, context)?;
        let key = not_empty(builtin, key.to_text())?;
        Ok((Self { kind, scope, key }, options))
    }

    /// The handle that is an argument, or a bare name in the default scope.
    pub(crate) fn given(
        kind: Kind,
        builtin: &str,
        context: &mut Context<'_>,
        value: &Value,
    ) -> Result<Self, Failure> {
        let handle = match value {
            Value::Text(name) => return Self::named(kind, builtin, context, name.clone()),
            Value::Dict(dict) => Self::read(dict).filter(|handle| handle.kind == kind),
            _ => None,
        };
        let message = || format!("{builtin}: expected {} handle", kind.name());
        handle.ok_or_else(|| Fault::runtime(message()))
    }

    /// What has a bare name, in the default scope.
    pub(crate) fn named(
        kind: Kind,
        builtin: &str,
        context: &mut Context<'_>,
        name: Text,
    ) -> Result<Self, Failure> {
        let scope = resolve(builtin, &Value::Nil, &Dict::default(), context)?;
        let key = not_empty(builtin, name)?;
        Ok(Self { kind, scope, key })
    }

    /// The handle that a dict stands for.
    pub(crate) fn read(dict: &Dict) -> Option<Self> {
        let text = |name| match dict.get(name) {
            Some(Value::Text(text)) => Some(text.clone()),
            _ => None,
        };
        let name = text("_type")?;
        let kinds = [Kind::Cell, Kind::Map, Kind::Mailbox];
        Some(Self {
            kind: kinds
                .into_iter()
                .find(|kind| kind.name() == name.as_str())?,
            scope: text("scope")?,
            key: text("key")?,
        })
    }

    /// As programs see it.
    pub(crate) fn to_value(&self) -> Value {
        Value::dict([
            ("_type", self.kind.name().into()),
            ("key", self.key.clone().into()),
            ("scope", self.scope.clone().into()),
        ])
    }
}

fn not_empty(builtin: &str, name: Text) -> Result<Text, Failure> {
    match name.is_empty() {
        true => Err(Fault::runtime(format!("{builtin}: name must not be empty"))),
        false => Ok(name),
    }
}
