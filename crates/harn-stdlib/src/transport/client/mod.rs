//! Connections that a program opens: streams of events and web sockets.
//!
//! Mocks stand for servers of both. What a program does with mocked connections is listed, so
//! that a test can look at it.

mod calls;
mod mocked;
mod sse;
pub(crate) mod websocket;

use harn_machine::{Context, Failure, Registry, Value};

pub(crate) fn register(registry: &mut Registry) {
    registry.plain(&[
        ("transport_mock_calls", calls::transport_mock_calls),
        ("transport_mock_clear", transport_mock_clear),
    ]);
    sse::register(registry);
    websocket::register(registry);
}

/// `transport_mock_clear()`: connections are closed, and HTTP streams too.
fn transport_mock_clear(context: &mut Context<'_>, _: &mut [Value]) -> Result<Value, Failure> {
    calls::clear(context);
    sse::clear(context);
    websocket::clear(context);
    crate::transport::server::clear(context);
    crate::http::streams::close_all(context);
    Ok(Value::Nil)
}
