//! The scans that programs may ask for themselves.

use harn_machine::value::{Dict, Text};
use harn_machine::{Context, Failure, Fault, Registry, Value, argument};

use super::patterns::fits;
use super::result_scan::result_labels;
use super::risks::{Command, Labels, Patterns, action, confidence, risks};
use crate::friction::redacted;

pub(super) fn register(registry: &mut Registry) {
    registry.plain(&[
        ("command_llm_risk_scan", command_llm_risk_scan),
        ("command_result_scan", command_result_scan),
        ("command_risk_scan", command_risk_scan),
    ]);
}

/// `command_risk_scan(ctx)`
fn command_risk_scan(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let asked = context_of("command_risk_scan", arguments)?;
    Ok(risk_scan(context.state(), asked).into())
}

/// `command_llm_risk_scan(ctx, options)`
fn command_llm_risk_scan(
    context: &mut Context<'_>,
    arguments: &mut [Value],
) -> Result<Value, Failure> {
    let asked = context_of("command_llm_risk_scan", arguments)?;
    let mut scan = risk_scan(context.state(), asked);
    let kind = Value::from("deterministic_fallback");
    scan.insert(Text::new("scan_kind"), kind);
    let options = redacted(argument(arguments, 1));
    scan.insert(Text::new("llm"), options);
    Ok(scan.into())
}

/// `command_result_scan(ctx)`
fn command_result_scan(
    context: &mut Context<'_>,
    arguments: &mut [Value],
) -> Result<Value, Failure> {
    let asked = context_of("command_result_scan", arguments)?;
    let result = match asked.get("result") {
        Some(Value::Dict(result)) => result,
        _ => asked,
    };
    let (output, errors) = (text(result, "stdout"), text(result, "stderr"));
    let labels = result_labels(context.state(), &output, &errors);
    let action = match labels.contains("credential_output") {
        true => "mark_unsafe",
        false => "allow",
    };
    Ok(described(&labels, action).into())
}

fn context_of<'a>(function: &str, arguments: &'a [Value]) -> Result<&'a Dict, Failure> {
    match argument(arguments, 0) {
        Value::Dict(context) => Ok(context),
        _ => Err(Fault::runtime(format!("{function}: ctx is required"))),
    }
}

fn text(dict: &Dict, key: &str) -> String {
    let value = dict.get(key).filter(|value| !value.is_nil());
    value.map(Value::show).unwrap_or_default()
}

fn risk_scan(patterns: &Patterns, context: &Dict) -> Dict {
    let request = match context.get("request") {
        Some(Value::Dict(request)) => request,
        _ => context,
    };
    let line = line(request);
    let folder = text(request, "cwd");
    let roots = texts(context, "workspace_roots");
    let command = Command {
        line: &line,
        folder: Some(folder.as_str()).filter(|folder| !folder.is_empty()),
        workspace_roots: &roots,
    };
    let mut labels = risks(patterns, &command);
    if let Some(Value::Dict(policy)) = context.get("policy") {
        let patterns = texts(policy, "deny_patterns");
        if patterns.iter().any(|pattern| fits(pattern, &line)) {
            labels.insert("deny_pattern");
        }
    }
    described(&labels, action(&labels))
}

/// A command on one line.
pub(super) fn line(request: &Dict) -> String {
    match request.get("argv") {
        Some(Value::List(words)) if !words.is_empty() => {
            let words: Vec<String> = words.iter().map(Value::show).collect();
            words.join(" ")
        }
        _ => text(request, "command"),
    }
}

fn texts(dict: &Dict, key: &str) -> Vec<String> {
    match dict.get(key) {
        Some(Value::List(items)) => items.iter().map(Value::show).collect(),
        _ => Vec::new(),
    }
}

fn described(labels: &Labels, action: &str) -> Dict {
    let names: Vec<&str> = labels.iter().copied().collect();
    let rationale = match names.as_slice() {
        [] => "no known risk was recognised".to_owned(),
        names => format!("recognised: {}", names.join(", ")),
    };
    let names = names.into_iter().map(Value::from);
    let fields = [
        ("action", Value::from(action)),
        ("recommended_action", action.into()),
        ("risk_labels", names.collect()),
        ("confidence", confidence(labels).into()),
        ("rationale", rationale.into()),
    ];
    let fields = fields.map(|(key, value)| (Text::new(key), value));
    fields.into_iter().collect()
}
