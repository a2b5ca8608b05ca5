//! Regular expressions.
//!
//! Programs pass patterns as text, mostly the same few again and again, so those that were
//! compiled are kept for the run.

mod pace;

use std::rc::Rc;

use harn_machine::value::Text;
use harn_machine::{Budget, Context, Failure, Fault, Registry, Value};
use hashbrown::HashMap;
use regex::{Captures, Regex, RegexBuilder};

use crate::expect::text;
use crate::growing::{Growing, TEXT_BYTES};
use pace::{Ahead, Pace, TooSlow};

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
struct Kept(HashMap<(Text, Text), Rc<Pattern>>);

/// A pattern that was compiled.
struct Pattern {
    pattern: Text,
    flags: Text,
    regex: Regex,
    ahead: Ahead,
}

impl Pattern {
    fn new(pattern: &Text, flags: &Text) -> Result<Self, String> {
        Ok(Self {
            regex: compile(pattern, flags)?,
            pattern: pattern.clone(),
            flags: flags.clone(),
            ahead: Ahead::default(),
        })
    }

    /// Keeps track of what finding all matches of a text costs.
    fn pace<'a>(&'a self, text: &'a str) -> Pace<'a> {
        Pace::new(&self.ahead, (&self.pattern, &self.flags), text)
    }
}

/// The regular expression of a pattern.
fn compiled(
    context: &mut Context<'_>,
    pattern: &Text,
    flags: &Text,
) -> Result<Rc<Pattern>, String> {
    let kept = &mut context.state::<Kept>().0;
    let key = (pattern.clone(), flags.clone());
    if let Some(pattern) = kept.get(&key) {
        return Ok(Rc::clone(pattern));
    }
    let pattern = Rc::new(Pattern::new(pattern, flags)?);
    if kept.len() >= KEPT_MAX {
        kept.clear();
    }
    kept.insert(key, Rc::clone(&pattern));
    Ok(pattern)
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
) -> Result<Rc<Pattern>, Failure> {
    let pattern = text(arguments, at);
    reserve_pattern(context, &pattern)?;
    let pattern = compiled(context, &pattern, &flags);
    pattern.map_err(|reason| Fault::thrown(format!("Invalid regex: {reason}")))
}

/// A long pattern is about to be compiled, which takes many times its length.
pub(crate) fn reserve_pattern(context: &mut Context<'_>, pattern: &str) -> Result<(), Failure> {
    const SHORT_BYTES_MAX: usize = 4096;
    const BYTES_PER_BYTE: usize = 400;
    match pattern.len() {
        0..=SHORT_BYTES_MAX => Ok(()),
        length => context.reserve(length.saturating_mul(BYTES_PER_BYTE)),
    }
}

/// What is thrown when finding all matches would take too long.
fn too_slow(text: &str) -> Failure {
    let length = text.len();
    Fault::thrown(format!(
        "Invalid regex: the pattern reads on after each match, which takes too long in a text of \
         {length} bytes"
    ))
}

fn matches(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    if arguments.len() < 2 {
        return Ok(Value::Nil);
    }
    let pattern = expression(context, arguments, 0, text(arguments, 2))?;
    let text = text(arguments, 1);
    let found = all_matches(&pattern, &text, context.budget())?;
    Ok(match found.is_empty() {
        true => Value::Nil,
        false => Value::list(found),
    })
}

fn all_matches(pattern: &Pattern, text: &str, budget: &mut Budget) -> Result<Vec<Value>, Failure> {
    let mut pace = pattern.pace(text);
    let mut matches = Vec::new();
    for found in pattern.regex.find_iter(text) {
        pace.note(found.range()).map_err(|TooSlow| too_slow(text))?;
        budget.make(TEXT_BYTES + found.len())?;
        matches.push(found.as_str().into());
    }
    Ok(matches)
}

fn captures(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    if arguments.len() < 2 {
        return Ok(Value::list(Vec::new()));
    }
    let pattern = expression(context, arguments, 0, Text::new(""))?;
    let text = text(arguments, 1);
    let mut pace = pattern.pace(&text);
    let mut found = Vec::new();
    for one in pattern.regex.captures_iter(&text) {
        let noted = pace.note(one.get_match().range());
        noted.map_err(|TooSlow| too_slow(&text))?;
        let groups = one.iter().flatten().map(|group| TEXT_BYTES + group.len());
        context
            .budget()
            .make(MATCH_BYTES + 2 * groups.sum::<usize>())?;
        found.push(described(&pattern.regex, &one));
    }
    Ok(Value::list(found))
}

/// What the dict of a match takes without its texts.
const MATCH_BYTES: usize = 300;

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
    let pattern = expression(context, arguments, 0, Text::new(""))?;
    let (replacement, text) = (text(arguments, 1), text(arguments, 2));
    let mut out = Growing::default();
    replace_all(&pattern, &text, &replacement, |piece| {
        out.push(context, piece)
    })?;
    Ok(out.finish().into())
}

/// Gives the pieces of a text in which every match is replaced.
fn replace_all(
    pattern: &Pattern,
    text: &str,
    replacement: &str,
    mut push: impl FnMut(&str) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut end = 0;
    let mut expanded = String::new();
    let mut pace = pattern.pace(text);
    for found in pattern.regex.captures_iter(text) {
        let whole = found.get_match();
        pace.note(whole.range()).map_err(|TooSlow| too_slow(text))?;
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
    let pattern = expression(context, arguments, 1, text(arguments, 2))?;
    let text = text(arguments, 0);
    let mut pace = pattern.pace(&text);
    let (mut pieces, mut end) = (Vec::new(), 0);
    for found in pattern.regex.find_iter(&text) {
        let noted = pace.note(found.range());
        noted.map_err(|TooSlow| too_slow(&text))?;
        context.budget().make(TEXT_BYTES + found.start() - end)?;
        pieces.push(Value::from(&text[end..found.start()]));
        end = found.end();
    }
    pieces.push(Value::from(&text[end..]));
    Ok(Value::list(pieces))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn pattern_of(pattern: &str, flags: &str) -> Pattern {
        let pattern = Pattern::new(&Text::new(pattern), &Text::new(flags));
        pattern.expect("it is a pattern")
    }

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
            let found = all_matches(&pattern_of(pattern, flags), text, &mut Budget::default());
            assert_eq!(Value::list(found.unwrap()).show(), expected);
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
            let pattern = pattern_of(&pattern, "");
            let result = replace_all(&pattern, &text, replacement, |piece| {
                out.push_str(piece);
                Ok(())
            });
            prop_assert!(result.is_ok());
            prop_assert_eq!(out, regex.replace_all(&text, replacement));
            let found: Vec<_> = regex.find_iter(&text).map(|one| one.as_str()).collect();
            let shown = Value::list(all_matches(&pattern, &text, &mut Budget::default()).unwrap());
            prop_assert_eq!(shown, found.into_iter().map(Value::from).collect::<Value>());
        }
    }
}
