//! Strategies made from nothing but the catalogue: any event a writer could write.

use harn_events::catalogue::{Choice, Field, Type};
use proptest::prelude::*;
use proptest::strategy::Union;
use serde_json::{Map, Number, Value, json};

use super::catalogue_samples::{Entries, Samples};

/// Any text: letters, control characters, quotes, everything Unicode has.
pub(crate) fn any_text() -> BoxedStrategy<String> {
    prop_oneof![
        3 => proptest::collection::vec(any::<char>(), 0..8),
        1 => Just(vec!['"', '\\', '\n', '\0', '\u{2028}', '\u{fffd}', '😀']),
    ]
    .prop_map(String::from_iter)
    .boxed()
}

/// A finite number, extremes included.
pub(crate) fn finite() -> BoxedStrategy<f64> {
    let bits = any::<u64>().prop_map(f64::from_bits);
    prop_oneof![
        4 => bits.prop_filter("finite", |number| number.is_finite()),
        1 => proptest::sample::select(vec![0.0, -0.0, f64::MAX, f64::MIN, 5e-324, 0.1]),
    ]
    .boxed()
}

fn unsigned() -> BoxedStrategy<u64> {
    let extremes = vec![0, 1, (1 << 53) + 1, i64::MAX as u64, u64::MAX - 1, u64::MAX];
    prop_oneof![any::<u64>(), proptest::sample::select(extremes)].boxed()
}

/// Any JSON value of moderate size.
pub(crate) fn any_json() -> BoxedStrategy<Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        unsigned().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        finite().prop_map(|number| Value::from(Number::from_f64(number))),
        any_text().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        let list = proptest::collection::vec(inner.clone(), 0..3);
        let object = proptest::collection::btree_map(any_text(), inner, 0..3);
        prop_oneof![
            list.prop_map(Value::from),
            object.prop_map(|object| Value::Object(Map::from_iter(object))),
        ]
    })
    .boxed()
}

/// Any event of any type: `type` first, optional keys there or not.
pub(crate) fn any_event() -> BoxedStrategy<Entries> {
    let samples = Samples::new();
    let events = samples.catalogue.variants.iter().map(|event| {
        let tag = event.tag.clone();
        let fields = object_of(&samples, &event.fields);
        fields
            .prop_map(move |fields| {
                let tag = ("type".to_owned(), json!(tag));
                std::iter::once(tag).chain(fields).collect::<Entries>()
            })
            .boxed()
    });
    Union::new(events.collect::<Vec<_>>()).boxed()
}

/// An object with these fields. A key that may be absent sometimes is.
fn object_of(samples: &Samples, fields: &[Field]) -> BoxedStrategy<Entries> {
    let fields: Vec<BoxedStrategy<Option<(String, Value)>>> = fields
        .iter()
        .map(|field| {
            let name = field.name.clone();
            let value = any_of(samples, &field.type_name, &field.name);
            let entry = value.prop_map(move |value| Some((name.clone(), value)));
            match field.required {
                true => entry.boxed(),
                false => prop_oneof![2 => entry, 1 => Just(None)].boxed(),
            }
        })
        .collect();
    fields
        .prop_map(|fields| fields.into_iter().flatten().collect())
        .boxed()
}

fn any_of(samples: &Samples, type_name: &str, name: &str) -> BoxedStrategy<Value> {
    if let Some(inner) = type_name.strip_suffix('?') {
        let inner = any_of(samples, inner, name);
        return prop_oneof![3 => inner, 1 => Just(Value::Null)].boxed();
    }
    if let Some(inner) = type_name.strip_suffix("[]") {
        let list = proptest::collection::vec(any_of(samples, inner, name), 0..3);
        return list.prop_map(Value::from).boxed();
    }
    match type_name {
        "string" => any_text().prop_map(Value::from).boxed(),
        "bool" => any::<bool>().prop_map(Value::from).boxed(),
        "u64" => unsigned().prop_map(Value::from).boxed(),
        "u32" => any::<u32>().prop_map(Value::from).boxed(),
        "i64" => any::<i64>().prop_map(Value::from).boxed(),
        "f64" => finite().prop_map(Value::from).boxed(),
        "json" => any_json(),
        "object" => Just(samples.of("object", name)).boxed(),
        _ => any_named(samples, &samples.catalogue.types[type_name]),
    }
}

fn any_named(samples: &Samples, named: &Type) -> BoxedStrategy<Value> {
    if named.values.is_empty() {
        let object = object_of(samples, &named.fields);
        return object.prop_map(Value::from_iter).boxed();
    }
    let choice = |choice: &Choice| samples.choice(choice, named.encoding.as_deref());
    let values: Vec<Value> = named.values.iter().map(choice).collect();
    proptest::sample::select(values).boxed()
}
