//! When a rule of permissions is about a call.

use std::sync::Arc;

use harn_llm::desk::Thrown;
use harn_llm::options::value::{kind, truthy};
use harn_llm::sorted_json;
use harn_options::ARGUMENT_MATCHER;
use harn_shell::Purpose;
use serde_json::{Map, Value};

use super::commands;
use super::evaluation::PermissionCall;
use super::glob::{
    any_glob_forbids_path, any_glob_matches, any_glob_matches_path, check_pattern,
    first_forbidding, glob_forbids, glob_matches,
};
use super::parameters::{ArgumentKind, Judged, JudgedArgument};
use crate::callback::{Callback, Functions};
use crate::known_options::refuse_unknown;

/// One entry of `allow` or `deny`.
#[derive(Clone)]
pub struct Rule {
    /// A glob for the tools it is about.
    pub tool: String,
    /// Which of their calls it is about.
    pub matcher: Matcher,
}

/// Which calls of a tool a rule is about.
#[derive(Clone)]
pub enum Matcher {
    /// All of them.
    Always,
    /// None of them.
    Never,
    /// Calls whose paths and commands, or else whose texts, one of these globs matches, as far as
    /// parameters take them. A call without texts is matched on its whole JSON. For a command
    /// they are rules about what it runs.
    AnyText(Vec<String>),
    /// Calls whose argument `key` one of the globs matches. An argument that is no text is
    /// matched on its JSON. For a command they are rules about what it runs.
    Argument {
        /// The argument.
        key: String,
        /// The globs.
        globs: Vec<String>,
    },
    /// Calls for whose arguments a function gives something truthy.
    Function(Arc<dyn Callback>),
}

impl Matcher {
    /// As a program writes it; a function becomes `of_function`.
    pub(super) fn to_value(&self, of_function: bool) -> Value {
        match self {
            Self::Always => Value::Bool(true),
            Self::Never => Value::Bool(false),
            Self::AnyText(globs) => serde_json::json!(globs),
            Self::Argument { key, globs } => {
                serde_json::json!({"arg_key": key, "patterns": globs})
            }
            Self::Function(_) => Value::Bool(of_function),
        }
    }
}

impl Rule {
    /// Whether the rule allows a call. What no parameter takes allows nothing.
    ///
    /// # Errors
    /// What the function of the rule throws. It counts for neither answer: a rule that fails
    /// must not let a call pass.
    pub async fn allows(&self, call: PermissionCall<'_>) -> Result<bool, Thrown> {
        if !glob_matches(&self.tool, call.tool) {
            return Ok(false);
        }
        Ok(match &self.matcher {
            Matcher::Always => true,
            Matcher::Never => false,
            Matcher::AnyText(globs) => allowed_by(globs, call),
            Matcher::Argument { key, globs } => {
                let parameters = call.parameters;
                let is_taken = !parameters.are_known() || parameters.have(key);
                let value = call.arguments.get(key).filter(|_| is_taken);
                value.is_some_and(|value| is_allowed(globs, named(key, value, call), call))
            }
            Matcher::Function(function) => asked(function, call).await?,
        })
    }

    /// Whether the rule denies a call. Here what no parameter takes counts as well, because a
    /// tool may read more than it declares.
    ///
    /// # Errors
    /// What the function of the rule throws. The call must not be made then.
    pub async fn denies(&self, call: PermissionCall<'_>) -> Result<bool, Thrown> {
        if !glob_forbids(&self.tool, call.tool) {
            return Ok(false);
        }
        Ok(match &self.matcher {
            Matcher::Always => true,
            Matcher::Never => false,
            Matcher::AnyText(globs) => denied_by(globs, call),
            Matcher::Argument { key, globs } => call
                .arguments
                .get(key)
                .is_some_and(|value| is_denied(globs, named(key, value, call), call)),
            Matcher::Function(function) => asked(function, call).await?,
        })
    }

    /// Refuses patterns about commands that cannot be read or that allow everything.
    pub(super) fn check_commands(&self, purpose: Purpose) -> Result<(), Thrown> {
        let (globs, key) = match &self.matcher {
            Matcher::AnyText(globs) => (globs, None),
            Matcher::Argument { key, globs } => (globs, Some(&**key)),
            Matcher::Always | Matcher::Never | Matcher::Function(_) => return Ok(()),
        };
        let checked = commands::check_patterns(&self.tool, key, globs, purpose);
        checked.map_err(|refused| Thrown::Plain(refused.to_string()))
    }
}

