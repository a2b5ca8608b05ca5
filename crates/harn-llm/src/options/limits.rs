//! What a call may cost: the option `budget` and its fields at top level.

use serde_json::Value;

use super::value::Options;
use crate::catalog::Invalid;

/// What a call may cost; `None` is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Limits {
    /// Dollars for this call.
    pub max_cost_usd: Option<f64>,
    /// Dollars for the whole session.
    pub total_budget_usd: Option<f64>,
    /// Tokens the model reads.
    pub max_input_tokens: Option<u64>,
    /// Tokens it writes.
    pub max_output_tokens: Option<u64>,
}

/// Reads the limits; those at top level override those in `budget`.
///
/// # Errors
/// A limit is not a number that can be one.
pub fn parse(options: Options<'_>) -> Result<Limits, Invalid> {
    let inner = match options.given("budget") {
        None => Limits::default(),
        Some(Value::Object(fields)) => fields_of(Options(fields))?,
        Some(_) => {
            return Err(Invalid::new(
                "budget: expected a dict {max_cost_usd?, total_budget_usd?, max_input_tokens?, \
                 max_output_tokens?}",
            ));
        }
    };
    let outer = fields_of(options)?;
    Ok(Limits {
        max_cost_usd: outer.max_cost_usd.or(inner.max_cost_usd),
        total_budget_usd: outer.total_budget_usd.or(inner.total_budget_usd),
        max_input_tokens: outer.max_input_tokens.or(inner.max_input_tokens),
        max_output_tokens: outer.max_output_tokens.or(inner.max_output_tokens),
    })
}

fn fields_of(options: Options<'_>) -> Result<Limits, Invalid> {
    Ok(Limits {
        max_cost_usd: dollars(options, "max_cost_usd")?,
        total_budget_usd: dollars(options, "total_budget_usd")?,
        max_input_tokens: tokens(options, "max_input_tokens")?,
        max_output_tokens: tokens(options, "max_output_tokens")?,
    })
}

fn dollars(options: Options<'_>, key: &str) -> Result<Option<f64>, Invalid> {
    let Some(value) = options.given(key) else {
        return Ok(None);
    };
    let expected = match value.as_f64() {
        Some(dollars) if dollars.is_finite() && dollars >= 0.0 => return Ok(Some(dollars)),
        Some(_) => "a non-negative finite number",
        None => "a non-negative number",
    };
    Err(Invalid::new(format!("budget.{key}: expected {expected}")))
}

fn tokens(options: Options<'_>, key: &str) -> Result<Option<u64>, Invalid> {
    match options.given(key) {
        None => Ok(None),
        Some(value) => match value.as_u64() {
            Some(tokens) => Ok(Some(tokens)),
            None => Err(Invalid::new(format!(
                "budget.{key}: expected a non-negative integer"
            ))),
        },
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(options: Value) -> Result<Limits, String> {
        Ok(parse(Options(options.as_object().unwrap()))?)
    }

    #[test]
    fn fields_at_top_level_override_the_dict() {
        let limits = read(json!({
            "budget": {"max_cost_usd": 1, "total_budget_usd": 2.5, "max_input_tokens": 10},
            "max_cost_usd": 0.5,
            "max_output_tokens": 7,
        }));
        let expected = Limits {
            max_cost_usd: Some(0.5),
            total_budget_usd: Some(2.5),
            max_input_tokens: Some(10),
            max_output_tokens: Some(7),
        };
        assert_eq!(limits, Ok(expected));
        assert_eq!(read(json!({"budget": null})), Ok(Limits::default()));
    }

    #[test]
    fn every_mistake_has_its_text() {
        let dict = "budget: expected a dict {max_cost_usd?, total_budget_usd?, max_input_tokens?, max_output_tokens?}";
        let rows = [
            (json!({"budget": 5}), dict),
            (
                json!({"budget": {"max_cost_usd": "a"}}),
                "budget.max_cost_usd: expected a non-negative number",
            ),
            (
                json!({"budget": {"total_budget_usd": -1}}),
                "budget.total_budget_usd: expected a non-negative finite number",
            ),
            (
                json!({"budget": {"max_input_tokens": 1.5}}),
                "budget.max_input_tokens: expected a non-negative integer",
            ),
            (
                json!({"max_output_tokens": -1}),
                "budget.max_output_tokens: expected a non-negative integer",
            ),
        ];
        for (options, expected) in rows {
            assert_eq!(read(options).unwrap_err(), expected);
        }
    }
}
