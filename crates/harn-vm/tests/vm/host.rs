//! Programs whose host lends them operations and tools.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use harn_agent::log::{
    AnyEventLog, DEFAULT_QUEUE_DEPTH, EventLog, MemoryEventLog, Topic, block_on,
};
use harn_agent::{BoxFuture, HostBridge, HostError, Seam};
use harn_check::modules::{MemoryFiles, Workspace};
use harn_vm::machine::Stream;
use harn_vm::{AgentOptions, EventLogOptions, Outcome, Program, RunOptions, Sink, WorldOptions};
use serde_json::{Value, json};

/// A host that lends a calculator.
struct Host {
    lends: bool,
    asked: Mutex<Vec<(String, Value)>>,
}

impl HostBridge for Host {
    fn request<'a>(
        &'a self,
        method: &'a str,
        parameters: Value,
    ) -> BoxFuture<'a, Result<Value, HostError>> {
        let mut asked = self.asked.lock().expect("nobody has panicked");
        asked.push((method.to_owned(), parameters.clone()));
        let name = parameters["name"].as_str().unwrap_or_default();
        let answer = match (method, name) {
            ("host/capabilities", _) => Ok(json!({"math": ["add", "divide", "gone"]})),
            ("host/call", "math.add") => {
                let of = |key: &str| parameters["args"][key].as_i64().unwrap_or_default();
                Ok(json!(of("a") + of("b")))
            }
            ("host/call", "math.divide") => Err(HostError::Refused("not today".to_owned())),
            ("host/call", _) => Err(HostError::Lacking("no more".to_owned())),
            ("host/tools/list", _) => Ok(json!([{"name": "lamp", "short_description": "Light"}])),
            ("builtin_call", "hostlib_sum") => {
                let args = parameters["args"].as_array().into_iter().flatten();
                Ok(json!(args.filter_map(Value::as_i64).sum::<i64>()))
            }
            ("builtin_call", "hostlib_door") => Err(HostError::Refused("locked".to_owned())),
            ("builtin_call", "hostlib_gone") => Err(HostError::Lacking("no more".to_owned())),
            ("builtin_call", "lamp") => Ok(json!({"is_on": parameters["args"][0]["on"]})),
            _ => Err(HostError::Failed {
                code: Some(7150),
                message: "unknown tool".to_owned(),
            }),
        };
        Box::pin(std::future::ready(answer))
    }

    fn notify(&self, _: &str, _: Value) {}

    fn take_messages(&self, _: &str, _: Seam) -> Vec<String> {
        Vec::new()
    }

    fn take_resume(&self, _: &str) -> bool {
        false
    }

    fn lends_tools(&self) -> bool {
        self.lends
    }
}

#[derive(Clone, Default)]
struct Kept(Arc<Mutex<String>>);

impl Sink for Kept {
    fn write(&mut self, _: Stream, text: &str) {
        self.0.lock().expect("nobody has panicked").push_str(text);
    }

    fn flush(&mut self) {}
}

/// What a program writes, and what its log has about the host.
fn run(host: &Arc<Host>, text: &str) -> (String, Vec<(String, Value)>) {
    let mut workspace = Workspace::new(Box::new(MemoryFiles::new()));
    workspace.set_text("/main.harn", text);
    let log = MemoryEventLog::new(DEFAULT_QUEUE_DEPTH);
    let log = Arc::new(AnyEventLog::Memory(log));
    let opened = Arc::clone(&log);
    let options = RunOptions {
        world: WorldOptions {
            agents: AgentOptions {
                bridge: Some(Arc::clone(host) as Arc<dyn HostBridge>),
                ..AgentOptions::default()
            },
            event_log: EventLogOptions {
                open: Some(Arc::new(move || Some(Arc::clone(&opened)))),
                ..EventLogOptions::default()
            },
            ..WorldOptions::default()
        },
        timeout: Some(Duration::from_secs(60)),
        ..RunOptions::default()
    };
    let kept = Kept::default();
    let ended = Program::new(&mut workspace, Path::new("/main.harn"))
        .run(&options, Box::new(kept.clone()))
        .expect("it compiles");
    let written = kept.0.lock().expect("nobody has panicked").clone();
    assert!(
        matches!(ended, Outcome::Ended(Ok(_))),
        "{ended:?} {written}"
    );
    let topic = Topic::new("host.calls").expect("it is one");
    let records = block_on(log.read_range(&topic, None, 100)).expect("it can be read");
    let records = records.into_iter();
    let records = records.map(|(_, event)| (event.kind, event.payload));
    (written, records.collect())
}

fn lending(lends: bool) -> Arc<Host> {
    Arc::new(Host {
        lends,
        asked: Mutex::default(),
    })
}

