//! What a tool has to say about itself.

use harn_machine::Value;
use harn_machine::value::Text;

use super::{Level, Report, Surface, Tool};
use crate::registries::given;

/// The tool that reads whatever another one has written.
const READER: &str = "read_command_output";

pub(super) fn check(surface: &Surface<'_>, report: &mut Report) {
    let reads = |tool: &Tool<'_>| tool.is_kind("read") || tool.is_kind("search");
    let has_reader = surface.is_active(&Text::new(READER)) || surface.active_tools().any(reads);
    for tool in surface.active_tools() {
        check_words(tool, report);
        check_readers(tool, surface, has_reader, report);
    }
}

fn check_words(tool: &Tool<'_>, report: &mut Report) {
    let name = &tool.name;
    let mut warn = |code: &str, field: &str, what: &str| {
        let message = format!("active tool '{name}' has no {what}");
        report.warn(code, Some(name), field, message);
    };
    if tool.parameters.is_none() {
        warn("MISSING_SCHEMA", "parameters", "parameter schema");
    }
    if tool.annotations.is_none() {
        warn("MISSING_ANNOTATIONS", "annotations", "ToolAnnotations");
    } else if tool.level() == Level::None {
        let code = "MISSING_SIDE_EFFECT_LEVEL";
        warn(code, "side_effect_level", "side-effect level");
    }
    if !tool.is_native && given(tool.entry, "executor").is_none() {
        warn("MISSING_EXECUTOR", "executor", "declared executor");
    }
}

/// Who executes something writes more than a model can be told, so somebody must read it.
fn check_readers(tool: &Tool<'_>, surface: &Surface<'_>, has_reader: bool, report: &mut Report) {
    let name = &tool.name;
    let field = "result_readers";
    let readers: Vec<Text> = match tool.says(field) {
        Some(Value::List(readers)) => readers.iter().map(Value::to_text).collect(),
        _ => Vec::new(),
    };
    let is_set = |key: &str| tool.says(key).is_some_and(Value::is_truthy);
    let needs_reader =
        tool.is_kind("execute") && is_set("emits_artifacts") && !is_set("inline_result");
    if needs_reader && !has_reader && !readers.iter().any(|reader| surface.is_active(reader)) {
        let message = format!(
            "execute tool '{name}' can emit output artifacts but has no active result reader"
        );
        report.error("MISSING_RESULT_READER", name, field, message);
    }
    for reader in readers.iter().filter(|reader| !surface.is_active(reader)) {
        let message = format!("tool '{name}' declares result reader '{reader}' that is not active");
        report.warn("UNKNOWN_RESULT_READER", Some(name), field, message);
    }
}
