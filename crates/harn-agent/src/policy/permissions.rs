//! What one agent may do: the `permissions` of a loop, a sub-agent or a worker.

use std::sync::Arc;

use harn_llm::desk::Thrown;
use harn_options::PERMISSIONS;
use harn_shell::Purpose;
use serde_json::Value;

use super::matcher::{Rule, read_rules};
use crate::callback::{Callback, Functions};
use crate::known_options::refuse_unknown;

/// One level of permissions. Levels stack, from the outermost loop to the innermost one, and
/// every level must grant a call.
#[derive(Clone, Default)]
pub struct Permissions {
    /// What may be called. `None` is everything and an empty list is nothing.
    pub allow: Option<Vec<Rule>>,
    /// What may not be called, whatever is allowed.
    pub deny: Vec<Rule>,
    /// Asked before a call is denied.
    pub on_escalation: Option<Arc<dyn Callback>>,
    /// The session whose loop has this level. What a session was granted by its own level says
    /// nothing about the levels of those that start it later.
    pub owner: String,
}

impl Permissions {
    /// Reads a level from a program's dict; nil is no level. The paths of the functions start at
    /// the dict: `/on_escalation`, `/allow/<glob>`, `/deny/<glob>`. In a glob `~` is written
    /// `~0` and `/` is written `~1`, as JSON Pointer has it.
    ///
    /// # Errors
    /// What cannot be read is thrown, with the way to it: `permissions.allow.run`.
    pub fn read(label: &str, value: &Value, functions: &Functions) -> Result<Option<Self>, Thrown> {
        let fields = match value {
            Value::Null => return Ok(None),
            Value::Object(fields) => fields,
            _ => {
                let text = format!("{label}: permissions must be a dict");
                return Err(Thrown::Plain(text));
            }
        };
        refuse_unknown(label, &PERMISSIONS, fields)?;
        let rules = |key: &str, purpose: Purpose| {
            let value = fields.get(key).unwrap_or(&Value::Null);
            let label = format!("{label}.{key}");
            let rules = read_rules(&label, value, &format!("/{key}"), functions)?;
            for rule in rules.iter().flatten() {
                rule.check_commands(purpose)?;
            }
            Ok(rules)
        };
        Ok(Some(Self {
            allow: rules("allow", Purpose::Allow)?,
            deny: rules("deny", Purpose::Deny)?.unwrap_or_default(),
            on_escalation: functions.at("/on_escalation").cloned(),
            owner: String::new(),
        }))
    }

    /// The same, as the level of a session's loop.
    #[must_use]
    pub fn of(mut self, session_id: &str) -> Self {
        session_id.clone_into(&mut self.owner);
        self
    }
}

impl Permissions {
    /// As a dict that a later process can read. Functions do not survive: a rule that asks one
    /// allows nothing and denies everything it is about, so that nothing is allowed by mistake.
    pub fn to_value(&self) -> Value {
        let allow = self.allow.as_ref();
        let allow = allow.map(|rules| written(rules, false));
        serde_json::json!({"allow": allow, "deny": written(&self.deny, true)})
    }
}

fn written(rules: &[Rule], of_function: bool) -> Value {
    let rules = rules.iter();
    let rules = rules.map(|rule| (rule.tool.clone(), rule.matcher.to_value(of_function)));
    Value::Object(rules.collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_level_is_read() {
        let none = Functions::default();
        let read = |value: Value| Permissions::read("permissions", &value, &none);
        assert!(matches!(read(json!(null)), Ok(None)));
        let level = read(json!({}))
            .expect("it is well formed")
            .expect("it is given");
        assert!(level.allow.is_none() && level.deny.is_empty() && level.on_escalation.is_none());
        let value = json!({"allow": ["a", "b"], "deny": {"c": true}});
        let level = read(value)
            .expect("it is well formed")
            .expect("it is given");
        assert_eq!(level.allow.map(|rules| rules.len()), Some(2));
        assert_eq!(level.deny.len(), 1);
    }

    #[test]
    fn what_cannot_be_read_is_thrown() {
        let rows = [
            (json!(["a"]), "permissions: permissions must be a dict"),
            (json!("a"), "permissions: permissions must be a dict"),
            (
                json!({"allow": 1}),
                "permissions.allow: expected a list or dict, got int",
            ),
            (
                json!({"deny": [1]}),
                "permissions.deny: list entries must be strings",
            ),
            (
                json!({"allows": ["a"]}),
                "permissions: unknown key 'allows'; did you mean 'allow'?",
            ),
            (
                json!({"deny": {"run": 2}}),
                "permissions.deny.run: unsupported matcher type int",
            ),
        ];
        for (value, text) in rows {
            let thrown = Permissions::read("permissions", &value, &Functions::default());
            assert_eq!(thrown.err(), Some(Thrown::Plain(text.to_owned())));
        }
    }
}
