//! `tool_surface_validate`: do tools, policies and prompts fit together?
//!
//! ```text
//! surface, options ──► Surface ─┬─ every active tool by itself      `declared`
//!                               ├─ what policies say about tools    `policies`
//!                               └─ what prompts say about tools     `prompts`
//!                                        └──► diagnostics
//! ```
//!
//! A tool is active unless the policy names tools and this is none of them.

mod declared;
mod policies;
mod prompts;

use std::collections::HashMap;

use harn_machine::value::{Dict, Text};
use harn_machine::{Context, Failure, Value, argument};

use super::bound;
use crate::registries::{TOOLS, given, text_of};

/// `tool_surface_validate(surface?, options?)`
pub(super) fn tool_surface_validate(
    context: &mut Context<'_>,
    args: &mut [Value],
) -> Result<Value, Failure> {
    let bound = bound::current(context).map(Value::from);
    let (surface, options) = (argument(args, 0), argument(args, 1));
    let surface = match (surface, &bound) {
        (Value::Nil, Some(bound)) => bound,
        _ => surface,
    };
    Ok(validate(&Input { surface, options }))
}

fn validate(input: &Input<'_>) -> Value {
    let surface = Surface::new(input);
    let mut report = Report::default();
    declared::check(&surface, &mut report);
    policies::check(&surface, &mut report);
    prompts::check(&surface, &mut report);
    policies::check_ceiling(&surface, &mut report);
    report.into_value()
}

/// Where everything is looked up: in the surface, then in the options.
struct Input<'a> {
    surface: &'a Value,
    options: &'a Value,
}

impl<'a> Input<'a> {
    fn get(&self, key: &str) -> Option<&'a Value> {
        let places = [self.surface, self.options].into_iter();
        let mut dicts = places.filter_map(as_dict);
        dicts.find_map(|dict| given(dict, key))
    }

    fn dict(&self, key: &str) -> Option<&'a Dict> {
        self.get(key).and_then(as_dict)
    }

    /// The tools: of a registry, or in a list.
    fn tools(&self) -> Vec<&'a Dict> {
        let is_registry = |dict: &&Dict| TOOLS.is_registry(dict);
        let tools = match as_dict(self.surface).filter(is_registry) {
            Some(_) => Some(self.surface),
            None => self.get("tools"),
        };
        match tools {
            Some(Value::Dict(registry)) => TOOLS.entries(registry).collect(),
            Some(Value::List(tools)) => tools.iter().filter_map(as_dict).collect(),
            _ => Vec::new(),
        }
    }

    fn prompts(&self) -> Vec<Text> {
        let mut prompts = Vec::new();
        prompts.extend(["system", "prompt"].iter().filter_map(|key| self.get(key)));
        if let Some(Value::List(others)) = self.get("prompts") {
            prompts.extend(others.iter());
        }
        prompts.into_iter().map(Value::to_text).collect()
    }
}

/// Everything that has to fit together.
struct Surface<'a> {
    tools: Vec<Tool<'a>>,
    /// The position of each tool that is active, by its name.
    active: HashMap<Text, usize>,
    policy: Option<&'a Dict>,
    approval: Option<&'a Dict>,
    prompts: Vec<Text>,
    /// Whether the model can search for tools that it was not told of.
    searches: bool,
}

/// A tool and what was said about it.
struct Tool<'a> {
    name: Text,
    entry: &'a Dict,
    parameters: Option<&'a Dict>,
    annotations: Option<&'a Dict>,
    /// Whether it is described as the provider wants it.
    is_native: bool,
    is_active: bool,
}

impl<'a> Surface<'a> {
    fn new(input: &Input<'a>) -> Self {
        let policy = input.dict("policy");
        let own = input
            .tools()
            .into_iter()
            .map(|entry| Tool::own(entry, policy));
        let native: &[Value] = match input.get("native_tools") {
            Some(Value::List(native)) => native,
            _ => &[],
        };
        let native = native.iter().filter_map(as_dict);
        let native = native.map(|entry| Tool::native(entry, policy));
        let tools: Vec<Tool<'a>> = own.chain(native).collect();
        let active = tools.iter().enumerate().filter(|(_, tool)| tool.is_active);
        Self {
            active: active.map(|(at, tool)| (tool.name.clone(), at)).collect(),
            tools,
            policy,
            approval: input.dict("approval_policy"),
            prompts: input.prompts(),
            searches: !matches!(
                input.get("tool_search"),
                None | Some(Value::Nil | Value::Bool(false))
            ),
        }
    }

    fn active_tools(&self) -> impl Iterator<Item = &Tool<'a>> {
        self.tools.iter().filter(|tool| tool.is_active)
    }

    fn is_active(&self, name: &Text) -> bool {
        self.active.contains_key(name)
    }
}