/// The argument that a rule names.
fn named<'a>(name: &'a str, value: &'a Value, call: PermissionCall<'_>) -> JudgedArgument<'a> {
    let kind = call.parameters.kind(call.annotations, name);
    JudgedArgument { name, value, kind }
}

async fn asked(function: &Arc<dyn Callback>, call: PermissionCall<'_>) -> Result<bool, Thrown> {
    let answer = function.call(vec![call.arguments.clone()]).await?;
    Ok(truthy(&answer))
}

/// Whether patterns allow a call. Of paths and commands all have to be allowed: a copy is as
/// much about where it goes as about where it comes from.
fn allowed_by(globs: &[String], call: PermissionCall<'_>) -> bool {
    let judged = call.parameters.judged(call.annotations, call.arguments);
    let allows = |one: &JudgedArgument<'_>| is_allowed(globs, *one, call);
    match &judged {
        Judged::PathsAndCommands(all) | Judged::Undeclared(all) if !all.is_empty() => {
            all.iter().all(allows)
        }
        Judged::Texts(any) if !any.is_empty() => any.iter().any(allows),
        Judged::PathsAndCommands(_) | Judged::Texts(_) | Judged::Undeclared(_) => {
            let taken = call.parameters.taken(call.arguments);
            !has_texts(&taken) && any_glob_matches(globs, &sorted_json(&taken))
        }
    }
}

fn denied_by(globs: &[String], call: PermissionCall<'_>) -> bool {
    let judged = match call.parameters.judged(call.annotations, call.arguments) {
        Judged::PathsAndCommands(judged) if judged.is_empty() => {
            call.parameters.texts(call.arguments)
        }
        Judged::PathsAndCommands(judged) | Judged::Texts(judged) | Judged::Undeclared(judged) => {
            judged
        }
    };
    let mut unknown = call.parameters.unknown_texts(call.arguments).into_iter();
    judged.iter().any(|one| {
        is_denied(globs, *one, call)
            // How a command is written can be denied as well.
            || (one.kind == ArgumentKind::Command && is_denied_value(globs, one.value, false))
    }) || unknown.any(|text| first_forbidding(globs, text).is_some())
        || (!has_texts(call.arguments)
            && first_forbidding(globs, &sorted_json(call.arguments)).is_some())
}

fn is_allowed(globs: &[String], judged: JudgedArgument<'_>, call: PermissionCall<'_>) -> bool {
    match judged.kind {
        ArgumentKind::Command => commands::allows(globs, judged.value, call.place),
        ArgumentKind::Path => is_allowed_value(globs, judged.value, true),
        ArgumentKind::Text => is_allowed_value(globs, judged.value, false),
    }
}

/// Whether patterns allow an argument: all texts of a list, and what is no text as JSON.
fn is_allowed_value(globs: &[String], value: &Value, is_path: bool) -> bool {
    match value {
        Value::String(text) if is_path => any_glob_matches_path(globs, text),
        Value::String(text) => any_glob_matches(globs, text),
        Value::Array(items) if is_path => {
            let mut items = items.iter();
            items.all(|item| is_allowed_value(globs, item, true))
        }
        other => any_glob_matches(globs, &sorted_json(other)),
    }
}

fn is_denied(globs: &[String], judged: JudgedArgument<'_>, call: PermissionCall<'_>) -> bool {
    match judged.kind {
        ArgumentKind::Command => commands::denies(globs, judged.value, call.place),
        ArgumentKind::Path => is_denied_value(globs, judged.value, true),
        ArgumentKind::Text => is_denied_value(globs, judged.value, false),
    }
}

fn is_denied_value(globs: &[String], value: &Value, is_path: bool) -> bool {
    match value {
        Value::String(text) if is_path => any_glob_forbids_path(globs, text),
        Value::String(text) => first_forbidding(globs, text).is_some(),
        Value::Array(items) if is_path => {
            let mut items = items.iter();
            items.any(|item| is_denied_value(globs, item, true))
        }
        other => first_forbidding(globs, &sorted_json(other)).is_some(),
    }
}

fn has_texts(arguments: &Value) -> bool {
    let mut fields = arguments.as_object().into_iter().flatten();
    fields.any(|(_, value)| value.is_string())
}

