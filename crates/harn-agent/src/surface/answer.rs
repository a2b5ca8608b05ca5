//! `tool_surface_validate`: what a program hands over, and what it gets.

use harn_llm::options::value::{Options, display};
use serde_json::{Value, json};

use super::{Dict, Severity, Surface, tool, validate};

/// The `_type` of a registry of tools.
const REGISTRY: &str = "tool_registry";

/// `tool_surface_validate(surface?, options?)`: `{valid, diagnostics}`. Who gives no surface
/// and no tools means the registry that is bound.
pub fn answer(surface: &Value, options: &Value, bound: Option<&Value>) -> Value {
    let asked = Asked { surface, options };
    let surface = match bound {
        Some(bound) if surface.is_null() && asked.get("tools").is_none() => bound,
        _ => surface,
    };
    let asked = Asked { surface, options };
    let prompts = asked.prompts();
    let diagnostics = validate(&Surface {
        tools: asked.tools(),
        native_tools: list(asked.get("native_tools")),
        policy: asked.get("policy"),
        approval_policy: asked.get("approval_policy"),
        permissions: asked.get("permissions"),
        prompts: prompts.iter().map(String::as_str).collect(),
        tool_search_active: asked.searches(),
    });
    let is_error = |severity: Severity| severity == Severity::Error;
    json!({
        "valid": !diagnostics.iter().any(|one| is_error(one.severity)),
        "diagnostics": diagnostics.iter().map(|one| one.to_value()).collect::<Vec<_>>(),
    })
}

/// Where everything is looked up: in the surface, then in the options.
struct Asked<'a> {
    surface: &'a Value,
    options: &'a Value,
}

impl<'a> Asked<'a> {
    fn get(&self, key: &str) -> Option<&'a Value> {
        let places = [self.surface, self.options].into_iter();
        let mut dicts = places.filter_map(Value::as_object);
        dicts.find_map(|dict| Options(dict).given(key))
    }

    /// The tools: of a registry, or in a list.
    fn tools(&self) -> &'a [Value] {
        if let Some(registry) = self.surface.as_object().filter(|dict| is_registry(dict)) {
            return tool::items(registry, "tools");
        }
        match self.get("tools") {
            Some(Value::Object(registry)) => tool::items(registry, "tools"),
            tools => list(tools),
        }
    }

    fn prompts(&self) -> Vec<String> {
        let single = ["system", "prompt"].into_iter();
        let single = single.filter_map(|key| self.get(key));
        let all = single.chain(list(self.get("prompts")));
        all.map(display).collect()
    }

    fn searches(&self) -> bool {
        !matches!(self.get("tool_search"), None | Some(Value::Bool(false)))
    }
}

fn is_registry(dict: &Dict) -> bool {
    dict.get("_type").and_then(Value::as_str) == Some(REGISTRY)
}

fn list(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many diagnostics there are for each tool, by what is handed over.
    #[track_caller]
    fn check(surface: Value, options: Value, bound: Option<Value>, expected: &[&str]) {
        let report = answer(&surface, &options, bound.as_ref());
        let diagnostics = report["diagnostics"].as_array().unwrap();
        let mut tools: Vec<&str> = diagnostics
            .iter()
            .map(|one| one["tool"].as_str().unwrap())
            .collect();
        tools.dedup();
        assert_eq!(tools, expected);
        assert_eq!(report["valid"], true);
    }

    fn registry(name: &str) -> Value {
        json!({"_type": "tool_registry", "tools": [{"name": name}, "no tool"]})
    }

    #[test]
    fn tools_are_in_a_registry_or_a_list() {
        check(registry("a"), json!(null), None, &["a"]);
        check(json!({"tools": registry("a")}), json!(null), None, &["a"]);
        check(json!({"tools": [{"name": "a"}]}), json!(null), None, &["a"]);
        check(json!({}), json!({"tools": [{"name": "a"}]}), None, &["a"]);
        for nothing in [json!("text"), json!([{"name": "a"}]), json!({"tools": 1})] {
            check(nothing, json!(null), None, &[]);
        }
    }

    #[test]
    fn the_surface_goes_before_the_options() {
        let options = json!({"tools": [{"name": "b"}]});
        check(
            json!({"tools": [{"name": "a"}]}),
            options.clone(),
            None,
            &["a"],
        );
        check(json!({"tools": null}), options, None, &["b"]);
    }

    #[test]
    fn what_is_bound_stands_in_for_no_surface() {
        check(json!(null), json!(null), None, &[]);
        check(json!(null), json!(null), Some(registry("a")), &["a"]);
        check(json!({}), json!(null), Some(registry("a")), &[]);
        let options = json!({"prompt": "other_tool(x)"});
        let tools = ["a", "other_tool"];
        check(json!(null), options, Some(registry("a")), &tools);
        let options = json!({"tools": registry("b")});
        check(json!(null), options, Some(registry("a")), &["b"]);
    }

    #[test]
    fn anything_but_nil_and_false_is_a_search() {
        for (search, expected) in [
            (json!(null), false),
            (json!(false), false),
            (json!(true), true),
            (json!("bm25"), true),
            (json!({}), true),
            (json!(0), true),
        ] {
            let surface = json!({"tool_search": search});
            let asked = Asked {
                surface: &surface,
                options: &Value::Null,
            };
            assert_eq!(asked.searches(), expected, "{surface}");
        }
    }

    #[test]
    fn prompts_are_looked_at_in_their_order() {
        let surface = json!({"prompts": ["c", 4], "prompt": "b", "system": "a"});
        let asked = Asked {
            surface: &surface,
            options: &json!({"prompts": ["d"]}),
        };
        assert_eq!(asked.prompts(), ["a", "b", "c", "4"]);
    }

    #[test]
    fn one_error_makes_a_surface_invalid() {
        let surface = json!({
            "native_tools": [{"name": "w", "input_schema": {},
                              "annotations": {"side_effect_level": "network"}}],
            "policy": {"side_effect_level": "read_only"},
        });
        let message = "tool 'w' requires side-effect level 'network' but policy ceiling is \
                       'read_only'";
        assert_eq!(
            answer(&surface, &json!(null), None),
            json!({"valid": false, "diagnostics": [{
                "code": "TOOL_SURFACE_SIDE_EFFECT_CEILING_EXCEEDED", "severity": "error",
                "message": message, "tool": "w", "field": "side_effect_level"}]})
        );
    }
}
