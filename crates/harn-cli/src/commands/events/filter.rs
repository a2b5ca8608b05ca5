//! Which records are meant.

use clap::Args;
use harn_events::SESSION_HEADER;
use harn_log::{EventId, LogEventBytes};

use crate::timestamp::When;

/// Which records are meant: those that all of these are true of.
#[derive(Debug, Args)]
#[command(next_help_heading = "Filters")]
pub(super) struct FilterArguments {
    /// Records of this session; without a topic, those in the session's own
    #[arg(long, value_name = "ID")]
    pub(super) session: Option<String>,

    /// Records of this type; give it several times for several types
    #[arg(long = "type", value_name = "TYPE")]
    types: Vec<String>,

    /// Records from this time on: 2026-01-31T12:00:00Z, 2026-01-31, or 10m, 2h, 3d ago
    #[arg(long, value_name = "TIME")]
    since: Option<When>,

    /// Records before this time
    #[arg(long, value_name = "TIME")]
    until: Option<When>,

    /// Records whose payload has this text in it, in upper or lower case
    #[arg(long, value_name = "TEXT")]
    text: Option<String>,

    /// Records from this id on
    #[arg(long, value_name = "ID")]
    pub(super) from: Option<EventId>,
}

impl FilterArguments {
    pub(super) fn filter(&self, now_ms: i64) -> Filter {
        Filter {
            session: self.session.clone(),
            types: self.types.clone(),
            since_ms: self.since.map(|time| time.ms(now_ms)),
            until_ms: self.until.map(|time| time.ms(now_ms)),
            texts: self.text.as_deref().map(forms_of).unwrap_or_default(),
        }
    }

    /// The id before the first record that may be meant.
    pub(super) fn after(&self) -> EventId {
        self.from.unwrap_or(0).saturating_sub(1)
    }
}

/// Tells records that are meant from others.
#[derive(Debug, Default)]
pub(super) struct Filter {
    session: Option<String>,
    types: Vec<String>,
    since_ms: Option<i64>,
    until_ms: Option<i64>,
    /// One of these must be in the payload, unless there are none.
    texts: Vec<String>,
}

impl Filter {
    pub(super) fn takes(&self, event: &LogEventBytes) -> bool {
        let time = event.occurred_at_ms;
        let is_of_session = |id: &String| event.headers.get(SESSION_HEADER) == Some(id);
        self.session.as_ref().is_none_or(is_of_session)
            && (self.types.is_empty() || self.types.contains(&event.kind))
            && self.since_ms.is_none_or(|since| time >= since)
            && self.until_ms.is_none_or(|until| time < until)
            && self.has_text(&event.payload)
    }

    fn has_text(&self, payload: &[u8]) -> bool {
        if self.texts.is_empty() {
            return true;
        }
        let payload = String::from_utf8_lossy(payload).to_lowercase();
        self.texts.iter().any(|text| payload.contains(text))
    }
}

/// A text as it was typed, and as it is written inside a JSON string.
fn forms_of(text: &str) -> Vec<String> {
    let typed = text.to_lowercase();
    let quoted = serde_json::Value::from(typed.as_str()).to_string();
    let mut forms = vec![quoted[1..quoted.len() - 1].to_owned(), typed];
    forms.dedup();
    forms
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event() -> LogEventBytes {
        LogEventBytes {
            kind: "tool_call".to_owned(),
            payload: br#"{"say":"\"Hi\"\n","n":7}"#.to_vec(),
            headers: [("session_id".to_owned(), "s/1".to_owned())].into(),
            occurred_at_ms: 100,
        }
    }

    #[track_caller]
    fn check(filter: Filter, expected: bool) {
        assert_eq!(filter.takes(&event()), expected, "{filter:?}");
    }

    #[test]
    fn a_time_range_has_its_start_and_not_its_end() {
        let range = |since, until| Filter {
            since_ms: Some(since),
            until_ms: Some(until),
            ..Filter::default()
        };
        check(range(100, 101), true);
        check(range(99, 100), false);
        check(range(101, 200), false);
    }

    #[test]
    fn text_is_found_in_any_case_and_as_typed_or_as_written() {
        for (text, expected) in [
            ("SAY", true),
            ("\"hi\"", true),
            ("\"say\":", true),
            ("\n", true),
            ("\"n\":7", true),
            ("bye", false),
        ] {
            let texts = forms_of(text);
            check(
                Filter {
                    texts,
                    ..Filter::default()
                },
                expected,
            );
        }
    }

    #[test]
    fn a_session_is_told_by_its_id_and_not_by_its_topic() {
        for (session, expected) in [("s/1", true), ("s_1", false)] {
            let session = Some(session.to_owned());
            check(
                Filter {
                    session,
                    ..Filter::default()
                },
                expected,
            );
        }
    }

    #[test]
    fn one_of_several_types_is_enough() {
        let of = |types: &[&str]| Filter {
            types: types.iter().map(|one| (*one).to_owned()).collect(),
            ..Filter::default()
        };
        check(of(&["plan", "tool_call"]), true);
        check(of(&["plan"]), false);
    }
}
