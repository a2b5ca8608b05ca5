//! Questions of servers that are put to people in the log, where no host can show them.
//!
//! ```text
//! elicitation/create ─► a question: message, schema ─► `harn hitl answer` ─► accept, decline
//! ```
//!
//! A form is answered with its fields as a dict, or with a text if it has only one. What was
//! left out takes the value that the form suggests. Where there is nothing to fill in, as for a
//! page that should be opened, a yes is needed. Who does not want to answer answers null.

use std::sync::Arc;

use harn_llm::Secret;
use serde_json::{Map, Value, json};

use crate::people::{Question, Reply};
use crate::policy::arguments_fit;
use crate::runtime::Runtime;

/// Secrets that are shorter are not hidden: hiding every `a` protects nobody.
const SECRET_CHARS_MIN: usize = 4;

/// The server that asks.
pub(super) struct Asker<'a> {
    pub(super) name: &'a str,
    /// What it was told in confidence. The log stores what it is given, and a server may say
    /// anything.
    pub(super) secrets: &'a [Secret],
}

/// Asks and waits; gives the result of the request.
pub(super) async fn ask(
    runtime: &Arc<Runtime>,
    asker: &Asker<'_>,
    params: &Value,
    session_id: Option<&str>,
) -> Value {
    let server = asker.name;
    let question = Question {
        prompt: asker.without_secrets(&prompt(server, params)),
        metadata: asker.hide(metadata(server, params)),
        session_id,
    };
    let tell = |id: &str| {
        let text = format!("mcp server '{server}' asks a person; `harn hitl answer {id}` answers");
        runtime.warn("mcp", &text);
    };
    let cancelled = || json!({"action": "cancel"});
    let answer = match runtime.ask_people(question, tell).await {
        Ok(Reply::Given(answer)) => answer,
        Ok(Reply::TimedOut | Reply::Cancelled) => return cancelled(),
        Err(error) => {
            let text = format!("mcp server '{server}' could not ask anybody: {error}");
            runtime.warn("mcp", &text);
            return cancelled();
        }
    };
    match result(params, &answer) {
        Ok(result) => result,
        Err(problem) => {
            let text = format!("the answer for mcp server '{server}' does not fit: {problem}");
            runtime.warn("mcp", &text);
            cancelled()
        }
    }
}

impl Asker<'_> {
    fn without_secrets(&self, text: &str) -> String {
        let secrets = self.secrets.iter().map(Secret::expose);
        let secrets = secrets.filter(|secret| secret.chars().count() >= SECRET_CHARS_MIN);
        let mut secrets: Vec<&str> = secrets.collect();
        // The longest first: one may begin like another, whose end would be left.
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        secrets.into_iter().fold(text.to_owned(), |text, secret| {
            text.replace(secret, "[redacted]")
        })
    }

    fn hide(&self, value: Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.without_secrets(&text)),
            Value::Array(items) => items.into_iter().map(|item| self.hide(item)).collect(),
            Value::Object(fields) => {
                let hide = |(name, value): (String, Value)| {
                    (self.without_secrets(&name), self.hide(value))
                };
                Value::Object(fields.into_iter().map(hide).collect())
            }
            plain => plain,
        }
    }
}

/// What people read. A page must be seen as a whole by whoever opens it.
fn prompt(server: &str, params: &Value) -> String {
    let message = params["message"].as_str().unwrap_or_default();
    let names = fields(params).map(|fields| fields.keys().map(String::as_str).collect());
    let names: Vec<&str> = names.unwrap_or_default();
    match params["url"].as_str() {
        Some(url) => format!("mcp server '{server}' asks to open {url}: {message}"),
        None if names.len() > 1 => {
            let names = names.join(", ");
            format!("mcp server '{server}' asks: {message} ({names})")
        }
        None => format!("mcp server '{server}' asks: {message}"),
    }
}

fn metadata(server: &str, params: &Value) -> Value {
    match params["url"].as_str() {
        Some(url) => json!({"server": server, "url": url}),
        None => json!({"server": server, "schema": params["requestedSchema"]}),
    }
}

fn fields(params: &Value) -> Option<&Map<String, Value>> {
    params["requestedSchema"]["properties"].as_object()
}

/// What the server is told.
///
/// # Errors
/// The answer is not what was asked for.
fn result(params: &Value, answer: &Value) -> Result<Value, String> {
    if answer.is_null() {
        return Ok(json!({"action": "decline"}));
    }
    if params["url"].is_string() {
        // What is done on the page stays there; that it is done is all there is to say.
        let action = if is_yes(answer) { "accept" } else { "decline" };
        return Ok(json!({"action": action}));
    }
    let has_fields = fields(params).is_some_and(|fields| !fields.is_empty());
    if !has_fields && dict(answer).is_none() {
        return Ok(match is_yes(answer) {
            true => json!({"action": "accept", "content": {}}),
            false => json!({"action": "decline"}),
        });
    }
    let content = Value::Object(content(params, answer)?);
    let mut schema = params["requestedSchema"].clone();
    schema["type"] = json!("object");
    arguments_fit(&schema, &content)?;
    for (name, field) in fields(params).into_iter().flatten() {
        if let Some(value) = content.get(name) {
            field_fits(name, field, value)?;
        }
    }
    Ok(json!({"action": "accept", "content": content}))
}

