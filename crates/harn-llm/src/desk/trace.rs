//! What a program's calls did, for whoever asks afterwards.

use serde_json::{Value, json};

use crate::Usage;

/// Events kept; the oldest go first, so that a program that runs for weeks does not drown.
const EVENTS_MAX: usize = 100_000;

/// What a program's calls did.
#[derive(Debug, Default)]
pub struct Trace {
    events: std::collections::VecDeque<Value>,
    /// Whether calls are counted.
    is_counting: bool,
    counted: Totals,
    /// All calls, counted or not.
    calls: Totals,
    empty_retries: u64,
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
        if self.events.len() == EVENTS_MAX {
            self.events.pop_front();
        }
        self.events.push_back(event);
    }

    /// Adds a call.
    pub(super) fn call(&mut self, provider: &str, model: &str, usage: &Usage, took_ms: i64) {
        self.calls.add(usage, took_ms);
        if self.is_counting {
            self.counted.add(usage, took_ms);
        }
        self.push(json!({
            "type": "llm_call",
            "provider": provider,
            "model": model,
            "input_tokens": usage.input,
            "output_tokens": usage.output,
            "cache_read_tokens": usage.cache_read,
            "cache_write_tokens": usage.cache_write,
            "duration_ms": took_ms,
        }));
    }

    /// `agent_trace()`
    pub(super) fn events(&self) -> Value {
        self.events.iter().cloned().collect()
    }

    /// `agent_trace_summary()`
    pub(super) fn summary(&self) -> Value {
        json!({
            "status": if self.calls.calls == 0 { "idle" } else { "done" },
            "iterations": 0,
            "total_duration_ms": self.calls.duration_ms,
            "llm_calls": self.calls.calls,
            "tool_executions": 0,
            "tool_rejections": 0,
            "interventions": 0,
            "compactions": 0,
            "native_text_tool_fallbacks": 0,
            "native_text_tool_fallback_rejections": 0,
            "empty_completion_retries": self.empty_retries,
            "total_input_tokens": self.calls.input_tokens,
            "total_output_tokens": self.calls.output_tokens,
            "total_llm_duration_ms": self.calls.duration_ms,
            "total_tool_duration_ms": 0,
            "tools_used": [],
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
