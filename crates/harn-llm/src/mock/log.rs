//! What the mock was asked.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::{Messages, Request, SharedList, Thinking};

/// Every call in order.
#[derive(Clone, Debug, Default)]
pub(super) struct Log {
    calls: Vec<Call>,
}

/// One call, kept as it was asked. What is as it was in the call before is stored once.
#[derive(Clone, Debug)]
struct Call {
    messages: Messages,
    system: Option<Arc<str>>,
    tools: Option<SharedList<Value>>,
    thinking: Thinking,
}

impl Log {
    pub(super) fn push(&mut self, request: &Request, native_tools: Option<&[Value]>) {
        let last = self.calls.last();
        let system = request.system.as_deref().map(|system| {
            let before = last.and_then(|last| last.system.as_ref());
            let same = before.filter(|before| ***before == *system);
            same.map_or_else(|| system.into(), Arc::clone)
        });
        let tools = native_tools.map(|tools| {
            let before = last.and_then(|last| last.tools.as_ref());
            let same = before.filter(|before| before.as_slice() == tools);
            same.map_or_else(|| tools.to_vec().into(), SharedList::clone)
        });
        self.calls.push(Call {
            messages: request.messages.clone(),
            system,
            tools,
            thinking: request.thinking,
        });
    }

    pub(super) fn to_value(&self) -> Value {
        self.calls.iter().map(Call::to_value).collect()
    }
}

impl Call {
    fn to_value(&self) -> Value {
        json!({
            "messages": self.messages,
            "system": self.system.as_deref(),
            "tools": self.tools,
            "thinking": self.thinking,
        })
    }
}
