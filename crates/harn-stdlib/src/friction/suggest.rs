//! What would have helped: context packs for what gets in the way again and again.
//!
//! ```text
//! events ─► groups of the same kind, source, tool, provider and hint ─► a suggestion for each
//! ```

use std::collections::{BTreeMap, BTreeSet};

use harn_machine::value::{Dict, Text};
use harn_machine::{Context, Failure, Registry, Value, argument};

use super::log::Events;
use super::manifest::{id_of, manifest};
use super::{event, text_of, words};
use crate::dates::iso8601;

pub(super) fn register(registry: &mut Registry) {
    registry.plain(&[("context_pack_suggestions", context_pack_suggestions)]);
}

/// How many words of a summary name what an event is about.
const TITLE_WORDS: usize = 6;

/// How many events are shown as examples.
const EXAMPLES_MAX: usize = 3;

/// The fewest events that make a pattern.
const OCCURRENCES_MIN: i64 = 2;

/// `context_pack_suggestions(events?, options?)`
fn context_pack_suggestions(
    context: &mut Context<'_>,
    arguments: &mut [Value],
) -> Result<Value, Failure> {
    let events = match argument(arguments, 0) {
        Value::List(events) => events.to_vec(),
        _ => context.holding::<Events>().0.clone(),
    };
    let options = match argument(arguments, 1) {
        Value::Dict(options) => options.clone(),
        _ => Dict::default(),
    };
    suggestions(context, &events, &options).map(Value::list)
}

/// A suggestion for each group of events that is large enough.
pub(super) fn suggestions(
    context: &mut Context<'_>,
    events: &[Value],
    options: &Dict,
) -> Result<Vec<Value>, Failure> {
    let least = match options.get("min_occurrences") {
        Some(Value::Int(least)) => (*least).max(OCCURRENCES_MIN),
        _ => OCCURRENCES_MIN,
    };
    let mut groups: BTreeMap<Vec<String>, Vec<Dict>> = BTreeMap::new();
    for payload in events {
        let event = event::event(context, payload)?;
        groups.entry(likeness(&event)).or_default().push(event);
    }
    let created = iso8601(context.now());
    let mut suggestions = Vec::new();
    for mut group in groups.into_values() {
        if i64::try_from(group.len()).is_ok_and(|count| count >= least) {
            group.sort_by(|one, other| text_of(one, "timestamp").cmp(&text_of(other, "timestamp")));
            let id = format!("context_pack_suggestion_{}", event::new_uuid(context));
            let owner = text_of(options, "owner");
            suggestions.push(suggestion(&group, owner, id, &created)?);
        }
    }
    Ok(suggestions)
}

/// What events of one group have in common.
fn likeness(event: &Dict) -> Vec<String> {
    let field = |key: &str| text_of(event, key).unwrap_or_default().to_lowercase();
    let about = match hint(event) {
        Some(hint) => hint.to_lowercase(),
        None => words(text_of(event, "redacted_summary").unwrap_or_default()).join(" "),
    };
    let fields = ["kind", "source", "tool", "provider"].map(field);
    fields.into_iter().chain([about]).collect()
}

/// The first hint of an event at what it is about.
fn hint(event: &Dict) -> Option<&str> {
    match event.get("recurrence_hints") {
        Some(Value::List(hints)) => match hints.first() {
            Some(Value::Text(hint)) if !hint.trim().is_empty() => Some(hint.trim()),
            _ => None,
        },
        _ => None,
    }
}

/// A suggestion for events of one group, the earliest first.
fn suggestion(
    group: &[Dict],
    owner: Option<&str>,
    id: String,
    created: &str,
) -> Result<Value, Failure> {
    let first = &group[0];
    let kind = text_of(first, "kind").unwrap_or_default();
    let title = title(first);
    let manifest = candidate(group, &title, owner)?;
    let each = |key: &str| -> Value {
        let values = group.iter().map(|event| event.get(key).cloned());
        values.map(Option::unwrap_or_default).collect()
    };
    let evidence = group.iter().map(|event| shown(event, EVIDENCE)).collect();
    let examples = group[..group.len().min(EXAMPLES_MAX)]
        .iter()
        .map(|event| event.get("redacted_summary").cloned().unwrap_or_default())
        .collect();
    Ok(Value::dict([
        ("_type", "context_pack_suggestion".into()),
        ("id", id.into()),
        ("title", title.into()),
        ("recommended_artifact", artifact(kind).into()),
        ("confidence", confidence(group.len()).into()),
        ("candidate_manifest", manifest.into()),
        ("evidence", evidence),
        ("examples", examples),
        ("estimated_savings", savings(group)),
        ("risk_privacy_notes", notes()),
        ("source_event_ids", each("id")),
        ("created_at", created.into()),
        (
            "metadata",
            shown(first, &["kind", "source", "tool", "provider"]),
        ),
    ]))
}

const EVIDENCE: &[&str] = &[
    "id",
    "kind",
    "source",
    "actor",
    "tool",
    "provider",
    "redacted_summary",
    "timestamp",
    "trace_id",
    "run_id",
    "links",
];

fn shown(event: &Dict, keys: &[&str]) -> Value {
    let field = |key: &str| event.get(key).cloned().unwrap_or_default();
    Value::dict(keys.iter().map(|key| (*key, field(key))))
}

fn notes() -> Value {
    Value::list(vec![
        "Review the evidence for private data before sharing the pack.".into(),
        "Secrets are references; they are resolved by whoever uses the pack.".into(),
    ])
}

