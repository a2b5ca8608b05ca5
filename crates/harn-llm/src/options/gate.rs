//! What a model cannot do is refused before it is asked.

use super::CallOptions;
use crate::catalog::{Capability, Invalid, StructuredOutput};
use crate::{Output, Thinking};

/// What a caller asked for beyond the request itself.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Asked {
    /// The effort came from `reasoning_effort`.
    pub(super) reasoning_effort: bool,
    /// `interleaved_thinking` was set.
    pub(super) interleaved_thinking: bool,
    /// Pictures.
    pub(super) vision: bool,
    /// Sound.
    pub(super) audio: bool,
    /// Documents.
    pub(super) pdf: bool,
    /// The caller gave tools.
    pub(super) tools: bool,
}

/// Checks a call against what its model can do; the first thing it cannot is reported.
pub(super) fn check(
    call: &CallOptions,
    asked: Asked,
    capability: &Capability,
) -> Result<(), Invalid> {
    let request = &call.request;
    let native = capability.native_tools;
    let gates = [
        (
            "reasoning_effort",
            asked.reasoning_effort && !effort(capability),
        ),
        (
            "thinking",
            !asked.reasoning_effort && !thinks(request.thinking, capability),
        ),
        (
            "interleaved_thinking",
            asked.interleaved_thinking && !capability.interleaved_thinking_supported,
        ),
        (
            "output_format",
            call.provider != "mock" && !structures(&request.output, capability),
        ),
        ("vision", asked.vision && !capability.vision_supported),
        ("audio", asked.audio && !capability.audio),
        ("pdf", asked.pdf && !capability.pdf),
        ("cache", request.cache && !capability.prompt_caching),
        (
            "tools",
            asked.tools && call.tool_format == "native" && !native,
        ),
        ("tool_choice", request.tool_choice.is_some() && !native),
    ];
    match gates.into_iter().find(|(_, refused)| *refused) {
        None => Ok(()),
        Some((option, _)) => Err(Invalid::new(format!(
            "option `{option}` is not supported by `{}` (provider `{}`). See `harn check \
             --provider-matrix` for compatibility.{}",
            request.model,
            call.provider,
            lacking(option)
        ))),
    }
}

/// The capability that a refused option needs, where it is called otherwise than the option.
fn lacking(option: &str) -> &'static str {
    match option {
        "vision" => " The capability it lacks is `vision_supported`.",
        _ => "",
    }
}

fn effort(capability: &Capability) -> bool {
    capability.reasoning_effort_supported && capability.thinks("effort")
}

pub(super) fn thinks(thinking: Thinking, capability: &Capability) -> bool {
    match thinking {
        Thinking::Disabled => true,
        Thinking::Enabled { .. } => capability.thinks("enabled") || capability.thinks("adaptive"),
        Thinking::Adaptive => capability.thinks("adaptive"),
        Thinking::Effort { .. } => capability.thinks("effort"),
    }
}

fn structures(output: &Output, capability: &Capability) -> bool {
    match output {
        Output::Text => true,
        Output::JsonObject | Output::JsonSchema { .. } => {
            capability.structured_output != StructuredOutput::None
        }
    }
}
