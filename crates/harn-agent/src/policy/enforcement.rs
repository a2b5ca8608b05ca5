//! Whether a tool call stays below the ceiling.

use harn_events::ToolAnnotations;
use harn_llm::options::value::display;
use harn_shell::Surroundings;
use serde_json::Value;

use super::capability::{ArgConstraint, CapabilityPolicy};
use super::commands;
use super::glob::{any_glob_matches, any_glob_matches_path, glob_forbids};
use super::parameters::{ArgumentKind, DeclaredParameters, Judged, JudgedArgument};

impl CapabilityPolicy {
    /// Checks a call whose arguments have their canonical names. `own` is what the tool says
    /// about itself, `parameters` what it says it takes, `place` where its commands would run.
    ///
    /// # Errors
    /// What to say about the first check that fails; its category is `tool_rejected`.
    pub fn check_tool(
        &self,
        tool: &str,
        own: Option<&ToolAnnotations>,
        parameters: &DeclaredParameters,
        arguments: &Value,
        place: &dyn Surroundings,
    ) -> Result<(), String> {
        if !self.tools.is_empty() && !any_glob_matches(&self.tools, tool) {
            return Err(format!("tool '{tool}' exceeds tool ceiling"));
        }
        let annotations = self.annotations_for(tool, own);
        if let Some(annotations) = annotations {
            self.check_annotations(tool, annotations)?;
        }
        let constraints = self.tool_arg_constraints.iter();
        constraints
            .filter(|constraint| glob_forbids(&constraint.tool, tool))
            .try_for_each(|constraint| {
                constraint.check(tool, annotations, parameters, arguments, place)
            })
    }

    fn check_annotations(&self, tool: &str, annotations: &ToolAnnotations) -> Result<(), String> {
        for (capability, operations) in &annotations.capabilities {
            let beyond = |operation: &&String| !self.allows_operation(capability, operation);
            if let Some(operation) = operations.iter().find(beyond) {
                return Err(format!(
                    "tool '{tool}' exceeds capability ceiling: {capability}.{operation}"
                ));
            }
        }
        let level = annotations.side_effect_level;
        match self.allows_level(level) {
            true => Ok(()),
            false => Err(format!(
                "tool '{tool}' exceeds side-effect ceiling: {level}"
            )),
        }
    }
}

impl ArgConstraint {
    fn check(
        &self,
        tool: &str,
        annotations: Option<&ToolAnnotations>,
        parameters: &DeclaredParameters,
        arguments: &Value,
        place: &dyn Surroundings,
    ) -> Result<(), String> {
        for judged in self.judged(annotations, parameters, arguments) {
            if let Some(refused) = self.refused(judged, place) {
                let key = judged.name;
                return Err(format!(
                    "tool '{tool}' {key} '{refused}' does not match allowed patterns: {:?}. Only \
                     the {key} argument is checked against this allow-list — other argument \
                     values are not.",
                    self.arg_patterns
                ));
            }
        }
        Ok(())
    }

    /// The arguments that are checked: the one it names, else the declared paths and commands
    /// that the call has, else the first declared text. Of a tool that does not say what it takes
    /// all texts are, because a model could put one in front that means nothing.
    fn judged<'a>(
        &'a self,
        annotations: Option<&'a ToolAnnotations>,
        parameters: &DeclaredParameters,
        arguments: &'a Value,
    ) -> Vec<JudgedArgument<'a>> {
        if let Some(key) = &self.arg_key {
            let value = arguments.get(key).filter(|value| !value.is_null());
            let judged = value.map(|value| JudgedArgument {
                name: key,
                value,
                kind: parameters.kind(annotations, key),
            });
            return judged.into_iter().collect();
        }
        match parameters.judged(annotations, arguments) {
            Judged::PathsAndCommands(judged) if !judged.is_empty() => judged,
            Judged::Undeclared(judged) => judged,
            Judged::PathsAndCommands(_) | Judged::Texts(_) => {
                let mut judged = parameters.texts(arguments);
                judged.truncate(1);
                judged
            }
        }
    }

    /// What of an argument no pattern allows. All items of a list have to be allowed, and all
    /// parts of a command.
    fn refused(&self, judged: JudgedArgument<'_>, place: &dyn Surroundings) -> Option<String> {
        let JudgedArgument { value, kind, .. } = judged;
        if self.arg_patterns.is_empty() {
            return None;
        }
        let allowed = match kind {
            ArgumentKind::Command => {
                let is_allowed = commands::allows(&self.arg_patterns, value, place);
                return (!is_allowed).then(|| display(value));
            }
            ArgumentKind::Path => any_glob_matches_path,
            ArgumentKind::Text => any_glob_matches,
        };
        let allowed = |text: &str| allowed(&self.arg_patterns, text);
        let items = match value {
            Value::Array(items) => items.as_slice(),
            one => std::slice::from_ref(one),
        };
        let mut texts = items.iter().map(display);
        texts.find(|text| !allowed(text))
    }
}

