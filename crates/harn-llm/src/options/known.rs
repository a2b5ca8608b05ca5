//! Options that nobody reads are refused, and so are those that this build cannot follow.

use harn_options::{Form, Holds, OptionDict, Others, Status, Unknown, unavailable};
use serde_json::{Map, Value};

use super::value::kind;
use crate::catalog::Invalid;

/// Why an option was refused that this build cannot follow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It is of the wrong type.
    Wrong(Invalid),
    /// It is switched on.
    Unavailable(Invalid),
}

/// Refuses the first key that a dict of options does not have; options that hold dicts are looked
/// into. `label` is the builtin that was called, and `is_provider` knows the providers of models,
/// for which there may be options of their own.
///
/// # Errors
/// What the program sees.
pub fn refuse_unknown(
    label: &str,
    dict: &'static OptionDict,
    options: &Map<String, Value>,
    is_provider: &dyn Fn(&str) -> bool,
) -> Result<(), Invalid> {
    let refusal = |told: String| Invalid::new(format!("{label}: {told}"));
    let looked_into = Dict {
        table: dict,
        path: "",
        is_below_rules: false,
    };
    check(looked_into, options, is_provider).map_err(refusal)
}

/// A dict of options that is looked into.
#[derive(Clone, Copy)]
struct Dict<'a> {
    table: &'static OptionDict,
    /// The way to it, with a dot behind every option.
    path: &'a str,
    /// Whether it is part of what says what may be done.
    is_below_rules: bool,
}

