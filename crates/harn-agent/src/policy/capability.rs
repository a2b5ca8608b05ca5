//! The ceiling above everything an agent does.

use std::collections::BTreeMap;

use harn_events::{SideEffectLevel, ToolAnnotations};
use harn_llm::desk::Thrown;
use harn_llm::options::value::display;
use harn_options::{POLICY, TextPattern};
use harn_shell::Purpose;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::annotations::read_annotations;
use super::commands::check_patterns;
use super::glob::check_pattern;
use super::reading::{fields, patterns, texts, unexpected};
use crate::known_options::{refuse_misspelt, refuse_unknown};

/// How deep loops may start loops when nobody says otherwise.
pub(crate) const RECURSION_LIMIT: u64 = 8;

/// What may be done at most. Every empty list or dict, and every `None`, is no limit.
///
/// Policies form a stack. The effective one is their [intersection](Self::intersect), so a
/// policy further in can only take away.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CapabilityPolicy {
    /// Patterns for the tools that may be called.
    pub tools: Vec<String>,
    /// The operations that may be used, by capability. No operations: all of them.
    pub capabilities: BTreeMap<String, Vec<String>>,
    /// The directories to stay in.
    pub workspace_roots: Vec<String>,
    /// How invasive anything may be.
    pub side_effect_level: Option<SideEffectLevel>,
    /// How deep loops may start loops.
    pub recursion_limit: Option<u64>,
    /// What arguments of tools may be. All of them hold.
    pub tool_arg_constraints: Vec<ArgConstraint>,
    /// What is known about tools, by name. It counts before what tools say about themselves.
    pub tool_annotations: BTreeMap<String, ToolAnnotations>,
}

/// A list of what one argument may be.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ArgConstraint {
    /// A pattern for the tools it is about.
    pub tool: String,
    /// Patterns, one of which the argument must match. None: no limit.
    pub arg_patterns: Vec<String>,
    /// The argument. `None`: the first path parameter, or else the first text.
    pub arg_key: Option<String>,
}

impl CapabilityPolicy {
    /// The policy below which everything runs.
    pub fn ceiling() -> Self {
        Self {
            side_effect_level: Some(SideEffectLevel::Network),
            recursion_limit: Some(RECURSION_LIMIT),
            ..Self::default()
        }
    }

    /// Reads a policy from a program's dict. Nil is a policy without limits, and a level
    /// nobody knows counts as `none`, the lowest.
    ///
    /// # Errors
    /// A field of the wrong kind or of an unknown name is thrown, and so is a pattern that cannot
    /// be read, because a limit must not get lost.
    pub fn read(label: &str, value: &Value) -> Result<Self, Thrown> {
        if let Some(fields) = fields(label, value)? {
            refuse_unknown(label, &POLICY, fields)?;
        }
        Self::read_of_session(label, value)
    }

    /// The same of the policy of a session, in which programs may keep other keys too, but none
    /// that looks like one of ours.
    ///
    /// # Errors
    /// A field of the wrong kind, or of a misspelt name, is thrown.
    pub(crate) fn read_of_session(label: &str, value: &Value) -> Result<Self, Thrown> {
        if let Some(fields) = fields(label, value)? {
            refuse_misspelt(label, &POLICY, fields)?;
        }
        let Some(fields) = fields(label, value)? else {
            return Ok(Self::default());
        };
        let at = |key: &str| (format!("{label}.{key}"), fields.get(key));
        let list = |key: &str| {
            let (label, value) = at(key);
            texts(&label, value)
        };
        let (tools_label, tools) = at("tools");
        let (capabilities_label, capabilities) = at("capabilities");
        let (recursion_label, recursion_limit) = at("recursion_limit");
        let (constraints_label, constraints) = at("tool_arg_constraints");
        let (annotations_label, annotations) = at("tool_annotations");
        Ok(Self {
            tools: patterns(&tools_label, tools)?,
            capabilities: read_capabilities(&capabilities_label, capabilities)?,
            workspace_roots: list("workspace_roots")?,
            side_effect_level: read_level(fields.get("side_effect_level")),
            recursion_limit: read_limit(&recursion_label, recursion_limit)?,
            tool_arg_constraints: read_constraints(&constraints_label, constraints)?,
            tool_annotations: read_tools(&annotations_label, annotations)?,
        })
    }