impl<'a> Tool<'a> {
    fn own(entry: &'a Dict, policy: Option<&'a Dict>) -> Self {
        let name = text_of(entry, "name");
        Self {
            is_active: is_allowed(&name, policy),
            parameters: given(entry, "parameters").and_then(as_dict),
            annotations: annotations(entry, &name, policy),
            is_native: false,
            name,
            entry,
        }
    }

    fn native(entry: &'a Dict, policy: Option<&'a Dict>) -> Self {
        let function = given(entry, "function").and_then(as_dict).unwrap_or(entry);
        let schemas = ["parameters", "input_schema"].iter();
        let schema = schemas
            .filter_map(|key| given(function, key))
            .find_map(as_dict);
        let properties = schema.and_then(|schema| given(schema, "properties"));
        let name = text_of(function, "name");
        Self {
            is_active: is_allowed(&name, policy),
            parameters: properties.and_then(as_dict).or(schema),
            annotations: annotations(entry, &name, policy),
            is_native: true,
            name,
            entry,
        }
    }

    fn says(&self, key: &str) -> Option<&'a Value> {
        self.annotations.and_then(|said| given(said, key))
    }

    fn is_kind(&self, kind: &str) -> bool {
        matches!(self.says("kind"), Some(Value::Text(text)) if &**text == kind)
    }

    fn is_deferred(&self) -> bool {
        given(self.entry, "defer_loading").is_some_and(Value::is_truthy)
    }

    fn level(&self) -> Level {
        self.says("side_effect_level")
            .map_or(Level::None, Level::of)
    }

    /// The names that its arguments had before, with the ones they have now.
    fn aliases(&self) -> impl Iterator<Item = (&'a Text, &'a Value)> {
        let schema = self.says("arg_schema").and_then(as_dict);
        let aliases = schema.and_then(|schema| given(schema, "arg_aliases"));
        aliases.and_then(as_dict).into_iter().flatten()
    }
}

fn annotations<'a>(entry: &'a Dict, name: &Text, policy: Option<&'a Dict>) -> Option<&'a Dict> {
    let own = given(entry, "annotations").and_then(as_dict);
    own.or_else(|| {
        let all = given(policy?, "tool_annotations").and_then(as_dict)?;
        all.get_text(name).and_then(as_dict)
    })
}

fn is_allowed(name: &str, policy: Option<&Dict>) -> bool {
    let tools = policy.and_then(|policy| given(policy, "tools"));
    match tools {
        Some(Value::List(tools)) if !tools.is_empty() => tools
            .iter()
            .any(|pattern| matches(&pattern.to_text(), name)),
        _ => true,
    }
}

/// Whether a name matches a pattern of a policy.
fn matches(pattern: &str, name: &str) -> bool {
    match (pattern.strip_suffix('*'), pattern.strip_prefix('*')) {
        (Some(start), _) if !start.contains('*') => name.starts_with(start),
        (_, Some(end)) if !end.contains('*') => name.ends_with(end),
        _ => pattern == name,
    }
}

/// How far what a tool does can reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    None,
    ReadOnly,
    WorkspaceWrite,
    ProcessExec,
    Network,
}

impl Level {
    /// A level by its name; what is no level reaches nothing.
    fn of(value: &Value) -> Self {
        match &*value.to_text() {
            "read_only" => Self::ReadOnly,
            "workspace_write" => Self::WorkspaceWrite,
            "process_exec" => Self::ProcessExec,
            "network" => Self::Network,
            _ => Self::None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::ReadOnly => "read_only",
            Self::WorkspaceWrite => "workspace_write",
            Self::ProcessExec => "process_exec",
            Self::Network => "network",
        }
    }
}

/// How bad something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Severity {
    Warning,
    Error,
}

/// What does not fit.
#[derive(Default)]
struct Report {
    diagnostics: Vec<Value>,
    has_error: bool,
}

impl Report {
    fn warn(&mut self, code: &str, tool: Option<&Text>, field: &str, message: String) {
        self.add(Severity::Warning, code, tool, field, message);
    }

    fn error(&mut self, code: &str, tool: &Text, field: &str, message: String) {
        self.has_error = true;
        self.add(Severity::Error, code, Some(tool), field, message);
    }

    fn add(
        &mut self,
        severity: Severity,
        code: &str,
        tool: Option<&Text>,
        field: &str,
        message: String,
    ) {
        let severity = match severity {
            Severity::Warning => "warning",
            Severity::Error => "error",
        };
        let mut fields = vec![
            ("code", format!("TOOL_SURFACE_{code}").into()),
            ("severity", severity.into()),
            ("message", message.into()),
            ("field", field.into()),
        ];
        if let Some(tool) = tool {
            fields.push(("tool", tool.clone().into()));
        }
        self.diagnostics.push(Value::dict(fields));
    }

    fn into_value(self) -> Value {
        Value::dict([
            ("valid", Value::Bool(!self.has_error)),
            ("diagnostics", Value::list(self.diagnostics)),
        ])
    }
}

fn as_dict(value: &Value) -> Option<&Dict> {
    match value {
        Value::Dict(dict) => Some(dict),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
