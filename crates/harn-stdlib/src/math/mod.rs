//! Numbers.

mod rounding;
mod statistics;

use std::rc::Rc;

use harn_machine::value::Range;
use harn_machine::{Context, Failure, Fault, Registry, Value, argument};

use crate::expect::number;

pub(crate) fn register(registry: &mut Registry) {
    registry.plain(&[
        ("abs", abs),
        ("acos", |_, arguments| float(arguments, f64::acos)),
        ("asin", |_, arguments| float(arguments, f64::asin)),
        ("atan", |_, arguments| float(arguments, f64::atan)),
        ("atan2", atan2),
        ("cos", |_, arguments| float(arguments, f64::cos)),
        ("exp", |_, arguments| float(arguments, f64::exp)),
        ("is_infinite", is_infinite),
        ("is_nan", is_nan),
        ("ln", |_, arguments| float(arguments, f64::ln)),
        ("log10", |_, arguments| float(arguments, f64::log10)),
        ("log2", |_, arguments| float(arguments, f64::log2)),
        ("max", max),
        ("min", min),
        ("pow", pow),
        ("range", range),
        ("sign", sign),
        ("sin", |_, arguments| float(arguments, f64::sin)),
        ("sqrt", |_, arguments| float(arguments, f64::sqrt)),
        ("tan", |_, arguments| float(arguments, f64::tan)),
    ]);
    rounding::register(registry);
    statistics::register(registry);
}

/// A function of one float; nil of anything but a number.
fn float(arguments: &[Value], function: fn(f64) -> f64) -> Result<Value, Failure> {
    Ok(number(argument(arguments, 0)).map(function).into())
}

fn abs(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    Ok(match argument(arguments, 0) {
        Value::Int(number) => match number.checked_abs() {
            Some(number) => Value::Int(number),
            None => Value::Float(-(i64::MIN as f64)),
        },
        Value::Float(number) => Value::Float(number.abs()),
        _ => Value::Nil,
    })
}

fn min(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    Ok(choose(arguments, i64::min, f64::min))
}

fn max(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    Ok(choose(arguments, i64::max, f64::max))
}

/// One of two numbers; nil if one of them is none.
fn choose(
    arguments: &[Value],
    of_ints: fn(i64, i64) -> i64,
    of_floats: fn(f64, f64) -> f64,
) -> Value {
    let (one, other) = (argument(arguments, 0), argument(arguments, 1));
    if let (Value::Int(one), Value::Int(other)) = (one, other) {
        return Value::Int(of_ints(*one, *other));
    }
    match (number(one), number(other)) {
        (Some(one), Some(other)) => Value::Float(of_floats(one, other)),
        _ => Value::Nil,
    }
}

fn atan2(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let (y, x) = (
        number(argument(arguments, 0)),
        number(argument(arguments, 1)),
    );
    Ok(y.zip(x).map(|(y, x)| y.atan2(x)).into())
}

fn pow(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let (base, exponent) = (argument(arguments, 0), argument(arguments, 1));
    if let (Value::Int(base), Value::Int(exponent)) = (base, exponent)
        && let Some(power) = int_power(*base, *exponent)
    {
        return Ok(Value::Int(power));
    }
    let power = number(base).zip(number(exponent));
    Ok(power.map(|(base, exponent)| base.powf(exponent)).into())
}

/// A power that is an int; `None` if it is none, or too large for one.
fn int_power(base: i64, exponent: i64) -> Option<i64> {
    match base {
        _ if exponent < 0 => None,
        0 | 1 => Some(if exponent == 0 { 1 } else { base }),
        -1 => Some(if exponent % 2 == 0 { 1 } else { -1 }),
        _ => base.checked_pow(u32::try_from(exponent).ok()?),
    }
}

fn sign(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    Ok(match argument(arguments, 0) {
        Value::Int(number) => Value::Int(number.signum()),
        Value::Float(number) if number.is_nan() => Value::Float(*number),
        Value::Float(number) if *number == 0.0 => Value::Int(0),
        Value::Float(number) => Value::Int(if *number > 0.0 { 1 } else { -1 }),
        _ => Value::Nil,
    })
}

fn is_nan(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    Ok(matches!(argument(arguments, 0), Value::Float(number) if number.is_nan()).into())
}

fn is_infinite(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    Ok(matches!(argument(arguments, 0), Value::Float(number) if number.is_infinite()).into())
}

fn range(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let (start, end) = match arguments {
        [Value::Int(end)] => (0, *end),
        [Value::Int(start), Value::Int(end)] => (*start, *end),
        [_] => return Err(Fault::type_error("range(n): expected integer argument")),
        [_, _] => return Err(Fault::type_error("range(a, b): expected integer arguments")),
        _ => {
            return Err(Fault::type_error(format!(
                "range expects 1 or 2 integer arguments, got {}",
                arguments.len()
            )));
        }
    };
    let exclusive = true;
    Ok(Value::Range(Rc::new(Range {
        start,
        end,
        exclusive,
    })))
}

#[cfg(test)]
mod tests {
    use super::int_power;

    #[test]
    fn powers_are_ints_as_long_as_they_fit() {
        for (base, exponent, power) in [
            (2, 10, Some(1024)),
            (2, 62, Some(1 << 62)),
            (2, 63, None),
            (-2, 63, Some(i64::MIN)),
            (10, -1, None),
            (0, 0, Some(1)),
            (0, i64::MAX, Some(0)),
            (1, i64::MAX, Some(1)),
            (-1, i64::MAX, Some(-1)),
            (3, i64::MAX, None),
        ] {
            assert_eq!(int_power(base, exponent), power, "{base} ** {exponent}");
        }
    }
}
