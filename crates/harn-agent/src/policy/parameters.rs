//! What a tool says about its parameters, and which arguments of a call a rule looks at.
//!
//! A model writes the arguments, also some that no parameter takes. Those reach no tool that
//! reads its parameters only, and a rule that looked at them would be satisfied by what has no
//! effect: `{"command": "rm -rf .", "note": "ls"}` is no `ls*`.

use harn_events::ToolAnnotations;
use serde_json::{Map, Value};

/// The parameters that a tool declares.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeclaredParameters {
    /// In the order of their names. None are known of a tool that declares none.
    all: Vec<Parameter>,
    /// Those that are commands.
    commands: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Parameter {
    name: String,
    /// Whether a text may stand there.
    takes_text: bool,
    is_required: bool,
}

/// An argument that a rule looks at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct JudgedArgument<'a> {
    pub(super) name: &'a str,
    pub(super) value: &'a Value,
    pub(super) kind: ArgumentKind,
}

/// How patterns look at an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ArgumentKind {
    /// At where it leads.
    Path,
    /// At what a shell would run.
    Command,
    /// At how it is written.
    Text,
}

/// What a rule that names no argument looks at.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Judged<'a> {
    /// Paths and commands that the tool declares; all that the call has of them.
    PathsAndCommands(Vec<JudgedArgument<'a>>),
    /// The tool declares neither: its texts.
    Texts(Vec<JudgedArgument<'a>>),
    /// The tool does not say what it takes: every text of the call.
    Undeclared(Vec<JudgedArgument<'a>>),
}

impl DeclaredParameters {
    /// The parameters of an entry of a registry.
    pub fn of(entry: &Value) -> Self {
        let declared = [&entry["parameters"], &entry["inputSchema"]];
        let declared = declared.into_iter().find_map(Value::as_object);
        let mut all = declared.map(parameters).unwrap_or_default();
        all.sort_by(|one, other| one.name.cmp(&other.name));
        let commands = match &entry["annotations"]["arg_schema"]["command_params"] {
            Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
            Value::String(name) => vec![name.as_str()],
            // The tool of coding agents has said so before there was a word for it.
            _ if entry["name"] == "run" && !all.is_empty() => vec!["command"],
            _ => Vec::new(),
        };
        let is_declared =
            |name: &&str| all.is_empty() || all.iter().any(|known| known.name == *name);
        Self {
            commands: commands
                .into_iter()
                .filter(is_declared)
                .map(str::to_owned)
                .collect(),
            all,
        }
    }

    /// The parameters that are commands: those that the tool declares, and those of which it is
    /// known besides. One that the tool does not take is none.
    pub fn commands(&self, annotations: Option<&ToolAnnotations>) -> Vec<String> {
        let mut commands = self.commands.clone();
        let known = annotations.map_or(&[][..], |known| &known.arg_schema.command_params);
        for name in known {
            if !commands.contains(name) && (!self.are_known() || self.have(name)) {
                commands.push(name.clone());
            }
        }
        commands
    }

    /// How patterns look at an argument of that name. What is a command is no path, because a
    /// command that is written like one runs all the same.
    pub(super) fn kind(&self, annotations: Option<&ToolAnnotations>, name: &str) -> ArgumentKind {
        if self.commands(annotations).iter().any(|known| known == name) {
            return ArgumentKind::Command;
        }
        match path_parameters(annotations).iter().any(|path| path == name) {
            true => ArgumentKind::Path,
            false => ArgumentKind::Text,
        }
    }

    /// Whether the tool says what it takes.
    pub(super) fn are_known(&self) -> bool {
        !self.all.is_empty()
    }

    /// Whether the tool takes an argument of that name.
    pub fn have(&self, name: &str) -> bool {
        self.all.iter().any(|known| known.name == name)
    }

    /// The first argument of a call that no parameter takes.
    pub fn first_unknown<'a>(&self, arguments: &'a Value) -> Option<&'a str> {
        let names = arguments.as_object()?.keys().map(String::as_str);
        let mut unknown = names.filter(|name| !self.have(name));
        unknown.next()
    }

    /// What a rule that names no argument looks at.
    pub(super) fn judged<'a>(
        &self,
        annotations: Option<&'a ToolAnnotations>,
        arguments: &'a Value,
    ) -> Judged<'a> {
        let Some(fields) = arguments.as_object() else {
            return Judged::Undeclared(Vec::new());
        };
        let paths = path_parameters(annotations);
        let commands = self.commands(annotations);
        if !paths.is_empty() || !commands.is_empty() {
            let is_path = |name: &&String| !commands.contains(name);
            let paths = given(fields, paths.iter().filter(is_path), ArgumentKind::Path);
            let commands = given(fields, commands.iter(), ArgumentKind::Command);
            return Judged::PathsAndCommands([paths, commands].concat());
        }
        if !self.are_known() {
            let texts = fields.iter().filter(|(_, value)| value.is_string());
            let names = texts.map(|(name, _)| name);
            return Judged::Undeclared(given(fields, names, ArgumentKind::Text));
        }
        Judged::Texts(self.texts(arguments))
    }

    /// The texts of a call that the tool declares, those that are required first: a model cannot
    /// put another one before them.
    pub(super) fn texts<'a>(&self, arguments: &'a Value) -> Vec<JudgedArgument<'a>> {
        let Some(fields) = arguments.as_object() else {
            return Vec::new();
        };
        let texts = self.all.iter().filter(|known| known.takes_text);
        let (required, others): (Vec<_>, Vec<_>) = texts.partition(|known| known.is_required);
        let names = required.into_iter().chain(others).map(|known| &known.name);
        let mut judged = given(fields, names, ArgumentKind::Text);
        judged.retain(|one| one.value.is_string());
        judged
    }

    /// The arguments that the tool takes: all of them, if it does not say which.
    pub(super) fn taken(&self, arguments: &Value) -> Value {
        let mut taken = arguments.clone();
        if let Some(fields) = taken.as_object_mut().filter(|_| self.are_known()) {
            fields.retain(|name, _| self.have(name));
        }
        taken
    }

    /// The texts of arguments that no parameter takes.
    pub(super) fn unknown_texts<'a>(&self, arguments: &'a Value) -> Vec<&'a str> {
        let fields = arguments.as_object().into_iter().flatten();
        let unknown = fields.filter(|(name, _)| self.are_known() && !self.have(name));
        unknown.filter_map(|(_, value)| value.as_str()).collect()
    }
}

