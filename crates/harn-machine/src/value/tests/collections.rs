//! Dicts, sets, lists and texts against simple models.

use std::collections::BTreeMap;

use super::*;

/// What one does with a dict.
#[derive(Clone, Debug)]
enum Change {
    Insert(String, i64),
    Remove(String),
    Update(String),
    /// From here on there are two of them.
    Keep,
}

fn change() -> impl Strategy<Value = Change> {
    let key = || "[a-c]{0,3}";
    prop_oneof![
        6 => (key(), any::<i64>()).prop_map(|(key, value)| Change::Insert(key, value)),
        3 => key().prop_map(Change::Remove),
        2 => key().prop_map(Change::Update),
        1 => Just(Change::Keep),
    ]
}

fn same(dict: &Dict, model: &BTreeMap<String, i64>) {
    assert_eq!(dict.len(), model.len());
    assert_eq!(dict.is_empty(), model.is_empty());
    let entries = dict
        .iter()
        .map(|(key, value)| (key.to_string(), value.clone()));
    let expected = model
        .iter()
        .map(|(key, value)| (key.clone(), Value::Int(*value)));
    assert!(entries.eq(expected.clone()));
    for (at, (key, value)) in expected.enumerate() {
        assert_eq!(dict.get(&key), Some(&value));
        assert_eq!(dict.get_text(&Text::new(&key)), Some(&value));
        let entry = dict.entry(at).map(|(key, value)| (key.as_str(), value));
        assert_eq!(entry, Some((key.as_str(), &value)));
    }
    assert!(dict.entry(model.len()).is_none());
}

proptest! {
    #[test]
    fn a_dict_is_a_sorted_map(changes in prop::collection::vec(change(), 0..120)) {
        let mut dict = Dict::default();
        let mut model = BTreeMap::new();
        let mut kept = Vec::new();
        for change in changes {
            match change {
                Change::Insert(key, value) => {
                    let old = dict.insert(Text::new(&key), Value::Int(value));
                    prop_assert_eq!(old, model.insert(key, value).map(Value::Int));
                }
                Change::Remove(key) => {
                    prop_assert_eq!(dict.remove(&key), model.remove(&key).map(Value::Int));
                    prop_assert!(!dict.contains(&key));
                }
                Change::Update(key) => {
                    let value = dict.get_mut(&Text::new(&key));
                    prop_assert_eq!(value.is_some(), model.contains_key(&key));
                    if let Some(value) = value {
                        *value = Value::Int(0);
                        model.insert(key, 0);
                    }
                }
                Change::Keep => {
                    // Sorted or not: going through it must not depend on when it was copied.
                    kept.push((dict.clone(), model.clone()));
                }
            }
            if model.len() % 3 == 0 {
                same(&dict, &model);
            }
        }
        same(&dict, &model);
        for (dict, model) in kept {
            same(&dict, &model);
        }
    }

    #[test]
    fn equal_dicts_are_equal_however_they_came_about(
        entries in prop::collection::btree_map("[a-d]{0,3}", 0..5i64, 0..30),
        removed in "[x-z]{1,2}",
    ) {
        let entries: Vec<_> =
            entries.into_iter().map(|(key, value)| (Text::from(key), Value::Int(value))).collect();
        let sorted = Dict::from_sorted(entries.clone());
        let mut reversed: Dict = entries.into_iter().rev().collect();
        reversed.insert(Text::from(removed.clone()), Value::Nil);
        prop_assert!(Value::Dict(sorted.clone()) != Value::Dict(reversed.clone()));
        reversed.remove(&removed);
        let (sorted, reversed) = (Value::Dict(sorted), Value::Dict(reversed));
        prop_assert_eq!(sorted.show(), reversed.show());
        prop_assert_eq!(structural_key(&sorted), structural_key(&reversed));
        prop_assert!(sorted == reversed);
    }
}

/// What one does with a set.
#[derive(Clone, Debug)]
enum Member {
    Add(Value, Sameness),
    Remove(Value, Sameness),
    Ask(Value, Sameness),
    Keep,
}

fn member() -> impl Strategy<Value = Member> {
    let sameness = || prop_oneof![Just(Sameness::Equal), Just(Sameness::Structural)];
    prop_oneof![
        6 => (value(), sameness()).prop_map(|(value, sameness)| Member::Add(value, sameness)),
        2 => (value(), sameness()).prop_map(|(value, sameness)| Member::Remove(value, sameness)),
        2 => (value(), sameness()).prop_map(|(value, sameness)| Member::Ask(value, sameness)),
        1 => Just(Member::Keep),
    ]
}

fn position(model: &[Value], value: &Value, sameness: Sameness) -> Option<usize> {
    model.iter().position(|one| match sameness {
        Sameness::Equal => one == value,
        Sameness::Structural => structural_key(one) == structural_key(value),
    })
}

