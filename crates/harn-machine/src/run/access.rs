//! Fields, indexes and slices, read and assigned.

use std::rc::Rc;

use crate::code::{PathStep, Site};
use crate::fault::{Failure, Fault};
use crate::value::{List, Struct, Text, Value};

/// `value.name`
#[inline(never)]
pub(crate) fn field(value: &Value, site: &Site) -> Result<Value, Failure> {
    let name = &site.name;
    Ok(match value {
        Value::Dict(dict) => match dict.get_at(site.found.get(), name) {
            Some(found) => found.clone(),
            None => match dict.position(name) {
                Some(at) => {
                    site.seen.set(usize::MAX);
                    site.found.set(at);
                    dict.get_text(name).cloned().unwrap_or_default()
                }
                None => Value::Nil,
            },
        },
        Value::Struct(value) => struct_field(value, site).cloned().unwrap_or_default(),
        Value::List(items) => match name.as_str() {
            "count" => Value::from(items.len()),
            "empty" => Value::Bool(items.is_empty()),
            "first" => items.first().cloned().unwrap_or_default(),
            "last" => items.last().cloned().unwrap_or_default(),
            _ => Value::Nil,
        },
        Value::Text(text) => match name.as_str() {
            "count" => Value::from(text.char_count()),
            "empty" => Value::Bool(text.is_empty()),
            _ => Value::Nil,
        },
        Value::Enum(value) => match name.as_str() {
            "variant" => Value::Text(value.tag.variant.clone()),
            "fields" => Value::list(value.payload.clone()),
            _ => Value::Nil,
        },
        Value::Pair(pair) => match name.as_str() {
            "first" => pair.first.clone(),
            "second" => pair.second.clone(),
            _ => {
                return Err(Fault::type_error(format!(
                    "cannot access property `{name}` on pair (expected `first` or `second`)"
                )));
            }
        },
        _ => {
            let kind = value.type_name();
            let message = format!("cannot access property `{name}` on {kind}");
            return Err(Fault::type_error(message));
        }
    })
}

/// A field of a struct. All structs of a shape have their fields in the same places.
fn struct_field<'a>(value: &'a Struct, site: &Site) -> Option<&'a Value> {
    let shape = Rc::as_ptr(&value.shape).addr();
    let at = match site.seen.get() == shape {
        true => site.found.get(),
        false => {
            let at = value.shape.position(&site.name)?;
            site.seen.set(shape);
            site.found.set(at);
            at
        }
    };
    let found = value.values.get(at)?;
    (!matches!(found, Value::Absent)).then_some(found)
}

/// `value[index]`
#[inline(never)]
pub(crate) fn index(value: &Value, index: &Value) -> Result<Value, Failure> {
    match (value, index) {
        (Value::List(items), Value::Int(at)) => {
            let at = position(*at, items.len());
            Ok(at.and_then(|at| items.get(at)).cloned().unwrap_or_default())
        }
        (Value::Text(text), Value::Int(at)) => {
            let at = position(*at, text.char_count());
            Ok(at.and_then(|at| text.char_at(at)).into())
        }
        (Value::Dict(dict), Value::Text(key)) => {
            Ok(dict.get_text(key).cloned().unwrap_or_default())
        }
        (Value::Dict(dict), key) => Ok(dict.get(&key.show()).cloned().unwrap_or_default()),
        (Value::Range(range), Value::Int(at)) => range.at(*at).map(Value::Int).ok_or_else(|| {
            let message = format!(
                "range index out of range: index {at} for range of length {}",
                range.len()
            );
            Fault::runtime(message)
        }),
        _ => Err(Fault::type_error(format!(
            "cannot index into {} with {}",
            value.type_name(),
            index.type_name()
        ))),
    }
}

/// The position that an index means; a negative one counts from the end.
fn position(index: i64, len: usize) -> Option<usize> {
    match usize::try_from(index) {
        Ok(at) => (at < len).then_some(at),
        Err(_) => {
            let back = usize::try_from(index.unsigned_abs()).ok()?;
            len.checked_sub(back)
        }
    }
}

/// `value[start:end]`, in place if nobody else has the list.
pub(crate) fn slice(value: Value, start: &Value, end: &Value) -> Result<Value, Failure> {
    let len = match &value {
        Value::List(items) => items.len(),
        Value::Text(text) => text.char_count(),
        _ => {
            let message = format!("cannot slice {}", value.type_name());
            return Err(Fault::type_error(message));
        }
    };
    let start = bound(start, "start", 0, len)?;
    let end = bound(end, "end", len, len)?.max(start);
    Ok(match value {
        Value::List(mut list) => match list.is_unique() {
            true => {
                let items = list.items_mut();
                items.truncate(end);
                items.drain(..start);
                list.into()
            }
            false => Value::list(list[start..end].to_vec()),
        },
        Value::Text(text) => Value::Text(text.slice(start, end)),
        _ => Value::Nil,
    })
}