fn title(event: &Dict) -> String {
    let source = text_of(event, "source").unwrap_or("team");
    let about = match hint(event) {
        Some(hint) => hint.to_owned(),
        None => {
            let words = words(text_of(event, "redacted_summary").unwrap_or_default());
            words[..words.len().min(TITLE_WORDS)].join(" ")
        }
    };
    format!("{source} {about} context pack")
}

fn artifact(kind: &str) -> &'static str {
    match kind {
        "approval_stall" | "manual_handoff" => "workflow",
        "tool_gap" | "failed_assumption" | "expensive_model_used_for_deterministic_step" => "both",
        _ => "context_pack",
    }
}

fn confidence(occurrences: usize) -> f64 {
    match occurrences {
        0..=2 => 0.62,
        3 => 0.74,
        4 => 0.82,
        _ => 0.9,
    }
}

/// What would be saved had all but the first event not happened.
fn savings(group: &[Dict]) -> Value {
    let again = &group[1..];
    let time = again
        .iter()
        .map(|event| match event.get("estimated_time_ms") {
            Some(Value::Int(time)) => *time,
            Some(Value::Float(time)) => *time as i64,
            _ => 0,
        });
    let cost = again
        .iter()
        .map(|event| match event.get("estimated_cost_usd") {
            Some(Value::Int(cost)) => *cost as f64,
            Some(Value::Float(cost)) => *cost,
            _ => 0.0,
        });
    let time = time.fold(0_i64, i64::saturating_add);
    let cost: f64 = cost.fold(0.0, |sum, cost| sum + cost);
    Value::dict([
        ("occurrences", group.len().into()),
        ("estimated_time_saved_ms", time.into()),
        ("estimated_cost_saved_usd", cost.into()),
    ])
}

/// The manifest of a pack that would have helped.
fn candidate(group: &[Dict], title: &str, owner: Option<&str>) -> Result<Dict, Failure> {
    let first = &group[0];
    let collected = Collected::of(group);
    let source = text_of(first, "source");
    let owner = owner.or(source).unwrap_or("team");
    let count = group.len();
    let kind = text_of(first, "kind").unwrap_or_default();
    let description = format!("Suggested after {count} events of kind {kind}.");
    let trigger = shown(first, &["kind", "source"]);
    let fields = [
        ("id", id_of(title).into()),
        ("name", title.into()),
        ("description", description.into()),
        ("owner", owner.into()),
        ("triggers", Value::list(vec![trigger])),
        ("included_queries", collected.queries()),
        ("included_docs", collected.docs()),
        ("included_tools", named(&collected.tools)),
        ("secrets", collected.secrets()),
        ("capabilities", texts(&collected.capabilities)),
        ("output_slots", named(&collected.slots)),
    ];
    let fields = fields.map(|(key, value)| (Text::new(key), value));
    manifest(&fields.into_iter().collect())
}

/// What the metadata of events names, each once and sorted.
#[derive(Default)]
struct Collected {
    queries: BTreeSet<String>,
    urls: BTreeSet<String>,
    paths: BTreeSet<String>,
    tools: BTreeSet<String>,
    capabilities: BTreeSet<String>,
    secrets: BTreeSet<String>,
    slots: BTreeSet<String>,
}

impl Collected {
    fn of(group: &[Dict]) -> Self {
        let mut all = Self::default();
        for event in group {
            if let Some(tool) = text_of(event, "tool") {
                all.tools.insert(tool.to_owned());
            }
            if let Some(Value::Dict(metadata)) = event.get("metadata") {
                all.add(metadata);
            }
        }
        if all.slots.is_empty() {
            all.slots.insert("primary_context".to_owned());
        }
        all
    }

    fn add(&mut self, metadata: &Dict) {
        for (key, names) in [
            ("query", &mut self.queries),
            ("doc_url", &mut self.urls),
            ("doc_path", &mut self.paths),
            ("tool", &mut self.tools),
            ("capability", &mut self.capabilities),
            ("secret_ref", &mut self.secrets),
            ("output_slot", &mut self.slots),
        ] {
            names.extend(text_of(metadata, key).map(str::to_owned));
        }
    }

    fn queries(&self) -> Value {
        let queries = self.queries.iter().enumerate().map(|(at, query)| {
            let id = format!("query_{}", at + 1);
            Value::dict([("id", id.into()), ("query", query.as_str().into())])
        });
        queries.collect()
    }

    fn docs(&self) -> Value {
        let urls = self.urls.iter().map(|url| ("url", url));
        let paths = self.paths.iter().map(|path| ("path", path));
        let docs = urls.chain(paths);
        docs.map(|(key, place)| Value::dict([(key, place.as_str().into())]))
            .collect()
    }

    fn secrets(&self) -> Value {
        let capability = self.capabilities.first().cloned();
        let secrets = self.secrets.iter().map(|name| {
            Value::dict([
                ("name", name.as_str().into()),
                ("capability", capability.clone().into()),
            ])
        });
        secrets.collect()
    }
}

fn named(names: &BTreeSet<String>) -> Value {
    let named = |name: &String| Value::dict([("name", name.as_str().into())]);
    names.iter().map(named).collect()
}

fn texts(names: &BTreeSet<String>) -> Value {
    names
        .iter()
        .map(|name| Value::from(name.as_str()))
        .collect()
}
