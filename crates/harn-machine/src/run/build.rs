//! Making values out of others, and taking them apart.

use std::rc::Rc;

use compact_str::CompactString;

use crate::budget::Budget;
use crate::fault::{Failure, Fault};
use crate::value::{Dict, Shape, Struct, Text, Value};

/// `[...value]`: adds the items of a list.
pub(crate) fn spread_list(list: &mut Value, value: &Value) -> Result<(), Failure> {
    expect_list(value)?;
    if let (Value::List(list), Value::List(more)) = (list, value) {
        list.items_mut().extend_from_slice(more);
    }
    Ok(())
}

/// `{...value}`: adds the fields of a dict.
pub(crate) fn spread_dict(dict: &mut Value, value: &Value) -> Result<(), Failure> {
    expect_dict(value)?;
    if let (Value::Dict(dict), Value::Dict(more)) = (dict, value) {
        for (key, value) in more {
            dict.insert(key.clone(), value.clone());
        }
    }
    Ok(())
}

/// Fails unless a value can be taken apart by a list pattern.
pub(crate) fn expect_list(value: &Value) -> Result<(), Failure> {
    match value {
        Value::List(_) => Ok(()),
        _ => Err(Fault::type_error(format!(
            "cannot destructure {} with [...] pattern — expected list",
            value.type_name()
        ))),
    }
}

/// Fails unless a value can be taken apart by a dict pattern.
pub(crate) fn expect_dict(value: &Value) -> Result<(), Failure> {
    match value {
        Value::Dict(_) => Ok(()),
        _ => Err(Fault::type_error(format!(
            "cannot destructure {} with {{...}} pattern — expected dict",
            value.type_name()
        ))),
    }
}

/// A dict of sorted keys and as many values.
pub(crate) fn new_dict(keys: &[Text], values: &mut [Value]) -> Value {
    let values = values.iter_mut().map(std::mem::take);
    Value::Dict(Dict::from_sorted(
        keys.iter().cloned().zip(values).collect(),
    ))
}

/// A struct with the fields of a dict that its shape has.
pub(crate) fn struct_from(shape: &Rc<Shape>, fields: &Value) -> Value {
    let field = |name: &Text| match fields {
        Value::Dict(dict) => dict.get_text(name).cloned().unwrap_or(Value::Absent),
        _ => Value::Absent,
    };
    let values = shape.fields.iter().map(field).collect();
    Value::Struct(Rc::new(Struct {
        shape: shape.clone(),
        values,
    }))
}

/// How many items a list or a dict has.
pub(crate) fn items(value: &Value) -> usize {
    match value {
        Value::List(items) => items.len(),
        Value::Dict(dict) => dict.len(),
        _ => 0,
    }
}

/// How many bytes the texts among some values have. What else there is says it when it is shown.
pub(crate) fn joined_bytes(values: &[Value]) -> usize {
    const EMPTY: usize = 64;
    let bytes = values.iter().map(|value| match value {
        Value::Text(text) => text.len(),
        _ => 0,
    });
    bytes.sum::<usize>() + EMPTY
}

/// The texts of values, joined. The values are emptied.
#[inline(never)]
pub(crate) fn concat(values: &mut [Value], budget: &mut Budget) -> Result<Text, Failure> {
    let mut out = CompactString::default();
    for value in values {
        match &*value {
            Value::Text(text) => out.push_str(text),
            Value::Int(number) => push_int(*number, &mut out),
            other => out.push_str(&other.show_within(budget)?),
        }
        if value.is_counted() {
            *value = Value::Nil;
        }
    }
    Ok(Text::from(out))
}

/// Writes an int, digit by digit from its end.
fn push_int(number: i64, out: &mut CompactString) {
    // The longest one has 19 digits and a sign.
    let mut digits = [0; 20];
    let mut at = digits.len();
    let mut left = number.unsigned_abs();
    loop {
        at -= 1;
        digits[at] = b'0' + (left % 10) as u8;
        left /= 10;
        if left == 0 {
            break;
        }
    }
    if number < 0 {
        at -= 1;
        digits[at] = b'-';
    }
    out.push_str(std::str::from_utf8(&digits[at..]).unwrap_or_default());
}

/// A dict without some keys.
pub(crate) fn dict_rest(value: &Value, keys: &[Text]) -> Value {
    let Value::Dict(dict) = value else {
        return Value::Nil;
    };
    let mut rest = dict.clone();
    for key in keys {
        rest.remove(key);
    }
    Value::Dict(rest)
}

/// The items of a list from a position on.
pub(crate) fn list_rest(value: &Value, from: usize) -> Value {
    match value {
        Value::List(items) => Value::list(items.get(from..).unwrap_or_default().to_vec()),
        _ => Value::Nil,
    }
}
