//! Handles of agent state, and the keys it is kept under.

use std::path::{Component, Path, PathBuf};

use harn_machine::value::{Dict, Text};
use harn_machine::{Failure, Fault, Value, argument};

use super::HANDOFF_KEY;

/// Where notes about writers are, in the folder of a session.
pub(super) const WRITERS: &str = ".writers";

/// What a handle says.
pub(super) struct Handle {
    pub(super) root: Text,
    pub(super) session: Text,
    pub(super) policy: Policy,
    writer_id: Option<Text>,
    stage_id: Option<Text>,
    worker_id: Option<Text>,
}

/// What is done when somebody writes what another has written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Policy {
    Ignore,
    Warn,
    Error,
}

impl Policy {
    const ALL: [(&'static str, Self); 3] = [
        ("ignore", Self::Ignore),
        ("warn", Self::Warn),
        ("error", Self::Error),
    ];

    fn named(function: &str, name: &str) -> Result<Self, Failure> {
        let found = Self::ALL.iter().find(|(one, _)| *one == name);
        found.map(|(_, policy)| *policy).ok_or_else(|| {
            Fault::runtime(format!(
                "__agent_state_{function}: `conflict_policy` must be ignore, warn, or error, got '{name}'"
            ))
        })
    }

    fn name(self) -> &'static str {
        let found = Self::ALL.iter().find(|(_, policy)| *policy == self);
        found.map_or("", |(name, _)| name)
    }
}

/// The handle that `agent_state_init` makes of its arguments: `(root, options?)`, or
/// `(session_id, root, options?)`.
pub(super) fn of_arguments(arguments: &[Value]) -> Result<Handle, Failure> {
    let given = match argument(arguments, 0) {
        Value::List(given) => &**given,
        _ => &[],
    };
    let is_options = |value: &Value| matches!(value, Value::Nil | Value::Dict(_));
    match (argument(given, 0), argument(given, 1), argument(given, 2)) {
        (Value::Text(session), Value::Text(root), options) if is_options(options) => {
            Handle::new("init", root.clone(), session.clone(), options)
        }
        (Value::Text(root), options, Value::Nil) if is_options(options) => {
            let named = text_of(options, "session_id");
            let session = named.unwrap_or_else(|| argument(arguments, 1).to_text());
            Handle::new("init", root.clone(), session, options)
        }
        _ => Err(Fault::runtime(
            "__agent_state_init: expected `(root, options?)` or `(session_id, root, options?)`",
        )),
    }
}

impl Handle {
    /// A handle with the options of a program.
    pub(super) fn new(
        function: &str,
        root: Text,
        session: Text,
        options: &Value,
    ) -> Result<Self, Failure> {
        // The folder of a session lies in the root, whatever it is called.
        if Key::parts(&session).is_none_or(|parts| parts.len() != 1) {
            let message = format!(
                "__agent_state_{function}: `session_id` must be a name without path separators, got '{session}'"
            );
            return Err(Fault::runtime(message));
        }
        let policy = text_of(options, "conflict_policy");
        let policy = policy.or_else(|| text_of(options, "two_writer"));
        let policy = policy.unwrap_or_else(|| Text::new("ignore"));
        Ok(Self {
            root,
            session,
            policy: Policy::named(function, &policy)?,
            writer_id: text_of(options, "writer_id"),
            stage_id: text_of(options, "stage_id"),
            worker_id: text_of(options, "worker_id"),
        })
    }

    /// A handle that a program passes.
    pub(super) fn read(function: &str, value: &Value) -> Result<Self, Failure> {
        let wrong = |what: &str| {
            let message = format!("__agent_state_{function}: `handle` {what}");
            Err(Fault::runtime(message))
        };
        let fields = match value {
            Value::Nil => return wrong("is required"),
            Value::Dict(fields) if is_handle(fields) => fields,
            _ => return wrong("must be a state_handle dict"),
        };
        let (Some(root), Some(session)) = (text_of(value, "root"), text_of(value, "session_id"))
        else {
            return wrong("must be a state_handle dict");
        };
        let mut options = match fields.get("writer") {
            Some(Value::Dict(writer)) => writer.clone(),
            _ => Dict::default(),
        };
        let policy = fields.get("conflict_policy").cloned().unwrap_or_default();
        options.insert(Text::new("conflict_policy"), policy);
        Self::new(function, root, session, &options.into())
    }