fn shown(values: &[Value]) -> Vec<String> {
    values.iter().map(structural_key).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_set_is_a_list_without_duplicates(changes in prop::collection::vec(member(), 0..80)) {
        let mut set = Set::default();
        let mut model: Vec<Value> = Vec::new();
        let mut kept = Vec::new();
        for change in changes {
            match change {
                Member::Add(value, sameness) => {
                    let is_new = position(&model, &value, sameness).is_none();
                    prop_assert_eq!(set.add(value.clone(), sameness), is_new);
                    if is_new {
                        model.push(value);
                    }
                }
                Member::Remove(value, sameness) => {
                    let found = position(&model, &value, sameness);
                    // Of several that are equal any may go: whichever it is, the rest stays.
                    if let Some(at) = found
                        && position(&model[at + 1..], &value, sameness).is_none()
                    {
                        model.remove(at);
                        prop_assert!(set.remove(&value, sameness));
                    }
                    prop_assert!(found.is_some() || !set.remove(&value, sameness));
                }
                Member::Ask(value, sameness) => {
                    let found = position(&model, &value, sameness).is_some();
                    prop_assert_eq!(set.contains(&value, sameness), found);
                }
                Member::Keep => kept.push((set.clone(), model.clone())),
            }
            prop_assert_eq!(shown(set.items()), shown(&model));
        }
        for (set, model) in kept {
            prop_assert_eq!(shown(set.items()), shown(&model));
            for value in &model {
                prop_assert!(set.contains(value, Sameness::Structural));
            }
        }
    }

    #[test]
    fn sets_are_equal_regardless_of_order(values in prop::collection::vec(value(), 0..20)) {
        let set = Set::new(values.iter().cloned(), Sameness::Equal);
        let reversed = Set::new(set.items().iter().rev().cloned(), Sameness::Equal);
        // Members that equal nothing keep their set from equalling anything.
        let reflexive = set.items().iter().all(|value| value == &value.clone());
        prop_assert_eq!(Value::Set(set.clone()) == Value::Set(reversed.clone()), reflexive);
        let keys = [set, reversed].map(|set| structural_key(&Value::Set(set)));
        prop_assert_eq!(&keys[0], &keys[1]);
    }

    #[test]
    fn a_list_that_is_shared_is_copied_before_it_changes(
        items in prop::collection::vec(-5..5i64, 0..20),
        more in -5..5i64,
    ) {
        let mut list: List = items.iter().copied().map(Value::Int).collect();
        let place = list.address();
        list.items_mut().reserve(1);
        list.items_mut().push(Value::Int(more));
        prop_assert_eq!(list.address(), place);
        prop_assert!(list.is_unique());
        let mut copy = list.clone();
        prop_assert!(!list.is_unique());
        copy.items_mut().clear();
        let expected: Vec<_> = items.iter().copied().chain([more]).map(Value::Int).collect();
        prop_assert!(copy.is_empty());
        prop_assert_eq!(&*list, &*expected);
        drop(copy);
        prop_assert!(list.is_unique());
        prop_assert_eq!(list.into_items(), expected);
    }

    #[test]
    fn a_text_that_is_shared_is_copied_before_it_changes(
        parts in prop::collection::vec("\\PC{0,30}", 1..8),
        counted in any::<bool>(),
    ) {
        let mut text = Text::default();
        let mut model = String::new();
        let mut kept = Vec::new();
        for part in parts {
            if counted {
                text.char_count();
                text.hash();
            }
            kept.push((text.clone(), model.clone()));
            text.append(&part);
            model.push_str(&part);
            kept.push((text.clone(), model.clone()));
        }
        for (text, model) in kept {
            prop_assert_eq!(text.as_str(), &model);
            prop_assert_eq!(text.hash(), Text::new(&model).hash());
            let chars: Vec<char> = model.chars().collect();
            prop_assert_eq!(text.char_count(), chars.len());
            prop_assert_eq!(text.is_single_byte(), model.is_ascii());
            for at in 0..chars.len() + 1 {
                let expected = chars.get(at).map(|char| char.to_string());
                prop_assert_eq!(text.char_at(at).map(|char| char.to_string()), expected);
                let expected: String = chars[at..].iter().take(3).collect();
                prop_assert_eq!(text.slice(at, at + 3), Text::from(expected));
            }
        }
    }
}

#[test]
fn many_members_of_any_kind_are_found_without_looking_at_all() {
    const MANY: i64 = 20_000;
    let kinds: [fn(i64) -> Value; 6] = [
        |number| point(vec![Value::Int(number)]),
        |number| Value::pair("same".into(), Value::Int(number)),
        |number| {
            Value::Enum(Rc::new(Enum::new(
                Tag::new("E", "V"),
                vec![Value::Int(number)],
            )))
        },
        |number| {
            let mut items = vec![Value::Nil; 20];
            items.push(Value::list(vec![Value::list(vec![Value::list(vec![
                number.into(),
            ])])]));
            Value::list(items)
        },
        |number| Value::dict([("a", Value::dict([("b", number.into())]))]),
        |_| Value::Float(f64::NAN),
    ];
    for kind in kinds {
        for sameness in [Sameness::Equal, Sameness::Structural] {
            let set = Set::new((0..MANY).map(kind), sameness);
            let expected = match (kind(0) == kind(0), sameness) {
                (false, Sameness::Structural) => 1,
                _ => MANY,
            };
            assert_eq!(Value::from(set.len()), Value::Int(expected));
        }
    }
}