/// Reads `allow` or `deny`: a list of globs, or a dict from glob to matcher; nil is neither.
///
/// `place` is the path of the value among the functions. A glob is one step of that path, in
/// which `~` is written `~0` and `/` is written `~1`, as JSON Pointer has it.
pub(super) fn read_rules(
    label: &str,
    value: &Value,
    place: &str,
    functions: &Functions,
) -> Result<Option<Vec<Rule>>, Thrown> {
    let rules = match value {
        Value::Null if functions.at(place).is_some() => {
            let text = format!("{label}: expected a list or dict, got closure");
            return Err(Thrown::Plain(text));
        }
        Value::Null => return Ok(None),
        Value::Array(globs) => globs.iter().map(|glob| read_glob(label, glob)).collect(),
        Value::Object(entries) => entries
            .iter()
            .map(|(glob, matcher)| {
                check_pattern(label, glob)?;
                let function = functions.at(&format!("{place}/{}", step(glob)));
                let label = format!("{label}.{glob}");
                let matcher = read_matcher(&label, matcher, function)?;
                let tool = glob.clone();
                Ok(Rule { tool, matcher })
            })
            .collect(),
        other => Err(Thrown::Plain(format!(
            "{label}: expected a list or dict, got {}",
            kind(other)
        ))),
    };
    rules.map(Some)
}

