//! What every call asked and heard, one record per line, for whoever looks for the reason of
//! something.
//!
//! ```text
//! system_prompt, tool_schemas    when they have changed
//! message                        each one that the call before did not have
//! routing_decision               why this provider, if a policy chose it
//! provider_call_request          whom, and with which settings
//! provider_call_response         what came back, or why nothing did
//! interpreted_response           what we made of it
//! ```
//!
//! Every record has a `type` and a `timestamp`, and none has a secret that we know of.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};

use super::asking::Answered;
use super::lines::transcript_in;
use super::result::{Interpreted, call_dict, stop_reason};
use super::{Desk, TakeLine};
use crate::mock::by_hash::hash;
use crate::options::CallOptions;
use crate::{Error, Messages, Reply};

/// How far the log has got.
#[derive(Debug, Default)]
pub(super) struct CallLog {
    system_hash: Option<String>,
    tools_hash: Option<String>,
    /// The conversation of the call before.
    messages: Messages,
}

/// The log of a loop that has one of its own.
pub(super) struct LoopLog {
    lines: TakeLine,
    log: CallLog,
}

/// Where records go.
type Place<'a> = Option<&'a Arc<Path>>;

impl Desk {
    /// Opens the log that the calls of a loop are to be written to.
    ///
    /// # Errors
    /// There cannot be such a file.
    pub fn open_transcript(&self, folder: &Arc<Path>) -> Result<(), String> {
        let mut state = self.state();
        if !state.loop_logs.contains_key(folder) {
            let (lines, log) = (transcript_in(folder)?, CallLog::default());
            let opened = LoopLog { lines, log };
            state.loop_logs.insert(Arc::clone(folder), opened);
        }
        Ok(())
    }

    /// What a call has to say that the one before it had not; `None`: nobody wants to know.
    fn checkpoints(&self, call: &CallOptions) -> Option<Vec<Value>> {
        let state = &mut *self.state();
        let own = call.transcript.as_ref();
        let log = match own.and_then(|folder| state.loop_logs.get_mut(folder)) {
            Some(own) => &mut own.log,
            None => {
                state.recording.transcript.as_ref()?;
                &mut state.call_log
            }
        };
        Some(log.checkpoints(call))
    }

    /// Writes down what is asked. The id of the call, if anybody wants to know.
    pub(super) fn log_request(&self, provider: &str, call: &CallOptions) -> Option<String> {
        let mut records = self.checkpoints(call)?;
        let id = (self.ports.new_id)();
        records.extend(call.routing.as_ref().map(|decision| {
            let mut record = decision.record.clone();
            record["type"] = json!("routing_decision");
            record["call_id"] = json!(id);
            record
        }));
        let request = &call.request;
        let native_tools = call.native_tools.as_ref();
        records.push(json!({
            "type": "provider_call_request",
            "iteration": call.iteration,
            "call_id": id,
            "model": request.model,
            "provider": provider,
            "message_count": request.messages.len(),
            "tool_format": call.tool_format,
            "max_tokens": request.sampling.max_tokens,
            "temperature": request.sampling.temperature,
            "thinking": request.thinking,
            "tool_choice": request.tool_choice,
            "native_tool_count": native_tools.map_or(0, |tools| tools.len()),
            "stream": request.stream,
        }));
        self.log(call.transcript.as_ref(), records);
        Some(id)
    }

    /// Writes down what came back.
    pub(super) fn log_response(
        &self,
        call: &CallOptions,
        id: Option<&str>,
        took_ms: i64,
        answer: Result<&Reply, &Error>,
    ) {
        let Some(id) = id else {
            return;
        };
        let mut record = match answer {
            Ok(reply) => response(reply),
            Err(error) => json!({
                "error": {
                    "category": error.category.word(),
                    "message": error.message,
                    "status": error.status,
                },
            }),
        };
        record["type"] = json!("provider_call_response");
        record["call_id"] = json!(id);
        record["response_ms"] = json!(took_ms);
        self.log(call.transcript.as_ref(), vec![record]);
    }

    /// Writes down what we made of it.
    pub(super) fn log_interpreted(
        &self,
        call: &CallOptions,
        answered: &Answered,
        interpreted: &Interpreted,
    ) {
        let Some(id) = &answered.call_id else {
            return;
        };
        let parsed = &interpreted.parsed;
        let record = json!({
            "type": "interpreted_response",
            "call_id": id,
            "prose": parsed.prose,
            "tool_calls": parsed.calls,
            "tool_parse_errors": parsed.errors,
            "protocol_violations": parsed.violations,
            "done_marker": parsed.done_marker,
            "data": interpreted.data,
        });
        self.log(call.transcript.as_ref(), vec![record]);
    }