#[cfg(test)]
mod tests {
    use harn_shell::Nowhere;
    use serde_json::json;

    use super::*;
    use crate::policy::read_annotations;

    #[track_caller]
    fn check(policy: Value, own: Value, arguments: Value, expected: Result<(), &str>) {
        let policy = CapabilityPolicy::read("policy", &policy).expect("the policy is well formed");
        let own = read_annotations(&own);
        let open = DeclaredParameters::default();
        let answer = policy.check_tool("run", own.as_ref(), &open, &arguments, &Nowhere);
        assert_eq!(answer, expected.map_err(str::to_owned));
    }

    const BEYOND_TOOLS: Result<(), &str> = Err("tool 'run' exceeds tool ceiling");
    const BEYOND_OPERATIONS: Result<(), &str> =
        Err("tool 'run' exceeds capability ceiling: process.exec");
    const BEYOND_LEVEL: Result<(), &str> =
        Err("tool 'run' exceeds side-effect ceiling: process_exec");

    fn runs() -> Value {
        json!({
            "kind": "execute", "side_effect_level": "process_exec",
            "capabilities": {"process": ["exec"]},
        })
    }

    #[test]
    fn a_policy_without_limits_lets_everything_pass() {
        check(json!({}), runs(), json!({"command": "rm"}), Ok(()));
        check(json!({}), json!(null), json!({}), Ok(()));
    }

    #[test]
    fn tools_are_listed_by_patterns() {
        for listed in ["run", "r*", "*u*", "{write,run}"] {
            check(json!({"tools": [listed]}), runs(), json!({}), Ok(()));
        }
        for listed in ["other", "ru", "r[!u]n"] {
            check(json!({"tools": [listed]}), runs(), json!({}), BEYOND_TOOLS);
        }
    }

    #[test]
    fn annotated_operations_have_to_be_allowed() {
        let limits = |capabilities: Value| json!({"capabilities": capabilities});
        check(
            limits(json!({"process": ["exec"]})),
            runs(),
            json!({}),
            Ok(()),
        );
        check(limits(json!({"process": []})), runs(), json!({}), Ok(()));
        check(
            limits(json!({"process": ["list"]})),
            runs(),
            json!({}),
            BEYOND_OPERATIONS,
        );
        check(
            limits(json!({"workspace": []})),
            runs(),
            json!({}),
            BEYOND_OPERATIONS,
        );
        check(
            limits(json!({"workspace": []})),
            json!(null),
            json!({}),
            Ok(()),
        );
    }

    #[test]
    fn the_annotated_level_has_to_be_reached() {
        let limit = |level: &str| json!({"side_effect_level": level});
        check(limit("network"), runs(), json!({}), Ok(()));
        check(limit("process_exec"), runs(), json!({}), Ok(()));
        check(limit("workspace_write"), runs(), json!({}), BEYOND_LEVEL);
        check(limit("none"), json!(null), json!({}), Ok(()));
    }

    #[test]
    fn the_first_check_that_fails_is_told() {
        let all = json!({
            "tools": ["other"], "capabilities": {"x": []}, "side_effect_level": "none",
        });
        check(all, runs(), json!({}), BEYOND_TOOLS);
        let two = json!({"capabilities": {"x": []}, "side_effect_level": "none"});
        check(two, runs(), json!({}), BEYOND_OPERATIONS);
    }

    #[test]
    fn annotations_of_the_policy_come_first() {
        let lowered = json!({
            "side_effect_level": "read_only",
            "tool_annotations": {"run": {"side_effect_level": "read_only"}},
        });
        check(lowered, runs(), json!({}), Ok(()));
        let raised = json!({
            "side_effect_level": "read_only", "tool_annotations": {"run": runs()},
        });
        check(raised, json!(null), json!({}), BEYOND_LEVEL);
    }

    fn constrained(constraint: Value) -> Value {
        json!({"tool_arg_constraints": [constraint]})
    }

    #[test]
    fn an_argument_has_to_match_a_pattern() {
        let policy = constrained(json!({
            "tool": "r*", "arg_patterns": ["git *", "ls"], "arg_key": "command",
        }));
        check(
            policy.clone(),
            runs(),
            json!({"command": "git status"}),
            Ok(()),
        );
        check(
            policy.clone(),
            runs(),
            json!({"command": "ls", "x": "rm"}),
            Ok(()),
        );
        check(policy.clone(), runs(), json!({"other": "rm"}), Ok(()));
        check(
            policy.clone(),
            runs(),
            json!({"command": ["ls", "git a"]}),
            Ok(()),
        );
        let refused = Err(
            "tool 'run' command 'rm' does not match allowed patterns: [\"git *\", \"ls\"]. Only \
             the command argument is checked against this allow-list — other argument values are \
             not.",
        );
        check(policy.clone(), runs(), json!({"command": "rm"}), refused);
        check(policy, runs(), json!({"command": ["ls", "rm"]}), refused);
        let elsewhere = constrained(json!({"tool": "write", "arg_patterns": ["ls"]}));
        check(elsewhere, runs(), json!({"command": "rm"}), Ok(()));
        let free = constrained(json!({"tool": "*", "arg_patterns": []}));
        check(free, runs(), json!({"command": "rm"}), Ok(()));
    }

