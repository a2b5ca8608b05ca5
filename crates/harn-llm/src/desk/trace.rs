//! What a program's calls did, for whoever asks afterwards.
//!
//! Hardly anybody asks, so what happens in every run is kept as it came and becomes JSON only
//! for who wants to see it.

use std::collections::VecDeque;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::Usage;

/// Events kept; the oldest go first, so that a program that runs for weeks does not drown.
const EVENTS_MAX: usize = 100_000;

/// What a program's calls did.
#[derive(Debug, Default)]
pub struct Trace {
    entries: VecDeque<Entry>,
    /// Who was asked last. Most programs ask the same model again and again.
    names: Names,
    /// Whether calls are counted.
    is_counting: bool,
    counted: Totals,
    /// All calls, counted or not.
    calls: Totals,
    empty_retries: u64,
    loops: Loops,
}

/// Something that happened.
#[derive(Clone, Debug)]
enum Entry {
    Call(Call),
    ToolExecution(ToolExecution),
    LoopComplete(LoopComplete),
    /// What happens seldom, as programs see it.
    Other(Value),
}

/// A model was asked.
#[derive(Clone, Debug)]
struct Call {
    names: Names,
    input_tokens: u64,
    output_tokens: u64,
    cache_read_tokens: u64,
    cache_write_tokens: u64,
    duration_ms: i64,
}

/// Who was asked.
#[derive(Clone, Debug, Default)]
struct Names {
    provider: Arc<str>,
    model: Arc<str>,
}

/// A tool was run for a model.
#[derive(Clone, Debug)]
pub struct ToolExecution {
    /// Which tool.
    pub tool_name: String,
    /// The id that the model knows the call by.
    pub tool_use_id: String,
    /// How long it took.
    pub duration_ms: i64,
    /// How it ended.
    pub status: &'static str,
    /// In which turn of the loop.
    pub iteration: usize,
}

/// An agent loop ended.
#[derive(Clone, Debug)]
pub struct LoopComplete {
    /// How.
    pub status: String,
    /// After how many turns.
    pub iterations: usize,
    /// How long it took.
    pub total_duration_ms: i64,
}

impl Entry {
    /// The entry as programs see it.
    fn to_value(&self) -> Value {
        match self {
            Entry::Call(call) => call.to_value(),
            Entry::ToolExecution(execution) => execution.to_value(),
            Entry::LoopComplete(complete) => complete.to_value(),
            Entry::Other(event) => event.clone(),
        }
    }
}

impl Call {
    fn to_value(&self) -> Value {
        json!({
            "type": "llm_call",
            "provider": *self.names.provider,
            "model": *self.names.model,
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "cache_read_tokens": self.cache_read_tokens,
            "cache_write_tokens": self.cache_write_tokens,
            "duration_ms": self.duration_ms,
        })
    }
}

impl ToolExecution {
    fn to_value(&self) -> Value {
        json!({
            "type": "tool_execution",
            "tool_name": self.tool_name,
            "tool_use_id": self.tool_use_id,
            "duration_ms": self.duration_ms,
            "status": self.status,
            "iteration": self.iteration,
        })
    }
}

impl LoopComplete {
    fn to_value(&self) -> Value {
        json!({
            "type": "loop_complete",
            "status": self.status,
            "iterations": self.iterations,
            "total_duration_ms": self.total_duration_ms,
        })
    }
}

impl Names {
    /// These names; those that are known already are not copied again.
    fn shared(&mut self, provider: &str, model: &str) -> Self {
        if *self.provider != *provider {
            self.provider = provider.into();
        }
        if *self.model != *model {
            self.model = model.into();
        }
        self.clone()
    }
}

/// Sums over loops.
#[derive(Clone, Debug, Default)]
struct Loops {
    /// How the last one ended.
    status: Option<String>,
    iterations: u64,
    duration_ms: i64,
    tool_executions: u64,
    tool_duration_ms: i64,
    tool_rejections: u64,
    interventions: u64,
    compactions: u64,
    fallbacks: u64,
    fallback_rejections: u64,
    /// Each once, in the order of their first use.
    tools_used: Vec<String>,
}

