//! `skill_render`: the text of a skill with its arguments put in.

use std::task::Poll;

use harn_agent::skills::Substitution;
use harn_machine::value::{Dict, Text};
use harn_machine::{Answer, Context, Failure, Registry, Request, Value, Waiting, argument, thrown};

use crate::agents;

/// The kind of requests for a variable that was lent to skills.
pub(crate) const VARIABLE: &str = "skill_variable";

pub(crate) fn register(registry: &mut Registry) {
    registry.waiting(&[("skill_render", skill_render)]);
}

/// `skill_render(skill | body, arguments?)`
fn skill_render(
    context: &mut Context<'_>,
    arguments: &mut [Value],
    waiting: &mut Waiting,
) -> Result<Poll<Value>, Failure> {
    if arguments.is_empty() {
        return thrown("skill_render: requires a skill entry or body string");
    }
    let body = match argument(arguments, 0) {
        Value::Text(body) => Some(body.clone()),
        Value::Dict(skill) => body_of(skill),
        _ => {
            return thrown("skill_render: first argument must be a skill entry or a string body");
        }
    };
    let Some(given) = texts(argument(arguments, 1)) else {
        return thrown("skill_render: second argument must be a list of strings");
    };
    match body {
        Some(body) => render(context, &body, &given).map(Poll::Ready),
        // It was discovered, and only the runtime knows where it is.
        None => agents::ask(context, "__skill_render", arguments, waiting),
    }
}

/// What an entry says; `None` if that has to be read first.
fn body_of(skill: &Dict) -> Option<Text> {
    let given = |key: &str| skill.get(key).filter(|value| !value.is_nil());
    let body = given("body").or_else(|| given("prompt"));
    match (body, given("source")) {
        (Some(body), _) => Some(body.to_text()),
        (None, Some(_)) => None,
        (None, None) => Some(Text::new("")),
    }
}

fn texts(arguments: &Value) -> Option<Vec<String>> {
    let items: &[Value] = match arguments {
        Value::Nil => &[],
        Value::List(items) => items,
        _ => return None,
    };
    let texts = items.iter().map(|item| match item {
        Value::Text(text) => Some(text.to_string()),
        _ => None,
    });
    texts.collect()
}

fn render(context: &mut Context<'_>, body: &str, given: &[String]) -> Result<Value, Failure> {
    let joined = given.join(" ");
    let known = Substitution {
        arguments: given,
        ..Substitution::default()
    };
    let pieces = known.pieces(body, &joined, &mut |name| variable(context, name));
    context.reserve(pieces.iter().map(|piece| piece.len()).sum())?;
    Ok(pieces.concat().into())
}

/// A variable that was lent to skills.
fn variable(context: &mut Context<'_>, name: &str) -> Option<String> {
    let request = Request::Other {
        kind: VARIABLE,
        payload: name.to_owned(),
    };
    match context.perform(&request) {
        Answer::Text(value) => value,
        _ => None,
    }
}
