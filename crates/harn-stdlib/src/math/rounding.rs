//! Floats made ints.

use harn_machine::{Context, Failure, Fault, Registry, Value, argument};

/// The first float above all ints.
const INTS_END: f64 = 9_223_372_036_854_775_808.0;

pub(super) fn register(registry: &mut Registry) {
    registry.plain(&[("ceil", ceil), ("floor", floor), ("round", round)]);
}

fn floor(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    rounded(argument(arguments, 0), f64::floor)
}

fn ceil(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    rounded(argument(arguments, 0), f64::ceil)
}

fn round(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    rounded(argument(arguments, 0), f64::round)
}

fn rounded(value: &Value, round: fn(f64) -> f64) -> Result<Value, Failure> {
    match value {
        Value::Int(number) => Ok(Value::Int(*number)),
        Value::Float(number) => int_of(round(*number))
            .map(Value::Int)
            .map_err(Fault::runtime),
        _ => Ok(Value::Nil),
    }
}

/// A whole float as an int.
fn int_of(number: f64) -> Result<i64, &'static str> {
    match number {
        _ if !number.is_finite() => Err("cannot convert non-finite float to int"),
        _ if (-INTS_END..INTS_END).contains(&number) => Ok(number as i64),
        _ => Err("float is outside the representable int range"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_go_away_from_zero() {
        for (number, expected) in [(2.5, 3), (-2.5, -3), (0.5, 1), (-0.4, 0), (2.4, 2)] {
            assert_eq!(
                rounded(&Value::Float(number), f64::round).unwrap(),
                Value::Int(expected)
            );
        }
    }

    #[test]
    fn what_no_int_can_hold_fails() {
        let outside = "float is outside the representable int range";
        let endless = "cannot convert non-finite float to int";
        assert_eq!(int_of(1e19), Err(outside));
        assert_eq!(int_of(INTS_END), Err(outside));
        assert_eq!(int_of(-INTS_END), Ok(i64::MIN));
        assert_eq!(int_of(f64::NAN), Err(endless));
        assert_eq!(int_of(f64::INFINITY), Err(endless));
    }
}
