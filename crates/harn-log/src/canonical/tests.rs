//! What is written is what a value would be hashed as.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::json;
use serde_json::value::RawValue;

use super::*;
use crate::provenance::write_canonical;

fn written<T: Serialize + ?Sized>(value: &T) -> String {
    let mut text = "before ".to_owned();
    write(value, &mut text, usize::MAX).unwrap();
    text.strip_prefix("before ").unwrap().to_owned()
}

/// What becomes of a value that is made into JSON first.
fn by_detour<T: Serialize + ?Sized>(value: &T) -> String {
    let mut text = String::new();
    write_canonical(&serde_json::to_value(value).unwrap(), &mut text);
    text
}

#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Shape {
    Round { radius: f64, about: Option<u8> },
    Dot,
}

#[derive(Serialize)]
enum Other {
    Nothing,
    One(bool),
    Two(i8, &'static str),
    Named { z: u16, a: Unit },
}

#[derive(Serialize)]
struct Unit;

#[derive(Serialize)]
struct Drawing<'a> {
    title: &'a str,
    shapes: Vec<Shape>,
    #[serde(flatten)]
    shape: Shape,
    sizes: (f32, i128, u128),
    others: [Other; 4],
    notes: BTreeMap<u8, char>,
    #[serde(skip_serializing_if = "Option::is_none")]
    nothing: Option<()>,
    raw: Box<RawValue>,
    last: (),
}

#[test]
fn fields_come_in_the_order_of_their_keys_at_every_level() {
    let drawing = Drawing {
        title: "q\"uote \u{1} ä",
        shapes: vec![
            Shape::Round {
                radius: 1e300,
                about: None,
            },
            Shape::Dot,
        ],
        shape: Shape::Round {
            radius: f64::NAN,
            about: Some(3),
        },
        sizes: (0.1, -5, u128::from(u64::MAX)),
        others: [
            Other::Nothing,
            Other::One(false),
            Other::Two(-7, "x"),
            Other::Named { z: 9, a: Unit },
        ],
        notes: BTreeMap::from([(10, 'x'), (9, '\n')]),
        nothing: None,
        raw: RawValue::from_string(r#"{ "b" : 1.50, "a": [ {"d":1,"c":2} ] }"#.to_owned()).unwrap(),
        last: (),
    };
    let expected = concat!(
        r#"{"about":3,"kind":"round","last":null,"notes":{"10":"x","9":"\n"},"#,
        r#""others":["Nothing",{"One":false},{"Two":[-7,"x"]},{"Named":{"a":null,"z":9}}],"#,
        r#""radius":null,"#,
        r#""raw":{"a":[{"c":2,"d":1}],"b":1.5},"#,
        r#""shapes":[{"about":null,"kind":"round","radius":1e+300},{"kind":"dot"}],"#,
        r#""sizes":[0.10000000149011612,-5,18446744073709551615],"#,
        r#""title":"q\"uote \u0001 ä"}"#
    );
    assert_eq!(written(&drawing), expected);
    assert_eq!(by_detour(&drawing), expected);
}

#[test]
fn keys_are_ordered_as_they_are_and_not_as_they_are_written() {
    // Written, the first begins with a backslash and would come last.
    let value = json!({"a": 1, "\n": 2, "Z": {"\"": 1, "!": 2}});
    assert_eq!(written(&value), r#"{"\n":2,"Z":{"!":2,"\"":1},"a":1}"#);
}

#[test]
fn of_several_fields_with_one_key_the_last_counts() {
    struct Twice;
    impl Serialize for Twice {
        fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.collect_map([("b", 1), ("a", 2), ("b", 3), ("a", 4)])
        }
    }
    assert_eq!(written(&Twice), r#"{"a":4,"b":3}"#);
    assert_eq!(by_detour(&Twice), r#"{"a":4,"b":3}"#);
}

#[test]
fn what_is_too_deep_or_no_json_is_refused() {
    let nested = |levels: usize| (0..levels).fold(json!(1), |inner, _| json!({"n": [inner]}));
    let write = |value: &Value| write(value, &mut String::new(), 4);
    assert!(write(&nested(2)).is_ok());
    assert!(
        write(&json!([[], [[[]]]])).is_ok(),
        "side by side is not deep"
    );
    assert!(matches!(write(&nested(3)), Err(Unwritable::TooDeep)));
    let raw = RawValue::from_string("[[[[[]]]]]".to_owned()).unwrap();
    let deep = super::write(&raw, &mut String::new(), 4);
    assert!(matches!(deep, Err(Unwritable::TooDeep)));
    let huge = super::write(&u128::MAX, &mut String::new(), 4);
    assert!(matches!(huge, Err(Unwritable::Other(_))));
    let by_pairs = super::write(&BTreeMap::from([((1, 2), 3)]), &mut String::new(), 4);
    assert!(matches!(by_pairs, Err(Unwritable::Other(_))));
}

fn values() -> impl Strategy<Value = Value> {
    let leaves = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaves.prop_recursive(4, 40, 6, |inner| {
        let keys = prop_oneof!["[a-c_\"\\\\\n]{0,3}", any::<String>()];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((keys, inner), 0..6)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn a_value_is_written_as_it_is_hashed_when_it_is_read_again(value in values()) {
        let text = written(&value);
        prop_assert_eq!(&text, &by_detour(&value));
        let read: Value = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(&text, &by_detour(&read));
    }
}