impl Loops {
    fn add(&mut self, entry: &Entry) {
        match entry {
            Entry::Call(_) => {}
            Entry::ToolExecution(execution) => {
                self.add_execution(&execution.tool_name, execution.duration_ms);
            }
            Entry::LoopComplete(complete) => {
                let status = Some(complete.status.as_str());
                let iterations = complete.iterations as u64;
                self.complete(status, iterations, complete.total_duration_ms);
            }
            Entry::Other(event) => self.add_other(event),
        }
    }

    fn add_execution(&mut self, tool: &str, took_ms: i64) {
        self.tool_executions += 1;
        self.tool_duration_ms += took_ms;
        if !self.tools_used.iter().any(|known| known == tool) {
            self.tools_used.push(tool.to_owned());
        }
    }

    fn complete(&mut self, status: Option<&str>, iterations: u64, took_ms: i64) {
        self.status = status.map(str::to_owned);
        self.iterations += iterations;
        self.duration_ms += took_ms;
    }

    fn add_other(&mut self, event: &Value) {
        let number = |key: &str| event[key].as_i64().unwrap_or(0);
        match event["type"].as_str() {
            Some("tool_execution") => {
                let name = event["tool_name"].as_str().unwrap_or_default();
                self.add_execution(name, number("duration_ms"));
            }
            Some("tool_rejected") => self.tool_rejections += 1,
            Some("loop_intervention") => self.interventions += 1,
            Some("context_compaction") => self.compactions += 1,
            Some("native_tool_fallback") => {
                self.fallbacks += 1;
                self.fallback_rejections += u64::from(event["accepted"] == false);
            }
            Some("loop_complete") => {
                let iterations = u64::try_from(number("iterations")).unwrap_or(0);
                let took_ms = number("total_duration_ms");
                self.complete(event["status"].as_str(), iterations, took_ms);
            }
            _ => {}
        }
    }
}

/// Sums over calls.
#[derive(Clone, Copy, Debug, Default)]
struct Totals {
    calls: u64,
    input_tokens: u64,
    output_tokens: u64,
    duration_ms: i64,
}

impl Totals {
    fn add(&mut self, usage: &Usage, took_ms: i64) {
        self.calls += 1;
        self.input_tokens += usage.input;
        self.output_tokens += usage.output;
        self.duration_ms += took_ms;
    }
}

impl Trace {
    /// Turns counting on or off.
    pub fn count(&mut self, on: bool) {
        self.is_counting = on;
    }

    /// Adds an event.
    pub(super) fn push(&mut self, event: Value) {
        if event["type"] == "empty_completion_retry" {
            self.empty_retries += 1;
        }
        self.keep(Entry::Other(event));
    }

    /// Adds a call.
    pub(super) fn call(&mut self, provider: &str, model: &str, usage: &Usage, took_ms: i64) {
        self.calls.add(usage, took_ms);
        if self.is_counting {
            self.counted.add(usage, took_ms);
        }
        let call = Call {
            names: self.names.shared(provider, model),
            input_tokens: usage.input,
            output_tokens: usage.output,
            cache_read_tokens: usage.cache_read,
            cache_write_tokens: usage.cache_write,
            duration_ms: took_ms,
        };
        self.keep(Entry::Call(call));
    }

    /// Adds the run of a tool.
    pub(super) fn tool_execution(&mut self, execution: ToolExecution) {
        self.keep(Entry::ToolExecution(execution));
    }

    /// Adds the end of a loop.
    pub(super) fn loop_complete(&mut self, complete: LoopComplete) {
        self.keep(Entry::LoopComplete(complete));
    }

    fn keep(&mut self, entry: Entry) {
        self.loops.add(&entry);
        if self.entries.len() == EVENTS_MAX {
            self.entries.pop_front();
        }
        self.entries.push_back(entry);
    }