fn path_parameters(annotations: Option<&ToolAnnotations>) -> &[String] {
    annotations.map_or(&[], |known| &known.arg_schema.path_params)
}

/// The arguments of these names that a call has. Nil is none.
fn given<'a, 'n>(
    fields: &'a Map<String, Value>,
    names: impl Iterator<Item = &'n String>,
    kind: ArgumentKind,
) -> Vec<JudgedArgument<'a>> {
    let given = names.filter_map(|name| fields.get_key_value(name));
    let given = given.filter(|(_, value)| !value.is_null());
    given
        .map(|(name, value)| JudgedArgument { name, value, kind })
        .collect()
}

/// Parameters as one schema for all of them, or as one schema each.
fn parameters(declared: &Map<String, Value>) -> Vec<Parameter> {
    let schema = declared.get("type").is_some_and(|word| word == "object");
    let properties = declared.get("properties").and_then(Value::as_object);
    match properties.filter(|_| schema) {
        Some(properties) => {
            let required = declared.get("required").and_then(Value::as_array);
            let required: Vec<&Value> = required.into_iter().flatten().collect();
            let is_required = |name: &String| required.iter().any(|one| *one == name);
            let each = properties.iter();
            each.map(|(name, schema)| parameter(name, schema, is_required(name)))
                .collect()
        }
        // A schema without properties says nothing about them.
        None if schema => Vec::new(),
        None => {
            let each = declared.iter();
            each.map(|(name, schema)| {
                let is_optional = schema.get("required").is_some_and(|word| word == false)
                    || schema.get("default").is_some();
                parameter(name, schema, !is_optional)
            })
            .collect()
        }
    }
}

