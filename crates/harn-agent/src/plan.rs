//! Plans: what a model writes about its next steps, in one shape.
//!
//! Models write plans as they like: a list of texts, steps called tasks, a status called "todo".
//! Hosts show one shape, so everything is brought into it here.

mod approval;
mod steps;
#[cfg(test)]
mod tests;

use harn_llm::options::value::display;
use harn_llm::sorted_json;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// What a plan of this shape says about itself.
pub const PLAN_SCHEMA_VERSION: &str = "harn.plan.v1";

/// How many hexadecimal digits of the digest an id has.
const ID_DIGITS: usize = 12;

/// The plan that `emit_plan` or `update_plan` makes of its arguments.
///
/// Its id is a digest of the rest, so that the same plan has the same id.
pub fn plan_artifact(tool: &str, arguments: &Value) -> Value {
    let written = Written::new(arguments);
    let mut plan = json!({
        "_type": "plan_artifact",
        "schema_version": PLAN_SCHEMA_VERSION,
        "tool": tool,
        "title": written.text(&["title", "name"]).unwrap_or_else(|| "Plan".to_owned()),
        "summary": written.summary(),
        "steps": steps::read(&written),
        "assumptions": written.texts(&["assumptions"]),
        "open_questions": written.texts(&["open_questions", "questions", "unknowns"]),
        "verification_commands":
            written.texts(&["verification_commands", "verification", "verify_commands"]),
        "approval": approval::read(written.value(&["approval"])),
    });
    let digest = Sha256::digest(sorted_json(&plan));
    let digits: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    plan["id"] = json!(format!("plan_{}", &digits[..ID_DIGITS]));
    plan
}

/// The entries of a report about progress, which is a plan that has no name.
pub(crate) fn progress_entries(written: &Value) -> Vec<Value> {
    steps::entries(written)
}

/// The steps of a plan as hosts show them: at least one.
///
/// Takes a plan in any shape.
pub fn plan_entries(plan: &Value) -> Value {
    let plan = plan_artifact("emit_plan", plan);
    let steps = plan["steps"].as_array().map_or(&[][..], Vec::as_slice);
    if !steps.is_empty() {
        return steps.iter().map(steps::entry).collect();
    }
    let content = match plan["summary"].as_str() {
        Some(summary) if !summary.is_empty() => summary,
        _ => "Plan emitted",
    };
    json!([{"content": content, "status": "pending"}])
}

/// A plan that was made by [`plan_artifact`], for people to read.
pub fn render_plan(plan: &Value) -> String {
    let mut out = format!("# {}\n", shown(plan, "title"));
    let summary = shown(plan, "summary");
    if !summary.is_empty() {
        out += &format!("\n{summary}\n");
    }
    let step = |step: &Value| format!("[{}] {}", shown(step, "status"), shown(step, "content"));
    push_section(&mut out, "Steps", &plan["steps"], step);
    push_section(&mut out, "Assumptions", &plan["assumptions"], display);
    push_section(&mut out, "Open questions", &plan["open_questions"], display);
    let commands = &plan["verification_commands"];
    push_section(&mut out, "Verification commands", commands, display);
    out + &format!("\nApproval: {}", shown(&plan["approval"], "state"))
}

fn push_section(out: &mut String, title: &str, items: &Value, line: impl Fn(&Value) -> String) {
    let Some(items) = items.as_array().filter(|items| !items.is_empty()) else {
        return;
    };
    *out += &format!("\n## {title}\n");
    for item in items {
        *out += &format!("- {}\n", line(item));
    }
}

fn shown<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

/// What a model wrote: the arguments of the tool, and the plan inside of them if there is one.
struct Written<'a> {
    arguments: &'a Value,
    source: &'a Value,
}

impl<'a> Written<'a> {
    fn new(arguments: &'a Value) -> Self {
        let plan = arguments.get("plan").filter(|plan| !plan.is_null());
        Self {
            arguments,
            source: plan.unwrap_or(arguments),
        }
    }

    /// The first of the keys that is there, in the plan before the arguments around it.
    fn value(&self, keys: &[&str]) -> Option<&'a Value> {
        first(self.source, keys).or_else(|| first(self.arguments, keys))
    }

    /// The first of the keys that has a text.
    fn text(&self, keys: &[&str]) -> Option<String> {
        text(self.source, keys).or_else(|| text(self.arguments, keys))
    }

    /// What is said about the whole. The arguments come first, because a model that sends
    /// `{explanation, plan}` explains the change in them.
    fn summary(&self) -> String {
        const KEYS: [&str; 3] = ["explanation", "summary", "direction"];
        let said = text(self.arguments, &KEYS).or_else(|| text(self.source, &KEYS));
        said.or_else(|| Some(self.source.as_str()?.trim().to_owned()))
            .unwrap_or_default()
    }

    /// The texts of a list; one text is a list of one.
    fn texts(&self, keys: &[&str]) -> Vec<String> {
        let items = match self.value(keys) {
            Some(Value::Array(items)) => items.as_slice(),
            Some(one) => std::slice::from_ref(one),
            None => &[],
        };
        texts(items)
    }
}

/// The texts of a list, without blank ones.
fn texts(items: &[Value]) -> Vec<String> {
    let given = items.iter().filter(|item| !item.is_null());
    given
        .map(|item| display(item).trim().to_owned())
        .filter(|text| !text.is_empty())
        .collect()
}

fn first<'a>(value: &'a Value, keys: &[&str]) -> Option<&'a Value> {
    keys.iter()
        .filter_map(|key| value.get(key))
        .find(|found| !found.is_null())
}

fn text(value: &Value, keys: &[&str]) -> Option<String> {
    let found = keys.iter().filter_map(|key| value.get(key)?.as_str());
    found
        .map(str::trim)
        .find(|text| !text.is_empty())
        .map(str::to_owned)
}
