//! What a host can do.

use std::collections::BTreeMap;
use std::task::Poll;

use harn_machine::value::Text;
use harn_machine::{Context, Failure, Registry, Value, Waiting, argument};

use super::bridge;
use super::mocks::Mocks;
use crate::expect::text;

pub(super) fn register(registry: &mut Registry) {
    registry.waiting(&[
        ("host_capabilities", host_capabilities),
        ("host_has", host_has),
    ]);
}

/// Operations and what they do.
type Operations = &'static [(&'static str, &'static str)];

/// What every host can do. Operations that only tell about this run belong to no capability.
const OWN: &[(&str, &str, Operations)] = &[
    (
        "process",
        "Runs commands.",
        &[
            ("exec", "Runs a command to its end."),
            ("list_shells", "Lists the shells there are."),
            ("get_default_shell", "Gives the shell that commands run in."),
            (
                "set_default_shell",
                "Chooses the shell that commands run in.",
            ),
            ("shell_invocation", "Tells how a shell runs a command."),
        ],
    ),
    (
        "template",
        "Renders templates.",
        &[("render", "Renders a template file.")],
    ),
    (
        "interaction",
        "Talks to a person.",
        &[("ask", "Asks a question and gives the answer.")],
    ),
];

const LENT_CAPABILITY: &str = "Lent by the host.";
const LENT_OPERATION: &str = "Lent by the host.";
const MOCKED_CAPABILITY: &str = "Mocked host capability registered at runtime for tests.";
const MOCKED_OPERATION: &str = "Mocked host operation registered at runtime for tests.";

/// A capability: what it is for, and its operations in the order in which they are listed.
struct Capability {
    description: &'static str,
    operations: Vec<(Text, &'static str)>,
}

fn all(context: &mut Context<'_>) -> BTreeMap<Text, Capability> {
    let own = OWN.iter().map(|(name, description, operations)| {
        let operations = operations.iter();
        let operations = operations.map(|(name, description)| (Text::new(name), *description));
        let capability = Capability {
            description,
            operations: operations.collect(),
        };
        (Text::new(name), capability)
    });
    let mut all: BTreeMap<Text, Capability> = own.collect();
    for (capability, operation) in bridge::known(context) {
        let capability = all.entry(capability).or_insert(Capability {
            description: LENT_CAPABILITY,
            operations: Vec::new(),
        });
        if !capability.has(&operation) {
            capability.operations.push((operation, LENT_OPERATION));
        }
    }
    for (capability, operation) in context.holding::<Mocks>().names() {
        let capability = all.entry(capability.clone()).or_insert(Capability {
            description: MOCKED_CAPABILITY,
            operations: Vec::new(),
        });
        if !capability.has(operation) {
            let mocked = (operation.clone(), MOCKED_OPERATION);
            capability.operations.push(mocked);
        }
    }
    all
}

impl Capability {
    fn has(&self, operation: &Text) -> bool {
        self.operations.iter().any(|(name, _)| name == operation)
    }

    fn described(&self) -> Value {
        let operations = self.operations.iter().map(|(name, description)| {
            let described = Value::dict([("description", (*description).into())]);
            (name.as_str(), described)
        });
        let names = self.operations.iter();
        let names = names.map(|(name, _)| Value::Text(name.clone()));
        Value::dict([
            ("description", self.description.into()),
            ("operations", Value::dict(operations)),
            ("ops", names.collect()),
        ])
    }
}

/// `host_capabilities()`
fn host_capabilities(
    context: &mut Context<'_>,
    _: &mut [Value],
    waiting: &mut Waiting,
) -> Result<Poll<Value>, Failure> {
    if bridge::learn(context, waiting)?.is_pending() {
        return Ok(Poll::Pending);
    }
    let all = all(context);
    let described = all.iter();
    let described = described.map(|(name, capability)| (name.as_str(), capability.described()));
    Ok(Poll::Ready(Value::dict(described)))
}

/// `host_has(capability, operation?)`
fn host_has(
    context: &mut Context<'_>,
    arguments: &mut [Value],
    waiting: &mut Waiting,
) -> Result<Poll<Value>, Failure> {
    if bridge::learn(context, waiting)?.is_pending() {
        return Ok(Poll::Pending);
    }
    let all = all(context);
    let capability = all.get(&text(arguments, 0));
    let is_there = match argument(arguments, 1) {
        Value::Nil => capability.is_some(),
        operation => {
            let operation = operation.to_text();
            capability.is_some_and(|capability| capability.has(&operation))
        }
    };
    Ok(Poll::Ready(is_there.into()))
}
