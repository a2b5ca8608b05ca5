//! What the model may do to its ledger.

use harn_llm::options::value::display;
use serde_json::Value;

use super::{Deliverable, DeliverableStatus, TaskLedger, numbered_id};

/// Does one action. An action that fails changes nothing.
pub(super) fn apply(ledger: &mut TaskLedger, arguments: &Value) -> Result<String, String> {
    let action = match arguments.get("action") {
        None | Some(Value::Null) => return Err("ledger: `action` is required".to_owned()),
        Some(action) => display(action),
    };
    match action.as_str() {
        "add" | "add_deliverable" => add(ledger, arguments),
        "mark" | "mark_deliverable" => mark(ledger, arguments),
        "rationale" => {
            ledger.rationale = required(arguments, "rationale", "text")?.to_owned();
            Ok("rationale updated".to_owned())
        }
        "note" => {
            let text = required(arguments, "note", "text")?.trim();
            not_empty(text, "note")?;
            ledger.observations.push(text.to_owned());
            Ok("observation recorded".to_owned())
        }
        "seed_plan" => seed(ledger, arguments),
        unknown => Err(format!(
            "ledger: unknown action \"{unknown}\"; use one of add|mark|rationale|note|seed_plan"
        )),
    }
}

fn add(ledger: &mut TaskLedger, arguments: &Value) -> Result<String, String> {
    let text = required(arguments, "add", "text")?.trim();
    not_empty(text, "add")?;
    let is_taken = |id: &str| ledger.deliverables.iter().any(|one| one.id == id);
    let id = match string(arguments, "id").map(str::trim) {
        Some(id) if is_taken(id) => {
            return Err(format!(
                "ledger add: deliverable id \"{id}\" already exists; use `mark` to update or pick a different id"
            ));
        }
        Some(id) if !id.is_empty() => id.to_owned(),
        _ => (ledger.deliverables.len() + 1..)
            .map(numbered_id)
            .find(|id| !is_taken(id))
            .expect("a ledger is shorter than all numbers"),
    };
    ledger
        .deliverables
        .push(Deliverable::open(id.clone(), text));
    Ok(format!("deliverable {id} added"))
}

fn mark(ledger: &mut TaskLedger, arguments: &Value) -> Result<String, String> {
    let id = required(arguments, "mark", "id")?;
    let name = required(arguments, "mark", "status")?;
    let status = DeliverableStatus::parse(name).ok_or_else(|| {
        format!("ledger mark: status \"{name}\" is not one of open|done|blocked|dropped")
    })?;
    let Some(at) = ledger.deliverables.iter().position(|one| one.id == id) else {
        let known: Vec<_> = ledger.deliverables.iter().map(|one| &*one.id).collect();
        return Err(format!(
            "ledger mark: no deliverable with id \"{id}\"; known ids: [{}]",
            known.join(", ")
        ));
    };
    let note = string(arguments, "note").map(str::trim);
    let note = note.filter(|note| !note.is_empty());
    let wants_note = matches!(
        status,
        DeliverableStatus::Blocked | DeliverableStatus::Dropped
    );
    if wants_note && note.is_none() {
        return Err(format!(
            "ledger mark: status \"{name}\" requires a `note` explaining why"
        ));
    }
    let deliverable = &mut ledger.deliverables[at];
    deliverable.status = status;
    if let Some(note) = note {
        deliverable.note = Some(note.to_owned());
    }
    Ok(format!("deliverable {id} marked {name}"))
}

fn seed(ledger: &mut TaskLedger, arguments: &Value) -> Result<String, String> {
    let Some(Value::Array(items)) = arguments.get("deliverables") else {
        return Err("ledger seed_plan: `deliverables` list is required".to_owned());
    };
    if !ledger.deliverables.is_empty() {
        return Err(
            "ledger seed_plan: ledger already has deliverables; use `add` to extend".to_owned(),
        );
    }
    let read = |(at, item): (usize, &Value)| match item.as_str().map(str::trim) {
        Some(text) if !text.is_empty() => Ok(Deliverable::open(numbered_id(at + 1), text)),
        _ => Err(format!(
            "ledger seed_plan: deliverables[{at}] must be a non-empty string"
        )),
    };
    ledger.deliverables = items
        .iter()
        .enumerate()
        .map(read)
        .collect::<Result<_, _>>()?;
    Ok(format!("ledger seeded with {} deliverables", items.len()))
}

fn string<'a>(arguments: &'a Value, key: &str) -> Option<&'a str> {
    arguments.get(key).and_then(Value::as_str)
}

fn required<'a>(arguments: &'a Value, action: &str, key: &str) -> Result<&'a str, String> {
    string(arguments, key).ok_or_else(|| format!("ledger {action}: `{key}` is required"))
}

fn not_empty(text: &str, action: &str) -> Result<(), String> {
    match text.is_empty() {
        true => Err(format!("ledger {action}: `text` must not be empty")),
        false => Ok(()),
    }
}
