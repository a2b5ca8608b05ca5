//! Requests whose whole answer is wanted.

use std::task::Poll;

use harn_machine::value::{Dict, Text};
use harn_machine::{Context, Failure, Registry, Value, Waiting, argument, thrown};

use super::journey::{Arrived, Goal, Journey, options, travel};
use super::request::Asked;
use crate::expect::text;

type Polled = Result<Poll<Value>, Failure>;

pub(super) fn register(registry: &mut Registry) {
    registry.waiting(&[
        ("http_get", |context, arguments, waiting| {
            without_body(context, arguments, waiting, ("http_get", "GET"))
        }),
        ("http_delete", |context, arguments, waiting| {
            without_body(context, arguments, waiting, ("http_delete", "DELETE"))
        }),
        ("http_post", |context, arguments, waiting| {
            with_body(context, arguments, waiting, ("http_post", "POST"))
        }),
        ("http_put", |context, arguments, waiting| {
            with_body(context, arguments, waiting, ("http_put", "PUT"))
        }),
        ("http_patch", |context, arguments, waiting| {
            with_body(context, arguments, waiting, ("http_patch", "PATCH"))
        }),
        ("http_request", http_request),
    ]);
}

/// A builtin and its method.
type Named<'a> = (&'static str, &'a str);

/// The journey of a builtin that wants the whole answer.
pub(super) fn whole(
    context: &mut Context<'_>,
    (builtin, method): Named<'_>,
    url: &str,
    body: Option<Text>,
    options: &Dict,
) -> Result<Journey, Failure> {
    Journey::new(
        context,
        Goal::Whole,
        &Asked {
            builtin,
            method,
            url,
            body,
            options,
        },
    )
}

/// `http_get(url, options)`
fn without_body(
    context: &mut Context<'_>,
    arguments: &mut [Value],
    waiting: &mut Waiting,
    named: Named<'_>,
) -> Polled {
    exchange(context, waiting, |context| {
        let url = required_url(named.0, arguments, 0)?;
        let options = options(argument(arguments, 1));
        whole(context, named, &url, None, &options)
    })
}

/// `http_post(url, body, options)`, or `http_post(url, options)`
fn with_body(
    context: &mut Context<'_>,
    arguments: &mut [Value],
    waiting: &mut Waiting,
    named: Named<'_>,
) -> Polled {
    exchange(context, waiting, |context| {
        let url = required_url(named.0, arguments, 0)?;
        let (body, options) = match arguments {
            [_, Value::Dict(options)] => (None, options.clone()),
            _ => {
                let body = argument(arguments, 1);
                let body = (!body.is_nil()).then(|| body.to_text());
                (body, options(argument(arguments, 2)))
            }
        };
        whole(context, named, &url, body, &options)
    })
}

/// `http_request(method, url, options)`
fn http_request(
    context: &mut Context<'_>,
    arguments: &mut [Value],
    waiting: &mut Waiting,
) -> Polled {
    exchange(context, waiting, |context| {
        let method = required_method("http_request", arguments, 0)?;
        let url = required_url("http_request", arguments, 1)?;
        let options = options(argument(arguments, 2));
        whole(context, ("http_request", &method), &url, None, &options)
    })
}

/// A request and the dict of its answer.
pub(super) fn exchange(
    context: &mut Context<'_>,
    waiting: &mut Waiting,
    begin: impl FnOnce(&mut Context<'_>) -> Result<Journey, Failure>,
) -> Polled {
    Ok(match travel(context, waiting, begin)? {
        Poll::Pending => Poll::Pending,
        Poll::Ready((_, Arrived::Whole(reply))) => Poll::Ready(reply.described()),
        Poll::Ready((_, Arrived::Opened { head, .. })) => Poll::Ready(head.described([])),
    })
}

pub(super) fn required_url(builtin: &str, arguments: &[Value], at: usize) -> Result<Text, Failure> {
    required(builtin, "URL", arguments, at)
}

pub(super) fn required_method(
    builtin: &str,
    arguments: &[Value],
    at: usize,
) -> Result<Text, Failure> {
    required(builtin, "method", arguments, at)
}

fn required(builtin: &str, what: &str, arguments: &[Value], at: usize) -> Result<Text, Failure> {
    let given = match argument(arguments, at) {
        Value::Nil => Text::new(""),
        _ => text(arguments, at),
    };
    match given.is_empty() {
        true => thrown(format!("{builtin}: {what} is required")),
        false => Ok(given),
    }
}
