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
    loops: Loops,
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
    fn add(&mut self, event: &Value) {
        let number = |key: &str| event[key].as_i64().unwrap_or(0);
        match event["type"].as_str() {
            Some("tool_execution") => {
                self.tool_executions += 1;
                self.tool_duration_ms += number("duration_ms");
                let name = event["tool_name"].as_str().unwrap_or_default();
                if !self.tools_used.iter().any(|known| known == name) {
                    self.tools_used.push(name.to_owned());
                }
            }
            Some("tool_rejected") => self.tool_rejections += 1,
            Some("loop_intervention") => self.interventions += 1,
            Some("context_compaction") => self.compactions += 1,
            Some("native_tool_fallback") => {
                self.fallbacks += 1;
                self.fallback_rejections += u64::from(event["accepted"] == false);
            }
            Some("loop_complete") => {
                self.status = event["status"].as_str().map(str::to_owned);
                self.iterations += u64::try_from(number("iterations")).unwrap_or(0);
                self.duration_ms += number("total_duration_ms");
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
        self.loops.add(&event);
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
