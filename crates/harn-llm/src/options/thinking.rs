//! How much the model is to think: the options `thinking` and `reasoning_effort`.

use serde_json::{Map, Value};

use super::value::{Options, display, kind, truthy};
use crate::catalog::{Capability, Environment, Invalid};
use crate::{Effort, Thinking};

/// Reads both options. Says whether the effort was asked for by `reasoning_effort`.
///
/// # Errors
/// One of them is not understood, or they contradict each other.
pub(super) fn parse(options: Options<'_>) -> Result<(Thinking, bool), Invalid> {
    let thinking = match options.given("thinking") {
        Some(value) => thinking(value)?,
        None => Thinking::Disabled,
    };
    let Some(level) = reasoning_effort(options)? else {
        return Ok((thinking, false));
    };
    match thinking {
        Thinking::Disabled => Ok((Thinking::Effort { level }, true)),
        _ => Err(Invalid::new(
            "reasoning_effort cannot be combined with a non-disabled thinking option",
        )),
    }
}

/// How much the model is to think if its caller says nothing: what the environment says, if
/// that is a way in which the model can think.
pub(super) fn usual(environment: &dyn Environment, capability: &Capability) -> Thinking {
    let said = environment.filled("HARN_LLM_THINKING").map(word);
    let usual = said.and_then(Result::ok).unwrap_or(Thinking::Disabled);
    match super::gate::thinks(usual, capability) {
        true => usual,
        false => Thinking::Disabled,
    }
}

fn reasoning_effort(options: Options<'_>) -> Result<Option<Effort>, Invalid> {
    let expected = "reasoning_effort: expected \"low\" | \"medium\" | \"high\"";
    match options.given("reasoning_effort") {
        None | Some(Value::Bool(false)) => Ok(None),
        Some(Value::String(text)) => match effort(text) {
            Some(level) => Ok(Some(level)),
            None => Err(Invalid::new(format!("{expected}, got \"{text}\""))),
        },
        Some(other) => Err(Invalid::new(format!("{expected}, got {}", kind(other)))),
    }
}

fn effort(word: &str) -> Option<Effort> {
    let levels = [Effort::Low, Effort::Medium, Effort::High];
    levels.into_iter().find(|level| level.word() == word)
}

const ENABLED: Thinking = Thinking::Enabled {
    budget_tokens: None,
};

fn thinking(value: &Value) -> Result<Thinking, Invalid> {
    match value {
        Value::String(text) => word(text),
        Value::Object(fields) => dict(fields),
        other if truthy(other) => Ok(ENABLED),
        _ => Ok(Thinking::Disabled),
    }
}

fn word(text: &str) -> Result<Thinking, Invalid> {
    match text {
        "disabled" | "off" | "none" => Ok(Thinking::Disabled),
        "enabled" | "on" | "true" => Ok(ENABLED),
        "adaptive" => Ok(Thinking::Adaptive),
        _ => match effort(text) {
            Some(level) => Ok(Thinking::Effort { level }),
            None => Err(Invalid::new(format!(
                "thinking: expected bool, dict, or one of \"enabled\" | \"adaptive\" | \"low\" | \
                 \"medium\" | \"high\", got \"{text}\""
            ))),
        },
    }
}

fn dict(fields: &Map<String, Value>) -> Result<Thinking, Invalid> {
    let fields = Options(fields);
    if fields.given("enabled").is_some_and(|value| !truthy(value)) {
        return Ok(Thinking::Disabled);
    }
    let mode = fields.given_text("mode");
    match mode.as_deref() {
        Some("disabled") => Ok(Thinking::Disabled),
        None | Some("enabled") => Ok(Thinking::Enabled {
            budget_tokens: budget(fields)?,
        }),
        Some("adaptive") => Ok(Thinking::Adaptive),
        Some("effort") => Ok(Thinking::Effort {
            level: level(fields)?,
        }),
        Some(other) => Err(Invalid::new(format!(
            "thinking.mode: expected \"disabled\" | \"enabled\" | \"adaptive\" | \"effort\", got \
             \"{other}\""
        ))),
    }
}

fn budget(fields: Options<'_>) -> Result<Option<u64>, Invalid> {
    match fields.given("budget_tokens") {
        None => Ok(None),
        Some(value) => match value.as_u64() {
            Some(tokens) => Ok(Some(tokens)),
            None => Err(Invalid::new(
                "thinking.budget_tokens: expected a non-negative int",
            )),
        },
    }
}