    /// As programs see it.
    pub(super) fn described(&self) -> Value {
        Value::dict([
            ("_type", "state_handle".into()),
            ("backend", "filesystem".into()),
            ("conflict_policy", self.policy.name().into()),
            ("handoff_key", HANDOFF_KEY.into()),
            ("root", self.root.clone().into()),
            ("session_id", self.session.clone().into()),
            ("writer", self.writer()),
        ])
    }

    /// Who writes.
    pub(super) fn writer(&self) -> Value {
        Value::dict([
            ("session_id", self.session.clone().into()),
            ("stage_id", self.stage_id.clone().into()),
            ("worker_id", self.worker_id.clone().into()),
            ("writer_id", self.writer_id.clone().into()),
        ])
    }

    /// What the writer is called; nothing if nobody said.
    pub(super) fn writer_name(&self) -> Option<&Text> {
        let names = [&self.writer_id, &self.worker_id, &self.stage_id];
        names.into_iter().flatten().next()
    }
}

fn is_handle(fields: &Dict) -> bool {
    matches!(fields.get("_type"), Some(Value::Text(kind)) if kind.as_str() == "state_handle")
}

/// A field of a dict, as text; `None` if it is not there.
fn text_of(fields: &Value, name: &str) -> Option<Text> {
    match fields {
        Value::Dict(fields) => {
            let value = fields.get(name).filter(|value| !value.is_nil());
            value.map(Value::to_text)
        }
        _ => None,
    }
}

/// What something is kept under: a path below the folder of its session.
#[derive(Debug)]
pub(super) struct Key {
    /// As it was given.
    pub(super) name: String,
    pub(super) path: PathBuf,
}

impl Key {
    pub(super) fn new(function: &str, name: &str) -> Result<Self, Failure> {
        let wrong = || {
            let message = format!(
                "__agent_state_{function}: `key` must be a relative path without `..`, got '{name}'"
            );
            Fault::runtime(message)
        };
        let parts = Self::parts(name).ok_or_else(wrong)?;
        if parts.first() == Some(&WRITERS) {
            return Err(wrong());
        }
        Ok(Self {
            name: name.to_owned(),
            path: parts.iter().collect(),
        })
    }

    /// The parts of a path that stays where it begins.
    fn parts(path: &str) -> Option<Vec<&str>> {
        let mut parts = Vec::new();
        for part in Path::new(path).components() {
            match part {
                Component::Normal(part) => parts.push(part.to_str()?),
                Component::CurDir => {}
                _ => return None,
            }
        }
        (!parts.is_empty()).then_some(parts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_stay_in_the_folder_of_their_session() {
        for (key, path) in [("a", "a"), ("./a//b.txt", "a/b.txt"), ("a b/ä", "a b/ä")] {
            assert_eq!(Key::new("read", key).unwrap().path, Path::new(path));
        }
        for key in ["", ".", "..", "/a", "a/../b", "../a", ".writers/a"] {
            assert!(Key::new("read", key).is_err(), "{key}");
        }
    }

    #[test]
    fn a_handle_is_read_as_it_was_described() {
        let options = Value::dict([("writer_id", "w".into()), ("two_writer", "warn".into())]);
        let handle = Handle::new("init", Text::new("r"), Text::new("s"), &options).unwrap();
        let described = handle.described();
        let again = Handle::read("read", &described).unwrap();
        assert_eq!(again.described(), described);
        assert_eq!(again.policy, Policy::Warn);
        assert_eq!(again.writer_name(), Some(&Text::new("w")));
    }
}