fn check(
    dict: Dict<'_>,
    options: &Map<String, Value>,
    is_provider: &dyn Fn(&str) -> bool,
) -> Result<(), String> {
    let Dict { table, path, .. } = dict;
    let is_below_rules = dict.is_below_rules || table.others == Others::RefusedByRules;
    let inside = |table: &'static OptionDict, path: &str, fields: &Map<String, Value>| {
        let dict = Dict {
            table,
            path,
            is_below_rules,
        };
        check(dict, fields, is_provider)
    };
    for (key, value) in options {
        let unknown = match dict.is_below_rules {
            true => Unknown::find_below_rules(table, path, key),
            false => Unknown::find(table, path, key, is_provider),
        };
        if let Some(unknown) = unknown {
            return Err(unknown.to_string());
        }
        let Some(known) = table.find(key) else {
            continue;
        };
        let below = format!("{path}{key}.");
        match (known.holds, value) {
            (Holds::Dict(dict), Value::Object(fields)) => {
                inside(dict, &below, fields)?;
            }
            (Holds::ListOf(dict), Value::Array(items)) => {
                for fields in items.iter().filter_map(Value::as_object) {
                    inside(dict, &below, fields)?;
                }
            }
            (Holds::DictOf(dict), Value::Object(entries)) => {
                for (name, fields) in entries {
                    let below = format!("{below}{name}.");
                    if let Some(fields) = fields.as_object() {
                        inside(dict, &below, fields)?;
                    }
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// Refuses what this build cannot follow. `is_function` knows which options are functions; their
/// values are null.
///
/// # Errors
/// One of them has the wrong type, or is switched on; the text is what the program sees.
pub fn refuse_unavailable(
    label: &str,
    dict: &OptionDict,
    options: &Map<String, Value>,
    is_function: &dyn Fn(&str) -> bool,
) -> Result<(), Refusal> {
    refuse_below(label, dict, "", options, is_function)
}

fn refuse_below(
    label: &str,
    dict: &OptionDict,
    path: &str,
    options: &Map<String, Value>,
    is_function: &dyn Fn(&str) -> bool,
) -> Result<(), Refusal> {
    for (key, value) in options {
        let Some(known) = dict.find(key) else {
            continue;
        };
        let path = format!("{path}{key}");
        if let Status::Unavailable(form) = known.status {
            let is_function = is_function(&format!("/{}", path.replace('.', "/")));
            match asks(form, value, is_function) {
                Ok(false) => {}
                Ok(true) => {
                    let text = format!("{label}: {}", unavailable(&path));
                    return Err(Refusal::Unavailable(Invalid::new(text)));
                }
                Err(expected) => {
                    let got = if is_function { "closure" } else { kind(value) };
                    let text = format!("{label}: `{path}` must be {expected}; got {got}");
                    return Err(Refusal::Wrong(Invalid::new(text)));
                }
            }
        }
        if let (Holds::Dict(dict), Value::Object(fields)) = (known.holds, value) {
            refuse_below(label, dict, &format!("{path}."), fields, is_function)?;
        }
    }
    Ok(())
}

/// Whether an option asks for something; fails with what it has to be.
fn asks(form: Form, value: &Value, is_function: bool) -> Result<bool, &'static str> {
    match (form, value) {
        (Form::Function | Form::Anything, _) if is_function => Ok(true),
        (_, Value::Null) if !is_function => Ok(false),
        (Form::Anything, _) => Ok(true),
        (Form::Function, _) => Err("a closure or nil"),
        (Form::Switch, Value::Bool(is_on)) => Ok(*is_on),
        (Form::Switch, Value::Object(config)) => Ok(is_on(config)),
        (Form::Switch, _) => Err("a dict, bool, or nil"),
    }
}

/// Whether the dict of a switch asks for anything. One that is off may still be told something
/// by which it would act, and that must not get lost.
fn is_on(config: &Map<String, Value>) -> bool {
    let is_off = config.get("enabled") == Some(&Value::Bool(false))
        || config.get("mode").is_some_and(|mode| mode == "off");
    let wants_more =
        |(key, value): (&String, &Value)| key.starts_with("reserved_") && *value == true;
    !is_off || config.iter().any(wants_more)
}

#[cfg(test)]
mod tests {
    use harn_options::{AGENT_LOOP, MODEL_CALL};
    use serde_json::json;

    use super::*;

    fn unknown(options: Value) -> Option<String> {
        let options = options.as_object().expect("it is a dict").clone();
        let refused = refuse_unknown("agent_loop", &AGENT_LOOP, &options, &|name| name == "acme");
        refused.err().map(String::from)
    }

    fn unavailable_one(options: Value) -> Option<String> {
        let options = options.as_object().expect("it is a dict").clone();
        let is_function = |path: &str| path == "/llm_caller";
        let refused = refuse_unavailable("agent_loop", &AGENT_LOOP, &options, &is_function);
        refused.err().map(|refusal| match refusal {
            Refusal::Wrong(invalid) | Refusal::Unavailable(invalid) => invalid.to_string(),
        })
    }

    #[test]
    fn an_unknown_key_is_named_with_the_way_to_it() {
        for (options, text) in [
            (
                json!({"max_iteration": 3}),
                "agent_loop: unknown option key 'max_iteration'; did you mean 'max_iterations'?",
            ),
            (
                json!({"turn_policy": {"max_prose": 3}}),
                "agent_loop: unknown option key 'turn_policy.max_prose' (expected one of: \
                 require_action_or_yield, allow_done_sentinel, max_prose_chars)",
            ),
            (
                json!({"policy": {"tool_arg_constraints": [{"tools": "run"}]}}),
                "agent_loop: policy.tool_arg_constraints: unknown key 'tools'; did you mean 'tool'?",
            ),
            (
                json!({"policy": {"tool_annotations": {"run": {"arg_schema": {}}}, "tool": []}}),
                "agent_loop: policy: unknown key 'tool'; did you mean 'tools'?",
            ),
            (
                json!({"verify_completion_judge": {"modle": "m"}}),
                "agent_loop: unknown option key 'verify_completion_judge.modle'; did you mean \
                 'model'?",
            ),
            (
                json!({"policy": {"tool_annotations": {"run": {"side_efect_level": "none"}}}}),
                "agent_loop: policy.tool_annotations.run: unknown key 'side_efect_level'; did you \
                 mean 'side_effect_level'?",
            ),
            (
                json!({"policy": {"tool_annotations": {"run": {"arg_schema": {"path_param": []}}}}}),
                "agent_loop: policy.tool_annotations.run.arg_schema: unknown key 'path_param'; did \
                 you mean 'path_params'?",
            ),
            (
                json!({"aproval_policy": {}}),
                "agent_loop: unknown key 'aproval_policy'; did you mean 'approval_policy'?",
            ),
            (
                json!({"colour": 1}),
                "agent_loop: unknown option key 'colour'",
            ),
        ] {
            assert_eq!(unknown(options).as_deref(), Some(text));
        }
    }

    /// Every dict of rules that a dict of options holds, with the way to it, and what stands
    /// around it.
    fn dicts_of_rules(table: &'static OptionDict) -> Vec<(Vec<Step>, &'static OptionDict)> {
        let mut found = Vec::new();
        for key in table.keys {
            let (step, inner) = match key.holds {
                Holds::Nothing => continue,
                Holds::Dict(inner) => (Step::Dict(key.name), inner),
                Holds::ListOf(inner) => (Step::List(key.name), inner),
                Holds::DictOf(inner) => (Step::Each(key.name), inner),
            };
            if inner.others == Others::RefusedByRules {
                found.push((vec![step], inner));
            }
            for (mut way, dict) in dicts_of_rules(inner) {
                way.insert(0, step);
                found.push((way, dict));
            }
        }
        found
    }

    #[derive(Clone, Copy)]
    enum Step {
        Dict(&'static str),
        List(&'static str),
        Each(&'static str),
    }

    impl Step {
        fn around(self, inner: Value) -> Value {
            match self {
                Self::Dict(key) => json!({key: inner}),
                Self::List(key) => json!({key: [inner]}),
                Self::Each(key) => json!({key: {"any": inner}}),
            }
        }
    }

    #[test]
    fn every_misspelt_rule_is_refused_wherever_it_stands() {
        let mut refused = 0;
        for place in harn_options::PLACES {
            for (way, dict) in dicts_of_rules(place.dict) {
                for key in dict.keys {
                    let wrong = format!("{}{}", key.name, key.name.chars().last().unwrap());
                    let inner = json!({wrong.clone(): []});
                    let options = way
                        .iter()
                        .rev()
                        .fold(inner, |inner, step| step.around(inner));
                    let options = options.as_object().unwrap();
                    let told = refuse_unknown(place.builtin, place.dict, options, &|_| false);
                    let told = told.map_err(String::from).unwrap_err();
                    let part = format!(": unknown key '{wrong}'; did you mean '{}'?", key.name);
                    assert!(told.contains(&part), "{options:?}: {told}");
                    refused += 1;
                }
            }
        }
        assert!(refused > 100, "{refused}");
    }

    #[test]
    fn what_has_a_meaning_is_left_alone() {
        for options in [
            json!({}),
            json!({"max_iterations": 1, "temperature": 0, "allowed_tools": []}),
            json!({"acme": {"anything": 1}}),
            json!({"_note": 1}),
            json!({"turn_policy": null, "permissions": {"allow": ["read*"]}}),
            json!({"policy": {"tool_annotations": {"read": {"kind": "read", "mine": 1}}}}),
        ] {
            assert_eq!(unknown(options.clone()), None, "{options}");
        }
    }

    #[test]
    fn what_this_build_cannot_follow_is_refused() {
        for (options, text) in [
            (
                json!({"step_judge": true}),
                "agent_loop: `step_judge` is not available in this build",
            ),
            (
                json!({"llm_caller": null}),
                "agent_loop: `llm_caller` is not available in this build",
            ),
            (
                json!({"compass": 5}),
                "agent_loop: `compass` must be a dict, bool, or nil; got int",
            ),
            (
                json!({"message_decorator": "x"}),
                "agent_loop: `message_decorator` must be a closure or nil; got string",
            ),
            (
                json!({"stall_diagnostics": {"enabled": false, "reserved_terminal_verify": true}}),
                "agent_loop: `stall_diagnostics` is not available in this build",
            ),
            (
                json!({"approval_policy": {"sensitive_path_patterns": [".env"]}}),
                "agent_loop: `approval_policy.sensitive_path_patterns` is not available in this \
                 build",
            ),
        ] {
            assert_eq!(unavailable_one(options).as_deref(), Some(text));
        }
        for options in [
            json!({"step_judge": false, "reminders": false, "compass": {"mode": "off"}}),
            json!({"stall_diagnostics": {"enabled": false, "threshold": 3}, "sandbox": null}),
        ] {
            assert_eq!(unavailable_one(options.clone()), None, "{options}");
        }
    }

    #[test]
    fn calls_of_models_know_the_options_of_loops() {
        let options = json!({"max_iterations": 3, "model": "m"});
        let options = options.as_object().expect("it is a dict");
        assert!(refuse_unknown("llm_call", &MODEL_CALL, options, &|_| false).is_ok());
    }
}
