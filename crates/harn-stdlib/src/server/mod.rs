//! HTTP servers inside the program: routes, hooks and responses, without sockets.
//!
//! ```text
//! request ─► shut down? ─► ready? ─► route ─► size ─► before hooks ─► handler ─► after hooks
//!                503          503      404     413
//! ```
//!
//! The way of a request goes through functions of the program, so it is written in Harn
//! (`harn/server.harn`); here is what it asks on the way.

mod request;
mod response;
mod route;
mod steps;
pub(crate) mod tls;

use std::collections::HashMap;

use harn_machine::value::{Dict, Text};
use harn_machine::{Context, Failure, Holds, Registry, Value, argument, thrown};

use crate::transport::handles::{handle, new_handle};
use route::Route;

/// So many servers may be open at a time.
const SERVERS_MAX: usize = 128;

/// How many bytes the body of a request may have unless the program says otherwise.
const BODY_BYTES_MAX: i64 = 1 << 20;

pub(crate) fn register(registry: &mut Registry) {
    registry.plain(&[
        ("http_server", http_server),
        ("http_server_route", add_route),
        ("http_server_before", |context, arguments| {
            add_hook("http_server_before", context, arguments, |server, hook| {
                server.before.push(hook);
            })
        }),
        ("http_server_after", |context, arguments| {
            add_hook("http_server_after", context, arguments, |server, hook| {
                server.after.push(hook);
            })
        }),
        ("http_server_readiness", |context, arguments| {
            add_hook(
                "http_server_readiness",
                context,
                arguments,
                |server, hook| {
                    server.readiness = hook;
                },
            )
        }),
        ("http_server_on_shutdown", |context, arguments| {
            add_hook(
                "http_server_on_shutdown",
                context,
                arguments,
                |server, hook| {
                    server.on_shutdown.push(hook);
                },
            )
        }),
        ("http_server_set_ready", set_ready),
    ]);
    response::register(registry);
    steps::register(registry);
    tls::register(registry);
    registry.file("server", include_str!("../../harn/server.harn"));
    let written_in_harn = [
        "http_server_ready",
        "http_server_request",
        "http_server_shutdown",
    ];
    registry.harn("server", &written_in_harn.map(|name| (name, name)));
    registry.harn("server", &[("http_server_test", "http_server_request")]);
}

/// The servers of a run.
#[derive(Default)]
struct Servers(HashMap<Text, Server>);

impl Holds for Servers {
    fn each_value(&self, each: &mut dyn FnMut(&Value)) {
        for server in self.0.values() {
            let hooks = [&server.before, &server.after, &server.on_shutdown];
            hooks.into_iter().flatten().for_each(&mut *each);
            let handlers = server.routes.iter().map(|route| &route.handler);
            handlers.for_each(&mut *each);
            each(&server.readiness);
        }
    }
}

/// What a program has said about a server.
struct Server {
    limits: BodyLimits,
    /// Whether it answers, as far as no function decides that.
    is_ready: bool,
    is_shut_down: bool,
    /// In the order in which they are tried.
    routes: Vec<Route>,
    before: Vec<Value>,
    after: Vec<Value>,
    /// The function that decides whether it answers, or nil.
    readiness: Value,
    on_shutdown: Vec<Value>,
}

/// What is done with bodies of requests.
#[derive(Clone, Copy)]
struct BodyLimits {
    bytes_max: i64,
    /// Whether handlers see the octets too.
    retains_raw: bool,
}

impl BodyLimits {
    /// These, as far as options do not say otherwise.
    fn with(mut self, builtin: &str, options: &Dict) -> Result<Self, Failure> {
        match options.get("max_body_bytes") {
            Some(Value::Int(bytes)) if *bytes < 0 => {
                return thrown(format!("{builtin}: max_body_bytes must be non-negative"));
            }
            Some(Value::Int(bytes)) => self.bytes_max = *bytes,
            _ => {}
        }
        if let Some(retains) = options.get("retain_raw_body").filter(|it| !it.is_nil()) {
            self.retains_raw = retains.is_truthy();
        }
        Ok(self)
    }
}

fn options(arguments: &[Value], at: usize) -> Dict {
    match argument(arguments, at) {
        Value::Dict(options) => options.clone(),
        _ => Dict::default(),
    }
}

/// `http_server(options?)`
fn http_server(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let options = options(arguments, 0);
    let limits = BodyLimits {
        bytes_max: BODY_BYTES_MAX,
        retains_raw: true,
    };
    let limits = limits.with("http_server", &options)?;
    let servers = &context.holding::<Servers>().0;
    let open = servers.values().filter(|server| !server.is_shut_down);
    if open.count() >= SERVERS_MAX {
        return thrown(format!(
            "http_server: maximum open servers ({SERVERS_MAX}) reached"
        ));
    }
    let id = new_handle(context, "http-server");
    let is_ready = options.get("ready").filter(|it| !it.is_nil());
    let server = Server {
        limits,
        is_ready: is_ready.is_none_or(Value::is_truthy),
        is_shut_down: false,
        routes: Vec::new(),
        before: Vec::new(),
        after: Vec::new(),
        readiness: Value::Nil,
        on_shutdown: Vec::new(),
    };
    let servers = &mut context.holding::<Servers>().0;
    servers.insert(id.clone(), server);
    Ok(described(&id))
}

/// The handle that programs hold.
fn described(id: &Text) -> Value {
    Value::dict([
        ("id", id.clone().into()),
        ("kind", Value::text("http_server")),
    ])
}

/// The server of a handle.
fn server<'a>(
    builtin: &str,
    context: &'a mut Context<'_>,
    arguments: &[Value],
) -> Result<(Text, &'a mut Server), Failure> {
    let id = handle(builtin, arguments)?;
    match context.holding::<Servers>().0.get_mut(&id) {
        Some(server) => Ok((id, server)),
        None => thrown(format!("{builtin}: unknown server '{id}'")),
    }
}

/// An argument that can be called; arguments are numbered from 1 here.
fn function(builtin: &str, arguments: &[Value], number: usize) -> Result<Value, Failure> {
    match argument(arguments, number - 1) {
        function if function.is_callable() => Ok(function.clone()),
        other => thrown(format!(
            "{builtin}: argument {number} must be a closure, got {}",
            other.type_name()
        )),
    }
}

fn add_hook(
    builtin: &str,
    context: &mut Context<'_>,
    arguments: &[Value],
    add: fn(&mut Server, Value),
) -> Result<Value, Failure> {
    server(builtin, context, arguments)?;
    let hook = function(builtin, arguments, 2)?;
    let (id, server) = server(builtin, context, arguments)?;
    add(server, hook);
    Ok(described(&id))
}

/// `http_server_route(server, method, template, handler, options?)`
fn add_route(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let builtin = "http_server_route";
    if arguments.len() < 4 {
        return thrown(format!(
            "{builtin}: requires server, method, path template, and handler"
        ));
    }
    let (id, server) = server(builtin, context, arguments)?;
    let template = argument(arguments, 2).to_text();
    if !template.starts_with('/') {
        return thrown(format!("{builtin}: path template must start with '/'"));
    }
    let handler = function(builtin, arguments, 4)?;
    let limits = server.limits.with(builtin, &options(arguments, 4))?;
    let method = argument(arguments, 1).to_text();
    server
        .routes
        .push(Route::new(&method, &template, handler, limits));
    Ok(described(&id))
}

/// `http_server_set_ready(server, ready)`
fn set_ready(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let (_, server) = server("http_server_set_ready", context, arguments)?;
    server.is_ready = argument(arguments, 1).is_truthy();
    Ok(server.is_ready.into())
}