    /// What both policies allow. The outer one is the host's or the surrounding loop's, and what
    /// it says about a tool stands.
    ///
    /// # Errors
    /// The text to throw when the inner one asks for more than the outer one has.
    pub fn intersect(outer: &Self, inner: &Self) -> Result<Self, String> {
        let mut tool_annotations = inner.tool_annotations.clone();
        tool_annotations.extend(outer.tool_annotations.clone());
        let roots = match inner.workspace_roots.is_empty() {
            true => &outer.workspace_roots,
            false => &inner.workspace_roots,
        };
        let constraints = outer.tool_arg_constraints.iter();
        let constraints = constraints.chain(&inner.tool_arg_constraints);
        Ok(Self {
            tools: intersect_tools(&outer.tools, &inner.tools)?,
            capabilities: intersect_capabilities(&outer.capabilities, &inner.capabilities)?,
            workspace_roots: roots.clone(),
            side_effect_level: lower(outer.side_effect_level, inner.side_effect_level),
            recursion_limit: lower(outer.recursion_limit, inner.recursion_limit),
            tool_arg_constraints: constraints.cloned().collect(),
            tool_annotations,
        })
    }

    /// What is known about a tool: what the policy says, else what the tool says about itself.
    pub fn annotations_for<'a>(
        &'a self,
        tool: &str,
        own: Option<&'a ToolAnnotations>,
    ) -> Option<&'a ToolAnnotations> {
        self.tool_annotations.get(tool).or(own)
    }

    pub(super) fn allows_operation(&self, capability: &str, operation: &str) -> bool {
        let all_operations = |operations: &Vec<String>| operations.is_empty();
        self.capabilities.is_empty()
            || self.capabilities.get(capability).is_some_and(|known| {
                all_operations(known) || known.iter().any(|name| name == operation)
            })
    }

    pub(crate) fn allows_level(&self, level: SideEffectLevel) -> bool {
        self.side_effect_level.is_none_or(|limit| level <= limit)
    }
}

fn intersect_tools(outer: &[String], inner: &[String]) -> Result<Vec<String>, String> {
    if outer.is_empty() || inner.is_empty() {
        let given = if inner.is_empty() { outer } else { inner };
        return Ok(given.to_vec());
    }
    let beyond: Vec<&str> = inner
        .iter()
        .map(String::as_str)
        .filter(|asked| !outer.iter().any(|outer| covers(outer, asked)))
        .collect();
    match beyond.is_empty() {
        true => Ok(inner.to_vec()),
        false => {
            let beyond = beyond.join(", ");
            Err(format!("requested tools exceed host ceiling: {beyond}"))
        }
    }
}

/// Whether all tools that a pattern is about are those of another one.
fn covers(outer: &str, inner: &str) -> bool {
    outer == inner
        || match (TextPattern::read(outer), TextPattern::read(inner)) {
            (Ok(outer), Ok(inner)) => outer.covers(&inner),
            _ => false,
        }
}

type Capabilities = BTreeMap<String, Vec<String>>;

fn intersect_capabilities(
    outer: &Capabilities,
    inner: &Capabilities,
) -> Result<Capabilities, String> {
    if outer.is_empty() || inner.is_empty() {
        let given = if inner.is_empty() { outer } else { inner };
        return Ok(given.clone());
    }
    let both = inner.iter().map(|(capability, asked)| {
        let allowed = outer
            .get(capability)
            .ok_or_else(|| format!("requested capability exceeds host ceiling: {capability}"))?;
        let operations = intersect_operations(capability, allowed, asked)?;
        Ok((capability.clone(), operations))
    });
    both.collect()
}

fn intersect_operations(
    capability: &str,
    allowed: &[String],
    asked: &[String],
) -> Result<Vec<String>, String> {
    if allowed.is_empty() || asked.is_empty() {
        let given = if asked.is_empty() { allowed } else { asked };
        return Ok(given.to_vec());
    }
    let beyond = missing(allowed, asked).join(",");
    match beyond.is_empty() {
        true => Ok(asked.to_vec()),
        false => Err(format!(
            "requested capability operations exceed host ceiling: {capability}.{beyond}"
        )),
    }
}

