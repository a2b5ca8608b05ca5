//! Sessions: requests that share connections and settings.

use std::collections::BTreeMap;
use std::task::Poll;

use harn_machine::value::{Dict, Text};
use harn_machine::{
    Context, Failure, NetRequest, Registry, Request, Value, Waiting, argument, thrown,
};

use super::journey::options;
use super::requests::{exchange, required_method, required_url, whole};
use crate::transport::handles::{handle, new_handle};

/// How many sessions may be open.
const SESSIONS_MAX: usize = 64;

pub(super) fn register(registry: &mut Registry) {
    registry.plain(&[
        ("http_session", http_session),
        ("http_session_close", http_session_close),
    ]);
    registry.waiting(&[("http_session_request", http_session_request)]);
}

/// The sessions of a run, by their handles.
#[derive(Default)]
struct Sessions {
    open: BTreeMap<Text, Session>,
    /// How many were opened.
    count: u64,
}

struct Session {
    /// What the network knows it by.
    number: u64,
    /// The options of requests that have none of their own.
    defaults: Dict,
}

/// `http_session(options)`
fn http_session(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    if context.state::<Sessions>().open.len() >= SESSIONS_MAX {
        return thrown(format!(
            "http_session: maximum open sessions ({SESSIONS_MAX}) reached"
        ));
    }
    let handle = new_handle(context, "http-session");
    let sessions = context.state::<Sessions>();
    sessions.count += 1;
    let session = Session {
        number: sessions.count,
        defaults: options(argument(arguments, 0)),
    };
    sessions.open.insert(handle.clone(), session);
    Ok(handle.into())
}

/// `http_session_close(session)`: whether it was open.
fn http_session_close(
    context: &mut Context<'_>,
    arguments: &mut [Value],
) -> Result<Value, Failure> {
    let handle = handle("http_session_close", arguments)?;
    let session = context.state::<Sessions>().open.remove(&handle);
    if let Some(session) = &session {
        context.perform(&Request::Net(NetRequest::EndSession(session.number)));
    }
    Ok(session.is_some().into())
}

/// `http_session_request(session, method, url, options)`
fn http_session_request(
    context: &mut Context<'_>,
    arguments: &mut [Value],
    waiting: &mut Waiting,
) -> Result<Poll<Value>, Failure> {
    let builtin = "http_session_request";
    exchange(context, waiting, |context| {
        let session = handle(builtin, arguments)?;
        let method = required_method(builtin, arguments, 1)?;
        let url = required_url(builtin, arguments, 2)?;
        let mut options = options(argument(arguments, 3));
        options.insert(Text::new("session"), session.into());
        whole(context, (builtin, &method), &url, None, &options)
    })
}

/// Options with those of their session, and its number. Headers of both are sent; everything
/// else that a request says itself replaces what the session says.
pub(crate) fn of_options(
    context: &mut Context<'_>,
    builtin: &str,
    options: &Dict,
) -> Result<(Dict, Option<u64>), Failure> {
    let given = options.get("session").filter(|session| !session.is_nil());
    let Some(given) = given else {
        return Ok((options.clone(), None));
    };
    let id = handle(builtin, std::slice::from_ref(given))?;
    let Some(session) = context.state::<Sessions>().open.get(&id) else {
        return thrown(format!("{builtin}: unknown HTTP session '{id}'"));
    };
    let mut merged = session.defaults.clone();
    for (name, value) in options.iter() {
        let value = match (name.as_str(), merged.get(name), value) {
            ("headers", Some(Value::Dict(before)), Value::Dict(own)) => {
                Value::Dict(both_headers(before, own))
            }
            _ => value.clone(),
        };
        merged.insert(name.clone(), value);
    }
    Ok((merged, Some(session.number)))
}

/// Headers of a session and of a request, which may be spelled in different cases.
fn both_headers(before: &Dict, own: &Dict) -> Dict {
    let is_own = |name: &Text| own.keys().any(|one| one.eq_ignore_ascii_case(name));
    let kept = before.iter().filter(|(name, _)| !is_own(name));
    let all = kept.chain(own.iter());
    all.map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}
