//! What a list of numbers has in common.

use harn_machine::{Context, Failure, Fault, Registry, Value, argument};

use crate::expect::number;

pub(super) fn register(registry: &mut Registry) {
    registry.plain(&[
        ("mean", mean),
        ("median", median),
        ("percentile", percentile),
        ("stddev", stddev),
        ("variance", variance),
    ]);
}

fn mean(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let numbers = numbers("mean", arguments)?;
    Ok(Value::Float(average(&numbers)))
}

fn median(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let numbers = some_numbers("median", arguments)?;
    Ok(Value::Float(quantile(numbers, 50.0)))
}

fn percentile(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let numbers = some_numbers("percentile", arguments)?;
    let percent = number(argument(arguments, 1)).ok_or_else(|| not_numeric("percentile"))?;
    if !(0.0..=100.0).contains(&percent) {
        return Err(Fault::runtime("percentile must be between 0 and 100"));
    }
    Ok(Value::Float(quantile(numbers, percent)))
}

fn variance(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    spread("variance", arguments).map(Value::Float)
}

fn stddev(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    spread("stddev", arguments).map(|variance| Value::Float(variance.sqrt()))
}

fn numbers(function: &str, arguments: &[Value]) -> Result<Vec<f64>, Failure> {
    let Value::List(items) = argument(arguments, 0) else {
        return Err(Fault::type_error(format!(
            "{function}: items must be a list"
        )));
    };
    let numbers = items.iter().map(number).collect::<Option<_>>();
    numbers.ok_or_else(|| not_numeric(function))
}

fn not_numeric(function: &str) -> Failure {
    Fault::type_error(format!("{function} must be numeric"))
}

fn some_numbers(function: &str, arguments: &[Value]) -> Result<Vec<f64>, Failure> {
    let numbers = numbers(function, arguments)?;
    match numbers.is_empty() {
        true => Err(Fault::runtime(format!(
            "{function}: items must not be empty"
        ))),
        false => Ok(numbers),
    }
}

/// The variance of all, or of a sample if the second argument says so.
fn spread(function: &str, arguments: &[Value]) -> Result<f64, Failure> {
    let numbers = some_numbers(function, arguments)?;
    let is_sample = argument(arguments, 1).is_truthy();
    if is_sample && numbers.len() < 2 {
        return Err(Fault::runtime("sample variance requires at least 2 values"));
    }
    let mean = average(&numbers);
    let squares: f64 = numbers.iter().map(|number| (number - mean).powi(2)).sum();
    let freedom = if is_sample {
        numbers.len() - 1
    } else {
        numbers.len()
    };
    Ok(squares / freedom as f64)
}

fn average(numbers: &[f64]) -> f64 {
    match numbers.len() {
        0 => 0.0,
        count => numbers.iter().sum::<f64>() / count as f64,
    }
}

/// The number below which a share lies, between the two closest ranks. There is at least one.
fn quantile(mut numbers: Vec<f64>, percent: f64) -> f64 {
    numbers.sort_by(f64::total_cmp);
    let last = numbers.len() - 1;
    let rank = last as f64 * percent / 100.0;
    let below = (rank.floor() as usize).min(last);
    let above = (below + 1).min(last);
    // Between two infinities there is nothing.
    if numbers[below] == numbers[above] {
        return numbers[below];
    }
    numbers[below] + (numbers[above] - numbers[below]) * (rank - below as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_lie_between_the_closest_ranks() {
        for (numbers, percent, expected) in [
            (&[3.0, 1.0, 2.0][..], 50.0, 2.0),
            (&[4.0, 1.0, 3.0, 2.0], 50.0, 2.5),
            (&[1.0, 2.0, 3.0, 4.0], 25.0, 1.75),
            (&[1.0, 2.0, 3.0, 4.0], 100.0, 4.0),
            (&[1.0, 2.0, 3.0, 4.0], 0.0, 1.0),
            (&[7.0], 90.0, 7.0),
            (&[f64::INFINITY], 50.0, f64::INFINITY),
        ] {
            assert_eq!(quantile(numbers.to_vec(), percent), expected);
        }
    }

    #[test]
    fn variance_is_of_all_or_of_a_sample() {
        let items = || Value::list([2, 4, 4, 4, 5, 5, 7, 9].map(Value::Int).to_vec());
        assert_eq!(spread("variance", &[items()]).unwrap(), 4.0);
        assert_eq!(
            spread("variance", &[items(), Value::Bool(true)]).unwrap(),
            32.0 / 7.0
        );
    }

    #[test]
    fn what_is_no_list_of_numbers_fails() {
        let check = |result: Result<f64, Failure>, expected: &str| {
            assert_eq!(result.expect_err("it fails").text(), expected);
        };
        let empty = || Value::list(Vec::new());
        check(
            spread("stddev", &[]),
            "Type error: stddev: items must be a list",
        );
        check(
            spread("variance", &[Value::list(vec![Value::text("x")])]),
            "Type error: variance must be numeric",
        );
        check(
            spread("variance", &[empty()]),
            "Runtime error: variance: items must not be empty",
        );
        check(
            spread(
                "variance",
                &[Value::list(vec![Value::Int(1)]), Value::Bool(true)],
            ),
            "Runtime error: sample variance requires at least 2 values",
        );
    }
}
