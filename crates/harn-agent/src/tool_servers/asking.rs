//! Questions of servers that are put to people in the log, where no host can show them.
//!
//! ```text
//! elicitation/create ─► a question: message, schema ─► `harn hitl answer` ─► accept, decline
//! ```
//!
//! A form is answered with its fields as a dict, or with a text if it has only one. What was
//! left out takes the value that the form suggests. Who does not want to answer answers null.

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
        secrets.fold(text.to_owned(), |text, secret| {
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
        let is_done = !matches!(answer.as_str(), Some("no" | "false")) && *answer != json!(false);
        let action = if is_done { "accept" } else { "decline" };
        return Ok(json!({"action": action}));
    }
    let content = Value::Object(content(params, answer)?);
    let mut schema = params["requestedSchema"].clone();
    schema["type"] = json!("object");
    arguments_fit(&schema, &content)?;
    Ok(json!({"action": "accept", "content": content}))
}

/// The fields of a form.
fn content(params: &Value, answer: &Value) -> Result<Map<String, Value>, String> {
    let empty = Map::new();
    let fields = fields(params).unwrap_or(&empty);
    let as_dict = |text: &String| match serde_json::from_str(text) {
        Ok(Value::Object(given)) => Some(given),
        _ => None,
    };
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
        (Value::String(text), None) => {
            as_dict(text).ok_or("a form with several fields is answered with a dict")?
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
    fn a_page_is_opened_or_not_and_nothing_of_it_is_passed_on() {
        let page = json!({"mode": "url", "message": "Pay", "url": "https://pay.test/1"});
        check(&page, json!("done"), json!({"action": "accept"}));
        check(&page, json!(true), json!({"action": "accept"}));
        for no in [json!(false), json!("no"), Value::Null] {
            check(&page, no, json!({"action": "decline"}));
        }
        assert_eq!(
            prompt("shop", &page),
            "mcp server 'shop' asks to open https://pay.test/1: Pay"
        );
    }

    #[test]
    fn people_see_who_asks_and_what_to_fill_in() {
        let one = form(json!({"name": {"type": "string"}}), &[]);
        assert_eq!(prompt("it", &one), "mcp server 'it' asks: Who?");
        let two = form(json!({"name": {}, "age": {}}), &[]);
        assert_eq!(prompt("it", &two), "mcp server 'it' asks: Who? (name, age)");
    }
}
