//! What the way of a request asks: `harn/server.harn` calls these.

use harn_machine::value::Dict;
use harn_machine::{Context, Failure, Registry, Value, argument, thrown};

use super::request::Request;
use super::response::reply;
use super::{Servers, described, server};
use crate::transport::handles::handle;

const UNAVAILABLE: i64 = 503;
const NOT_FOUND: i64 = 404;
const TOO_LARGE: i64 = 413;

pub(super) fn register(registry: &mut Registry) {
    registry.plain(&[
        ("__http_server_gate", gate),
        ("__http_server_match", matched),
        ("__http_server_readiness", readiness),
        ("__http_server_stop", stop),
        ("__http_server_unready", |_, _| Ok(unready())),
    ]);
}

fn unready() -> Value {
    reply(UNAVAILABLE, &[], "server is not ready")
}

/// Whether a request may come in: a reply if not, else the function that decides further.
fn gate(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let arguments = listed(arguments);
    if arguments.len() < 2 {
        return thrown("http_server_request: requires server and request");
    }
    let id = handle("http_server_request", &arguments)?;
    let Some(server) = context.holding::<Servers>().0.get(&id) else {
        return thrown(format!("http_server_request: unknown server handle '{id}'"));
    };
    if !matches!(argument(&arguments, 1), Value::Dict(_)) {
        return thrown("http_server_request: request must be a dict");
    }
    let refusal = match (server.is_shut_down, server.is_ready) {
        (true, _) => Some(reply(UNAVAILABLE, &[], "server is shut down")),
        (false, false) => Some(unready()),
        (false, true) => None,
    };
    Ok(Value::dict([
        ("handle", described(&id)),
        ("readiness", server.readiness.clone()),
        ("reply", refusal.into()),
    ]))
}

/// The handler of a request and what is around it, or a reply if there is none.
fn matched(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let arguments = listed(arguments);
    let given = match argument(&arguments, 1) {
        Value::Dict(given) => Request::read(given),
        _ => Request::read(&Dict::default()),
    };
    let (_, server) = server("http_server_request", context, &arguments)?;
    let (method, path) = (&given.method, &given.path);
    let mut routes = server.routes.iter();
    let found = routes.find_map(|route| Some((route, route.parameters(method, path)?)));
    let Some((route, parameters)) = found else {
        let text = format!("no route for {method} {path}");
        return Ok(refused(reply(NOT_FOUND, &[], &text)));
    };
    let size = given.body_bytes();
    let limit = route.limits.bytes_max;
    if i64::try_from(size).is_ok_and(|size| size > limit) {
        let text = format!("request body too large: {size} > {limit} bytes");
        let limit = limit.to_string();
        let headers = [("connection", "close"), ("x-harn-body-limit", &*limit)];
        return Ok(refused(reply(TOO_LARGE, &headers, &text)));
    }
    Ok(Value::dict([
        ("after", Value::list(server.after.clone())),
        ("before", Value::list(server.before.clone())),
        ("handler", route.handler.clone()),
        ("request", given.described(parameters, route.limits)),
    ]))
}

fn refused(reply: Value) -> Value {
    Value::dict([("reply", reply)])
}

/// Whether a server answers, or the function that knows.
fn readiness(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let arguments = listed(arguments);
    let (id, server) = server("http_server_ready", context, &arguments)?;
    let check = match server.is_shut_down {
        true => Value::Nil,
        false => server.readiness.clone(),
    };
    Ok(Value::dict([
        ("check", check),
        ("handle", described(&id)),
        ("ready", (server.is_ready && !server.is_shut_down).into()),
    ]))
}

/// Shuts a server down and gives the functions that want to know; only the first time.
fn stop(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let arguments = listed(arguments);
    let (id, server) = server("http_server_shutdown", context, &arguments)?;
    server.is_shut_down = true;
    let hooks = std::mem::take(&mut server.on_shutdown);
    Ok(Value::dict([
        ("handle", described(&id)),
        ("hooks", Value::list(hooks)),
    ]))
}

/// The arguments of the builtin, which Harn passes on as one list.
fn listed(arguments: &[Value]) -> Vec<Value> {
    match argument(arguments, 0) {
        Value::List(arguments) => arguments.iter().cloned().collect(),
        _ => Vec::new(),
    }
}
