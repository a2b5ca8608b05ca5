//! How a handoff is written for a model. Nothing is escaped but what would end the handoff: a
//! model should read what was said.

use std::fmt::Write;

use harn_events::HandoffDeadlineCheckbackRecord;
use serde_json::Value;

use super::Handoff;
use super::record::{Budget, Evidence};
use crate::frames;

/// The handoff as text: who hands what to whom and why, then whatever else there is.
pub fn handoff_context(handoff: &Handoff) -> String {
    let mut text = String::from("<handoff>\n");
    let mut line = |line: String| {
        text.push_str(&frames::inside_elements(&line, &["handoff>"]));
        text.push('\n');
    };
    let (kind, name) = (handoff.target.kind, handoff.target.name());
    let source = &handoff.source_persona;
    line(format!("<source_persona>{source}</source_persona>"));
    line(format!("<target kind=\"{kind}\">{name}</target>"));
    line(format!("<task>{}</task>", handoff.task));
    line(format!("<reason>{}</reason>", handoff.reason));
    let evidence: Vec<String> = handoff.evidence_refs.iter().map(shown).collect();
    for (name, items) in [
        (
            "files_or_entities_touched",
            &handoff.files_or_entities_touched,
        ),
        ("open_questions", &handoff.open_questions),
        ("blocked_on", &handoff.blocked_on),
        ("requested_capabilities", &handoff.requested_capabilities),
        ("allowed_side_effects", &handoff.allowed_side_effects),
        ("evidence_refs", &evidence),
    ] {
        if !items.is_empty() {
            let items = items.join("\n- ");
            line(format!("<{name}>\n- {items}\n</{name}>"));
        }
    }
    if let Some(budget) = &handoff.budget_remaining {
        line(format!("<budget_remaining{} />", amounts(budget)));
    }
    if let Some(deadline) = &handoff.deadline_checkback {
        line(format!("<deadline_checkback{} />", times(deadline)));
    }
    if let Some(confidence) = handoff.confidence {
        line(format!("<confidence>{confidence:.2}</confidence>"));
    }
    text.push_str("</handoff>");
    text
}

/// The parts of a piece of evidence that are there.
fn shown(evidence: &Evidence) -> String {
    let mut parts: Vec<String> = evidence.label.iter().cloned().collect();
    for (name, value) in [
        ("artifact_id", &evidence.artifact_id),
        ("path", &evidence.path),
        ("uri", &evidence.uri),
        ("kind", &evidence.kind),
    ] {
        parts.extend(value.iter().map(|value| format!("{name}={value}")));
    }
    parts.join(" | ")
}

fn amounts(budget: &Budget) -> String {
    let mut text = String::new();
    let counts = [
        ("tokens", &budget.tokens),
        ("tool_calls", &budget.tool_calls),
    ];
    for (name, count) in counts.into_iter().filter(|(_, count)| !count.is_null()) {
        attribute(&mut text, name, &display(count));
    }
    if let Some(dollars) = budget.dollars.as_f64() {
        attribute(&mut text, "dollars", &format!("{dollars:.4}"));
    }
    text
}

fn times(deadline: &HandoffDeadlineCheckbackRecord) -> String {
    let mut text = String::new();
    for (name, time) in [
        ("deadline", &deadline.deadline),
        ("checkback_at", &deadline.checkback_at),
    ] {
        if let Some(time) = time {
            attribute(&mut text, name, time);
        }
    }
    text
}

fn attribute(text: &mut String, name: &str, value: &str) {
    write!(text, " {name}=\"{value}\"").expect("a string takes all that is written to it");
}

fn display(value: &Value) -> String {
    harn_llm::options::value::display(value)
}
