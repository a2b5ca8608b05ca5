//! Every call that is announced ends, once.

use std::collections::BTreeMap;

use harn_agent::events::{AgentEvent, ToolCallStatus};

/// The calls that were announced and have not ended.
#[derive(Default)]
pub(super) struct Calls {
    open: BTreeMap<String, bool>,
    searches: BTreeMap<String, ()>,
}

impl Calls {
    /// Takes note of an event; says what is wrong with it.
    pub(super) fn see(&mut self, event: &AgentEvent) -> Vec<String> {
        match event {
            AgentEvent::ToolCall {
                tool_call_id,
                parsing,
                ..
            } => {
                let is_candidate = *parsing == Some(true);
                match self.open.insert(tool_call_id.clone(), is_candidate) {
                    Some(_) => vec![format!("{tool_call_id} is announced twice")],
                    None => Vec::new(),
                }
            }
            AgentEvent::ToolCallUpdate {
                tool_call_id,
                status,
                parsing,
                ..
            } => self.update(tool_call_id, *status, *parsing == Some(false)),
            AgentEvent::ToolSearchQuery { tool_use_id, .. } => {
                self.searches.insert(tool_use_id.clone(), ());
                Vec::new()
            }
            AgentEvent::ToolSearchResult { tool_use_id, .. } => {
                match self.searches.remove(tool_use_id) {
                    Some(()) => Vec::new(),
                    None => vec![format!("search {tool_use_id} has a result and no question")],
                }
            }
            _ => Vec::new(),
        }
    }

    fn update(&mut self, id: &str, status: ToolCallStatus, is_parsed: bool) -> Vec<String> {
        let Some(is_candidate) = self.open.get(id).copied() else {
            return vec![format!(
                "{id} is {status:?} and was not announced, or has ended"
            )];
        };
        let is_terminal = matches!(status, ToolCallStatus::Completed | ToolCallStatus::Failed);
        if is_terminal || (is_candidate && is_parsed) {
            self.open.remove(id);
        }
        Vec::new()
    }

    /// What is open when a loop exits.
    pub(super) fn at_exit(&mut self) -> Vec<String> {
        let calls = std::mem::take(&mut self.open).into_keys();
        let searches = std::mem::take(&mut self.searches).into_keys();
        calls
            .chain(searches)
            .map(|id| format!("{id} is still open when the loop exits"))
            .collect()
    }
}
