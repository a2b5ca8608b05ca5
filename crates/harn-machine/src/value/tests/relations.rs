//! What holds between values: equality, order, hashes.

use std::cmp::Ordering;

use super::super::equality::hash_value;
use super::super::structural::{hash_structure, is_same_structure};
use super::*;

/// Values of kinds that are ordered, all of one kind.
fn ordered() -> impl Strategy<Value = Vec<Value>> {
    let kind = |one: BoxedStrategy<Value>| prop::collection::vec(one, 3);
    let small = || (-2..3i64).prop_map(Value::Int);
    let pair = (small(), small()).prop_map(|(first, second)| Value::pair(first, second));
    let nested = (pair.clone(), "[ab]{0,2}")
        .prop_map(|(first, second)| Value::pair(first, Value::from(second)));
    prop_oneof![
        kind(any::<i64>().prop_map(Value::Int).boxed()),
        kind(small().boxed()),
        kind(
            (-2..3i32)
                .prop_map(|value| Value::Float(f64::from(value) / 4.0))
                .boxed()
        ),
        kind("[aé😀]{0,3}".prop_map(Value::from).boxed()),
        kind((-3..3i64).prop_map(Value::Duration).boxed()),
        kind(pair.boxed()),
        kind(nested.boxed()),
    ]
}

proptest! {
    #[test]
    fn equality_is_symmetric_and_never_fails(one in value(), other in value()) {
        prop_assert_eq!(one == other, other == one);
        prop_assert_eq!(one.clone() == one, !one.show().contains("NaN"));
    }

    #[test]
    fn equal_values_have_equal_hashes(one in value(), other in value()) {
        if one == other {
            prop_assert_eq!(hash_value(&one), hash_value(&other));
        }
        let same = structural_key(&one) == structural_key(&other);
        prop_assert_eq!(is_same_structure(&one, &other), same);
        if same {
            prop_assert_eq!(hash_structure(&one), hash_structure(&other));
        }
    }

    #[test]
    fn the_same_key_means_the_same_kind(one in value(), other in value()) {
        if structural_key(&one) == structural_key(&other) {
            prop_assert_eq!(one.type_name(), other.type_name());
            prop_assert_eq!(one.show(), other.show());
        }
    }

    #[test]
    fn values_of_one_kind_are_in_total_order(values in ordered()) {
        let [a, b, c] = &values[..] else {
            unreachable!("there are three")
        };
        let compare = |one, other| order(one, other).expect("they are ordered");
        prop_assert_eq!(compare(a, a), Ordering::Equal);
        prop_assert_eq!(compare(a, b), compare(b, a).reverse());
        prop_assert_eq!(compare(a, b) == Ordering::Equal, a == b);
        if compare(a, b).is_le() && compare(b, c).is_le() {
            prop_assert!(compare(a, c).is_le());
        }
    }

    #[test]
    fn ordering_never_fails(one in value(), other in value()) {
        let forth = order(&one, &other);
        prop_assert_eq!(forth, order(&other, &one).map(Ordering::reverse));
    }
}

#[test]
fn equality_is_that_of_the_language() {
    let list = |values: &[i64]| values.iter().copied().map(Value::Int).collect::<Value>();
    let pairs = [
        (Value::Int(1), Value::Float(1.0), true),
        (Value::Float(0.0), Value::Float(-0.0), true),
        (Value::Int(1), Value::from("1"), false),
        (Value::Int(1), Value::Bool(true), false),
        (Value::Int(1), Value::Duration(1), false),
        (Value::Nil, Value::Bool(false), false),
        (list(&[1, 2]), list(&[1, 2]), true),
        (list(&[1, 2]), list(&[2, 1]), false),
        (list(&[]), Value::dict([]), false),
        (
            Value::pair(Value::Int(1), Value::Int(2)),
            Value::pair(Value::Float(1.0), Value::Float(2.0)),
            true,
        ),
        (
            Value::pair(Value::Int(1), Value::Int(2)),
            list(&[1, 2]),
            false,
        ),
        (
            point(vec![Value::Int(1)]),
            point(vec![Value::Int(1), Value::Nil]),
            false,
        ),
        (
            point(vec![Value::Int(1)]),
            point(vec![Value::Int(1), Value::Absent]),
            true,
        ),
    ];
    for (one, other, expected) in pairs {
        assert_eq!(one == other, expected, "{one} and {other}");
    }
}