    /// Writes records.
    pub(super) fn log(&self, place: Place<'_>, records: Vec<Value>) {
        let timestamp = timestamp(self.now());
        let state = &mut *self.state();
        let recording = &mut state.recording;
        let own = place.and_then(|folder| state.loop_logs.get_mut(folder));
        let lines = match own {
            Some(own) => Some(&mut own.lines),
            None => recording.transcript.as_mut(),
        };
        let Some(lines) = lines else {
            return;
        };
        for mut record in records {
            record["timestamp"] = json!(timestamp);
            lines(&recording.redaction.value(&record).to_string());
        }
    }
}

impl CallLog {
    /// What is new since the call before.
    fn checkpoints(&mut self, call: &CallOptions) -> Vec<Value> {
        let request = &call.request;
        let mut records = Vec::new();
        let system = request.system.as_ref().map(|system| json!(system));
        if let Some((hash, content)) = changed(&mut self.system_hash, system) {
            records.push(json!({"type": "system_prompt", "hash": hash, "content": content}));
        }
        let tools = call.native_tools.as_ref().map(|tools| json!(**tools));
        if let Some((hash, schemas)) = changed(&mut self.tools_hash, tools) {
            records.push(json!({"type": "tool_schemas", "hash": hash, "schemas": schemas}));
        }
        let known = request.messages.common_prefix(&self.messages);
        let new = request.messages.iter_from(known);
        records.extend(new.map(|message| {
            let role = &message["role"];
            json!({"type": "message", "role": role, "content": message["content"], "message": message})
        }));
        self.messages.clone_from(&request.messages);
        records
    }
}

/// The content and its hash, if it is another one than before.
fn changed(before: &mut Option<String>, content: Option<Value>) -> Option<(String, Value)> {
    let now = content.as_ref().map(hash);
    if *before == now {
        return None;
    }
    before.clone_from(&now);
    now.zip(content)
}

fn response(reply: &Reply) -> Value {
    let calls: Vec<Value> = reply.tool_calls.iter().map(call_dict).collect();
    json!({
        "model": reply.model,
        "text": reply.text,
        "tool_calls": calls,
        "input_tokens": reply.usage.input,
        "output_tokens": reply.usage.output,
        "cache_read_tokens": reply.usage.cache_read,
        "cache_write_tokens": reply.usage.cache_write,
        "thinking": reply.thinking,
        "stop_reason": stop_reason(reply),
    })
}

/// A time as `2026-01-31T12:00:00.000Z`.
pub fn timestamp(milliseconds: i64) -> String {
    const DAY_MS: i64 = 86_400_000;
    let (days, rest) = (
        milliseconds.div_euclid(DAY_MS),
        milliseconds.rem_euclid(DAY_MS),
    );
    let (year, month, day) = civil(days);
    let (seconds, milliseconds) = (rest / 1000, rest % 1000);
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02}T{hours:02}:{minutes:02}:{seconds:02}.{milliseconds:03}Z")
}

/// The date of a day counted from 1970: Howard Hinnant's `civil_from_days`, where years begin
/// in March and eras have 400 of them.
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = from_march % 12 + if from_march < 10 { 3 } else { -9 };
    let year = year + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_shown_as_dates() {
        let rows = [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (1_769_860_799_999, "2026-01-31T11:59:59.999Z"),
            (-1, "1969-12-31T23:59:59.999Z"),
        ];
        for (milliseconds, expected) in rows {
            assert_eq!(timestamp(milliseconds), expected);
        }
    }

    fn types(records: &[Value]) -> Vec<&str> {
        let types = records.iter().map(|record| record["type"].as_str());
        types.map(Option::unwrap_or_default).collect()
    }

    #[test]
    fn only_what_is_new_is_written() {
        let mut log = CallLog::default();
        let mut call = CallOptions::default();
        call.request.system = Some("be kind".to_owned());
        call.request.messages = vec![json!({"role": "user", "content": "a"})].into();
        assert_eq!(types(&log.checkpoints(&call)), ["system_prompt", "message"]);
        assert_eq!(types(&log.checkpoints(&call)), [""; 0]);
        call.request
            .messages
            .push(json!({"role": "user", "content": "a"}));
        call.native_tools = Some(vec![json!({"name": "t"})].into());
        assert_eq!(types(&log.checkpoints(&call)), ["tool_schemas", "message"]);
        call.request.messages = vec![json!({"role": "user", "content": "b"})].into();
        assert_eq!(types(&log.checkpoints(&call)), ["message"]);
    }
}
