//! Strict types: values from outside must be validated before they are taken apart.

use harn_syntax::tree::{Argument, Call, Expression, ExpressionKind, Postfix, SuffixKind};
use harn_syntax::{Diagnostic, Span};
use smol_str::SmolStr;

use crate::types::checker::Checker;
use crate::types::codes;
use crate::types::environment::State;
use crate::types::infer::entry;
use crate::types::narrow::variable_name;
use crate::types::ty::Ty;

/// The functions whose results come from outside, sorted.
const BOUNDARIES: [&str; 26] = [
    "connector_call",
    "host_call",
    "host_tool_call",
    "http_delete",
    "http_download",
    "http_get",
    "http_patch",
    "http_post",
    "http_put",
    "http_request",
    "http_session_request",
    "http_stream_info",
    "json_extract",
    "json_parse",
    "llm_call",
    "llm_call_safe",
    "llm_completion",
    "mcp_call",
    "sse_receive",
    "sse_server_mock_receive",
    "sse_server_response",
    "sse_server_status",
    "toml_parse",
    "websocket_accept",
    "websocket_receive",
    "yaml_parse",
];

const DIRECT_HELP: &str = "assign to a variable and validate with schema_expect() or a type \
                           annotation first";
const VARIABLE_HELP: &str = "validate with schema_expect(), schema_is() in an if-condition, or \
                             add a shape type annotation";

impl Checker {
    /// The function a value comes from if it has to be validated before it is used.
    pub(super) fn unvalidated_source(
        &self,
        value: &Expression,
        declared: Option<&Ty>,
    ) -> Option<SmolStr> {
        let untyped = declared.is_none_or(|ty| ty.is("dict") || ty.is("any"));
        if !self.options.strict_types || !untyped {
            return None;
        }
        self.boundary(value)
    }

    /// The function from outside that an expression calls.
    fn boundary(&self, value: &Expression) -> Option<SmolStr> {
        let ExpressionKind::Call(call) = &value.kind else {
            return None;
        };
        let name = &call.name.text;
        let known = BOUNDARIES.binary_search(&name.as_str()).is_ok();
        let hidden = self.environment.find(name).is_some();
        (known && !hidden && !has_schema(call)).then(|| name.clone())
    }

    /// Says so if the first suffix takes an unvalidated value apart.
    pub(super) fn check_access(&mut self, postfix: &Postfix, span: Span) {
        if !self.options.strict_types {
            return;
        }
        let (direct, access) = match postfix.suffixes.first().map(|suffix| &suffix.kind) {
            Some(SuffixKind::Member { .. }) => ("property", "Accessing property"),
            Some(SuffixKind::Index { .. }) => ("subscript", "Subscript access"),
            _ => return,
        };
        let (message, help) = if let Some(source) = self.boundary(&postfix.base) {
            let message = format!("Direct {direct} access on unvalidated `{source}()` result");
            (message, DIRECT_HELP)
        } else if let Some(name) = variable_name(&postfix.base)
            && let Some((_, variable)) = self.environment.variable(name)
            && let Some(source) = &variable.state.unvalidated
        {
            let message = format!("{access} on unvalidated value '{name}' from `{source}`");
            (message, VARIABLE_HELP)
        } else {
            return;
        };
        let warning = Diagnostic::warning(codes::UNVALIDATED_VALUE, span, message);
        self.say(warning.with_help(help));
    }

    /// `schema_expect(v, …)` validates v for what follows.
    pub(super) fn check_validation(&mut self, call: &Call) {
        if call.name.text == "schema_expect"
            && let Some(Argument::One(argument)) = call.arguments.first()
            && let Some(name) = variable_name(argument)
        {
            self.mark_validated(name);
        }
    }

    /// A variable has been validated.
    pub(in crate::types) fn mark_validated(&mut self, name: &str) {
        if let Some((at, variable)) = self.environment.variable(name)
            && variable.state.unvalidated.is_some()
        {
            let state = State {
                unvalidated: None,
                ..variable.state.clone()
            };
            self.environment.set_state(at, state);
        }
    }
}

/// Whether the call of a model asks for an answer of a certain schema.
fn has_schema(call: &Call) -> bool {
    let keys = ["schema", "output_schema", "json_schema"];
    let mut arguments = call.arguments.iter().map(Argument::expression);
    call.name.text.starts_with("llm_")
        && (!call.type_arguments.is_empty()
            || arguments.any(|argument| match &argument.kind {
                ExpressionKind::Dict(entries) => {
                    keys.iter().any(|key| entry(entries, key).is_some())
                }
                _ => false,
            }))
}
