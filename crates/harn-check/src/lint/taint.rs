//! Text that someone else wrote: where it comes from, and whether it was mixed with ours.

use harn_syntax::tree::{BinaryOp, Expression, ExpressionKind, Segment};
use smol_str::SmolStr;

use super::facts;
use super::names::Names;

/// Builtins whose results strangers can write.
const SOURCES: &[&str] = &[
    "connector_call",
    "host_tool_call",
    "http_delete",
    "http_get",
    "http_patch",
    "http_post",
    "http_put",
    "http_request",
    "http_session_request",
    "mcp_call",
    "sse_receive",
    "websocket_receive",
];

/// The builtin whose result is mixed with text of our own in a value, be it by interpolation
/// or by `+`. What went through any other function counts as taken care of.
pub(super) fn mixed(value: &Expression, names: &Names) -> Option<SmolStr> {
    match &value.kind {
        ExpressionKind::Interpolated(segments) => {
            let is_text = |segment: &Segment| match segment {
                Segment::Text(text) => !text.trim().is_empty(),
                Segment::Expression(_) => false,
            };
            let parts = segments.iter().filter_map(|segment| match segment {
                Segment::Expression(part) => Some(part),
                Segment::Text(_) => None,
            });
            let mut found = parts.filter_map(|part| source(part, names));
            segments.iter().any(is_text).then(|| found.next()).flatten()
        }
        ExpressionKind::Binary(binary) if binary.rest[0].op == BinaryOp::Add => {
            let rest = binary.rest.iter().map(|operand| &operand.value);
            let parts = std::iter::once(&binary.first).chain(rest);
            let mut found = parts.filter_map(|part| source(part, names).or(mixed(part, names)));
            found.next()
        }
        ExpressionKind::Name(name) => names.variable(name)?.mixes.clone(),
        _ => None,
    }
}

/// The builtin a value comes from, if strangers can write it.
fn source(value: &Expression, names: &Names) -> Option<SmolStr> {
    let made_by = match &value.kind {
        ExpressionKind::Call(call) => call.name.text.clone(),
        ExpressionKind::Name(name) => names.variable(name)?.made_by.clone()?,
        ExpressionKind::Postfix(postfix) if facts::only_members(postfix) => {
            return source(&postfix.base, names);
        }
        _ => return None,
    };
    SOURCES.contains(&made_by.as_str()).then_some(made_by)
}
