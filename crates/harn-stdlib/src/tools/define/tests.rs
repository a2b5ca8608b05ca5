use super::*;

fn dict(value: Value) -> Dict {
    match value {
        Value::Dict(dict) => dict,
        _ => unreachable!("only dicts are given"),
    }
}

fn define(name: &str, config: Value) -> Result<Dict, Failure> {
    entry(&Text::new(name), Text::new("d"), dict(config))
}

/// Anything that is not nil counts as a handler.
fn handler() -> (&'static str, Value) {
    ("handler", Value::Bool(true))
}

#[track_caller]
fn check<const N: usize>(config: [(&str, Value); N], expected: &str) {
    let entry = define("t", Value::dict(config)).unwrap();
    assert_eq!(Value::Dict(entry).show(), expected);
}

#[track_caller]
fn check_refusal<const N: usize>(config: [(&str, Value); N], expected: &str) {
    let refusal = define("t", Value::dict(config)).unwrap_err().value();
    assert_eq!(refusal.show(), format!("tool_define: {expected}"));
}

#[test]
fn an_entry_has_what_it_was_given_and_what_follows() {
    check(
        [handler()],
        "{description: d, executor: harn, handler: true, name: t, parameters: {}}",
    );
    check(
        [
            handler(),
            ("executor", "harn_builtin".into()),
            ("returns", Value::dict([("type", "string".into())])),
            ("parameters", Value::dict([("a", "int".into())])),
            ("namespace", "files".into()),
            ("name", "other".into()),
        ],
        "{description: d, executor: harn, handler: true, name: t, namespace: files, \
         outputSchema: {type: string}, parameters: {a: int}}",
    );
    check(
        [
            ("executor", "host_bridge".into()),
            ("host_capability", "a.b".into()),
            ("handler", Value::Nil),
        ],
        "{description: d, executor: host_bridge, host_capability: a.b, name: t, parameters: {}}",
    );
    check(
        [
            ("executor", "mcp_server".into()),
            ("mcp_server", "m".into()),
        ],
        "{description: d, executor: mcp_server, mcp_server: m, name: t, parameters: {}}",
    );
    check(
        [("executor", "provider_native".into())],
        "{description: d, executor: provider_native, name: t, parameters: {}}",
    );
}

#[test]
fn the_tools_of_the_runtime_need_no_handler() {
    for name in OWN {
        let config = Value::dict([("executor", "harn".into())]);
        assert!(define(name, config).is_ok(), "{name}");
        let config = Value::dict([]);
        assert!(define(name, config).is_err(), "{name} needs an executor");
    }
}

#[test]
fn an_executor_must_be_known() {
    check_refusal(
        [handler(), ("params", Value::Nil)],
        "use 'parameters', not 'params'",
    );
    check_refusal(
        [("executor", Value::Int(1))],
        "`executor` must be a string \
         (\"harn\", \"host_bridge\", \"mcp_server\", or \"provider_native\")",
    );
    check_refusal(
        [("executor", "cloud".into())],
        "unknown executor \"cloud\" for tool \"t\". \
         Expected one of: \"harn\", \"host_bridge\", \"mcp_server\", \"provider_native\"",
    );
    check_refusal(
        [],
        "tool \"t\" has no `handler` and no `executor`. Either attach a `handler` fn \
         (executor: \"harn\") or declare an alternate backend, e.g. executor: \"host_bridge\" + \
         host_capability: \"cap.op\", executor: \"mcp_server\" + mcp_server: \"server-name\", \
         executor: \"provider_native\". Defining a handlerless tool would surface as \
         `[builtin_call] unhandled: t` at the first model call.",
    );
}

#[test]
fn an_executor_gets_what_it_needs_and_nothing_else() {
    check_refusal(
        [("executor", "harn".into())],
        "tool \"t\" declares executor: \"harn\" but has no `handler`. \
         Attach the handler fn or change the executor.",
    );
    check_refusal(
        [handler(), ("host_capability", "a.b".into())],
        "tool \"t\" declares executor: \"harn\" but also sets `host_capability`. Drop one — \
         the harn executor runs the handler in-VM and never reaches the host bridge.",
    );
    check_refusal(
        [handler(), ("mcp_server", "m".into())],
        "tool \"t\" declares executor: \"harn\" but also sets `mcp_server`. Drop one — \
         MCP-served tools must declare executor: \"mcp_server\".",
    );
    check_refusal(
        [handler(), ("executor", "host_bridge".into())],
        "tool \"t\" declares executor: \"host_bridge\" but also has a `handler`. Drop the \
         handler — host-bridge tools are dispatched by the host shell, not the VM.",
    );
    check_refusal(
        [("executor", "host_bridge".into())],
        "tool \"t\" declares executor: \"host_bridge\" but is missing `host_capability`. Set it \
         to the canonical bridge identifier (e.g. \"interaction.ask\") so `harn check` can \
         validate the binding against the host capability manifest.",
    );
    check_refusal(
        [handler(), ("executor", "mcp_server".into())],
        "tool \"t\" declares executor: \"mcp_server\" but also has a `handler`. Drop the \
         handler — MCP-served tools route through the MCP transport.",
    );
    check_refusal(
        [("executor", "mcp_server".into())],
        "tool \"t\" declares executor: \"mcp_server\" but is missing `mcp_server` \
         (the configured server name).",
    );
    check_refusal(
        [handler(), ("executor", "provider_native".into())],
        "tool \"t\" declares executor: \"provider_native\" but also has a `handler`. \
         Provider-side tools are executed by the model server; the runtime never dispatches \
         them locally.",
    );
}

#[test]
fn how_a_tool_is_loaded_is_checked_last() {
    let deferred = "`defer_loading` must be a bool (true → hold schema back until a tool_search \
                    call surfaces it; false or absent → ship eagerly)";
    check_refusal([handler(), ("defer_loading", "yes".into())], deferred);
    let namespace = "`namespace` must be a non-empty string (groups deferred tools for OpenAI \
                     tool_search; Anthropic ignores it)";
    check_refusal([handler(), ("namespace", "".into())], namespace);
    check_refusal([handler(), ("namespace", Value::Int(1))], namespace);
    let both = [
        handler(),
        ("namespace", "".into()),
        ("defer_loading", "yes".into()),
    ];
    check_refusal(both, deferred);
}
