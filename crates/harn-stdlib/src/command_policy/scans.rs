//! The scans that programs may ask for themselves.

use harn_machine::value::{Dict, Text};
use harn_machine::{Context, Failure, Fault, Registry, Value, argument};

use super::parts::{fitting, lines, taken_apart};
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

/// What a policy itself has against a command.
pub struct CommandRefusal {
    /// `deny` or `require_approval`.
    pub action: &'static str,
    /// Why.
    pub reason: String,
    /// What is risky about the command.
    pub risk_labels: Vec<&'static str>,
}

/// What a policy itself has against a command that a tool of the runtime is to run, if anything;
/// the order is that of `harn/command_policy.harn`.
pub fn command_refusal(policy: &Dict, request: &Dict) -> Option<CommandRefusal> {
    let context = Value::dict([
        ("request", Value::Dict(request.clone())),
        ("policy", Value::Dict(policy.clone())),
        (
            "workspace_roots",
            policy.get("workspace_roots").cloned().unwrap_or_default(),
        ),
    ]);
    let Value::Dict(context) = context else {
        return None;
    };
    let labels = risk_labels(&Patterns::default(), &context);
    let refusal = |action, reason: String| {
        Some(CommandRefusal {
            action,
            reason,
            risk_labels: labels.iter().copied().collect(),
        })
    };
    let (denied, asked) = (
        texts(policy, "deny_patterns"),
        texts(policy, "require_approval"),
    );
    if let Some(pattern) = fitting(request, &denied) {
        let reason = format!("command denied by policy pattern \"{pattern}\"");
        return refusal("deny", reason);
    }
    if let Some(label) = labels
        .iter()
        .find(|label| asked.iter().any(|one| one == *label))
    {
        let reason = format!("command requires approval for risk class {label}");
        return refusal("require_approval", reason);
    }
    let doubts = !denied.is_empty() || !asked.is_empty();
    let problem = taken_apart(request).err().filter(|_| doubts)?;
    let reason = format!(
        "command requires approval because it is not understood: {}",
        problem.reason
    );
    refusal("require_approval", reason)
}

fn context_of<'a>(function: &str, arguments: &'a [Value]) -> Result<&'a Dict, Failure> {
    match argument(arguments, 0) {
        Value::Dict(context) => Ok(context),
        _ => Err(Fault::runtime(format!("{function}: ctx is required"))),
    }
}

pub(super) fn text(dict: &Dict, key: &str) -> String {
    let value = dict.get(key).filter(|value| !value.is_nil());
    value.map(Value::show).unwrap_or_default()
}

fn risk_scan(patterns: &Patterns, context: &Dict) -> Dict {
    let labels = risk_labels(patterns, context);
    described(&labels, action(&labels))
}

fn risk_labels(patterns: &Patterns, context: &Dict) -> Labels {
    let request = match context.get("request") {
        Some(Value::Dict(request)) => request,
        _ => context,
    };
    let folder = text(request, "cwd");
    let roots = texts(context, "workspace_roots");
    // What cannot be taken apart is looked at as a text.
    let parts = taken_apart(request).map(|script| lines(&script));
    let is_known = parts.is_ok();
    let mut labels = Labels::new();
    for line in parts.unwrap_or_else(|_| vec![line(request)]) {
        let command = Command {
            line: &line,
            folder: Some(folder.as_str()).filter(|folder| !folder.is_empty()),
            workspace_roots: &roots,
        };
        labels.extend(risks(patterns, &command));
    }
    if is_known && feeds_shell(request) {
        labels.insert("curl_pipe_shell");
    }
    if let Some(Value::Dict(policy)) = context.get("policy") {
        let patterns = texts(policy, "deny_patterns");
        if fitting(request, &patterns).is_some() {
            labels.insert("deny_pattern");
        }
    }
    labels
}

/// Whether something of the network goes into a shell.
fn feeds_shell(request: &Dict) -> bool {
    let Ok(script) = taken_apart(request) else {
        return false;
    };
    let mut parts = script.parts.iter();
    let names = |part: &harn_shell::Part, names: &[&str]| {
        let program = part.program.as_deref().unwrap_or_default();
        names.contains(&program.rsplit('/').next().unwrap_or(program))
    };
    let loads = parts.any(|part| names(part, &["curl", "wget"]));
    let is_shell = |part: &harn_shell::Part| {
        let program = part.program.as_deref();
        let is_option = |word: &harn_shell::Word| word.literal_prefix().starts_with('-');
        program.is_some_and(harn_shell::reads_sh) && part.words.iter().all(is_option)
    };
    loads && script.parts.iter().any(is_shell)
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
