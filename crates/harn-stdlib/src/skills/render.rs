//! `skill_render`: the text of a skill with its arguments put in.

use std::borrow::Cow;

use harn_machine::value::{Dict, Text};
use harn_machine::{Answer, Context, Failure, Request, Value, argument, thrown};

use crate::registries::given;

/// What is only known when a skill came from a file or runs in a session.
const KNOWN_LATER: [&str; 2] = ["HARN_SKILL_DIR", "HARN_SESSION_ID"];

/// `skill_render(skill | body, arguments?)`
pub(super) fn skill_render(
    context: &mut Context<'_>,
    arguments: &mut [Value],
) -> Result<Value, Failure> {
    if arguments.is_empty() {
        return thrown("skill_render: requires a skill entry or body string");
    }
    let body = match argument(arguments, 0) {
        Value::Text(body) => body.clone(),
        Value::Dict(skill) => body_of(skill),
        _ => {
            return thrown("skill_render: first argument must be a skill entry or a string body");
        }
    };
    let Some(given) = texts(argument(arguments, 1)) else {
        return thrown("skill_render: second argument must be a list of strings");
    };
    let joined = given.iter().map(Text::as_str).collect::<Vec<_>>().join(" ");
    let pieces = pieces(&body, &given, &joined, |name| environment(context, name));
    context.reserve(pieces.iter().map(|piece| piece.len()).sum())?;
    Ok(pieces.concat().into())
}

fn body_of(skill: &Dict) -> Text {
    let body = given(skill, "body").or_else(|| given(skill, "prompt"));
    body.map_or_else(|| Text::new(""), Value::to_text)
}

fn texts(arguments: &Value) -> Option<Vec<Text>> {
    let items: &[Value] = match arguments {
        Value::Nil => &[],
        Value::List(items) => items,
        _ => return None,
    };
    let texts = items.iter().map(|item| match item {
        Value::Text(text) => Some(text.clone()),
        _ => None,
    });
    texts.collect()
}

/// A variable that programs may put into skills: others could be secrets.
fn environment(context: &mut Context<'_>, name: &str) -> Option<String> {
    if !name.starts_with("HARN_") || KNOWN_LATER.contains(&name) {
        return None;
    }
    match context.perform(&Request::Environment(name.to_owned())) {
        Answer::Text(value) => value,
        _ => None,
    }
}

/// The pieces of a body with what begins with `$` replaced; what nobody knows stays as it is.
fn pieces<'a>(
    body: &'a str,
    arguments: &'a [Text],
    joined: &'a str,
    mut variable: impl FnMut(&str) -> Option<String>,
) -> Vec<Cow<'a, str>> {
    let mut pieces = Vec::new();
    let mut rest = body;
    while let Some(at) = rest.find('$') {
        let (before, mark) = rest.split_at(at);
        let (word, length) = Word::of(mark);
        let known = match word {
            Word::Dollar => Some(Cow::from("$")),
            Word::Plain("ARGUMENTS") => Some(Cow::from(joined)),
            Word::Plain(digits) => argument_at(arguments, digits).map(Cow::from),
            Word::Braced(name) => variable(name).map(Cow::from),
        };
        pieces.push(before.into());
        pieces.push(known.unwrap_or(mark[..length].into()));
        rest = &mark[length..];
    }
    pieces.push(rest.into());
    pieces
}

/// What follows a `$`.
enum Word<'a> {
    Dollar,
    Plain(&'a str),
    Braced(&'a str),
}

impl<'a> Word<'a> {
    /// What a mark begins with, and how many bytes it has with its `$`.
    fn of(mark: &'a str) -> (Self, usize) {
        let after = &mark[1..];
        if after.starts_with('$') {
            return (Self::Dollar, 2);
        }
        let plain = word(after);
        if let Some(inner) = after.strip_prefix('{') {
            let name = word(inner);
            if inner[name.len()..].starts_with('}') {
                return (Self::Braced(name), name.len() + "${}".len());
            }
        }
        (Self::Plain(plain), plain.len() + 1)
    }
}

/// The letters, digits and underscores that a text begins with.
fn word(text: &str) -> &str {
    let is_other = |one: char| !one.is_ascii_alphanumeric() && one != '_';
    &text[..text.find(is_other).unwrap_or(text.len())]
}

/// The argument of a number; the first one is `1`.
fn argument_at<'a>(arguments: &'a [Text], word: &str) -> Option<&'a str> {
    if !word.bytes().all(|one| one.is_ascii_digit()) {
        return None;
    }
    let number: usize = word.parse().ok()?;
    arguments.get(number.checked_sub(1)?).map(Text::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(body: &str, expected: &str) {
        let arguments = ["one", "two words"].map(Text::new);
        let variable = |name: &str| (name == "HARN_TEAM").then(|| "blue".to_owned());
        let pieces = pieces(body, &arguments, "one two words", variable);
        assert_eq!(pieces.concat(), expected);
    }

    #[test]
    fn marks_are_replaced() {
        check("do $1 then $2", "do one then two words");
        check("all: $ARGUMENTS.", "all: one two words.");
        check("$$1 is $1", "$1 is one");
        check("${HARN_TEAM}!", "blue!");
    }

    #[test]
    fn what_nobody_knows_stays() {
        for body in [
            "",
            "$",
            "a$",
            "$x",
            "$0",
            "$1st",
            "$3",
            "$99999999999999999999999",
            "${HARN_OTHER}",
            "${}",
            "${a",
            "${a\n}",
            "$ARGUMENTS_2",
            "{$}",
            "ä$ö",
        ] {
            check(body, body);
        }
        check("$10", "$10");
        check("$ä$1", "$äone");
    }
}