fn missing<'a>(allowed: &[String], asked: &'a [String]) -> Vec<&'a str> {
    let beyond = asked.iter().filter(|name| !allowed.contains(name));
    beyond.map(String::as_str).collect()
}

/// The lower of two limits. `None` is no limit, which the order of options would put lowest.
fn lower<T: Ord>(outer: Option<T>, inner: Option<T>) -> Option<T> {
    match (outer, inner) {
        (Some(outer), Some(inner)) => Some(outer.min(inner)),
        (outer, inner) => outer.or(inner),
    }
}

fn read_level(value: Option<&Value>) -> Option<SideEffectLevel> {
    let given = value.filter(|value| !value.is_null())?;
    let level = SideEffectLevel::from_wire(&display(given));
    Some(level.unwrap_or(SideEffectLevel::None))
}

fn read_limit(label: &str, value: Option<&Value>) -> Result<Option<u64>, Thrown> {
    match value {
        None | Some(Value::Null) => Ok(None),
        Some(value) => match value.as_i64() {
            Some(limit) => Ok(Some(limit.max(0).unsigned_abs())),
            None => Err(unexpected(label, "an int", value)),
        },
    }
}

fn read_capabilities(label: &str, value: Option<&Value>) -> Result<Capabilities, Thrown> {
    let given = fields(label, value.unwrap_or(&Value::Null))?;
    let capabilities = given.into_iter().flatten();
    capabilities
        .map(|(capability, operations)| {
            let operations = texts(&format!("{label}.{capability}"), Some(operations))?;
            Ok((capability.clone(), operations))
        })
        .collect()
}

fn read_constraints(label: &str, value: Option<&Value>) -> Result<Vec<ArgConstraint>, Thrown> {
    let entries = match value {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(entries)) => entries,
        Some(other) => return Err(unexpected(label, "a list of dicts", other)),
    };
    entries
        .iter()
        .map(|entry| read_constraint(label, entry))
        .collect()
}

fn read_constraint(label: &str, value: &Value) -> Result<ArgConstraint, Thrown> {
    let Some(tool) = value.get("tool").and_then(Value::as_str) else {
        return Err(Thrown::Plain(format!(
            "{label}: entries must be dicts with a tool"
        )));
    };
    check_pattern(&format!("{label}.tool"), tool)?;
    let key = value.get("arg_key").and_then(Value::as_str);
    let arg_patterns = patterns(&format!("{label}.arg_patterns"), value.get("arg_patterns"))?;
    check_patterns(tool, key, &arg_patterns, Purpose::Allow)
        .map_err(|refused| Thrown::Plain(refused.to_string()))?;
    Ok(ArgConstraint {
        tool: tool.to_owned(),
        arg_patterns,
        arg_key: key.filter(|key| !key.is_empty()).map(str::to_owned),
    })
}

