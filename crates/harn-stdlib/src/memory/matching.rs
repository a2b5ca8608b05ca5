//! What is to be forgotten.

use harn_machine::value::Text;
use harn_machine::{Failure, Fault, Value};

use super::record::Record;

/// What a record has to look like: all of these.
#[derive(Debug, Default)]
pub(super) struct Predicate {
    ids: Option<Vec<Text>>,
    keys: Option<Vec<Text>>,
    tags: Option<Vec<Text>>,
    /// In lower case.
    texts: Option<Vec<String>>,
}

impl Predicate {
    /// A text that is somewhere in a record, or fields that say where.
    pub(super) fn read(value: &Value) -> Result<Self, Failure> {
        let predicate = match value {
            Value::Text(text) if !text.trim().is_empty() => Self {
                texts: Some(vec![text.to_lowercase()]),
                ..Self::default()
            },
            Value::Dict(fields) => {
                let any_of = |name: &str| fields.get(name).and_then(any_of);
                Self {
                    ids: any_of("id"),
                    keys: any_of("key"),
                    tags: any_of("tags").or_else(|| any_of("tag")),
                    texts: any_of("query").map(lower),
                }
            }
            _ => Self::default(),
        };
        // What says nothing would forget everything.
        if predicate.is_empty() {
            let message = "__memory_forget: `predicate` must be a non-empty string or a dict of id, key, tag, tags, query";
            return Err(Fault::runtime(message));
        }
        Ok(predicate)
    }

    fn is_empty(&self) -> bool {
        let fields = [&self.ids, &self.keys, &self.tags];
        fields.into_iter().all(Option::is_none) && self.texts.is_none()
    }

    pub(super) fn matches(&self, record: &Record) -> bool {
        let is_one = |wanted: &Option<Vec<Text>>, given: &[Text]| match wanted {
            Some(wanted) => wanted.iter().any(|one| given.contains(one)),
            None => true,
        };
        let (id, key) = (&record.id, &record.key);
        is_one(&self.ids, std::slice::from_ref(id))
            && is_one(&self.keys, std::slice::from_ref(key))
            && is_one(&self.tags, &record.tags)
            && self
                .texts
                .as_ref()
                .is_none_or(|texts| contains(record, texts))
    }
}

/// One thing, or one of several.
fn any_of(value: &Value) -> Option<Vec<Text>> {
    match value {
        Value::Nil => None,
        Value::List(items) => Some(items.iter().map(Value::to_text).collect()),
        one => Some(vec![one.to_text()]),
    }
}

fn lower(texts: Vec<Text>) -> Vec<String> {
    texts.iter().map(|text| text.to_lowercase()).collect()
}

/// Whether one of some texts is somewhere in a record, in any case.
fn contains(record: &Record, texts: &[String]) -> bool {
    let value = record.value_text();
    let parts = [&record.key, &record.text, &value];
    let parts = parts.into_iter().chain(&record.tags);
    let mut parts = parts.map(|part| part.to_lowercase());
    parts.any(|part| texts.iter().any(|text| part.contains(text.as_str())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> Record {
        let tags = [Text::new("Red"), Text::new("blue")].into();
        let value = Value::dict([("Size", Value::Int(7))]);
        let (id, key) = (Text::new("id1"), Text::new("Key"));
        Record::new(
            id,
            Text::new("n"),
            key,
            &value,
            tags,
            Value::Nil,
            Value::Nil,
        )
    }

    #[track_caller]
    fn check(predicate: Value, expected: bool) {
        let matches = Predicate::read(&predicate).unwrap().matches(&record());
        assert_eq!(matches, expected, "{predicate:?}");
    }

    #[test]
    fn a_text_is_looked_for_everywhere() {
        for text in ["key", "KEY", "red", "size", "\"size\":7"] {
            check(text.into(), true);
        }
        check("green".into(), false);
    }

    #[test]
    fn all_fields_have_to_match_and_any_of_a_list() {
        let list = |items: &[&str]| Value::list(items.iter().map(|it| (*it).into()).collect());
        check(Value::dict([("key", "Key".into())]), true);
        check(Value::dict([("key", "key".into())]), false);
        check(Value::dict([("id", list(&["id0", "id1"]))]), true);
        check(Value::dict([("tags", list(&["green", "blue"]))]), true);
        check(
            Value::dict([("tag", "blue".into()), ("query", "x".into())]),
            false,
        );
        check(
            Value::dict([("tag", "blue".into()), ("query", "SIZE".into())]),
            true,
        );
        check(Value::dict([("id", list(&[]))]), false);
    }

    #[test]
    fn what_says_nothing_is_refused() {
        for predicate in [Value::Nil, " ".into(), Value::dict([]), Value::Int(1)] {
            assert!(Predicate::read(&predicate).is_err(), "{predicate:?}");
        }
    }
}
