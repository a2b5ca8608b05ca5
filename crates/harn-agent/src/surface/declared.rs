//! What a tool has to say about itself.

use harn_events::SideEffectLevel;
use harn_llm::options::value::{display, truthy};

use super::tool::{Tool, items};
use super::{Diagnostic, Facts};

/// The tool that reads whatever another one has written.
const READER: &str = "read_command_output";

pub(super) fn check(facts: &Facts<'_>, found: &mut Vec<Diagnostic>) {
    let reads = |tool: &Tool<'_>| tool.is_kind("read") || tool.is_kind("search");
    let has_reader = facts.is_active(READER) || facts.active_tools().any(reads);
    for tool in facts.active_tools() {
        check_words(tool, found);
        check_readers(tool, facts, has_reader, found);
    }
}

fn check_words(tool: &Tool<'_>, found: &mut Vec<Diagnostic>) {
    let name = &tool.name;
    let mut warn = |code: &str, field: &str, what: &str| {
        let message = format!("active tool '{name}' has no {what}");
        found.push(Diagnostic::warning(code, field, message).about(name));
    };
    if tool.parameters.is_none() {
        warn("MISSING_SCHEMA", "parameters", "parameter schema");
    }
    if tool.annotations.is_none() {
        warn("MISSING_ANNOTATIONS", "annotations", "ToolAnnotations");
    } else if tool.level() == SideEffectLevel::None {
        let code = "MISSING_SIDE_EFFECT_LEVEL";
        warn(code, "side_effect_level", "side-effect level");
    }
    if !tool.is_native && !tool.has_executor() {
        warn("MISSING_EXECUTOR", "executor", "declared executor");
    }
}

/// Who executes something writes more than a model can be told, so somebody must read it.
fn check_readers(
    tool: &Tool<'_>,
    facts: &Facts<'_>,
    has_reader: bool,
    found: &mut Vec<Diagnostic>,
) {
    let name = &tool.name;
    let field = "result_readers";
    let readers = tool.annotations.map_or(&[][..], |said| items(said, field));
    let readers: Vec<String> = readers.iter().map(display).collect();
    let is_set = |key: &str| tool.says(key).is_some_and(truthy);
    let needs_reader =
        tool.is_kind("execute") && is_set("emits_artifacts") && !is_set("inline_result");
    if needs_reader && !has_reader && !readers.iter().any(|reader| facts.is_active(reader)) {
        let message = format!(
            "execute tool '{name}' can emit output artifacts but has no active result reader"
        );
        found.push(Diagnostic::error("MISSING_RESULT_READER", field, message).about(name));
    }
    for reader in readers.iter().filter(|reader| !facts.is_active(reader)) {
        let message = format!("tool '{name}' declares result reader '{reader}' that is not active");
        found.push(Diagnostic::warning("UNKNOWN_RESULT_READER", field, message).about(name));
    }
}
