//! What programs get: one dict for every answer, whoever gave it.

use serde_json::{Value, json};

use super::asking::Answered;
use super::structured::{Attempted, set_if};
use super::{Desk, State};
use crate::catalog::price;
use crate::grammar::{self, Parsed, ToolNames, extract::extract, visible};
use crate::object::object;
use crate::options::CallOptions;
use crate::transcript::{runtime_event, transcript};
use crate::{Reply, StopReason, ToolCall, sorted_json};

/// The tags by which an answer shows that it follows the text protocol.
const TAGS: [&str; 4] = [
    "<tool_call>",
    "<assistant_prose>",
    "<user_response>",
    "<done>",
];

/// What an answer says.
pub(super) struct Interpreted {
    /// The text read by the grammar; what stands there when it was not read.
    pub(super) parsed: Parsed,
    /// Whether it was.
    pub(super) is_tagged: bool,
    /// The JSON in it, if JSON was asked for.
    pub(super) data: Option<Value>,
}

/// Reads an answer.
pub(super) fn interpret(reply: &Reply, call: &CallOptions) -> Interpreted {
    let is_tagged = call.native_tools.is_some()
        || !reply.tool_calls.is_empty()
        || TAGS.iter().any(|tag| reply.text.contains(tag));
    let parsed = match is_tagged {
        true => {
            let names: ToolNames = call.request.tools.iter().map(|tool| &tool.name).collect();
            grammar::parse(&reply.text, &names, None)
        }
        false => Parsed {
            prose: reply.text.clone(),
            ..Parsed::default()
        },
    };
    let data = match call.expects_structure() {
        true => data(reply, &parsed),
        false => None,
    };
    Interpreted {
        parsed,
        is_tagged,
        data,
    }
}

/// The first JSON that is found where it may be.
fn data(reply: &Reply, parsed: &Parsed) -> Option<Value> {
    let public = reply
        .blocks
        .iter()
        .filter(|block| block["type"] == "output_text");
    let public: String = public.filter_map(|block| block["text"].as_str()).collect();
    let calls = reply
        .tool_calls
        .iter()
        .map(|call| sorted_json(&call.arguments));
    let candidates = [reply.text.trim().to_owned(), public]
        .into_iter()
        .chain(calls);
    let mut candidates = candidates.chain([parsed.prose.clone()]);
    candidates.find_map(|candidate| extract(&candidate))
}

impl Desk {
    /// The dict of an answer. With a transcript unless `bare`.
    pub(super) fn result(&self, call: &CallOptions, attempted: &Attempted, bare: bool) -> Value {
        let Attempted {
            interpreted,
            answered,
            ..
        } = attempted;
        let Interpreted { parsed, data, .. } = interpreted;
        let reply = &answered.reply;
        let usage = usage(&self.state(), answered);
        let mut dict = usage.clone();
        dict["text"] = json!(reply.text);
        dict["model"] = json!(answered.model);
        dict["provider"] = json!(answered.provider);
        dict["usage"] = usage;
        dict["prose"] = json!(parsed.prose);
        dict["visible_text"] = json!(visible_text(call, interpreted, reply));
        dict["blocks"] = json!(reply.blocks);
        set_if(&mut dict, "data", data.clone());
        set_if(&mut dict, "tool_calls", tool_calls(reply, parsed));
        set_if(&mut dict, "protocol_violations", texts(&parsed.violations));
        set_if(&mut dict, "tool_parse_errors", texts(&parsed.errors));
        set_if(&mut dict, "done_marker", parsed.done_marker.clone());
        set_if(&mut dict, "canonical_text", parsed.canonical.clone());
        set_if(&mut dict, "thinking", reply.thinking.clone());
        set_if(&mut dict, "private_reasoning", reply.thinking.clone());
        set_if(
            &mut dict,
            "thinking_summary",
            reply.thinking_summary.clone(),
        );
        set_if(&mut dict, "stop_reason", stop_reason(reply));
        if !bare {
            dict["transcript"] = self.transcript(call, answered);
        }
        dict
    }

    fn transcript(&self, call: &CallOptions, answered: &Answered) -> Value {
        let reply = &answered.reply;
        let mut id = || (self.ports.new_id)();
        let mut messages = call.request.messages.to_vec();
        messages.push(json!({"role": "assistant", "content": reply.text}));
        let calls: Vec<Value> = reply.tool_calls.iter().map(call_dict).collect();
        let payload = json!({
            "model": answered.model,
            "input_tokens": reply.usage.input,
            "output_tokens": reply.usage.output,
            "tool_calls": calls,
            "thinking_summary": reply.thinking_summary,
            "structural_experiment": call.structural_experiment,
        });
        let mut extra = vec![runtime_event(
            "provider_payload",
            "assistant",
            "internal",
            "",
            Some(payload),
            &mut id,
        )];
        let told = [
            ("private_reasoning", &reply.thinking),
            ("thinking_summary", &reply.thinking_summary),
        ];
        for (kind, text) in told {
            if let Some(text) = text {
                extra.push(runtime_event(
                    kind,
                    "assistant",
                    "private",
                    text,
                    None,
                    &mut id,
                ));
            }
        }
        transcript(messages, extra, "active", &mut id)
    }
}

/// The counts of an answer, as programs see them.
pub(super) fn usage(state: &State, answered: &Answered) -> Value {
    let usage = &answered.reply.usage;
    let (read, write) = (usage.cache_read, usage.cache_write);
    json!({
        "input_tokens": usage.input,
        "output_tokens": usage.output,
        "cache_read_tokens": read,
        "cache_write_tokens": write,
        "cache_creation_input_tokens": write,
        "cache_hit_ratio": price::cache_hit_ratio(usage.input, read, write),
        "cache_savings_usd": price::cache_savings_usd(&state.config, &answered.model, read, write),
    })
}

/// The calls of an answer: those of the provider's own channel, or those written in the text.
fn tool_calls(reply: &Reply, parsed: &Parsed) -> Option<Value> {
    if !reply.tool_calls.is_empty() {
        return Some(reply.tool_calls.iter().map(call_dict).collect());
    }
    let written = parsed.calls.iter().map(|call| json!(call));
    (!parsed.calls.is_empty()).then(|| written.collect())
}

pub(super) fn call_dict(call: &ToolCall) -> Value {
    let dict = object([
        ("id", call.id.as_str().into()),
        ("type", "tool_call".into()),
        ("name", call.name.as_str().into()),
        ("arguments", call.arguments.clone()),
    ]);
    dict.into()
}

fn texts(texts: &[String]) -> Option<Value> {
    (!texts.is_empty()).then(|| json!(texts))
}

/// What people are shown.
fn visible_text(call: &CallOptions, interpreted: &Interpreted, reply: &Reply) -> String {
    let is_prose = interpreted.is_tagged && call.native_tools.is_some();
    match is_prose && reply.tool_calls.is_empty() {
        true => interpreted.parsed.prose.clone(),
        false => visible::sanitize(&reply.text),
    }
}

/// Why the answer ended: the provider's word, or ours where it has none.
pub(super) fn stop_reason(reply: &Reply) -> Option<String> {
    let stop = reply.stop.as_ref()?;
    if let Some(word) = &stop.word {
        return Some(word.clone());
    }
    match stop.reason {
        StopReason::Error => None,
        reason => serde_json::to_value(reason)
            .ok()?
            .as_str()
            .map(str::to_owned),
    }
}
