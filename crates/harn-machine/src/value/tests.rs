//! Values against simple models of them, and values that are nested very deeply.

mod collections;
mod nesting;
mod relations;

use std::rc::Rc;

use proptest::prelude::*;

use super::*;

/// Numbers of which many are equal, or nearly so.
fn number() -> impl Strategy<Value = Value> {
    prop_oneof![
        (-3..4i64).prop_map(Value::Int),
        (-3..4i32).prop_map(|value| Value::Float(f64::from(value))),
        (-6..7i32).prop_map(|value| Value::Float(f64::from(value) / 2.0)),
        Just(Value::Float(f64::NAN)),
        Just(Value::Float(-0.0)),
        Just(Value::Int(1 << 53)),
        Just(Value::Int((1 << 53) + 1)),
        Just(Value::Float((1i64 << 53) as f64)),
        Just(Value::Int(i64::MAX)),
    ]
}

fn leaf() -> impl Strategy<Value = Value> {
    prop_oneof![
        4 => number(),
        1 => Just(Value::Nil),
        1 => any::<bool>().prop_map(Value::Bool),
        2 => "[ab1]{0,2}".prop_map(Value::from),
        1 => (-2..3i64).prop_map(Value::Duration),
        1 => (0..2i64, 1..3i64, any::<bool>()).prop_map(|(start, end, exclusive)| {
            Value::Range(Rc::new(Range { start, end, exclusive }))
        }),
    ]
}

/// Values of all kinds that contain others, small enough that some of them are equal.
fn value() -> impl Strategy<Value = Value> {
    leaf().prop_recursive(3, 12, 3, |inner| {
        let few = prop::collection::vec(inner.clone(), 0..3);
        prop_oneof![
            few.clone().prop_map(Value::list),
            few.clone()
                .prop_map(|values| { Value::dict(["a", "b", "c"].into_iter().zip(values)) }),
            few.clone()
                .prop_map(|values| Value::Set(Set::new(values, Sameness::Structural))),
            few.clone()
                .prop_map(|values| Value::Enum(Rc::new(Enum::new(Tag::new("E", "V"), values)))),
            few.prop_map(point),
            (inner.clone(), inner).prop_map(|(first, second)| Value::pair(first, second)),
        ]
    })
}

/// A struct with up to two fields.
fn point(values: Vec<Value>) -> Value {
    let fields = [Text::new("x"), Text::new("y")];
    let fields = fields.into_iter().take(values.len()).collect();
    let mut values = values;
    values.truncate(2);
    let shape = Shape::new(Text::new("Point"), fields);
    Value::Struct(Rc::new(Struct { shape, values }))
}

#[test]
fn display_forms_are_those_of_the_language() {
    let range = |exclusive| {
        let (start, end) = (0, 3);
        Value::Range(Rc::new(Range {
            start,
            end,
            exclusive,
        }))
    };
    let variant = |payload| Value::Enum(Rc::new(Enum::new(Tag::new("Shape", "Rect"), payload)));
    let nested = Value::list(vec![
        "a".into(),
        Value::Nil,
        Value::Float(2.0),
        Value::dict([("k", "v".into())]),
    ]);
    let cases = [
        (nested, "[a, nil, 2.0, {k: v}]"),
        (
            Value::dict([("b", Value::Int(1)), ("a", Value::list(vec![true.into()]))]),
            "{a: [true], b: 1}",
        ),
        (Value::list(vec![]), "[]"),
        (Value::dict([]), "{}"),
        (
            Set::new(
                [Value::Int(2), Value::Int(1), Value::Int(2)],
                Sameness::Equal,
            )
            .into(),
            "set(2, 1)",
        ),
        (Set::default().into(), "set()"),
        (Value::pair(Value::Int(1), "x".into()), "(1, x)"),
        (range(false), "0 to 3"),
        (range(true), "0 to 3 exclusive"),
        (variant(vec![]), "Shape.Rect"),
        (
            variant(vec![Value::Int(3), Value::Int(4)]),
            "Shape.Rect(3, 4)",
        ),
        (
            point(vec![Value::Int(1), Value::Float(2.5)]),
            "Point {x: 1, y: 2.5}",
        ),
        (Value::Int(i64::MIN), "-9223372036854775808"),
        (Value::Float(-3.0), "-3.0"),
        (Value::Float(1e15), "1000000000000000"),
        (Value::Float(0.1), "0.1"),
        (Value::Float(f64::NAN), "NaN"),
        (Value::Float(f64::NEG_INFINITY), "-inf"),
        (Value::Duration(3_600_000), "1h"),
        (Value::Duration(90_000), "90s"),
        (Value::Duration(1500), "1500ms"),
        (Value::Duration(0), "0ms"),
        (Value::Duration(-7_200_000), "-2h"),
        (
            Value::Bytes(Bytes::from(vec![0xab; 33])),
            concat!(
                "b\"abababababababababababababababababababababababababababababababab",
                "...+1\""
            ),
        ),
    ];
    for (value, expected) in cases {
        assert_eq!(value.show(), expected);
    }
}

#[test]
fn structural_keys_are_those_of_the_library() {
    let red = Value::Enum(Rc::new(Enum::new(Tag::new("Color", "Red"), vec![])));
    let set = |values: Vec<Value>| Value::Set(Set::new(values, Sameness::Structural));
    let cases = [
        (Value::Nil, "N"),
        (true.into(), "T"),
        (false.into(), "F"),
        (Value::Int(-7), "i-7;"),
        (Value::Float(2.0), "f4611686018427387904;"),
        ("aé".into(), "s3:aé"),
        (Value::Duration(5), "d5;"),
        (Value::Bytes(Bytes::from(vec![0, 255])), "b00ff;"),
        (Value::list(vec![Value::Int(1), "x".into()]), "Li1;,s1:x,]"),
        (Value::list(vec![]), "L]"),
        (
            Value::dict([("b", true.into()), ("a", Value::Nil)]),
            "D1:a=N,1:b=T,}",
        ),
        (set(vec![Value::Int(2), Value::Int(1)]), "Si1;,i2;,}"),
        (set(vec![Value::Int(1)]), "Si1;,}"),
        (set(vec![]), "S}"),
        (
            set(vec![set(vec![Value::Int(2), Value::Int(1)]), Value::Nil]),
            "SN,Si1;,i2;,},}",
        ),
        (red, "o4:enum9:Color.Red"),
    ];
    for (value, expected) in cases {
        assert_eq!(structural_key(&value), expected);
    }
}
