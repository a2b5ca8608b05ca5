//! A sink that measures: turns, tokens, and how often each tool was called and failed.
//!
//! A sink sees every event of a session, in order. It is called on the thread that delivers, so
//! it should be quick; this one adds numbers up and leaves the rest to whoever asks for them.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::{Mutex, PoisonError};

use harn_agent::events::{AgentEvent, AgentEventSink, ToolCallStatus};

/// Adds up what agents do.
#[derive(Debug, Default)]
pub(crate) struct Meter(Mutex<Sums>);

#[derive(Debug, Default)]
struct Sums {
    turns: u64,
    output_tokens: u64,
    tools: BTreeMap<String, ToolSums>,
}

#[derive(Debug, Default)]
struct ToolSums {
    calls: u64,
    failures: u64,
}

impl AgentEventSink for Meter {
    fn handle_event(&self, event: &AgentEvent) {
        let mut sums = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            AgentEvent::IterationEnd { iteration_info, .. } => {
                sums.turns += 1;
                sums.output_tokens += iteration_info["output_tokens"].as_u64().unwrap_or(0);
            }
            AgentEvent::ToolCallUpdate {
                tool_name,
                status: status @ (ToolCallStatus::Completed | ToolCallStatus::Failed),
                ..
            } => {
                let tool = sums.tools.entry(tool_name.clone()).or_default();
                tool.calls += 1;
                tool.failures += u64::from(*status == ToolCallStatus::Failed);
            }
            // The other events are for other sinks.
            _ => {}
        }
    }
}

impl Meter {
    /// The sums in the text form of Prometheus.
    pub(crate) fn report(&self) -> String {
        let sums = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut report = format!(
            "agent_turns_total {}\nagent_output_tokens_total {}\n",
            sums.turns, sums.output_tokens
        );
        for (name, tool) in &sums.tools {
            // Writing to a text cannot fail.
            let _ = writeln!(
                report,
                "agent_tool_calls_total{{tool=\"{name}\"}} {}",
                tool.calls
            );
            let failures = tool.failures;
            let _ = writeln!(
                report,
                "agent_tool_failures_total{{tool=\"{name}\"}} {failures}"
            );
        }
        report
    }
}