/// Whether somebody agrees. What is not a yes is not taken for one.
fn is_yes(answer: &Value) -> bool {
    match answer {
        Value::Bool(is_yes) => *is_yes,
        Value::String(text) => {
            let text = text.trim().to_lowercase();
            matches!(&*text, "true" | "yes" | "done" | "ok")
        }
        _ => false,
    }
}

/// An answer that is a dict, or the text of one.
fn dict(answer: &Value) -> Option<Map<String, Value>> {
    match answer {
        Value::Object(given) => Some(given.clone()),
        Value::String(text) => serde_json::from_str(text).ok(),
        _ => None,
    }
}

/// The fields of a form.
fn content(params: &Value, answer: &Value) -> Result<Map<String, Value>, String> {
    let empty = Map::new();
    let fields = fields(params).unwrap_or(&empty);
    let single = match fields.len() {
        1 => fields.iter().next(),
        _ => None,
    };
    let mut content = match (answer, single) {
        (Value::Object(given), _) => given.clone(),
        (Value::String(text), Some((name, field))) => {
            Map::from_iter([(name.clone(), typed(text, field))])
        }
        (answer, Some((name, _))) => Map::from_iter([(name.clone(), answer.clone())]),
        (Value::String(_), None) => {
            dict(answer).ok_or("a form with several fields is answered with a dict")?
        }
        _ => return Err("a form is answered with a dict".to_owned()),
    };
    for (name, field) in fields {
        if let Some(default) = field.get("default") {
            content.entry(name).or_insert_with(|| default.clone());
        }
    }
    Ok(content)
}

/// Whether a value is what a field allows beyond its type: one of its choices, and within its
/// bounds.
fn field_fits(name: &str, field: &Value, value: &Value) -> Result<(), String> {
    let choices = field["oneOf"].as_array().or(field["anyOf"].as_array());
    if let Some(choices) = choices
        && choices.iter().all(|choice| choice.get("const").is_some())
        && !choices.iter().any(|choice| choice["const"] == *value)
    {
        return Err(format!("`{name}` is none of the values it may have"));
    }
    let (least, most, unit, size) = match value {
        Value::String(text) => {
            let count = text.chars().count();
            ("minLength", "maxLength", " characters", count as f64)
        }
        Value::Number(number) => ("minimum", "maximum", "", number.as_f64().unwrap_or(0.0)),
        Value::Array(items) => {
            for item in items {
                field_fits(name, &field["items"], item)?;
            }
            ("minItems", "maxItems", " items", items.len() as f64)
        }
        _ => return Ok(()),
    };
    match (field[least].as_f64(), field[most].as_f64()) {
        (Some(least), _) if size < least => Err(format!("`{name}` must be at least {least}{unit}")),
        (_, Some(most)) if size > most => Err(format!("`{name}` must be at most {most}{unit}")),
        _ => Ok(()),
    }
}