fn read_tools(
    label: &str,
    value: Option<&Value>,
) -> Result<BTreeMap<String, ToolAnnotations>, Thrown> {
    let given = fields(label, value.unwrap_or(&Value::Null))?;
    let entries = given.into_iter().flatten();
    Ok(entries
        .filter_map(|(tool, value)| Some((tool.clone(), read_annotations(value)?)))
        .collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn policy(value: Value) -> CapabilityPolicy {
        CapabilityPolicy::read("policy", &value).expect("the policy is well formed")
    }

    fn both(outer: Value, inner: Value) -> Result<CapabilityPolicy, String> {
        CapabilityPolicy::intersect(&policy(outer), &policy(inner))
    }

    #[test]
    fn a_policy_is_read() {
        let read = policy(json!({
            "tools": ["a"], "capabilities": {"workspace": ["list"], "process": []},
            "workspace_roots": ["/w"], "side_effect_level": "read_only", "recursion_limit": 3,
            "tool_arg_constraints": [{"tool": "run*", "arg_patterns": ["ls*"], "arg_key": "cmd"}],
            "tool_annotations": {"a": {"kind": "read"}},
        }));
        assert_eq!(read.tools, ["a"]);
        assert_eq!(read.capabilities["workspace"], ["list"]);
        assert!(read.capabilities["process"].is_empty());
        assert_eq!(read.workspace_roots, ["/w"]);
        assert_eq!(read.side_effect_level, Some(SideEffectLevel::ReadOnly));
        assert_eq!(read.recursion_limit, Some(3));
        assert_eq!(read.tool_arg_constraints[0].arg_key.as_deref(), Some("cmd"));
        assert_eq!(read.tool_annotations["a"].kind.as_str(), "read");
        let written = serde_json::to_value(&read).expect("it is data");
        assert_eq!(serde_json::from_value(written).ok(), Some(read));
    }

    #[test]
    fn nothing_said_is_no_limit() {
        let empty = CapabilityPolicy::default();
        assert_eq!(policy(json!(null)), empty);
        assert_eq!(policy(json!({})), empty);
        let nils = json!({
            "tools": null, "capabilities": null, "workspace_roots": null,
            "side_effect_level": null, "recursion_limit": null, "tool_arg_constraints": null,
            "tool_annotations": null,
        });
        assert_eq!(policy(nils), empty);
    }

    #[test]
    fn a_limit_that_cannot_be_read_is_thrown() {
        let rows = [
            (json!("x"), "policy: expected a dict, got string"),
            (
                json!({"tolls": ["read"]}),
                "policy: unknown key 'tolls'; did you mean 'tools'?",
            ),
            (
                json!({"tools": 5}),
                "policy.tools: expected a list of strings, got int",
            ),
            (
                json!({"tools": [5]}),
                "policy.tools: list entries must be strings",
            ),
            (
                json!({"tools": ["ru["]}),
                "pattern 'ru[' cannot be read: a '[' is not closed (in policy.tools)",
            ),
            (
                json!({"tool_arg_constraints": [{"tool": "{run"}]}),
                "pattern '{run' cannot be read: a '{' is not closed (in \
                 policy.tool_arg_constraints.tool)",
            ),
            (
                json!({"tool_arg_constraints": [{"tool": "run", "arg_patterns": ["ls\\"]}]}),
                "pattern 'ls\\' cannot be read: it ends with a backslash, which is written \
                 '\\\\' (in policy.tool_arg_constraints.arg_patterns)",
            ),
            (
                json!({"capabilities": ["a"]}),
                "policy.capabilities: expected a dict, got list",
            ),
            (
                json!({"capabilities": {"a": true}}),
                "policy.capabilities.a: expected a list of strings, got bool",
            ),
            (
                json!({"recursion_limit": "3"}),
                "policy.recursion_limit: expected an int, got string",
            ),
            (
                json!({"tool_arg_constraints": {}}),
                "policy.tool_arg_constraints: expected a list of dicts, got dict",
            ),
            (
                json!({"tool_arg_constraints": [{}]}),
                "policy.tool_arg_constraints: entries must be dicts with a tool",
            ),
        ];
        for (value, text) in rows {
            let thrown = CapabilityPolicy::read("policy", &value);
            assert_eq!(thrown, Err(Thrown::Plain(text.to_owned())));
        }
        let of_session = |value| CapabilityPolicy::read_of_session("policy", &value);
        let text = "policy: unknown key 'tool'; did you mean 'tools'?";
        assert_eq!(
            of_session(json!({"tool": ["read"], "mine": 1})),
            Err(Thrown::Plain(text.to_owned()))
        );
        assert!(of_session(json!({"mine": 1})).is_ok());
        let unknown = policy(json!({"side_effect_level": "cosmic"}));
        assert_eq!(unknown.side_effect_level, Some(SideEffectLevel::None));
    }

    #[test]
    fn tools_get_fewer() {
        let tools = |outer: Value, inner: Value| {
            let both = both(json!({"tools": outer}), json!({"tools": inner}));
            both.map(|policy| policy.tools.join(" "))
        };
        assert_eq!(tools(json!([]), json!(["a"])), Ok("a".to_owned()));
        assert_eq!(tools(json!(["a"]), json!([])), Ok("a".to_owned()));
        assert_eq!(tools(json!(["a", "b"]), json!(["b"])), Ok("b".to_owned()));
        let reads = json!(["read_file", "read_*"]);
        assert_eq!(
            tools(json!(["read*"]), reads),
            Ok("read_file read_*".to_owned())
        );
        let text = "requested tools exceed host ceiling: r*";
        assert_eq!(tools(json!(["read*"]), json!(["r*"])), Err(text.to_owned()));
        let text = "requested tools exceed host ceiling: c, d";
        assert_eq!(
            tools(json!(["a"]), json!(["c", "a", "d"])),
            Err(text.to_owned())
        );
    }

    #[test]
    fn capabilities_get_fewer() {
        let capabilities = |outer: Value, inner: Value| {
            let both = both(
                json!({"capabilities": outer}),
                json!({"capabilities": inner}),
            );
            both.map(|policy| json!(policy.capabilities))
        };
        let rows = [
            (json!({}), json!({"w": ["r"]}), json!({"w": ["r"]})),
            (json!({"w": ["r"]}), json!({}), json!({"w": ["r"]})),
            (
                json!({"w": ["r", "l"], "p": ["x"]}),
                json!({"w": ["l"]}),
                json!({"w": ["l"]}),
            ),
            (json!({"w": []}), json!({"w": ["l"]}), json!({"w": ["l"]})),
            (json!({"w": ["l"]}), json!({"w": []}), json!({"w": ["l"]})),
        ];
        for (outer, inner, expected) in rows {
            assert_eq!(capabilities(outer, inner), Ok(expected));
        }
        let text = "requested capability exceeds host ceiling: p";
        let beyond = capabilities(json!({"w": ["r"]}), json!({"p": ["x"]}));
        assert_eq!(beyond, Err(text.to_owned()));
        let text = "requested capability operations exceed host ceiling: w.d,x";
        let beyond = capabilities(json!({"w": ["r"]}), json!({"w": ["r", "d", "x"]}));
        assert_eq!(beyond, Err(text.to_owned()));
    }

    #[test]
    fn the_rest_is_put_together() {
        let outer = json!({
            "workspace_roots": ["/o"], "side_effect_level": "process_exec",
            "tool_arg_constraints": [{"tool": "a", "arg_patterns": ["1"]}],
            "tool_annotations": {"a": {"kind": "edit"}},
        });
        let inner = json!({
            "side_effect_level": "read_only", "recursion_limit": 2,
            "tool_arg_constraints": [{"tool": "b", "arg_patterns": ["2"]}],
            "tool_annotations": {"a": {"kind": "read"}, "b": {"kind": "read"}},
        });
        let both = both(outer, inner).expect("nothing exceeds");
        assert_eq!(both.workspace_roots, ["/o"]);
        assert_eq!(both.side_effect_level, Some(SideEffectLevel::ReadOnly));
        assert_eq!(both.recursion_limit, Some(2));
        let tools: Vec<&str> = both.tool_arg_constraints.iter().map(|c| &*c.tool).collect();
        assert_eq!(tools, ["a", "b"]);
        assert_eq!(both.tool_annotations["a"].kind.as_str(), "edit");
        assert_eq!(both.tool_annotations["b"].kind.as_str(), "read");
    }

    #[test]
    fn roots_of_the_inner_policy_come_first() {
        let both = both(
            json!({"workspace_roots": ["/o"]}),
            json!({"workspace_roots": ["/i"]}),
        );
        assert_eq!(
            both.map(|policy| policy.workspace_roots),
            Ok(vec!["/i".to_owned()])
        );
    }

    #[test]
    fn the_built_in_ceiling_is_the_network_and_eight_levels() {
        let ceiling = CapabilityPolicy::ceiling();
        assert_eq!(ceiling.side_effect_level, Some(SideEffectLevel::Network));
        assert_eq!(ceiling.recursion_limit, Some(8));
        let inner = policy(json!({"recursion_limit": 20, "side_effect_level": "desktop_control"}));
        let both = CapabilityPolicy::intersect(&ceiling, &inner);
        assert_eq!(both, Ok(ceiling));
    }
}
