//! Makes an answer the kind of value that its default is.

use harn_machine::Value;

/// The answer as a value of the same kind as the default, or the default if it is none.
pub(super) fn like(default: &Value, answer: &Value) -> Value {
    let coerced = match default {
        _ if answer.is_nil() => None,
        Value::Int(_) => int(answer),
        Value::Float(_) => float(answer),
        Value::Bool(_) => truth(answer),
        Value::Text(_) => Some(answer.to_text().into()),
        Value::Duration(_) => duration(answer),
        default => (default.type_name() == answer.type_name()).then(|| answer.clone()),
    };
    coerced.unwrap_or_else(|| default.clone())
}

fn int(answer: &Value) -> Option<Value> {
    Some(Value::Int(match answer {
        Value::Int(number) => *number,
        Value::Float(number) if number.is_finite() => *number as i64,
        Value::Text(text) => {
            let text = text.trim();
            let whole = text.parse().ok();
            whole.or_else(|| finite(text).map(|number| number as i64))?
        }
        _ => return None,
    }))
}

fn float(answer: &Value) -> Option<Value> {
    Some(Value::Float(match answer {
        Value::Int(number) => *number as f64,
        Value::Float(number) => *number,
        Value::Text(text) => finite(text.trim())?,
        _ => return None,
    }))
}

fn finite(text: &str) -> Option<f64> {
    text.parse().ok().filter(|number: &f64| number.is_finite())
}

fn truth(answer: &Value) -> Option<Value> {
    match answer {
        Value::Bool(_) => Some(answer.clone()),
        Value::Text(text) => match text.trim() {
            "true" => Some(true.into()),
            "false" => Some(false.into()),
            _ => None,
        },
        _ => None,
    }
}

fn duration(answer: &Value) -> Option<Value> {
    match answer {
        Value::Duration(time) | Value::Int(time) => Some(Value::Duration(*time)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(default: impl Into<Value>, answer: impl Into<Value>, expected: &str) {
        let (default, answer) = (default.into(), answer.into());
        let coerced = like(&default, &answer);
        assert_eq!(coerced.show(), expected);
        assert_eq!(coerced.type_name(), default.type_name());
    }

    #[test]
    fn answers_become_what_the_default_is() {
        check(1_i64, 2_i64, "2");
        check(1_i64, 2.9, "2");
        check(1_i64, " 7 ", "7");
        check(1_i64, "7.5", "7");
        check(1_i64, "many", "1");
        check(1_i64, f64::NAN, "1");
        check(0.5, 2_i64, "2.0");
        check(0.5, "1.25", "1.25");
        check(true, "false", "false");
        check(true, "no", "true");
        check(false, 1_i64, "false");
        check("x", 12_i64, "12");
        check("x", Value::Nil, "x");
        check(Value::Duration(1000), 2500_i64, "2500ms");
        check(Value::Duration(1000), "soon", "1s");
        check(Value::list(vec![]), "x", "[]");
        check(
            Value::dict([]),
            Value::dict([("a", true.into())]),
            "{a: true}",
        );
    }
}