fn parameter(name: &str, schema: &Value, is_required: bool) -> Parameter {
    let is_text = |word: &Value| {
        let word = word.as_str().unwrap_or_default();
        !matches!(
            word,
            "integer"
                | "int"
                | "number"
                | "float"
                | "boolean"
                | "bool"
                | "object"
                | "dict"
                | "array"
                | "list"
                | "null"
                | "nil"
        )
    };
    let kind = match schema {
        Value::Object(fields) => fields.get("type").unwrap_or(&Value::Null),
        word => word,
    };
    Parameter {
        name: name.to_owned(),
        takes_text: match kind {
            Value::Array(words) => words.iter().any(is_text),
            word => is_text(word),
        },
        is_required,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::policy::read_annotations;

    fn names(judged: &Judged<'_>) -> (&'static str, Vec<String>) {
        let (kind, arguments) = match judged {
            Judged::PathsAndCommands(arguments) => ("paths and commands", arguments),
            Judged::Texts(arguments) => ("texts", arguments),
            Judged::Undeclared(arguments) => ("undeclared", arguments),
        };
        let names = arguments.iter().map(|one| one.name.to_owned());
        (kind, names.collect())
    }

    #[track_caller]
    fn check(entry: Value, arguments: Value, kind: &str, expected: &[&str]) {
        let annotations = read_annotations(&entry["annotations"]);
        let declared = DeclaredParameters::of(&entry);
        let judged = declared.judged(annotations.as_ref(), &arguments);
        let expected = expected.iter().map(|name| (*name).to_owned()).collect();
        assert_eq!(names(&judged), (kind, expected), "{entry}");
    }

    #[test]
    fn paths_and_commands_come_before_other_texts() {
        let copy = json!({
            "parameters": {"from": "string", "to": "string", "why": "string"},
            "annotations": {"arg_schema": {"path_params": ["from", "to"]}},
        });
        let call = json!({"from": "a", "to": ["b"], "why": "c", "x": "d"});
        check(copy.clone(), call, "paths and commands", &["from", "to"]);
        check(copy, json!({"why": "c"}), "paths and commands", &[]);
        let sh = json!({
            "parameters": {"line": "string", "cwd": "string"},
            "annotations": {"arg_schema": {"command_params": ["line"]}},
        });
        let call = json!({"line": "ls", "cwd": "/"});
        check(sh, call, "paths and commands", &["line"]);
        let run = json!({"name": "run", "parameters": {"command": "string", "timeout": "int"}});
        let call = json!({"command": "ls", "note": "x"});
        check(run, call, "paths and commands", &["command"]);
    }

    #[test]
    fn texts_are_those_that_the_tool_declares() {
        let each = json!({"parameters": {
            "a": {"type": "string", "required": false}, "b": "string", "n": "int",
            "any": {}, "more": {"type": ["null", "string"], "default": null},
        }});
        let call = json!({"a": "1", "b": "2", "n": "3", "any": "4", "more": 5, "x": "6"});
        check(each, call, "texts", &["any", "b", "a"]);
        let schema = json!({"inputSchema": {
            "type": "object",
            "properties": {"q": {"type": "string"}, "a": {"type": "string"}},
            "required": ["q"],
        }});
        check(
            schema,
            json!({"a": "1", "q": "2", "x": "3"}),
            "texts",
            &["q", "a"],
        );
    }

    #[test]
    fn a_tool_that_declares_nothing_may_take_anything() {
        for entry in [
            json!({}),
            json!({"parameters": {}}),
            json!({"inputSchema": {"type": "object"}}),
        ] {
            check(
                entry,
                json!({"a": "1", "n": 2, "b": "3"}),
                "undeclared",
                &["a", "b"],
            );
        }
    }

    #[test]
    fn what_no_parameter_takes_is_found() {
        let declared = DeclaredParameters::of(&json!({"parameters": {"command": "string"}}));
        let call = json!({"command": "ls", "note": "x", "n": 1});
        assert_eq!(declared.first_unknown(&json!({"command": 1})), None);
        assert!(declared.first_unknown(&call).is_some());
        assert_eq!(declared.taken(&call), json!({"command": "ls"}));
        assert_eq!(declared.unknown_texts(&call), ["x"]);
        let open = DeclaredParameters::default();
        assert_eq!(open.taken(&call), call);
        assert!(open.unknown_texts(&call).is_empty());
    }
}
