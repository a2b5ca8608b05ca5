//! Questions as forms, for clients that show forms.
//!
//! A form has fields with a text, a number, a yes or no, or a choice. A question whose answer is
//! anything else does not fit. What people type into a form passes through the client, so a
//! secret never is a form.

use serde_json::{Map, Value, json};

/// The field of a form with just one.
const ANSWER: &str = "answer";

/// A form, and how its content is the answer.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Form {
    /// The schema that the client shows.
    pub(super) schema: Value,
    kind: FormKind,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum FormKind {
    /// The answer is the only field.
    Single,
    /// The answer is all fields.
    Whole,
    /// Whether somebody agrees, and why.
    Approval,
}

impl Form {
    /// The form of a question; `None`: it does not fit into one.
    pub(super) fn of_question(metadata: &Value) -> Option<Self> {
        if is_secret(metadata) {
            return None;
        }
        let (schema, default) = (&metadata["schema"], &metadata["default"]);
        if matches!(schema["type"].as_str(), Some("object" | "dict")) {
            return Some(Self {
                schema: fields_of(schema)?,
                kind: FormKind::Whole,
            });
        }
        let mut field = match schema {
            Value::Null => like(default),
            schema => field_of(schema)?,
        };
        if !default.is_null() && fits(&field, default) {
            field["default"] = default.clone();
        }
        let schema = json!({
            "type": "object", "properties": {ANSWER: field}, "required": [ANSWER],
        });
        Some(Self {
            schema,
            kind: FormKind::Single,
        })
    }

    /// The form of something that one person, whoever it is, has to approve of.
    pub(super) fn of_approval(payload: &Value) -> Option<Self> {
        let metadata = &payload["metadata"];
        let needs_one = metadata["quorum"].as_u64().unwrap_or(1) == 1;
        let anybody = payload["approvers"].as_array().is_none_or(Vec::is_empty);
        (needs_one && anybody).then(|| Self {
            schema: json!({
                "type": "object",
                "properties": {
                    "approved": {"type": "boolean", "title": "Approve"},
                    "reason": {"type": "string", "title": "Reason"},
                },
                "required": ["approved"],
            }),
            kind: FormKind::Approval,
        })
    }

    /// What the person said, as a response; `None`: the content is not that of the form.
    pub(super) fn response(&self, content: &Value) -> Option<Value> {
        Some(match self.kind {
            FormKind::Single => json!({"answer": content.get(ANSWER)?}),
            FormKind::Whole => json!({"answer": content.as_object()?}),
            FormKind::Approval => {
                let mut response = json!({"approved": content["approved"] == true});
                if let Some(reason) = content["reason"].as_str().filter(|text| !text.is_empty()) {
                    response["reason"] = json!(reason);
                }
                response
            }
        })
    }
}

/// Whether an answer is nothing that a form may ask for.
pub(super) fn is_secret(metadata: &Value) -> bool {
    // Where a value was taken out on the way here, there was one to take out.
    let is_set = |value: &Value| !matches!(value, Value::Null | Value::Bool(false));
    let says_so = |schema: &Value| {
        is_set(&schema["secret"]) || is_set(&schema["writeOnly"]) || schema["format"] == "password"
    };
    let fields = metadata["schema"]["properties"].as_object();
    let mut fields = fields.into_iter().flat_map(Map::values);
    says_so(metadata)
        || metadata["url"].is_string()
        || says_so(&metadata["schema"])
        || fields.any(|field| says_so(field) || field.is_string())
}

fn fields_of(schema: &Value) -> Option<Value> {
    let mut fields = Map::new();
    for (name, field) in schema["properties"].as_object()? {
        fields.insert(name.clone(), field_of(field)?);
    }
    let mut form = json!({"type": "object", "properties": fields});
    for key in ["required", "title", "description"] {
        if let Some(value) = schema.get(key).filter(|value| !value.is_null()) {
            form[key] = value.clone();
        }
    }
    Some(form)
}

/// One field, in the words of the protocol; `None`: there is none for such a value.
fn field_of(schema: &Value) -> Option<Value> {
    let kind = match schema["type"].as_str()? {
        "string" => "string",
        "integer" | "int" => "integer",
        "number" | "float" => "number",
        "boolean" | "bool" => "boolean",
        "array" | "list" => return choices_of(schema),
        _ => return None,
    };
    let mut field = json!({"type": kind});
    let choices = schema["enum"].as_array();
    match choices {
        Some(choices) if kind == "string" && choices.iter().all(Value::is_string) => {
            field["enum"] = json!(choices);
        }
        Some(_) => return None,
        None => {}
    }
    let texts = ["minLength", "maxLength", "pattern"];
    let numbers = ["minimum", "maximum"];
    let more: &[&str] = match kind {
        "string" => &texts,
        "boolean" => &[],
        _ => &numbers,
    };
    for key in ["title", "description"].iter().chain(more) {
        if let Some(value) = schema.get(*key).filter(|value| !value.is_null()) {
            field[*key] = value.clone();
        }
    }
    if let Some(default) = schema.get("default").filter(|value| fits(&field, value)) {
        field["default"] = default.clone();
    }
    Some(field)
}

/// Several of some choices.
fn choices_of(schema: &Value) -> Option<Value> {
    let choices = schema["items"]["enum"].as_array()?;
    let are_texts = choices.iter().all(Value::is_string);
    are_texts.then(|| json!({"type": "array", "items": {"type": "string", "enum": choices}}))
}

/// A field for values like one.
fn like(default: &Value) -> Value {
    let kind = match default {
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        _ => "string",
    };
    json!({"type": kind})
}

fn fits(field: &Value, value: &Value) -> bool {
    match field["type"].as_str() {
        Some("string") => value.is_string(),
        Some("integer") => value.is_i64(),
        Some("number") => value.is_number(),
        Some("boolean") => value.is_boolean(),
        _ => false,
    }
}
