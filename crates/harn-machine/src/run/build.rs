//! Making values out of others, and taking them apart.

use std::rc::Rc;

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

/// The texts of values, joined.
pub(crate) fn concat(values: &[Value]) -> Value {
    let mut out = String::with_capacity(32);
    for value in values {
        value.show_into(&mut out);
    }
    Value::Text(Text::new(&out))
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