    /// `agent_trace()`
    pub(super) fn events(&self) -> Value {
        self.entries.iter().map(Entry::to_value).collect()
    }

    /// `agent_trace_summary()`
    pub(super) fn summary(&self) -> Value {
        let loops = &self.loops;
        let usual = match self.calls.calls {
            0 => "idle",
            _ => "done",
        };
        json!({
            "status": loops.status.as_deref().unwrap_or(usual),
            "iterations": loops.iterations,
            "total_duration_ms": loops.duration_ms.max(self.calls.duration_ms),
            "llm_calls": self.calls.calls,
            "tool_executions": loops.tool_executions,
            "tool_rejections": loops.tool_rejections,
            "interventions": loops.interventions,
            "compactions": loops.compactions,
            "native_text_tool_fallbacks": loops.fallbacks,
            "native_text_tool_fallback_rejections": loops.fallback_rejections,
            "empty_completion_retries": self.empty_retries,
            "total_input_tokens": self.calls.input_tokens,
            "total_output_tokens": self.calls.output_tokens,
            "total_llm_duration_ms": self.calls.duration_ms,
            "total_tool_duration_ms": loops.tool_duration_ms,
            "tools_used": loops.tools_used,
        })
    }

    /// `llm_usage()`
    pub(super) fn usage(&self) -> Value {
        json!({
            "input_tokens": self.counted.input_tokens,
            "output_tokens": self.counted.output_tokens,
            "total_duration_ms": self.counted.duration_ms,
            "call_count": self.counted.calls,
            "total_calls": self.counted.calls,
        })
    }

    /// `llm_session_cost()`
    pub(super) fn session_cost(&self, spent_usd: f64) -> Value {
        json!({
            "total_cost": spent_usd,
            "input_tokens": self.counted.input_tokens,
            "output_tokens": self.counted.output_tokens,
            "call_count": self.counted.calls,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn execution() -> ToolExecution {
        ToolExecution {
            tool_name: "add".to_owned(),
            tool_use_id: "c1".to_owned(),
            duration_ms: 3,
            status: "ok",
            iteration: 1,
        }
    }

    fn complete() -> LoopComplete {
        LoopComplete {
            status: "done".to_owned(),
            iterations: 2,
            total_duration_ms: 9,
        }
    }

    #[test]
    fn entries_are_shown_as_programs_know_them() {
        let mut trace = Trace::default();
        trace.call("openai", "gpt-4o", &Usage::default(), 5);
        trace.tool_execution(execution());
        trace.loop_complete(complete());
        trace.push(json!({"type": "odd", "b": 1, "a": 2}));
        let expected = concat!(
            r#"[{"type":"llm_call","provider":"openai","model":"gpt-4o","input_tokens":0,"#,
            r#""output_tokens":0,"cache_read_tokens":0,"cache_write_tokens":0,"duration_ms":5},"#,
            r#"{"type":"tool_execution","tool_name":"add","tool_use_id":"c1","duration_ms":3,"#,
            r#""status":"ok","iteration":1},"#,
            r#"{"type":"loop_complete","status":"done","iterations":2,"total_duration_ms":9},"#,
            r#"{"type":"odd","b":1,"a":2}]"#,
        );
        assert_eq!(trace.events().to_string(), expected);
    }

    #[test]
    fn what_is_noted_as_json_counts_in_the_same_way() {
        let (mut typed, mut noted) = (Trace::default(), Trace::default());
        typed.tool_execution(execution());
        typed.loop_complete(complete());
        noted.push(execution().to_value());
        noted.push(complete().to_value());
        assert_eq!(typed.summary(), noted.summary());
        assert_eq!(typed.events(), noted.events());
    }

    #[test]
    fn a_name_that_is_known_is_not_copied_again() {
        let mut names = Names::default();
        let first = names.shared("openai", "gpt-4o");
        let second = names.shared("openai", "gpt-4o");
        assert!(Arc::ptr_eq(&first.model, &second.model));
        assert_eq!(*names.shared("openai", "o3").model, *"o3");
    }
}
