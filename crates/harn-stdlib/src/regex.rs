//! Regular expressions.
//!
//! Programs pass patterns as text, mostly the same few again and again, so those that were
//! compiled are kept for the run.

use std::rc::Rc;

use harn_machine::value::Text;
use harn_machine::{Context, Failure, Fault, Registry, Value};
use hashbrown::HashMap;
use regex::{Captures, Regex, RegexBuilder};

use crate::expect::text;
use crate::growing::Growing;

/// How many compiled patterns are kept. Each may take megabytes.
const KEPT_MAX: usize = 64;

pub(crate) fn register(registry: &mut Registry) {
    registry.plain(&[
        ("regex_captures", captures),
        ("regex_match", matches),
        ("regex_replace", replace),
        ("regex_replace_all", replace),
        ("regex_split", split),
    ]);
}

/// The compiled patterns, by pattern and flags. They are shared and not copied, because each
/// learns while it searches, and a copy would have to learn again.
#[derive(Default)]
struct Kept(HashMap<(Text, Text), Rc<Regex>>);

/// The regular expression of a pattern.
pub(crate) fn compiled(
    context: &mut Context<'_>,
    pattern: &Text,
    flags: &Text,
) -> Result<Rc<Regex>, String> {
    let kept = &mut context.state::<Kept>().0;
    let key = (pattern.clone(), flags.clone());
    if let Some(regex) = kept.get(&key) {
        return Ok(Rc::clone(regex));
    }
    let regex = Rc::new(compile(pattern, flags)?);
    if kept.len() >= KEPT_MAX {
        kept.clear();
    }
    kept.insert(key, Rc::clone(&regex));
    Ok(regex)
}

pub(crate) fn compile(pattern: &str, flags: &str) -> Result<Regex, String> {
    let mut builder = RegexBuilder::new(pattern);
    for flag in flags.chars() {
        match flag {
            'i' => builder.case_insensitive(true),
            'm' => builder.multi_line(true),
            's' => builder.dot_matches_new_line(true),
            'x' => builder.ignore_whitespace(true),
            _ => {
                return Err(format!(
                    "unsupported regex flag '{flag}', expected one of i/m/s/x"
                ));
            }
        };
    }
    builder.build().map_err(|error| error.to_string())
}

/// The regular expression of an argument, or what is thrown about it.
fn expression(
    context: &mut Context<'_>,
    arguments: &[Value],
    at: usize,
    flags: Text,
) -> Result<Rc<Regex>, Failure> {
    let regex = compiled(context, &text(arguments, at), &flags);
    regex.map_err(|reason| Fault::thrown(format!("Invalid regex: {reason}")))
}

fn matches(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    if arguments.len() < 2 {
        return Ok(Value::Nil);
    }
    let regex = expression(context, arguments, 0, text(arguments, 2))?;
    let found = all_matches(&regex, &text(arguments, 1));
    Ok(match found.is_empty() {
        true => Value::Nil,
        false => Value::list(found),
    })
}

fn all_matches(regex: &Regex, text: &str) -> Vec<Value> {
    let found = regex.find_iter(text);
    found.map(|one| one.as_str().into()).collect()
}

fn captures(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    if arguments.len() < 2 {
        return Ok(Value::list(Vec::new()));
    }
    let regex = expression(context, arguments, 0, Text::new(""))?;
    let text = text(arguments, 1);
    let found = regex.captures_iter(&text);
    Ok(found.map(|one| described(&regex, &one)).collect())
}

/// A match with its groups; groups that took no part are nil, or absent if they have a name.
fn described(regex: &Regex, found: &Captures<'_>) -> Value {
    let groups = found.iter().skip(1);
    let groups = groups.map(|group| Value::from(group.map(|group| group.as_str())));
    let mut fields = vec![("groups", groups.collect()), ("match", found[0].into())];
    for name in regex.capture_names().flatten() {
        if let Some(group) = found.name(name) {
            fields.push((name, group.as_str().into()));
        }
    }
    Value::dict(fields)
}

fn replace(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    if arguments.len() < 3 {
        return Ok(Value::Nil);
    }
    let regex = expression(context, arguments, 0, Text::new(""))?;
    let (replacement, text) = (text(arguments, 1), text(arguments, 2));
    let mut out = Growing::default();
    replace_all(&regex, &text, &replacement, |piece| {
        out.push(context, piece)
    })?;
    Ok(out.finish().into())
}

/// Gives the pieces of a text in which every match is replaced.
fn replace_all<Error>(
    regex: &Regex,
    text: &str,
    replacement: &str,
    mut push: impl FnMut(&str) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut end = 0;
    let mut expanded = String::new();
    for found in regex.captures_iter(text) {
        let whole = found.get_match();
        expanded.clear();
        found.expand(replacement, &mut expanded);
        push(&text[end..whole.start()])?;
        push(&expanded)?;
        end = whole.end();
    }
    push(&text[end..])
}

/// Unlike the others, it takes the text first.
fn split(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    if arguments.len() < 2 {
        return Ok(Value::Nil);
    }
    let regex = expression(context, arguments, 1, text(arguments, 2))?;
    let text = text(arguments, 0);
    Ok(regex.split(&text).map(Value::from).collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn flags_change_what_matches() {
        for (pattern, flags, text, expected) in [
            ("A.b", "", "a\nb Axb", "[Axb]"),
            ("A.b", "is", "a\nb Axb", "[a\nb, Axb]"),
            ("^b$", "m", "a\nb", "[b]"),
            (r" \d + # digits", "x", "a12 3", "[12, 3]"),
            (r"\p{Greek}+", "", "abc αβγ", "[αβγ]"),
            ("x*", "", "ab", "[, , ]"),
        ] {
            let regex = compile(pattern, flags).expect("it is a pattern");
            assert_eq!(Value::list(all_matches(&regex, text)).show(), expected);
        }
    }

    #[test]
    fn bad_flags_and_patterns_say_why() {
        assert_eq!(
            compile("a", "iq").expect_err("there is no such flag"),
            "unsupported regex flag 'q', expected one of i/m/s/x"
        );
        let reason = compile("(", "").expect_err("it is no pattern");
        assert!(reason.contains("unclosed group"), "{reason}");
    }

    #[test]
    fn matches_are_described_by_their_groups() {
        let regex = compile(r"(?P<year>\d{4})-(\d\d)|(?<word>\w+)", "").expect("it is a pattern");
        let found = regex.captures_iter("2024-05 x");
        let described: Value = found.map(|one| described(&regex, &one)).collect();
        assert_eq!(
            described.show(),
            "[{groups: [2024, 05, nil], match: 2024-05, year: 2024}, \
             {groups: [nil, nil, x], match: x, word: x}]"
        );
    }
    proptest! {
        #[test]
        fn replacing_is_what_the_library_does(
            pattern in "[abx.?*|()]{0,6}",
            text in "[abxé ]{0,12}",
            replacement in prop::sample::select(vec!["", "-", "$1", "${1}x", "$$", "$0$0", "$none"]),
        ) {
            let Ok(regex) = compile(&pattern, "") else {
                return Ok(());
            };
            let mut out = String::new();
            let result = replace_all(&regex, &text, replacement, |piece| {
                out.push_str(piece);
                Ok::<(), ()>(())
            });
            prop_assert_eq!(result, Ok(()));
            prop_assert_eq!(out, regex.replace_all(&text, replacement));
            let found: Vec<_> = regex.find_iter(&text).map(|one| one.as_str()).collect();
            let shown = Value::list(all_matches(&regex, &text));
            prop_assert_eq!(shown, found.into_iter().map(Value::from).collect::<Value>());
        }
    }
}
