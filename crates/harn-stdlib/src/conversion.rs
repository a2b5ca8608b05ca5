//! Values of one kind made of values of another, looked into, or told apart.

use std::rc::Rc;

use harn_machine::value::{Dict, structural_key};
use harn_machine::{Context, Failure, Fault, Registry, Value, argument, take};

pub(crate) fn register(registry: &mut Registry) {
    registry.plain(&[
        ("Err", make_err),
        ("Ok", make_ok),
        ("addr_of", addr_of),
        ("entries", entries),
        ("hash_value", hash_value),
        ("is_err", is_err),
        ("is_ok", is_ok),
        ("is_same", is_same),
        ("keys", keys),
        ("len", len),
        ("pair", pair),
        ("to_float", to_float),
        ("to_int", to_int),
        ("to_list", to_list),
        ("to_string", to_string),
        ("type_of", type_of),
        ("unreachable", unreachable),
        ("unwrap", unwrap),
        ("unwrap_err", unwrap_err),
        ("unwrap_or", unwrap_or),
        ("values", values),
    ]);
}

fn type_of(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    Ok(argument(arguments, 0).type_name().into())
}

fn to_string(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let text = argument(arguments, 0).to_text_within(context.budget())?;
    Ok(text.into())
}

fn to_int(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    Ok(match argument(arguments, 0) {
        Value::Int(number) => Value::Int(*number),
        Value::Float(number) => Value::Int(*number as i64),
        Value::Text(text) => text.parse::<i64>().ok().into(),
        _ => Value::Nil,
    })
}

fn to_float(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    Ok(match argument(arguments, 0) {
        Value::Int(number) => Value::Float(*number as f64),
        Value::Float(number) => Value::Float(*number),
        Value::Text(text) => text.parse::<f64>().ok().into(),
        _ => Value::Nil,
    })
}

fn to_list(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    Ok(match take(arguments, 0) {
        Value::List(items) => Value::List(items),
        Value::Set(set) => set.iter().cloned().collect(),
        value => Value::list(vec![value]),
    })
}

fn len(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    Ok(match argument(arguments, 0) {
        Value::Text(text) => text.char_count().into(),
        Value::Bytes(bytes) => bytes.len().into(),
        Value::List(items) => items.len().into(),
        Value::Dict(dict) => dict.len().into(),
        Value::Set(set) => set.len().into(),
        Value::Range(range) => range.len().into(),
        _ => Value::Int(0),
    })
}

fn is_same(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let (one, other) = (argument(arguments, 0), argument(arguments, 1));
    let same = match (one, other) {
        (Value::List(one), Value::List(other)) => one.is_same(other),
        (Value::Dict(one), Value::Dict(other)) => one.is_same(other),
        (Value::Set(one), Value::Set(other)) => one.is_same(other),
        (Value::Closure(one), Value::Closure(other)) => Rc::ptr_eq(one, other),
        (Value::Pair(one), Value::Pair(other)) => Rc::ptr_eq(one, other),
        // These equal nothing, not even themselves, so only identity is left to ask for.
        (Value::Channel(one), Value::Channel(other)) => Rc::ptr_eq(one, other),
        (Value::Generator(one), Value::Generator(other)) => Rc::ptr_eq(one, other),
        (Value::Permit(one), Value::Permit(other)) => Rc::ptr_eq(one, other),
        (Value::Foreign(one), Value::Foreign(other)) => Rc::ptr_eq(one, other),
        _ => one == other,
    };
    Ok(same.into())
}

fn addr_of(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let value = argument(arguments, 0);
    let address = match value {
        Value::List(items) => items.address(),
        Value::Dict(dict) => dict.address(),
        Value::Set(set) => set.address(),
        Value::Text(text) => text.address(),
        Value::Bytes(bytes) => bytes.address(),
        Value::Closure(closure) => Rc::as_ptr(closure).addr(),
        Value::Builtin(id) => return Ok(format!("builtin@{}", id.name()).into()),
        _ => return Ok(format!("{}@{value}", value.type_name()).into()),
    };
    Ok(format!("{}@{address:#x}", value.type_name()).into())
}

fn hash_value(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    argument(arguments, 0).check_shown(context.budget())?;
    let key = structural_key(argument(arguments, 0));
    Ok(Value::Int(fnv1a(key.as_bytes()).cast_signed()))
}

/// FNV-1a of 64 bits.
fn fnv1a(octets: &[u8]) -> u64 {
    octets.iter().fold(0xcbf2_9ce4_8422_2325, |hash, octet| {
        (hash ^ u64::from(*octet)).wrapping_mul(0x0100_0000_01b3)
    })
}

fn keys(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    Ok(listed(arguments, |dict| {
        dict.keys().cloned().map(Value::Text).collect()
    }))
}

fn values(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    Ok(listed(arguments, |dict| dict.values().cloned().collect()))
}

fn entries(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    if let Value::Dict(dict) = argument(arguments, 0) {
        const ENTRY_BYTES: usize = 200;
        context.reserve(dict.len().saturating_mul(ENTRY_BYTES))?;
    }
    Ok(listed(arguments, |dict| {
        let entry = |(key, value): (&harn_machine::value::Text, &Value)| {
            Value::dict([("key", Value::Text(key.clone())), ("value", value.clone())])
        };
        dict.iter().map(entry).collect()
    }))
}

/// What is in a dict; nothing of anything else.
fn listed(arguments: &[Value], list: impl FnOnce(&Dict) -> Value) -> Value {
    match argument(arguments, 0) {
        Value::Dict(dict) => list(dict),
        _ => Value::list(Vec::new()),
    }
}

fn make_ok(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    Ok(Value::ok(take(arguments, 0)))
}

fn make_err(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    Ok(Value::err(take(arguments, 0)))
}

fn is_ok(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    Ok(matches!(argument(arguments, 0).as_result(), Some(Ok(_))).into())
}

fn is_err(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    Ok(matches!(argument(arguments, 0).as_result(), Some(Err(_))).into())
}

fn unwrap(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let result = take(arguments, 0);
    match result.as_result() {
        Some(Ok(value)) => Ok(value.clone()),
        Some(Err(error)) => Err(Fault::runtime(format!("unwrap called on Err: {error}"))),
        None => Ok(result),
    }
}

fn unwrap_or(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let result = take(arguments, 0);
    Ok(match result.as_result() {
        Some(Ok(value)) => value.clone(),
        Some(Err(_)) => take(arguments, 1),
        None => result,
    })
}

fn unwrap_err(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    match argument(arguments, 0).as_result() {
        Some(Err(error)) => Ok(error.clone()),
        _ => Err(Fault::runtime("unwrap_err called on non-Err")),
    }
}

fn unreachable(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let reached = "unreachable code was reached";
    Err(match arguments.first() {
        Some(value) => Fault::runtime(format!("{reached}: {value}")),
        None => Fault::runtime(reached),
    })
}

fn pair(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    match arguments {
        [first, second] => Ok(Value::pair(std::mem::take(first), std::mem::take(second))),
        _ => Err(Fault::type_error(format!(
            "pair: expected 2 arguments, got {}",
            arguments.len()
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::fnv1a;

    #[test]
    fn hashes_are_those_that_the_authors_of_fnv_publish() {
        assert_eq!(fnv1a(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(fnv1a(b"foobar"), 0x8594_4171_f739_67e8);
    }
}
