//! How a tool of ours is declared.

use harn_events::{SideEffectLevel, ToolAnnotations, ToolKind};
use serde_json::{Map, Value, json};

use crate::tool::Declaration;

/// A declaration that grows by one parameter at a time.
pub(super) struct Declare {
    name: &'static str,
    description: String,
    parameters: Map<String, Value>,
    annotations: ToolAnnotations,
}

impl Declare {
    pub(super) fn new(name: &'static str, description: impl Into<String>) -> Self {
        Self {
            name,
            description: description.into(),
            parameters: Map::new(),
            annotations: ToolAnnotations::default(),
        }
    }

    /// What it does to the world, and the operation a policy must allow.
    pub(super) fn does(
        mut self,
        kind: ToolKind,
        level: SideEffectLevel,
        capability: &str,
        operation: &str,
    ) -> Self {
        self.annotations.kind = kind;
        self.annotations.side_effect_level = level;
        let operations = vec![operation.to_owned()];
        self.annotations
            .capabilities
            .insert(capability.to_owned(), operations);
        self
    }

    /// A parameter that must be there.
    pub(super) fn needs(mut self, name: &str, kind: &str, description: &str) -> Self {
        let schema = json!({"type": kind, "description": description});
        self.annotations.arg_schema.required.push(name.to_owned());
        self.with(name, schema)
    }

    /// A parameter that may be there.
    pub(super) fn takes(self, name: &str, kind: &str, description: &str) -> Self {
        let schema = json!({"type": kind, "description": description, "required": false});
        self.with(name, schema)
    }

    /// A parameter that is a command of a shell.
    pub(super) fn runs(mut self, name: &str) -> Self {
        let commands = &mut self.annotations.arg_schema.command_params;
        commands.push(name.to_owned());
        self
    }

    /// Other names that models have for a parameter.
    pub(super) fn also(mut self, name: &str, aliases: &[&str]) -> Self {
        for alias in aliases {
            let all = &mut self.annotations.arg_schema.arg_aliases;
            all.insert((*alias).to_owned(), name.to_owned());
        }
        self
    }

    pub(super) fn done(self) -> Declaration {
        Declaration {
            name: self.name.to_owned(),
            description: self.description,
            parameters: Value::Object(self.parameters),
            annotations: Some(self.annotations),
        }
    }

    fn with(mut self, name: &str, schema: Value) -> Self {
        if name == "path" {
            let paths = &mut self.annotations.arg_schema.path_params;
            paths.push(name.to_owned());
        }
        self.parameters.insert(name.to_owned(), schema);
        self
    }
}
