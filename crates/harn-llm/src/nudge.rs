//! What a model is told when its answer does not fit the schema.

use serde_json::{Map, Value};

/// How a model is told what was wrong.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Nudge {
    /// With a text made from the errors and the schema.
    #[default]
    Automatic,
    /// Not at all; it is asked the same again.
    Silent,
    /// With these words before the errors.
    Words(String),
}

/// The levels below the root that are described.
const LEVELS_MAX: usize = 3;
/// The lines that describe a schema.
const LINES_MAX: usize = 8;
/// The keys that are listed of one object.
const KEYS_MAX: usize = 16;

impl Nudge {
    /// The message to the model; `None` if it gets none.
    pub fn text(&self, schema: Option<&Value>, errors: &[String]) -> Option<String> {
        let errors = match errors {
            [] => "(no detailed errors)".to_owned(),
            errors => errors.join("; "),
        };
        match self {
            Nudge::Silent => None,
            Nudge::Words(words) => Some(format!("{words}\n\nValidation errors: {errors}")),
            Nudge::Automatic => Some(automatic(schema, &errors)),
        }
    }
}

fn automatic(schema: Option<&Value>, errors: &str) -> String {
    let mut lines = vec![
        "Your previous response did not match the required JSON schema.".to_owned(),
        format!("Validation errors: {errors}."),
    ];
    if let Some(schema) = schema {
        let required = required_keys(schema);
        if !required.is_empty() {
            lines.push(format!("Required keys: {}.", required.join(", ")));
        }
        let allowed = allowed_keys(schema);
        if !allowed.is_empty() {
            lines.push(format!("Allowed top-level keys: {}.", allowed.join(", ")));
        }
        let mut shape = Vec::new();
        describe(schema, "root", 0, &mut shape);
        if !shape.is_empty() {
            lines.push("Expected JSON schema shape:".to_owned());
            lines.append(&mut shape);
        }
    }
    lines.push(
        "Respond again with ONLY valid JSON conforming to the schema. No prose, no markdown fences."
            .to_owned(),
    );
    lines.join("\n")
}

/// Adds a line for every object, depth first.
fn describe(schema: &Value, name: &str, level: usize, lines: &mut Vec<String>) {
    if level > LEVELS_MAX || lines.len() >= LINES_MAX {
        return;
    }
    let mut facts = Vec::new();
    for (what, keys) in [
        ("allowed", allowed_keys(schema)),
        ("required", required_keys(schema)),
    ] {
        if !keys.is_empty() {
            facts.push(format!("{what} keys: {}", listed(keys)));
        }
    }
    if !facts.is_empty() {
        lines.push(format!("- {name} object {}", facts.join("; ")));
    }
    for (key, property) in properties(schema).into_iter().flatten() {
        let child = match level {
            0 => key.clone(),
            _ => format!("{name}.{key}"),
        };
        describe(property, &child, level + 1, lines);
    }
    if let Some(items) = schema.get("items") {
        describe(items, &format!("{name}[]"), level + 1, lines);
    }
}

fn listed(mut keys: Vec<&str>) -> String {
    keys.sort_unstable();
    let more = keys.len().saturating_sub(KEYS_MAX);
    keys.truncate(KEYS_MAX);
    match more {
        0 => keys.join(", "),
        more => format!("{}, ... (+{more} more)", keys.join(", ")),
    }
}

fn properties(schema: &Value) -> Option<&Map<String, Value>> {
    schema.get("properties")?.as_object()
}

fn allowed_keys(schema: &Value) -> Vec<&str> {
    let properties = properties(schema).into_iter().flatten();
    properties.map(|(key, _)| key.as_str()).collect()
}

fn required_keys(schema: &Value) -> Vec<&str> {
    let required = schema.get("required").and_then(Value::as_array);
    let required = required.into_iter().flatten();
    required.filter_map(Value::as_str).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(schema: Value, expected: &[&str]) {
        let errors = ["at root: bad".to_owned(), "worse".to_owned()];
        let text = Nudge::Automatic.text(Some(&schema), &errors).unwrap();
        let mut lines = vec![
            "Your previous response did not match the required JSON schema.",
            "Validation errors: at root: bad; worse.",
        ];
        lines.extend(expected);
        lines.push("Respond again with ONLY valid JSON conforming to the schema. No prose, no markdown fences.");
        assert_eq!(text, lines.join("\n"));
    }

    #[test]
    fn the_shape_of_the_schema_is_told() {
        let schema = json!({
            "type": "object",
            "required": ["b", "a"],
            "properties": {
                "a": {"type": "string"},
                "b": {"type": "object", "properties": {"y": {}, "x": {
                    "type": "array", "items": {"type": "object", "properties": {"k": {}}},
                }}},
            },
        });
        check(
            schema,
            &[
                "Required keys: b, a.",
                "Allowed top-level keys: a, b.",
                "Expected JSON schema shape:",
                "- root object allowed keys: a, b; required keys: a, b",
                "- b object allowed keys: x, y",
                "- b.x[] object allowed keys: k",
            ],
        );
        check(json!({"type": "array"}), &[]);
    }

    #[test]
    fn long_and_deep_schemas_are_cut() {
        let mut properties = Map::new();
        for number in 0..20 {
            properties.insert(format!("k{number:02}"), json!({"properties": {"z": {}}}));
        }
        let schema = json!({"properties": properties});
        let text = Nudge::Automatic.text(Some(&schema), &[]).unwrap();
        let keys = "k00, k01, k02, k03, k04, k05, k06, k07, k08, k09, k10, k11, k12, k13, k14, k15";
        let root = format!("- root object allowed keys: {keys}, ... (+4 more)");
        assert!(text.contains(&root), "{text}");
        let shape = text.lines().filter(|line| line.starts_with("- "));
        assert_eq!(shape.count(), 8);
        assert!(text.contains("Validation errors: (no detailed errors)."));

        let mut deep = json!({"properties": {"e": {}}});
        for key in ["d", "c", "b", "a"] {
            deep = json!({"properties": {key: deep}});
        }
        let text = Nudge::Automatic.text(Some(&deep), &[]).unwrap();
        assert!(text.contains("- a.b.c object allowed keys: d"), "{text}");
        assert!(!text.contains("allowed keys: e"), "{text}");
    }

    #[test]
    fn words_of_the_program_come_before_the_errors() {
        let nudge = Nudge::Words("Try again.".to_owned());
        let text = nudge.text(None, &["no".to_owned()]);
        assert_eq!(text.unwrap(), "Try again.\n\nValidation errors: no");
        assert_eq!(Nudge::Silent.text(None, &[]), None);
    }
}
