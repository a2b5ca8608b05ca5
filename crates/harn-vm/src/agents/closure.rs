//! Closures of a program, as the runtime of agents calls them.

use std::collections::BTreeSet;

use harn_agent::llm::Category;
use harn_agent::llm::desk::Thrown;
use harn_agent::{BoxFuture, Callback};
use harn_machine::{ClosureHandle, Data, Failure, FaultKind, Value};
use serde_json::Value as Json;

use super::SUBSCRIBER_DEPTH;
use crate::json::to_json;

/// A closure of a program.
pub(super) struct ProgramClosure {
    handle: ClosureHandle,
    /// The parameters that the fields of a dict are spread over.
    spread: Option<Vec<String>>,
    /// Whether what it gives is shown instead of converted: the result of a tool is text.
    is_shown: bool,
}

impl ProgramClosure {
    pub(super) fn new(handle: ClosureHandle, spread: Option<Vec<String>>, is_shown: bool) -> Self {
        Self {
            handle,
            spread,
            is_shown,
        }
    }

    /// Begins a call at once, so that calls run in the order they were made in.
    fn call_through(
        &self,
        handle: &ClosureHandle,
        arguments: Vec<Json>,
    ) -> BoxFuture<'static, Result<Json, Thrown>> {
        let is_shown = self.is_shown;
        let convert = move |result: Result<&Value, &Failure>| match result {
            Ok(value) if is_shown => Ok(Json::String(value.show())),
            Ok(value) => Ok(to_json(value)),
            Err(failure) => Err(thrown(failure)),
        };
        let call = handle.call_async(self.arguments(arguments), convert);
        Box::pin(async move {
            let gone = || Err(Thrown::Runtime("the program has ended".to_owned()));
            call.await.unwrap_or_else(gone)
        })
    }

    fn arguments(&self, arguments: Vec<Json>) -> Vec<Data> {
        let Some(parameters) = &self.spread else {
            return arguments.into_iter().map(data).collect();
        };
        let mut fields = match arguments.into_iter().next() {
            Some(Json::Object(fields)) => fields,
            _ => return Vec::new(),
        };
        let given: BTreeSet<String> = fields.keys().cloned().collect();
        // What stands after the last argument that was given need not be passed at all.
        let last = parameters.iter().rposition(|name| given.contains(name));
        let passed = &parameters[..last.map_or(0, |last| last + 1)];
        let passed = passed
            .iter()
            .map(|name| fields.remove(name).map_or(Data::Missing, data));
        passed.collect()
    }
}

impl Callback for ProgramClosure {
    fn call(&self, arguments: Vec<Json>) -> BoxFuture<'_, Result<Json, Thrown>> {
        self.call_through(&self.handle, arguments)
    }

    fn call_as_subscriber(
        &self,
        arguments: Vec<Json>,
        depth: u32,
    ) -> BoxFuture<'_, Result<Json, Thrown>> {
        let depth = Data::Int(depth.into());
        let handle = self.handle.with_value(SUBSCRIBER_DEPTH, depth);
        self.call_through(&handle, arguments)
    }
}

/// What a closure threw, as others know it.
fn thrown(failure: &Failure) -> Thrown {
    match &failure.kind {
        FaultKind::Thrown(Value::Text(text)) => Thrown::Plain(text.to_string()),
        FaultKind::Thrown(value) => Thrown::Dict(to_json(value)),
        FaultKind::Categorised { category, message } => {
            let category = Category::from_word(category).unwrap_or(Category::Generic);
            Thrown::Categorised(category, message.clone())
        }
        FaultKind::Runtime(message) => Thrown::Runtime(message.clone()),
        _ => Thrown::Plain(failure.text()),
    }
}

/// JSON as something that can enter a program.
fn data(json: Json) -> Data {
    match json {
        Json::Null => Data::Nil,
        Json::Bool(value) => Data::Bool(value),
        Json::Number(number) => match number.as_i64() {
            Some(value) => Data::Int(value),
            None => Data::Float(number.as_f64().unwrap_or(f64::NAN)),
        },
        Json::String(text) => Data::Text(text),
        Json::Array(items) => Data::List(items.into_iter().map(data).collect()),
        Json::Object(fields) => {
            let fields = fields.into_iter().map(|(key, value)| (key, data(value)));
            Data::Dict(fields.collect())
        }
    }
}
