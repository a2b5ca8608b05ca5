//! What a tool declares about itself, and what follows from it for its arguments.

use std::collections::BTreeMap;

use harn_events::{SideEffectLevel, ToolAnnotations, ToolArgSchema, ToolKind};
use harn_llm::options::value::{Options, display, truthy};
use serde_json::{Map, Value};

/// Arguments that models like to write as text although they are numbers.
const INTEGER_KEYS: [&str; 9] = [
    "range_start",
    "range_end",
    "offset",
    "limit",
    "timeout",
    "line",
    "start_line",
    "end_line",
    "count",
];

/// Reads annotations. What is missing or of the wrong kind has its default, because a tool from
/// elsewhere must not stop a loop; `None` when it is no dict at all.
pub fn read_annotations(value: &Value) -> Option<ToolAnnotations> {
    let fields = value.as_object()?;
    let options = Options(fields);
    let hint = |key: &str| fields.get(key).and_then(Value::as_bool);
    Some(ToolAnnotations {
        kind: word(fields, "kind")
            .and_then(|kind| ToolKind::from_wire(&kind))
            .unwrap_or_default(),
        side_effect_level: word(fields, "side_effect_level")
            .and_then(|level| SideEffectLevel::from_wire(&level))
            .unwrap_or_default(),
        completion_evidence_role: options.given_text("completion_evidence_role"),
        arg_schema: fields
            .get("arg_schema")
            .and_then(Value::as_object)
            .map(read_arguments)
            .unwrap_or_default(),
        capabilities: read_capabilities(fields.get("capabilities")),
        emits_artifacts: options.flag("emits_artifacts"),
        result_readers: names(fields.get("result_readers")),
        inline_result: options.flag("inline_result"),
        read_only_hint: hint("readOnlyHint"),
        destructive_hint: hint("destructiveHint"),
        idempotent_hint: hint("idempotentHint"),
        open_world_hint: hint("openWorldHint"),
    })
}

/// Whether tools of a kind change nothing.
pub fn is_read_only(kind: ToolKind) -> bool {
    match kind {
        ToolKind::Read | ToolKind::Search | ToolKind::Think | ToolKind::Fetch => true,
        ToolKind::Edit
        | ToolKind::Delete
        | ToolKind::Move
        | ToolKind::Execute
        | ToolKind::Other => false,
    }
}

/// The word for what tools of a kind do to the world.
pub fn mutation_class(kind: ToolKind) -> &'static str {
    match kind {
        ToolKind::Read | ToolKind::Search | ToolKind::Think | ToolKind::Fetch => "read_only",
        ToolKind::Edit => "workspace_write",
        ToolKind::Delete | ToolKind::Move => "destructive",
        ToolKind::Execute => "ambient_side_effect",
        ToolKind::Other => "other",
    }
}

/// Gives arguments their canonical names.
///
/// When a call has both names, the canonical one stays and the other goes: a policy looks at the
/// canonical one only, so nothing may reach the tool beside it.
pub fn rewrite_aliases(annotations: &ToolAnnotations, arguments: &mut Value) {
    let Some(fields) = arguments.as_object_mut() else {
        return;
    };
    for (alias, canonical) in &annotations.arg_schema.arg_aliases {
        if alias == canonical {
            continue;
        }
        if let Some(value) = fields.remove(alias) {
            fields.entry(canonical.clone()).or_insert(value);
        }
    }
}

/// Makes numbers of the texts that look like integers, where an argument's name says that it is
/// one.
pub fn coerce_integers(arguments: &mut Value) {
    let Some(fields) = arguments.as_object_mut() else {
        return;
    };
    let known = fields.iter_mut();
    for (_, value) in known.filter(|(key, _)| INTEGER_KEYS.contains(&key.as_str())) {
        if let Some(number) = value.as_str().and_then(integer) {
            *value = number.into();
        }
    }
}

/// The values of the declared path parameters that a call has, with the parameter's name. A list
/// gives each of its texts.
pub(crate) fn declared_paths<'a>(
    annotations: Option<&'a ToolAnnotations>,
    arguments: &'a Value,
) -> Vec<(&'a str, &'a str)> {
    let keys = annotations.into_iter().flat_map(|annotations| {
        let keys = annotations.arg_schema.path_params.iter();
        keys.map(String::as_str)
    });
    keys.flat_map(|key| {
        let texts = arguments.get(key).map(texts).unwrap_or_default();
        texts.into_iter().map(move |text| (key, text))
    })
    .collect()
}