fn level(fields: Options<'_>) -> Result<Effort, Invalid> {
    let Some(value) = fields.given("level") else {
        return Err(Invalid::new(
            "thinking.level is required when thinking.mode is \"effort\"",
        ));
    };
    let word = display(value);
    effort(&word).ok_or_else(|| {
        Invalid::new(format!(
            "thinking.level: expected \"low\" | \"medium\" | \"high\", got \"{word}\""
        ))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(options: Value) -> Result<Value, String> {
        let parsed = parse(Options(options.as_object().unwrap()))?;
        Ok(serde_json::to_value(parsed.0).unwrap())
    }

    #[test]
    fn every_form_is_read() {
        let disabled = json!({"mode": "disabled"});
        let enabled = json!({"mode": "enabled"});
        let adaptive = json!({"mode": "adaptive"});
        let high = json!({"mode": "effort", "level": "high"});
        let rows = [
            (json!({}), &disabled),
            (json!({"thinking": null}), &disabled),
            (json!({"thinking": false}), &disabled),
            (json!({"thinking": "disabled"}), &disabled),
            (json!({"thinking": "off"}), &disabled),
            (json!({"thinking": "none"}), &disabled),
            (json!({"thinking": {"enabled": false}}), &disabled),
            (json!({"thinking": {"mode": "disabled"}}), &disabled),
            (json!({"thinking": 0}), &disabled),
            (json!({"thinking": true}), &enabled),
            (json!({"thinking": "enabled"}), &enabled),
            (json!({"thinking": "on"}), &enabled),
            (json!({"thinking": "true"}), &enabled),
            (json!({"thinking": {}}), &enabled),
            (json!({"thinking": {"enabled": true}}), &enabled),
            (json!({"thinking": 3}), &enabled),
            (json!({"thinking": [1]}), &enabled),
            (json!({"thinking": "adaptive"}), &adaptive),
            (json!({"thinking": {"mode": "adaptive"}}), &adaptive),
            (json!({"thinking": "high"}), &high),
            (
                json!({"thinking": {"mode": "effort", "level": "high"}}),
                &high,
            ),
            (json!({"reasoning_effort": "high"}), &high),
            (
                json!({"reasoning_effort": "high", "thinking": false}),
                &high,
            ),
            (json!({"reasoning_effort": null}), &disabled),
            (json!({"reasoning_effort": false}), &disabled),
        ];
        for (options, expected) in rows {
            assert_eq!(read(options.clone()).as_ref(), Ok(expected), "{options}");
        }
        assert_eq!(
            read(json!({"thinking": {"mode": "enabled", "budget_tokens": 512}})),
            Ok(json!({"mode": "enabled", "budget_tokens": 512}))
        );
        assert_eq!(
            read(json!({"thinking": {"budget_tokens": 0}})),
            Ok(json!({"mode": "enabled", "budget_tokens": 0}))
        );
    }

    #[test]
    fn the_environment_says_what_callers_do_not() {
        let usual = |word: &str, modes: &[&str]| {
            let capability = Capability {
                thinking_modes: modes.iter().map(|mode| (*mode).to_owned()).collect(),
                ..Capability::default()
            };
            let variable = ("HARN_LLM_THINKING".to_owned(), word.to_owned());
            let environment = std::collections::BTreeMap::from([variable]);
            usual(&environment, &capability)
        };
        let high = Thinking::Effort {
            level: Effort::High,
        };
        assert_eq!(usual("high", &["effort"]), high);
        assert_eq!(usual("on", &["enabled"]), ENABLED);
        // What a model cannot do, and what nobody understands, is no reason to fail.
        assert_eq!(usual("high", &["enabled"]), Thinking::Disabled);
        assert_eq!(usual("much", &["effort"]), Thinking::Disabled);
        assert_eq!(usual("", &["effort"]), Thinking::Disabled);
    }

    #[test]
    fn every_mistake_has_its_text() {
        let word = "thinking: expected bool, dict, or one of \"enabled\" | \"adaptive\" | \"low\" | \"medium\" | \"high\", got \"max\"";
        let mode = "thinking.mode: expected \"disabled\" | \"enabled\" | \"adaptive\" | \"effort\", got \"x\"";
        let level = "thinking.level: expected \"low\" | \"medium\" | \"high\", got \"x\"";
        let budget = "thinking.budget_tokens: expected a non-negative int";
        let both = "reasoning_effort cannot be combined with a non-disabled thinking option";
        let rows = [
            (json!({"thinking": "max"}), word),
            (json!({"thinking": {"mode": "x"}}), mode),
            (
                json!({"thinking": {"mode": "effort"}}),
                "thinking.level is required when thinking.mode is \"effort\"",
            ),
            (json!({"thinking": {"mode": "effort", "level": "x"}}), level),
            (json!({"thinking": {"budget_tokens": -1}}), budget),
            (json!({"thinking": {"budget_tokens": 1.5}}), budget),
            (json!({"thinking": {"budget_tokens": "1"}}), budget),
            (
                json!({"reasoning_effort": "max"}),
                "reasoning_effort: expected \"low\" | \"medium\" | \"high\", got \"max\"",
            ),
            (
                json!({"reasoning_effort": 3}),
                "reasoning_effort: expected \"low\" | \"medium\" | \"high\", got int",
            ),
            (
                json!({"reasoning_effort": true}),
                "reasoning_effort: expected \"low\" | \"medium\" | \"high\", got bool",
            ),
            (json!({"reasoning_effort": "low", "thinking": true}), both),
        ];
        for (options, expected) in rows {
            assert_eq!(read(options), Err(expected.to_owned()));
        }
    }
}
