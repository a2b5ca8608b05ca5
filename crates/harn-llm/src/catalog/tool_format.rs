//! Which tool format a loop uses, and what it reports about that.

use serde_json::{Value, json};

use super::{Capability, Invalid, Parity};

/// What is known when a loop begins.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// The provider.
    pub provider: &'a str,
    /// The model, if there is one.
    pub model: Option<&'a str>,
    /// The format the caller named.
    pub requested: Option<&'a str>,
    /// The option `tool_format_override_reason`.
    pub reason: Option<&'a str>,
    /// The format without any of that.
    pub fallback: &'a str,
}

/// The format, and the bodies of the events that say something about it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Choice {
    /// The format.
    pub format: String,
    /// Of `tool_format_override`: the caller goes against the catalog.
    pub overridden: Option<Value>,
    /// Of `capability_gap`: the catalog knows no preference.
    pub gap: Option<Value>,
}

/// Chooses the format.
///
/// # Errors
/// The model cannot do what the caller named, and they gave no reason to try.
pub fn choose(question: Question<'_>, capability: &Capability) -> Result<Choice, Invalid> {
    let parity = capability.tool_mode_parity;
    let preferred = capability.preferred_tool_format.as_deref();
    let format = question.requested.unwrap_or(question.fallback);
    let reason = question.reason.filter(|reason| !reason.trim().is_empty());
    let contradicts = question.requested.is_some() && !can(parity, format);
    if let (true, None, Some(only)) = (contradicts, reason, only(parity)) {
        return Err(Invalid::new(format!(
            "agent_loop: tool_format \"{format}\" is unsupported for {}:{} (catalog parity {} — \
             this model only does {only} tool calling). Pass tool_format_override_reason to force \
             it deliberately.",
            question.provider,
            question.model.unwrap_or("unknown"),
            parity.word()
        )));
    }
    let differs = question.requested.is_some() && preferred.is_some_and(|known| known != format);
    Ok(Choice {
        overridden: (differs || contradicts).then(|| {
            let recommended = preferred.or(only(parity)).unwrap_or(question.fallback);
            overridden(question, format, recommended, parity, reason)
        }),
        gap: preferred.is_none().then(|| gap(question, format)),
        format: format.to_owned(),
    })
}

/// Whether a model can do a format, and reliably.
fn can(parity: Parity, format: &str) -> bool {
    let native = format == "native";
    match parity {
        Parity::Unknown => true,
        Parity::NativeOnly | Parity::TextUnreliable => native,
        Parity::TextOnly | Parity::NativeUnreliable => !native,
    }
}

/// The only format of a model that has just one.
fn only(parity: Parity) -> Option<&'static str> {
    match parity {
        Parity::NativeOnly => Some("native"),
        Parity::TextOnly => Some("text"),
        Parity::Unknown | Parity::NativeUnreliable | Parity::TextUnreliable => None,
    }
}

fn overridden(
    question: Question<'_>,
    format: &str,
    recommended: &str,
    parity: Parity,
    reason: Option<&str>,
) -> Value {
    let mut event = json!({
        "provider": question.provider,
        "model": question.model.unwrap_or("unknown"),
        "requested_format": format,
        "recommended_format": recommended,
        "catalog_parity": parity.word(),
    });
    if let Some(reason) = reason {
        event["override_reason"] = reason.into();
    }
    event
}

fn gap(question: Question<'_>, format: &str) -> Value {
    let model = question.model.unwrap_or("unknown");
    let provider = question.provider;
    let mut event = json!({
        "level": "warning",
        "capability": "preferred_tool_format",
        "provider": provider,
        "model": model,
        "fallback_tool_format": format,
        "message": format!(
            "the catalog knows no preferred tool format for {provider}:{model}; using \"{format}\""
        ),
    });
    if let Some(requested) = question.requested {
        event["requested_tool_format"] = requested.into();
    }
    event
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(
        preferred: Option<&str>,
        parity: Parity,
        requested: Option<&str>,
        reason: Option<&str>,
    ) -> Result<Choice, String> {
        let capability = Capability {
            preferred_tool_format: preferred.map(str::to_owned),
            tool_mode_parity: parity,
            ..Capability::default()
        };
        let question = Question {
            provider: "p",
            model: Some("m"),
            requested,
            reason,
            fallback: "text",
        };
        Ok(choose(question, &capability)?)
    }

    #[test]
    fn events_are_made_where_the_catalog_disagrees_or_knows_nothing() {
        // preferred, parity, requested, reason => format, override, gap
        let (native, text) = (Some("native"), Some("text"));
        let rows = [
            (native, Parity::Unknown, None, None, "text", false, false),
            (
                native,
                Parity::Unknown,
                native,
                None,
                "native",
                false,
                false,
            ),
            (native, Parity::Unknown, text, None, "text", true, false),
            (None, Parity::Unknown, None, None, "text", false, true),
            (None, Parity::Unknown, native, None, "native", false, true),
            (
                None,
                Parity::TextOnly,
                native,
                Some("try"),
                "native",
                true,
                true,
            ),
            (
                native,
                Parity::NativeOnly,
                text,
                Some("try"),
                "text",
                true,
                false,
            ),
            (
                native,
                Parity::NativeUnreliable,
                native,
                None,
                "native",
                true,
                false,
            ),
            (
                text,
                Parity::TextUnreliable,
                text,
                None,
                "text",
                true,
                false,
            ),
            (
                text,
                Parity::NativeUnreliable,
                text,
                None,
                "text",
                false,
                false,
            ),
        ];
        for (preferred, parity, requested, reason, format, overridden, gap) in rows {
            let choice = ask(preferred, parity, requested, reason).unwrap();
            assert_eq!(choice.format, format);
            assert_eq!(choice.overridden.is_some(), overridden, "{choice:?}");
            assert_eq!(choice.gap.is_some(), gap, "{choice:?}");
        }
    }

    #[test]
    fn the_events_have_their_fields() {
        let choice = ask(None, Parity::TextOnly, Some("native"), Some("try")).unwrap();
        assert_eq!(
            choice.overridden,
            Some(json!({
                "provider": "p", "model": "m", "requested_format": "native",
                "recommended_format": "text", "catalog_parity": "text_only",
                "override_reason": "try",
            }))
        );
        let gap = choice.gap.unwrap();
        assert_eq!(gap["requested_tool_format"], "native");
        assert_eq!(gap["fallback_tool_format"], "native");
        assert_eq!(gap["capability"], "preferred_tool_format");
    }

    #[test]
    fn what_a_model_cannot_do_needs_a_reason() {
        let rows = [
            (Parity::NativeOnly, "text", "native_only", "native"),
            (Parity::NativeOnly, "json", "native_only", "native"),
            (Parity::TextOnly, "native", "text_only", "text"),
        ];
        for (parity, format, word, only) in rows {
            for reason in [None, Some(""), Some(" ")] {
                let error = ask(None, parity, Some(format), reason).unwrap_err();
                assert_eq!(
                    error,
                    format!(
                        "agent_loop: tool_format \"{format}\" is unsupported for p:m (catalog parity {word} — this model only does {only} tool calling). Pass tool_format_override_reason to force it deliberately."
                    )
                );
            }
        }
    }
}
