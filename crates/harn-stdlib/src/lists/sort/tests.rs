use proptest::prelude::*;

use super::*;

/// Values of kinds that have an order among themselves, and some that have none.
fn mixed() -> impl Strategy<Value = Value> {
    prop_oneof![
        (-9..9i64).prop_map(Value::Int),
        (-9..9i32).prop_map(|value| Value::Float(f64::from(value) / 2.0)),
        Just(Value::Float(f64::NAN)),
        "[abc]{0,2}".prop_map(Value::from),
        (0..3i64).prop_map(Value::Duration),
        (0..3i64, 0..3i64).prop_map(|(first, second)| Value::pair(first.into(), second.into())),
        Just(Value::Nil),
        Just(Value::Bool(true)),
    ]
}

/// Sorts values by themselves and gives the positions that they had.
fn positions(values: &[Value]) -> Vec<usize> {
    let mut items: Vec<(usize, Value)> = values.iter().cloned().enumerate().collect();
    sort_stable(&mut items, |(_, value)| value);
    items.into_iter().map(|(at, _)| at).collect()
}

#[track_caller]
fn check(values: &[Value], expected: &[usize]) {
    assert_eq!(positions(values), expected);
}

proptest! {
    #[test]
    fn whatever_the_order_says_nothing_is_lost(values in prop::collection::vec(mixed(), 0..200)) {
        let mut found = positions(&values);
        found.sort_unstable();
        prop_assert!(found.into_iter().eq(0..values.len()));
    }

    #[test]
    fn numbers_are_sorted_and_equal_ones_stay_in_order(
        values in prop::collection::vec(-20..20i64, 0..200),
        halves in any::<bool>(),
    ) {
        let number = |value: &i64| match halves && value % 2 == 0 {
            true => Value::Float(*value as f64),
            false => Value::Int(*value),
        };
        let numbers: Vec<Value> = values.iter().map(number).collect();
        let mut expected: Vec<usize> = (0..values.len()).collect();
        expected.sort_by_key(|at| values[*at]);
        prop_assert_eq!(positions(&numbers), expected);
    }

    #[test]
    fn texts_are_sorted_by_code_point(values in prop::collection::vec("[aZé😀]{0,3}", 0..60)) {
        let texts: Vec<Value> = values.iter().map(|text| Value::from(text.as_str())).collect();
        let mut expected: Vec<usize> = (0..values.len()).collect();
        expected.sort_by(|one, other| values[*one].chars().cmp(values[*other].chars()));
        prop_assert_eq!(positions(&texts), expected);
    }

    #[test]
    fn pairs_are_sorted_by_their_first_and_then_their_second(
        values in prop::collection::vec((0..4i64, 0..4i64), 0..100),
    ) {
        let pair = |(first, second): &(i64, i64)| Value::pair((*first).into(), (*second).into());
        let pairs: Vec<Value> = values.iter().map(pair).collect();
        let mut expected: Vec<usize> = (0..values.len()).collect();
        expected.sort_by_key(|at| values[*at]);
        prop_assert_eq!(positions(&pairs), expected);
    }
}

#[test]
fn what_has_no_order_stays_where_it_is() {
    check(
        &[Value::Int(3), Value::from("a"), Value::Int(1)],
        &[0, 1, 2],
    );
    check(
        &[Value::Nil, Value::Bool(true), Value::Bool(false)],
        &[0, 1, 2],
    );
    check(&[Value::Int(2), Value::Int(1), Value::Nil], &[1, 0, 2]);
    check(&[], &[]);
}

#[test]
fn the_first_of_equal_extremes_is_found() {
    let values = [
        Value::Int(2),
        Value::Float(1.0),
        Value::Int(1),
        Value::Int(2),
    ];
    assert_eq!(first_extreme(&values, Ordering::Less), Some(1));
    assert_eq!(first_extreme(&values, Ordering::Greater), Some(0));
    assert_eq!(first_extreme(&[], Ordering::Less), None);
}