/// A key as a step of a JSON Pointer.
fn step(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

fn read_glob(label: &str, glob: &Value) -> Result<Rule, Thrown> {
    match glob.as_str() {
        Some(glob) => {
            check_pattern(label, glob)?;
            Ok(Rule {
                tool: glob.to_owned(),
                matcher: Matcher::Always,
            })
        }
        None => Err(Thrown::Plain(format!(
            "{label}: list entries must be strings"
        ))),
    }
}

fn read_matcher(
    label: &str,
    value: &Value,
    function: Option<&Arc<dyn Callback>>,
) -> Result<Matcher, Thrown> {
    if let Some(function) = function {
        return Ok(Matcher::Function(Arc::clone(function)));
    }
    match value {
        Value::Null | Value::Bool(true) => Ok(Matcher::Always),
        Value::Bool(false) => Ok(Matcher::Never),
        Value::String(_) | Value::Array(_) => {
            let globs = read_globs(label, value)?;
            Ok(Matcher::AnyText(globs.unwrap_or_default()))
        }
        Value::Object(fields) => read_argument(label, fields),
        Value::Number(_) => Err(Thrown::Plain(format!(
            "{label}: unsupported matcher type {}",
            kind(value)
        ))),
    }
}

fn read_argument(label: &str, fields: &Map<String, Value>) -> Result<Matcher, Thrown> {
    let first = |keys: &[&str]| {
        let mut given = keys.iter().filter_map(|key| fields.get(*key));
        given.find(|value| !value.is_null())
    };
    let key = first(&["arg_key", "key"]).and_then(Value::as_str);
    let globs = match first(&["patterns", "arg_patterns", "allow"]) {
        Some(value) => read_globs(label, value)?,
        None => None,
    };
    match (key, globs) {
        (Some(key), Some(globs)) => {
            refuse_unknown(label, &ARGUMENT_MATCHER, fields)?;
            let key = key.to_owned();
            Ok(Matcher::Argument { key, globs })
        }
        _ => Err(Thrown::Plain(format!(
            "{label}: dict matchers must include arg_key and patterns"
        ))),
    }
}

/// Globs: a text or a list of texts; `None` for anything else.
fn read_globs(label: &str, value: &Value) -> Result<Option<Vec<String>>, Thrown> {
    let globs = match value {
        Value::String(glob) => vec![glob.clone()],
        Value::Array(items) => {
            let globs = items.iter().map(|item| item.as_str().map(str::to_owned));
            globs.collect::<Option<Vec<String>>>().ok_or_else(|| {
                Thrown::Plain(format!("{label}: pattern list entries must be strings"))
            })?
        }
        _ => return Ok(None),
    };
    for glob in &globs {
        check_pattern(label, glob)?;
    }
    Ok(Some(globs))
}

#[cfg(test)]
mod tests {
    use harn_log::block_on;
    use serde_json::json;

    use super::*;
    use crate::policy::DeclaredParameters;

    #[track_caller]
    fn check(matcher: Value, arguments: Value, expected: bool) {
        let rules = json!({"run*": matcher});
        let rules = read_rules("p.allow", &rules, "/allow", &Functions::default());
        let rules = rules
            .expect("the rules are well formed")
            .expect("they are given");
        let parameters = json!({
            "a": {"type": "string", "required": false}, "b": "string", "c": {}, "n": "int",
        });
        let parameters = DeclaredParameters::of(&json!({"parameters": parameters}));
        for (tool, expected) in [("run_it", expected), ("other", false)] {
            let call = call(tool, &arguments, &parameters);
            let said = (
                block_on(rules[0].allows(call)),
                block_on(rules[0].denies(call)),
            );
            assert_eq!(said, (Ok(expected), Ok(expected)), "{tool} {arguments}");
        }
    }

    fn call<'a>(
        tool: &'a str,
        arguments: &'a Value,
        parameters: &'a DeclaredParameters,
    ) -> PermissionCall<'a> {
        PermissionCall {
            tool,
            arguments,
            parameters,
            annotations: None,
            session_id: "s",
            place: &harn_shell::Nowhere,
            dispatch: None,
        }
    }

    /// What a rule with a matcher allows and denies of the calls of a tool.
    fn said(matcher: Value, entry: Value, arguments: Value) -> (bool, bool) {
        let rules = read_rules("p", &json!({"*": matcher}), "/p", &Functions::default());
        let rules = rules
            .expect("the rules are well formed")
            .expect("they are given");
        let annotations = crate::policy::read_annotations(&entry["annotations"]);
        let parameters = DeclaredParameters::of(&entry);
        let call = PermissionCall {
            annotations: annotations.as_ref(),
            ..call("run", &arguments, &parameters)
        };
        let allowed = block_on(rules[0].allows(call)).expect("nothing throws");
        let denied = block_on(rules[0].denies(call)).expect("nothing throws");
        (allowed, denied)
    }

    #[test]
    fn an_argument_that_no_parameter_takes_allows_nothing() {
        let run = json!({"name": "run", "parameters": {"command": "string"}});
        let other = json!({"name": "say", "parameters": {"text": "string"}});
        let invented = json!({"command": "rm -rf .", "text": "rm -rf .", "note": "ls"});
        for entry in [run.clone(), other.clone()] {
            assert_eq!(
                said(json!("ls*"), entry.clone(), invented.clone()),
                (false, true)
            );
            let named = json!({"arg_key": "note", "patterns": ["ls"]});
            assert_eq!(said(named, entry, invented.clone()), (false, true));
        }
        assert_eq!(
            said(json!("ls*"), run, json!({"command": "ls"})),
            (true, true)
        );
        // Of a tool that says nothing about itself all texts have to be allowed.
        let open = json!({});
        assert_eq!(said(json!("ls*"), open.clone(), invented), (false, true));
        assert_eq!(said(json!("ls*"), open, json!({"x": "ls"})), (true, true));
        // The whole call is its JSON, without what nobody takes.
        assert_eq!(said(json!("*5*"), other, json!({"n": 5})), (false, true));
    }

    #[test]
    fn rules_about_commands_look_at_what_is_run() {
        // The same name as a path does not make a command one.
        let sh = json!({
            "parameters": {"line": "string", "in": "string"},
            "annotations": {"arg_schema": {
                "command_params": ["line"], "path_params": ["in", "line"],
            }},
        });
        let run = json!({"name": "run", "parameters": {"line": "string", "command": "string"}});
        let rows = [
            ("ls -l", (true, true)),
            ("ls; touch x", (false, true)),
            ("touch x", (false, false)),
            ("touch $(ls)", (false, true)),
            // What cannot be taken apart is allowed by nothing and denied by everything.
            ("touch '", (false, true)),
            ("$x", (false, true)),
        ];
        for (command, expected) in rows {
            let named = |key: &str| json!({"arg_key": key, "patterns": ["ls *"]});
            for (entry, key) in [(&sh, "line"), (&run, "command")] {
                let call = json!({key: command});
                let told = said(named(key), entry.clone(), call.clone());
                assert_eq!(told, expected, "{command}");
                assert_eq!(
                    said(json!("ls *"), entry.clone(), call),
                    expected,
                    "{command}"
                );
            }
        }
        // All paths and commands have to be allowed, and how a command is written can be denied.
        let call = json!({"line": "ls a", "in": "etc"});
        assert_eq!(said(json!("ls *"), sh.clone(), call.clone()), (false, true));
        let both = json!(["ls *", "etc"]);
        assert_eq!(said(both, sh.clone(), call), (true, true));
        let secret = json!({"line": "cat my_secret"});
        assert_eq!(said(json!("*secret*"), sh, secret), (false, true));
    }

    #[test]
    fn rules_without_a_name_look_at_paths_and_commands_first() {
        let write = json!({
            "parameters": {"path": "string", "to": "string", "content": "string"},
            "annotations": {"arg_schema": {"path_params": ["path", "to"]}},
        });
        let rows = [
            (json!({"path": "src/a", "content": "x"}), (true, true)),
            (json!({"path": "etc/a", "content": "src/a"}), (false, false)),
            // All of them have to be allowed, and one that is denied is enough.
            (json!({"path": "src/a", "to": "etc/b"}), (false, true)),
            (json!({"path": ["src/a", "etc/b"]}), (false, true)),
            (json!({"path": ["src/a", "src/b"]}), (true, true)),
            (json!({"path": "src/../etc/b"}), (false, true)),
            (json!({"path": "lib/../src/b"}), (true, true)),
            (json!({"content": "src/a"}), (false, true)),
        ];
        for (arguments, expected) in rows {
            let told = said(json!("src/*"), write.clone(), arguments.clone());
            assert_eq!(told, expected, "{arguments}");
        }
    }

    #[test]
    fn matchers_match() {
        let rows = [
            (json!(null), json!({}), true),
            (json!(true), json!({}), true),
            (json!(false), json!({}), false),
            (json!("ls*"), json!({"a": "rm", "b": "ls -l"}), true),
            (json!("ls*"), json!({"a": "rm"}), false),
            (json!(["x", "rm"]), json!({"a": "rm"}), true),
            (json!([]), json!({"a": "rm"}), false),
            (json!("{\"a\":1}"), json!({"a": 1}), true),
            (json!("\\{*"), json!({}), true),
            (json!("\\{*"), json!({"a": "b"}), false),
            (
                json!({"arg_key": "c", "patterns": ["ls*"]}),
                json!({"c": "ls"}),
                true,
            ),
            (
                json!({"arg_key": "c", "patterns": ["ls*"]}),
                json!({"d": "ls"}),
                false,
            ),
            (
                json!({"key": "c", "arg_patterns": "ls"}),
                json!({"c": "ls"}),
                true,
            ),
            (json!({"key": "c", "allow": ["5"]}), json!({"c": 5}), true),
            (json!({"key": "c", "allow": ["5"]}), json!({"c": 6}), false),
        ];
        for (matcher, arguments, expected) in rows {
            check(matcher, arguments, expected);
        }
    }

    #[test]
    fn functions_are_found_and_asked() {
        let mut functions = Functions::default();
        let path = "/allow/a~1b~0*";
        let safe = |arguments: Vec<Value>| Ok(json!(arguments[0]["safe"] == json!(true)));
        functions.insert(path, Arc::new(safe));
        let rules = read_rules("p.allow", &json!({"a/b~*": null}), "/allow", &functions);
        let rules = rules
            .expect("the rules are well formed")
            .expect("they are given");
        let open = DeclaredParameters::default();
        let ask = |arguments: Value| block_on(rules[0].allows(call("a/b~c", &arguments, &open)));
        assert_eq!(ask(json!({"safe": true})), Ok(true));
        assert_eq!(ask(json!({"safe": false})), Ok(false));
    }

    #[test]
    fn what_cannot_be_read_is_thrown() {
        let rows = [
            (json!([1]), "p.allow: list entries must be strings"),
            (json!("run"), "p.allow: expected a list or dict, got string"),
            (json!(true), "p.allow: expected a list or dict, got bool"),
            (
                json!({"run": [1]}),
                "p.allow.run: pattern list entries must be strings",
            ),
            (
                json!({"run": {"key": "c", "patterns": [1]}}),
                "p.allow.run: pattern list entries must be strings",
            ),
            (
                json!({"run": {"key": "c"}}),
                "p.allow.run: dict matchers must include arg_key and patterns",
            ),
            (
                json!({"run": {"patterns": ["c"]}}),
                "p.allow.run: dict matchers must include arg_key and patterns",
            ),
            (
                json!({"run": {"key": 1, "patterns": ["c"]}}),
                "p.allow.run: dict matchers must include arg_key and patterns",
            ),
            (
                json!({"run": {}}),
                "p.allow.run: dict matchers must include arg_key and patterns",
            ),
            (
                json!({"run": 5}),
                "p.allow.run: unsupported matcher type int",
            ),
            (
                json!({"run": 1.5}),
                "p.allow.run: unsupported matcher type float",
            ),
        ];
        for (value, text) in rows {
            let thrown = read_rules("p.allow", &value, "/allow", &Functions::default());
            assert_eq!(thrown.err(), Some(Thrown::Plain(text.to_owned())));
        }
        let mut functions = Functions::default();
        functions.insert("/allow", Arc::new(|_: Vec<Value>| Ok(Value::Null)));
        let thrown = read_rules("p.allow", &json!(null), "/allow", &functions);
        let text = "p.allow: expected a list or dict, got closure";
        assert_eq!(thrown.err(), Some(Thrown::Plain(text.to_owned())));
    }
}