fn bound(value: &Value, which: &str, missing: usize, len: usize) -> Result<usize, Failure> {
    match value {
        Value::Nil => Ok(missing),
        Value::Int(at) => Ok(match usize::try_from(*at) {
            Ok(at) => at.min(len),
            Err(_) => {
                let back = usize::try_from(at.unsigned_abs()).unwrap_or(usize::MAX);
                len.saturating_sub(back)
            }
        }),
        _ => Err(Fault::type_error(format!(
            "slice {which} must be an integer, got {}",
            value.type_name()
        ))),
    }
}

/// How many bytes are copied when a value is changed: none if nobody else has it.
pub(crate) fn copied(target: &Value) -> usize {
    const SLOT: usize = size_of::<Value>();
    match target {
        Value::List(list) if !list.is_unique() => list.len() * SLOT,
        Value::Dict(dict) if !dict.is_unique() => dict.len() * 4 * SLOT,
        _ => 0,
    }
}

/// `target.name = value`
#[inline(never)]
pub(crate) fn set_field(target: &mut Value, name: &Text, value: Value) -> Result<(), Failure> {
    match target {
        Value::Dict(dict) => {
            dict.insert(name.clone(), value);
        }
        Value::Struct(body) => Rc::make_mut(body).set(name, value),
        _ => {
            let kind = target.type_name();
            let message = format!("cannot set property `{name}` on {kind}");
            return Err(Fault::type_error(message));
        }
    }
    Ok(())
}

/// `target[index] = value`
#[inline(never)]
pub(crate) fn set_index(target: &mut Value, index: &Value, value: Value) -> Result<(), Failure> {
    match target {
        Value::List(items) => {
            if let Some(at) = list_position(items, index)? {
                items.items_mut()[at] = value;
            }
        }
        Value::Dict(dict) => {
            dict.insert(index.to_text(), value);
        }
        _ => {}
    }
    Ok(())
}

/// Where an assignment to an index of a list goes; nowhere if it is no int.
fn list_position(items: &List, index: &Value) -> Result<Option<usize>, Failure> {
    let Value::Int(index) = index else {
        return Ok(None);
    };
    let len = items.len();
    let at = match usize::try_from(*index) {
        Ok(at) => at,
        Err(_) => {
            let back = usize::try_from(index.unsigned_abs()).unwrap_or(usize::MAX);
            len.saturating_sub(back)
        }
    };
    match at < len {
        true => Ok(Some(at)),
        false => Err(Fault::runtime(format!(
            "Index {index} out of bounds for list of length {len}"
        ))),
    }
}

/// Sets the place that a path leads to. Nothing that is missing is made on the way.
pub(crate) fn set_path(
    root: &mut Value,
    steps: &[PathStep],
    registers: &dyn Fn(u16) -> Value,
    value: Value,
) -> Result<(), Failure> {
    let Some((last, before)) = steps.split_last() else {
        return Ok(());
    };
    let mut target = root;
    for (at, step) in before.iter().enumerate() {
        let rest = &steps[at + 1..];
        let has_places = match step {
            PathStep::Field(_) => matches!(target, Value::Dict(_) | Value::Struct(_)),
            PathStep::Index(register) => match target {
                Value::Dict(_) => true,
                Value::List(_) => matches!(registers(*register), Value::Int(_)),
                _ => false,
            },
        };
        if !has_places {
            return set_in_part(target, step, rest, registers, value);
        }
        let next = match step {
            PathStep::Field(name) => field_mut(target, name),
            PathStep::Index(register) => index_mut(target, &registers(*register)),
        };
        let Some(next) = next else {
            return set_path(&mut Value::Nil, rest, registers, value);
        };
        target = next;
    }
    match last {
        PathStep::Field(name) => set_field(target, name, value),
        PathStep::Index(register) => set_index(target, &registers(*register), value),
    }
}

/// Goes on with a path in a part of a value that can be read but not replaced, such as a
/// character of a string.
fn set_in_part(
    target: &mut Value,
    step: &PathStep,
    rest: &[PathStep],
    registers: &dyn Fn(u16) -> Value,
    value: Value,
) -> Result<(), Failure> {
    match step {
        PathStep::Field(name) => {
            let mut part = field(target, &Site::new(name.clone()))?;
            set_path(&mut part, rest, registers, value)?;
            set_field(target, name, part)
        }
        PathStep::Index(register) => {
            let mut part = index(target, &registers(*register))?;
            set_path(&mut part, rest, registers, value)
        }
    }
}

fn field_mut<'a>(target: &'a mut Value, name: &Text) -> Option<&'a mut Value> {
    match target {
        Value::Dict(dict) => dict.get_mut(name),
        Value::Struct(body) => {
            let at = body.shape.position(name)?;
            let found = Rc::make_mut(body).values.get_mut(at)?;
            (!matches!(found, Value::Absent)).then_some(found)
        }
        _ => None,
    }
}

fn index_mut<'a>(target: &'a mut Value, index: &Value) -> Option<&'a mut Value> {
    match (target, index) {
        (Value::List(items), Value::Int(at)) => {
            let at = position(*at, items.len())?;
            items.items_mut().get_mut(at)
        }
        (Value::Dict(dict), key) => dict.get_mut(&key.to_text()),
        _ => None,
    }
}