#[test]
fn operations_of_the_host_come_before_those_that_every_host_has() {
    let host = lending(true);
    let text = "\
println(host_call(\"math.add\", {a: 1, b: 2}))
println(host_call(\"process.get_default_shell\").id != nil)
println(unwrap_err(try { host_call(\"math.divide\") }))
println(unwrap_err(try { host_call(\"math.gone\") }))
println(unwrap_err(try { host_call(\"other.thing\") }))
println(host_has(\"math\", \"add\"))
println(host_has(\"math\", \"subtract\"))
println(host_has(\"process\", \"exec\"))
";
    let (written, records) = run(&host, text);
    let expected = "\
3
true
Error [tool_rejected]: host_call math.divide: not today
host_call: unsupported operation math.gone
host_call: unsupported operation other.thing
true
false
true
";
    assert_eq!(written, expected);
    let asked = host.asked.lock().expect("nobody has panicked");
    let methods: Vec<&str> = asked.iter().map(|(method, _)| &**method).collect();
    // It is asked once what it lends.
    assert_eq!(
        methods,
        ["host/capabilities", "host/call", "host/call", "host/call"]
    );
    assert_eq!(
        asked[1].1,
        json!({"name": "math.add", "args": {"a": 1, "b": 2}})
    );
    let kinds: Vec<&str> = records.iter().map(|(kind, _)| &**kind).collect();
    assert_eq!(kinds[..2], ["host.call_requested", "host.call_answered"]);
    assert_eq!(records.len(), 6);
    assert_eq!(records[0].1["args"], json!({"a": 1, "b": 2}));
    assert_eq!(records[1].1["value"], 3);
    assert_eq!(records[0].1["call_id"], records[1].1["call_id"]);
    assert_eq!(records[3].1["error"], "not today");
}

#[test]
fn tools_of_the_host_are_listed_and_called() {
    let host = lending(true);
    let text = "\
println(host_tool_list())
println(host_tool_call(\"lamp\", {on: true}))
println(unwrap_err(try { host_tool_call(\"door\") }))
";
    let (written, _) = run(&host, text);
    let expected = "\
[{deprecated: false, description: Light, name: lamp, schema: nil}]
{is_on: true}
host_tool_call: door: unknown tool (7150)
";
    assert_eq!(written, expected);
    let asked = host.asked.lock().expect("nobody has panicked");
    assert_eq!(asked[1].1, json!({"name": "lamp", "args": [{"on": true}]}));
}

#[test]
fn a_host_that_lends_nothing_is_asked_nothing() {
    let host = lending(false);
    let text = "\
println(host_call(\"process.get_default_shell\").id != nil)
println(host_tool_list())
println(unwrap_err(try { host_tool_call(\"lamp\") }))
println(host_has(\"math\"))
";
    let (written, records) = run(&host, text);
    let expected = "true\n[]\nhost_tool_call: no host bridge is attached\nfalse\n";
    assert_eq!(written, expected);
    assert_eq!(host.asked.lock().expect("nobody has panicked").len(), 0);
    assert_eq!(records, []);
}

/// What a program calls and nobody else has defined.
const UNKNOWN: &str = "\
fn sum(list) { return hostlib_sum(...list) }
println(unwrap_err(try { hostlib_gone() }))
println(unwrap_err(try { hostlib_door(\"front\") }))
println(unwrap_err(try { hostlib_window(1) }))
println(sum([1, 2]) + hostlib_sum(3, 4))
";

#[test]
fn a_function_that_nobody_has_defined_is_one_of_the_host() {
    let host = lending(true);
    let (written, records) = run(&host, UNKNOWN);
    let expected = "\
Undefined builtin: hostlib_gone
Error [tool_rejected]: hostlib_door: locked
hostlib_window: unknown tool (7150)
10
";
    assert_eq!(written, expected);
    let asked = host.asked.lock().expect("nobody has panicked");
    let asked: Vec<_> = asked
        .iter()
        .map(|(method, asked)| (&**method, asked))
        .collect();
    assert_eq!(
        asked[1..4],
        [
            (
                "builtin_call",
                &json!({"name": "hostlib_door", "args": ["front"]})
            ),
            (
                "builtin_call",
                &json!({"name": "hostlib_window", "args": [1]})
            ),
            (
                "builtin_call",
                &json!({"name": "hostlib_sum", "args": [1, 2]})
            ),
        ]
    );
    assert_eq!(records.len(), 10, "each was asked and answered");
}

#[test]
fn without_a_host_such_a_function_is_undefined() {
    let host = lending(false);
    let text = "println(unwrap_err(try { hostlib_sum(1) }))\n";
    let (written, records) = run(&host, text);
    assert_eq!(written, "Undefined builtin: hostlib_sum\n");
    assert_eq!(host.asked.lock().expect("nobody has panicked").len(), 0);
    assert_eq!(records, []);
}