fn texts(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(items) => items.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

fn integer(text: &str) -> Option<i64> {
    let text = text.trim();
    let digits = text.strip_prefix('-').unwrap_or(text);
    let all_digits = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    all_digits.then(|| text.parse().ok()).flatten()
}

fn word(fields: &Map<String, Value>, key: &str) -> Option<String> {
    let word = fields.get(key)?.as_str()?;
    Some(word.trim().to_ascii_lowercase())
}

fn read_arguments(fields: &Map<String, Value>) -> ToolArgSchema {
    let aliases = fields.get("arg_aliases").and_then(Value::as_object);
    let aliases = aliases.into_iter().flatten();
    ToolArgSchema {
        path_params: names(fields.get("path_params")),
        command_params: names(fields.get("command_params")),
        arg_aliases: aliases
            .filter_map(|(alias, name)| Some((alias.clone(), name.as_str()?.to_owned())))
            .collect(),
        required: names(fields.get("required")),
        dependency_key_params: names(fields.get("dependency_key_params")),
        dependency_range_params: fields
            .get("dependency_range_params")
            .and_then(|ranges| serde_json::from_value(ranges.clone()).ok())
            .unwrap_or_default(),
    }
}

fn read_capabilities(value: Option<&Value>) -> BTreeMap<String, Vec<String>> {
    let fields = value.and_then(Value::as_object).into_iter().flatten();
    fields
        .map(|(capability, operations)| (capability.clone(), names(Some(operations))))
        .collect()
}

/// The names in a list; a single text stands for a list of one.
fn names(value: Option<&Value>) -> Vec<String> {
    match value {
        Some(Value::Array(items)) => items
            .iter()
            .filter(|item| truthy(item))
            .map(display)
            .collect(),
        Some(Value::String(name)) if !name.is_empty() => vec![name.clone()],
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn annotations_are_read() {
        let read = read_annotations(&json!({
            "kind": "edit", "side_effect_level": "workspace_write",
            "arg_schema": {
                "path_params": ["path"], "arg_aliases": {"file": "path"}, "required": ["path"],
            },
            "capabilities": {"workspace": ["write_text"]},
            "emits_artifacts": true, "inline_result": true, "result_readers": ["read_output"],
        }));
        let read = read.expect("it is a dict");
        assert_eq!(read.kind, ToolKind::Edit);
        assert_eq!(read.side_effect_level, SideEffectLevel::WorkspaceWrite);
        assert_eq!(read.arg_schema.path_params, ["path"]);
        assert_eq!(read.arg_schema.arg_aliases["file"], "path");
        assert_eq!(read.arg_schema.required, ["path"]);
        assert_eq!(read.capabilities["workspace"], ["write_text"]);
        assert!(read.emits_artifacts && read.inline_result);
        assert_eq!(read.result_readers, ["read_output"]);
    }

    #[test]
    fn odd_annotations_have_their_defaults() {
        assert_eq!(read_annotations(&json!(null)), None);
        assert_eq!(read_annotations(&json!("read")), None);
        let plain = Some(ToolAnnotations::default());
        assert_eq!(read_annotations(&json!({})), plain);
        let odd = json!({
            "kind": 7, "side_effect_level": "cosmic", "arg_schema": [], "capabilities": "all",
            "emits_artifacts": null, "result_readers": 3, "unknown": true,
        });
        assert_eq!(read_annotations(&odd), plain);
        let single = json!({"arg_schema": {"path_params": "path", "arg_aliases": {"a": 1}}});
        let single = read_annotations(&single).expect("it is a dict");
        assert_eq!(single.arg_schema.path_params, ["path"]);
        assert!(single.arg_schema.arg_aliases.is_empty());
    }

    #[test]
    fn kinds_have_a_mutation_class() {
        let rows = [
            (ToolKind::Read, "read_only"),
            (ToolKind::Search, "read_only"),
            (ToolKind::Think, "read_only"),
            (ToolKind::Fetch, "read_only"),
            (ToolKind::Edit, "workspace_write"),
            (ToolKind::Delete, "destructive"),
            (ToolKind::Move, "destructive"),
            (ToolKind::Execute, "ambient_side_effect"),
            (ToolKind::Other, "other"),
        ];
        for (kind, class) in rows {
            assert_eq!(mutation_class(kind), class);
            assert_eq!(is_read_only(kind), class == "read_only");
        }
        assert_eq!(rows.len(), ToolKind::ALL.len());
    }

    #[test]
    fn aliases_become_canonical_names() {
        let annotations = read_annotations(&json!({
            "arg_schema": {"arg_aliases": {"file": "path", "same": "same"}},
        }));
        let annotations = annotations.expect("it is a dict");
        let rows = [
            (json!({"file": "a", "x": 1}), json!({"path": "a", "x": 1})),
            (json!({"file": "a", "path": "b"}), json!({"path": "b"})),
            (json!({"path": "b"}), json!({"path": "b"})),
            (json!({"same": 1}), json!({"same": 1})),
            (json!("file"), json!("file")),
        ];
        for (mut arguments, expected) in rows {
            rewrite_aliases(&annotations, &mut arguments);
            assert_eq!(arguments, expected);
        }
    }

    #[test]
    fn texts_that_look_like_integers_become_integers() {
        let rows = [
            (json!({"offset": "12"}), json!({"offset": 12})),
            (json!({"line": " -3 "}), json!({"line": -3})),
            (json!({"limit": "1.5"}), json!({"limit": "1.5"})),
            (json!({"limit": ""}), json!({"limit": ""})),
            (json!({"limit": "-"}), json!({"limit": "-"})),
            (json!({"limit": "ten"}), json!({"limit": "ten"})),
            (json!({"size": "12"}), json!({"size": "12"})),
            (
                json!({"count": "99999999999999999999"}),
                json!({"count": "99999999999999999999"}),
            ),
            (json!(["12"]), json!(["12"])),
        ];
        for (mut arguments, expected) in rows {
            coerce_integers(&mut arguments);
            assert_eq!(arguments, expected);
        }
        for key in INTEGER_KEYS {
            let mut arguments = json!({key: "7"});
            coerce_integers(&mut arguments);
            assert_eq!(arguments[key], 7);
        }
    }

    #[test]
    fn declared_paths_are_the_texts_of_path_parameters() {
        let annotations = read_annotations(&json!({
            "arg_schema": {"path_params": ["to", "from", "more", "gone"]},
        }));
        let arguments = json!({"from": "a", "to": "b", "more": ["c", 1, "d"], "text": "e"});
        let paths = declared_paths(annotations.as_ref(), &arguments);
        let expected = [("to", "b"), ("from", "a"), ("more", "c"), ("more", "d")];
        assert_eq!(paths, expected);
        assert!(declared_paths(None, &arguments).is_empty());
    }
}