/// A text as the field wants it, if it can be read that way.
fn typed(text: &str, field: &Value) -> Value {
    let is_text = !matches!(
        field["type"].as_str(),
        Some("integer" | "number" | "boolean" | "array")
    );
    let read = || serde_json::from_str(text.trim()).ok();
    let read = if is_text { None } else { read() };
    read.unwrap_or_else(|| json!(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(properties: Value, required: &[&str]) -> Value {
        json!({
            "mode": "form", "message": "Who?",
            "requestedSchema": {"type": "object", "properties": properties, "required": required},
        })
    }

    #[track_caller]
    fn check(params: &Value, answer: Value, expected: Value) {
        assert_eq!(result(params, &answer), Ok(expected));
    }

    fn accepted(content: Value) -> Value {
        json!({"action": "accept", "content": content})
    }

    #[test]
    fn a_form_with_one_field_is_answered_with_a_text_or_a_dict() {
        let name = form(json!({"name": {"type": "string"}}), &["name"]);
        check(&name, json!("Ada"), accepted(json!({"name": "Ada"})));
        check(&name, json!("7"), accepted(json!({"name": "7"})));
        check(
            &name,
            json!({"name": "Ada"}),
            accepted(json!({"name": "Ada"})),
        );
        let age = form(json!({"age": {"type": "integer"}}), &["age"]);
        check(&age, json!("36"), accepted(json!({"age": 36})));
        check(&age, json!(36), accepted(json!({"age": 36})));
    }

    #[test]
    fn what_was_left_out_is_as_the_form_suggests() {
        let fields = json!({
            "name": {"type": "string", "default": "John"}, "age": {"type": "integer", "default": 30},
            "note": {"type": "string"},
        });
        let both = form(fields, &["name"]);
        check(
            &both,
            json!({}),
            accepted(json!({"name": "John", "age": 30})),
        );
        let given = json!({"age": 36, "note": "x"});
        let whole = json!({"name": "John", "age": 36, "note": "x"});
        check(&both, given, accepted(whole.clone()));
        check(&both, json!(r#"{"age": 36, "note": "x"}"#), accepted(whole));
    }

    #[test]
    fn null_declines_and_what_does_not_fit_is_no_answer() {
        let age = form(json!({"age": {"type": "integer"}}), &["age"]);
        check(&age, Value::Null, json!({"action": "decline"}));
        let wrong = |answer: Value| result(&age, &answer).unwrap_err();
        assert_eq!(wrong(json!("many")), "`age` must be integer");
        assert_eq!(wrong(json!({})), "`age` is missing in the arguments");
        let two = form(json!({"a": {}, "b": {}}), &[]);
        let expected = "a form with several fields is answered with a dict";
        assert_eq!(result(&two, &json!("x")).unwrap_err(), expected);
    }

    #[test]
    fn a_form_without_fields_needs_a_yes() {
        let bare = json!({"mode": "form", "message": "Delete it?"});
        for form in [form(json!({}), &[]), bare] {
            for yes in [json!("yes"), json!(true), json!({}), json!("{}")] {
                check(&form, yes, accepted(json!({})));
            }
            for no in [json!("no"), json!("rather not"), json!(false), Value::Null] {
                check(&form, no, json!({"action": "decline"}));
            }
        }
    }

    #[test]
    fn choices_and_bounds_of_a_field_are_kept() {
        let colours = json!([{"const": "r", "title": "Red"}, {"const": "g", "title": "Green"}]);
        let fields = json!({
            "one": {"type": "string", "oneOf": colours},
            "some": {"type": "array", "minItems": 1, "items": {"anyOf": colours}},
            "name": {"type": "string", "minLength": 2, "maxLength": 3},
            "age": {"type": "integer", "minimum": 18, "maximum": 99},
        });
        let form = form(fields, &[]);
        let fits = json!({"one": "r", "some": ["g"], "name": "öäü", "age": 18});
        check(&form, fits.clone(), accepted(fits));
        for (given, problem) in [
            (
                json!({"one": "b"}),
                "`one` is none of the values it may have",
            ),
            (
                json!({"some": ["g", "b"]}),
                "`some` is none of the values it may have",
            ),
            (json!({"some": []}), "`some` must be at least 1 items"),
            (json!({"name": "x"}), "`name` must be at least 2 characters"),
            (
                json!({"name": "four"}),
                "`name` must be at most 3 characters",
            ),
            (json!({"age": 17}), "`age` must be at least 18"),
            (json!({"age": 100}), "`age` must be at most 99"),
        ] {
            assert_eq!(result(&form, &given), Err(problem.to_owned()));
        }
    }

    #[test]
    fn a_page_is_opened_or_not_and_nothing_of_it_is_passed_on() {
        let page = json!({"mode": "url", "message": "Pay", "url": "https://pay.test/1"});
        check(&page, json!("done"), json!({"action": "accept"}));
        check(&page, json!(true), json!({"action": "accept"}));
        check(&page, json!(" OK "), json!({"action": "accept"}));
        let others = ["no", "No!", "never", "", "y?"].map(|text| json!(text));
        let others = others
            .into_iter()
            .chain([json!(false), json!(1), json!({})]);
        for no in others.chain([Value::Null]) {
            check(&page, no, json!({"action": "decline"}));
        }
        assert_eq!(
            prompt("shop", &page),
            "mcp server 'shop' asks to open https://pay.test/1: Pay"
        );
    }

    #[test]
    fn nothing_is_left_of_secrets_that_begin_alike() {
        let secrets = ["abcd", "abcdefgh", "xyz"].map(Secret::new);
        let asker = Asker {
            name: "it",
            secrets: &secrets,
        };
        let hidden = asker.hide(json!({"abcd": ["abcdefgh", 1, "xyz"]}));
        assert_eq!(hidden, json!({"[redacted]": ["[redacted]", 1, "xyz"]}));
    }

    #[test]
    fn people_see_who_asks_and_what_to_fill_in() {
        let one = form(json!({"name": {"type": "string"}}), &[]);
        assert_eq!(prompt("it", &one), "mcp server 'it' asks: Who?");
        let two = form(json!({"name": {}, "age": {}}), &[]);
        assert_eq!(prompt("it", &two), "mcp server 'it' asks: Who? (name, age)");
    }
}
