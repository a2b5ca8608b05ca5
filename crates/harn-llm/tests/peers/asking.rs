//! Asks a server what a program would ask a provider.

use std::time::Duration;

use harn_llm::exchange::{Exchange, ask};
use harn_llm::transport::{Http, HttpOptions, TimeLimits};
use harn_llm::wire::{Target, Wire};
use harn_llm::{Error, Reply, Request, Secret, StreamEvent, ToolSpec};
use serde_json::{Value, json};

/// All wires, for tests that hold for every one of them.
pub(crate) const WIRES: [Wire; 5] = [
    Wire::Anthropic,
    Wire::Chat,
    Wire::Responses,
    Wire::Gemini,
    Wire::Ollama,
];

/// Nothing here takes long unless something is wrong.
const LIMITS: TimeLimits = TimeLimits {
    whole: Duration::from_secs(60),
    idle: Duration::from_secs(60),
};

/// Whom to ask, and in which language.
pub(crate) struct Asked {
    pub(crate) wire: Wire,
    pub(crate) target: Target,
}

/// An answer and the pieces it came in.
#[derive(Debug)]
pub(crate) struct Heard {
    pub(crate) outcome: Result<Reply, Error>,
    pub(crate) events: Vec<StreamEvent>,
}

impl Asked {
    /// The endpoint of a wire at a server.
    pub(crate) fn at(url: &str, wire: Wire) -> Self {
        let (provider, path) = match wire {
            Wire::Anthropic => ("anthropic", "/v1/messages"),
            Wire::Chat => ("openai", "/v1/chat/completions"),
            Wire::Responses => ("openai", "/v1/responses"),
            Wire::Gemini => ("gemini", "/v1beta/models"),
            Wire::Ollama => ("ollama", "/api/chat"),
        };
        let target = Target {
            provider: provider.to_owned(),
            url: format!("{url}{path}"),
            ..Target::default()
        };
        Self { wire, target }
    }

    /// With one more header.
    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        let header = (name.to_owned(), Secret::new(value));
        self.target.headers.push(header);
        self
    }

    /// Asks once.
    pub(crate) async fn ask(&self, request: &Request) -> Heard {
        let mut events = Vec::new();
        let mut listener = |event: &StreamEvent| events.push(event.clone());
        let outcome = self.ask_listening(request, &mut listener).await;
        Heard { outcome, events }
    }

    /// Asks once and hears the pieces at once.
    pub(crate) async fn ask_listening(
        &self,
        request: &Request,
        listener: &mut (dyn FnMut(&StreamEvent) + Send),
    ) -> Result<Reply, Error> {
        let http = Http::new(HttpOptions::default());
        let exchange = Exchange {
            wire: self.wire,
            target: &self.target,
            request,
            limits: LIMITS,
        };
        ask(&http, exchange, listener).await
    }
}

impl Heard {
    /// The answer of a test that expects one.
    #[track_caller]
    pub(crate) fn reply(&self) -> &Reply {
        match &self.outcome {
            Ok(reply) => reply,
            Err(error) => panic!("{error:?} after {:#?}", self.events),
        }
    }

    /// The failure of a test that expects one.
    #[track_caller]
    pub(crate) fn error(&self) -> &Error {
        match &self.outcome {
            Ok(reply) => panic!("an answer where none was expected: {reply:#?}"),
            Err(error) => error,
        }
    }
}

/// A question without anything special.
pub(crate) fn question(model: &str, text: &str) -> Request {
    Request {
        model: model.to_owned(),
        messages: vec![json!({"role": "user", "content": text})].into(),
        stream: true,
        ..Request::default()
    }
}

/// The conversation goes on: the answer, and what each of its calls gave.
pub(crate) fn with_results(mut request: Request, wire: Wire, reply: &Reply, gave: &str) -> Request {
    let calls = reply.tool_calls.iter().map(|call| {
        let function = json!({"name": call.name, "arguments": call.arguments});
        json!({"id": call.id, "type": "function", "function": function})
    });
    request.messages.push(json!({
        "role": "assistant",
        "content": reply.text,
        "tool_calls": calls.collect::<Vec<Value>>(),
        "kept": {"wire": wire.name(), "blocks": reply.kept},
    }));
    for call in &reply.tool_calls {
        request.messages.push(json!({
            "role": "tool",
            "tool_call_id": call.id,
            "tool_name": call.name,
            "content": gave,
        }));
    }
    request
}

/// A tool that takes an object.
pub(crate) fn tool(name: &str, properties: Value) -> ToolSpec {
    ToolSpec {
        name: name.to_owned(),
        description: format!("What {name} does"),
        parameters: json!({"type": "object", "properties": properties}),
        ..ToolSpec::default()
    }
}
