//! Checks what is suggested about events that are known.

use harn_machine::value::Dict;
use harn_machine::{Context, Failure, Fault, Registry, Value, argument};

use super::suggest::suggestions;
use super::text_of;

pub(super) fn register(registry: &mut Registry) {
    registry.plain(&[("friction_eval_fixture", friction_eval_fixture)]);
}

/// `friction_eval_fixture({events, options?, expected_suggestions?})`
fn friction_eval_fixture(
    context: &mut Context<'_>,
    arguments: &mut [Value],
) -> Result<Value, Failure> {
    let Value::Dict(fixture) = argument(arguments, 0) else {
        return Err(Fault::runtime(
            "friction_eval_fixture: fixture must be a dict",
        ));
    };
    let events = list(fixture, "events");
    let options = match fixture.get("options") {
        Some(Value::Dict(options)) => options.clone(),
        _ => Dict::default(),
    };
    let suggestions = suggestions(context, events, &options)?;
    let expected = list(fixture, "expected_suggestions").iter().enumerate();
    let failures: Vec<Value> = expected
        .filter_map(|(at, expected)| {
            let problem = problem(expected, &suggestions)?;
            Some(format!("expectation {}: {problem}", at + 1).into())
        })
        .collect();
    Ok(Value::dict([
        ("pass", failures.is_empty().into()),
        ("failures", Value::list(failures)),
        ("event_count", events.len().into()),
        ("suggestion_count", suggestions.len().into()),
        ("suggestions", Value::list(suggestions)),
    ]))
}

fn list<'a>(dict: &'a Dict, key: &str) -> &'a [Value] {
    match dict.get(key) {
        Some(Value::List(items)) => items,
        _ => &[],
    }
}

/// Why an expectation does not hold.
fn problem(expected: &Value, suggestions: &[Value]) -> Option<String> {
    let Value::Dict(expected) = expected else {
        return Some("an expectation is a dict".to_owned());
    };
    if let Some(Value::Int(least)) = expected.get("min_suggestions") {
        let count = suggestions.len();
        if i64::try_from(count).is_ok_and(|count| count < *least) {
            return Some(format!(
                "expected at least {least} suggestions, got {count}"
            ));
        }
    }
    let wanted = CONDITIONS.iter().filter_map(|(key, holds)| {
        let wanted = text_of(expected, key)?;
        Some((*key, wanted, *holds))
    });
    let wanted: Vec<_> = wanted.collect();
    let all_hold = |suggestion: &Value| match suggestion {
        Value::Dict(suggestion) => {
            let mut conditions = wanted.iter();
            conditions.all(|(_, wanted, holds)| holds(suggestion, wanted))
        }
        _ => false,
    };
    if wanted.is_empty() || suggestions.iter().any(all_hold) {
        return None;
    }
    let wanted: Vec<String> = wanted
        .iter()
        .map(|(key, wanted, _)| format!("{key} '{wanted}'"))
        .collect();
    Some(format!("no suggestion has {}", wanted.join(", ")))
}

/// Whether a suggestion is as wanted.
type Holds = fn(&Dict, &str) -> bool;

const CONDITIONS: [(&str, Holds); 5] = [
    ("recommended_artifact", |suggestion, wanted| {
        text_of(suggestion, "recommended_artifact") == Some(wanted)
    }),
    ("title_contains", |suggestion, wanted| {
        has_part(text_of(suggestion, "title"), wanted)
    }),
    ("manifest_name_contains", |suggestion, wanted| {
        let name = manifest(suggestion).and_then(|manifest| text_of(manifest, "name"));
        has_part(name, wanted)
    }),
    ("required_capability", |suggestion, wanted| {
        manifest(suggestion).is_some_and(|manifest| names(manifest, "capabilities", wanted))
    }),
    ("required_output_slot", |suggestion, wanted| {
        manifest(suggestion).is_some_and(|manifest| names(manifest, "output_slots", wanted))
    }),
];

fn manifest(suggestion: &Dict) -> Option<&Dict> {
    match suggestion.get("candidate_manifest") {
        Some(Value::Dict(manifest)) => Some(manifest),
        _ => None,
    }
}

fn has_part(text: Option<&str>, part: &str) -> bool {
    text.is_some_and(|text| text.to_lowercase().contains(&part.to_lowercase()))
}

/// Whether a list has a name, as a text or in a dict.
fn names(manifest: &Dict, key: &str, wanted: &str) -> bool {
    list(manifest, key).iter().any(|item| match item {
        Value::Text(name) => name.eq_ignore_ascii_case(wanted),
        Value::Dict(item) => {
            text_of(item, "name").is_some_and(|name| name.eq_ignore_ascii_case(wanted))
        }
        _ => false,
    })
}
