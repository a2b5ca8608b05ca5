use super::*;

#[test]
fn an_expected_value_or_snapshot_must_match() {
    let mut slot = Slot::default();
    let current = Value::Int(1);
    let snapshot = |value: i64, version| {
        let value = value.into();
        Snapshot { value, version }.to_value()
    };
    assert!(slot.is_as_expected(&current, &Value::Int(1)));
    assert!(!slot.is_as_expected(&current, &Value::Int(2)));
    assert!(slot.is_as_expected(&current, &snapshot(1, 0)));
    assert!(
        !slot.is_as_expected(&current, &snapshot(2, 0)),
        "another value"
    );
    slot.note_write();
    assert!(
        !slot.is_as_expected(&current, &snapshot(1, 0)),
        "an old version"
    );
    assert_eq!((slot.cas_successes, slot.cas_failures), (2, 3));
    assert_eq!(slot.stale_reads, 1);
    assert_eq!((slot.version, slot.writes), (1, 1));
}

#[test]
fn a_dict_that_only_looks_like_a_snapshot_is_a_value() {
    let mut slot = Slot::default();
    let dict = Value::dict([("version", Value::Int(9)), ("value", Value::Nil)]);
    assert!(slot.is_as_expected(&dict.clone(), &dict));
}