    #[test]
    fn an_argument_that_no_parameter_takes_satisfies_no_constraint() {
        let policy = constrained(json!({"tool": "run", "arg_patterns": ["ls*"]}));
        let policy = CapabilityPolicy::read("policy", &policy).expect("the policy is well formed");
        let declares = |parameters: Value| {
            DeclaredParameters::of(&json!({"name": "sh", "parameters": parameters}))
        };
        let line = declares(json!({"line": "string", "at": {"type": "string", "required": false}}));
        let passes = |parameters: &DeclaredParameters, arguments: Value| {
            let checked = policy.check_tool("run", None, parameters, &arguments, &Nowhere);
            checked.is_ok()
        };
        assert!(passes(&line, json!({"line": "ls -l", "at": "/"})));
        // What stands in front of the name of the parameter does not count instead of it.
        assert!(!passes(&line, json!({"a_note": "ls", "line": "rm"})));
        assert!(!passes(&line, json!({"at": "ls", "line": "rm"})));
        let open = DeclaredParameters::default();
        assert!(!passes(&open, json!({"a_note": "ls", "line": "rm"})));
        assert!(passes(&open, json!({"line": "ls"})));
    }

    #[test]
    fn a_command_is_checked_by_what_it_runs() {
        let named = constrained(json!({
            "tool": "run", "arg_patterns": ["ls *", "cargo *"], "arg_key": "command",
        }));
        let unnamed = constrained(json!({"tool": "run", "arg_patterns": ["ls *", "cargo *"]}));
        let runs = json!({"arg_schema": {"command_params": ["command"]}});
        let run = json!({"name": "run", "parameters": {"command": "string"}});
        for policy in [named, unnamed] {
            let allowed = |command: &Value| {
                let read = CapabilityPolicy::read("policy", &policy).unwrap();
                let own = read_annotations(&runs);
                let arguments = json!({"command": command});
                let open = DeclaredParameters::default();
                let said = read.check_tool("run", own.as_ref(), &open, &arguments, &Nowhere);
                // The tool says so by its name, too.
                let declared = DeclaredParameters::of(&run);
                let other = read.check_tool("run", None, &declared, &arguments, &Nowhere);
                assert_eq!(said, other, "{command}");
                said.is_ok()
            };
            for command in [
                json!("ls -l"),
                json!("ls -l; cargo a"),
                json!(["ls", "a;b"]),
            ] {
                assert!(allowed(&command), "{command}");
            }
            for command in [
                json!("ls; curl x"),
                json!("cargo $(curl x)"),
                json!(["curl", "x"]),
            ] {
                assert!(!allowed(&command), "{command}");
            }
        }
    }

    #[test]
    fn all_paths_of_a_call_are_checked() {
        let paths = json!({"arg_schema": {"path_params": ["from", "to"]}});
        let policy = constrained(json!({"tool": "run", "arg_patterns": ["src/*"]}));
        check(
            policy.clone(),
            paths.clone(),
            json!({"from": "src/a", "to": "src/b"}),
            Ok(()),
        );
        let refused = "tool 'run' to 'etc/b' does not match allowed patterns: [\"src/*\"]. Only the \
                       to argument is checked against this allow-list — other argument values are \
                       not.";
        check(
            policy,
            paths,
            json!({"from": "src/a", "to": "etc/b"}),
            Err(refused),
        );
    }

    #[test]
    fn the_checked_argument_is_the_first_path_or_else_the_first_text() {
        let policy = constrained(json!({"tool": "run", "arg_patterns": ["src/*"]}));
        let paths = json!({"arg_schema": {"path_params": ["gone", "path"]}});
        check(
            policy.clone(),
            paths.clone(),
            json!({"a": "x", "path": "src/a"}),
            Ok(()),
        );
        let refused = |key: &str, value: &str| {
            format!(
                "tool 'run' {key} '{value}' does not match allowed patterns: [\"src/*\"]. Only \
                 the {key} argument is checked against this allow-list — other argument values \
                 are not."
            )
        };
        let path = refused("path", "src/../etc");
        check(
            policy.clone(),
            paths,
            json!({"path": "src/../etc"}),
            Err(&path),
        );
        let text = refused("b", "x");
        check(
            policy.clone(),
            json!(null),
            json!({"a": 1, "b": "x", "c": "src/c"}),
            Err(&text),
        );
        check(policy, json!(null), json!({"a": 1}), Ok(()));
    }
}
