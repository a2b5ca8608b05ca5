//! Answers that stand for those of servers.

mod pattern;
mod redact;

use std::collections::VecDeque;

use harn_machine::value::Text;
use harn_machine::{Context, Failure, Holds, Registry, Value, argument};

use super::reply::Reply;
use super::request::Prepared;
use crate::expect::text;
use redact::{headers_without_secrets, url_without_secrets};

pub(crate) use pattern::Pattern;

/// How many requests are remembered; the oldest are forgotten first.
const CALLS_MAX: usize = 100_000;

pub(super) fn register(registry: &mut Registry) {
    registry.plain(&[
        ("http_mock", http_mock),
        ("http_mock_calls", http_mock_calls),
        ("http_mock_clear", http_mock_clear),
    ]);
}

/// The mocks of a run and the requests that they served.
#[derive(Default)]
struct Mocks {
    mocks: Vec<Mock>,
    calls: VecDeque<Call>,
}

struct Mock {
    /// In upper case; `*` for all.
    method: String,
    pattern: Pattern,
    /// The first is given next; the last is never taken away.
    replies: VecDeque<Reply>,
}

/// A request that was served.
struct Call {
    method: String,
    url: String,
    headers: Vec<(String, String)>,
    body: Option<Text>,
}

impl Holds for Mocks {
    fn each_value(&self, each: &mut dyn FnMut(&Value)) {
        for reply in self.mocks.iter().flat_map(|mock| &mock.replies) {
            each(&Value::Text(reply.body.clone()));
        }
        for body in self.calls.iter().filter_map(|call| call.body.as_ref()) {
            each(&Value::Text(body.clone()));
        }
    }
}

impl Mock {
    fn serves(&self, method: &str, url: &str) -> bool {
        (self.method == "*" || self.method == method) && self.pattern.matches(url)
    }

    fn next(&mut self) -> Reply {
        match self.replies.len() {
            0 | 1 => self.replies.front().cloned().unwrap_or_default(),
            _ => self.replies.pop_front().unwrap_or_default(),
        }
    }
}

/// The answer of the first mock that serves a request, which is remembered.
pub(super) fn answer(context: &mut Context<'_>, request: &Prepared) -> Option<Reply> {
    let mocks = context.holding::<Mocks>();
    let serves = |mock: &&mut Mock| mock.serves(&request.method, &request.url);
    let reply = mocks.mocks.iter_mut().find(serves)?.next();
    if mocks.calls.len() == CALLS_MAX {
        mocks.calls.pop_front();
    }
    mocks.calls.push_back(Call {
        method: request.method.clone(),
        url: request.url.clone(),
        headers: request.headers.clone(),
        body: request.body.as_ref().map(|body| body.shown.clone()),
    });
    Some(reply)
}

/// `http_mock(method, pattern, response)`
fn http_mock(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let method = text(arguments, 0).to_uppercase();
    let pattern = Pattern::new(&text(arguments, 1));
    let response = argument(arguments, 2);
    let listed = match response {
        Value::Dict(response) => match response.get("responses") {
            Some(Value::List(responses)) => Some(responses.iter().map(Reply::of).collect()),
            _ => None,
        },
        _ => None,
    };
    let replies = listed.unwrap_or_else(|| VecDeque::from([Reply::of(response)]));
    let mocks = &mut context.holding::<Mocks>().mocks;
    mocks.retain(|mock| mock.method != method || mock.pattern != pattern);
    mocks.push(Mock {
        method,
        pattern,
        replies,
    });
    Ok(Value::Nil)
}

/// `http_mock_calls({include_sensitive, redact_sensitive})`
fn http_mock_calls(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let option = |name: &str| match argument(arguments, 0) {
        Value::Dict(options) => options.get(name).cloned().unwrap_or_default(),
        _ => Value::Nil,
    };
    let shows_all = option("include_sensitive").is_truthy()
        || matches!(option("redact_sensitive"), Value::Bool(false));
    let calls = context.holding::<Mocks>().calls.iter();
    Ok(calls.map(|call| call.described(shows_all)).collect())
}

impl Call {
    fn described(&self, shows_all: bool) -> Value {
        let (url, headers) = match shows_all {
            true => (self.url.clone(), self.headers.clone()),
            false => (
                url_without_secrets(&self.url),
                headers_without_secrets(&self.headers),
            ),
        };
        let headers = headers.iter();
        let headers =
            headers.map(|(name, value)| (Text::from(name.as_str()), value.as_str().into()));
        Value::dict([
            ("method", self.method.as_str().into()),
            ("url", url.into()),
            ("headers", Value::Dict(headers.collect())),
            ("body", self.body.clone().into()),
        ])
    }
}

/// `http_mock_clear()`: open streams end too.
fn http_mock_clear(context: &mut Context<'_>, _: &mut [Value]) -> Result<Value, Failure> {
    *context.holding::<Mocks>() = Mocks::default();
    super::streams::close_all(context);
    Ok(Value::Nil)
}
