//! What the mock was asked.

use serde_json::{Value, json};

use crate::{Request, Thinking};

/// Every call in order.
#[derive(Clone, Debug, Default)]
pub(super) struct Log {
    calls: Vec<Call>,
}

/// One call, kept as it was asked.
#[derive(Clone, Debug)]
struct Call {
    messages: Vec<Value>,
    system: Option<String>,
    tools: Option<Vec<Value>>,
    thinking: Thinking,
}

impl Log {
    pub(super) fn push(&mut self, request: &Request, native_tools: Option<&[Value]>) {
        self.calls.push(Call {
            messages: request.messages.clone(),
            system: request.system.clone(),
            tools: native_tools.map(<[Value]>::to_vec),
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
            "system": self.system,
            "tools": self.tools,
            "thinking": self.thinking,
        })
    }
}
