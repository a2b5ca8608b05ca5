//! What tests put in the place of a host.

use harn_machine::value::{Dict, Text};
use harn_machine::{Context, Failure, Fault, Holds, Registry, Value, argument, thrown};

pub(super) fn register(registry: &mut Registry) {
    registry.plain(&[
        ("host_mock", host_mock),
        ("host_mock_calls", calls),
        ("host_mock_clear", clear),
        ("host_mock_pop_scope", pop_scope),
        ("host_mock_push_scope", push_scope),
    ]);
}

/// The mocks of a run.
#[derive(Default)]
pub(super) struct Mocks {
    current: Scope,
    /// Those that are set aside, the outermost first.
    outer: Vec<Scope>,
}

/// Mocks that are registered together, and the calls that they answered.
#[derive(Default)]
struct Scope {
    mocks: Vec<Mock>,
    calls: Vec<Value>,
}

struct Mock {
    capability: Text,
    operation: Text,
    /// What has to be among the parameters of a call.
    params: Dict,
    answer: Answer,
}

enum Answer {
    Result(Value),
    Error(Text),
}

impl Holds for Mocks {
    fn each_value(&self, each: &mut dyn FnMut(&Value)) {
        for scope in self.outer.iter().chain([&self.current]) {
            scope.calls.iter().for_each(&mut *each);
            for mock in &scope.mocks {
                each(&Value::Dict(mock.params.clone()));
                if let Answer::Result(result) = &mock.answer {
                    each(result);
                }
            }
        }
    }
}

impl Mocks {
    /// What is mocked, as pairs of capability and operation.
    pub(super) fn names(&self) -> impl Iterator<Item = (&Text, &Text)> {
        let mocks = self.current.mocks.iter();
        mocks.map(|mock| (&mock.capability, &mock.operation))
    }
}

impl Mock {
    fn matches(&self, capability: &str, operation: &str, params: &Dict) -> bool {
        let mut wanted = self.params.iter();
        self.capability.as_str() == capability
            && self.operation.as_str() == operation
            && wanted.all(|(name, value)| params.get(name) == Some(value))
    }
}

/// The answer of the latest mock that matches a call, if one does. The call is noted.
pub(crate) fn answered(
    context: &mut Context<'_>,
    capability: &str,
    operation: &str,
    params: &Dict,
) -> Option<Result<Value, Failure>> {
    let scope = &mut context.holding::<Mocks>().current;
    let mut latest_first = scope.mocks.iter().rev();
    let mock = latest_first.find(|mock| mock.matches(capability, operation, params))?;
    let answer = match &mock.answer {
        Answer::Result(result) => Ok(result.clone()),
        Answer::Error(message) => Err(Fault::thrown(message.clone())),
    };
    scope.calls.push(Value::dict([
        ("capability", capability.into()),
        ("operation", operation.into()),
        ("params", params.clone().into()),
    ]));
    Some(answer)
}

/// `host_mock(capability, operation, result | config, params?)`
fn host_mock(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let name = |at: usize| match argument(arguments, at) {
        Value::Text(name) if !name.is_empty() => Some(name.clone()),
        _ => None,
    };
    let (Some(capability), Some(operation)) = (name(0), name(1)) else {
        return thrown("host_mock: capability and operation are required");
    };
    let (answer, configured) = match argument(arguments, 2) {
        Value::Dict(config) if is_config(config) => {
            let field = |name: &str| config.get(name).cloned().unwrap_or_default();
            let answer = match field("error") {
                Value::Nil => Answer::Result(field("result")),
                error => Answer::Error(error.to_text()),
            };
            (answer, field("params"))
        }
        result => (Answer::Result(result.clone()), Value::Nil),
    };
    let params = match (argument(arguments, 3), configured) {
        (Value::Dict(params), _) => params.clone(),
        (_, Value::Dict(params)) => params,
        _ => Dict::default(),
    };
    context.holding::<Mocks>().current.mocks.push(Mock {
        capability,
        operation,
        params,
        answer,
    });
    Ok(Value::Nil)
}

/// Whether a dict says how to answer, instead of being the answer.
fn is_config(dict: &Dict) -> bool {
    let words = ["result", "params", "error"];
    words.into_iter().any(|word| dict.contains(word))
}

fn calls(context: &mut Context<'_>, _: &mut [Value]) -> Result<Value, Failure> {
    let calls = &context.holding::<Mocks>().current.calls;
    Ok(calls.iter().cloned().collect())
}

fn clear(context: &mut Context<'_>, _: &mut [Value]) -> Result<Value, Failure> {
    *context.holding() = Mocks::default();
    Ok(Value::Nil)
}

fn push_scope(context: &mut Context<'_>, _: &mut [Value]) -> Result<Value, Failure> {
    let mocks = context.holding::<Mocks>();
    mocks.outer.push(std::mem::take(&mut mocks.current));
    Ok(Value::Nil)
}

fn pop_scope(context: &mut Context<'_>, _: &mut [Value]) -> Result<Value, Failure> {
    let mocks = context.holding::<Mocks>();
    match mocks.outer.pop() {
        Some(scope) => mocks.current = scope,
        None => return thrown("host_mock_pop_scope: no scope to pop"),
    }
    Ok(Value::Nil)
}
