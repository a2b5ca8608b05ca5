//! Requests of processes that have ended.
//!
//! A program that was killed while it waited is started again and asks the same. It would be a
//! nuisance to answer twice, and an answer that was given meanwhile would be lost. So a request
//! is taken up again if its process has gone and it is the same in every respect. A session
//! goes on where it was, so there the oldest one fits. A program without sessions begins anew
//! and asks everything again, so there the first is the first and the second the second.

use std::collections::BTreeMap;

use harn_agent::log::{AnyEventLog, LogError};
use harn_agent::people::{Request, RequestState, Requests, headers, is_gone};

use super::asked::About;

/// What tells the requests of one program from each other.
pub(super) struct Place<'a> {
    pub(super) program: &'a str,
    /// How many requests like this one the program has made before.
    pub(super) occurrence: usize,
}

/// A request of an earlier process that is the same as one that is about to be made.
pub(super) async fn same(
    known: &mut Requests,
    log: &AnyEventLog,
    about: &About,
    place: &Place<'_>,
) -> Result<Option<Request>, LogError> {
    known.read(log).await?;
    let mut all = known.all().into_iter();
    let found = all.find(|request| is_same(request, about, place));
    Ok(found.cloned())
}

fn is_same(request: &Request, about: &About, place: &Place<'_>) -> bool {
    let is_over = matches!(request.state, RequestState::Over(_));
    let occurrence = place.occurrence.to_string();
    let is_here = match &about.session {
        Some(session) => request.header(headers::SESSION) == Some(session),
        None => {
            request.header(headers::SESSION).is_none()
                && request.header(headers::PROGRAM) == Some(place.program)
                && request.header(headers::OCCURRENCE) == Some(&occurrence)
        }
    };
    let asks_the_same = ["prompt", "approvers", "metadata"]
        .iter()
        .all(|key| request.payload[key] == about.payload[key]);
    !is_over
        && is_here
        && request.kind == about.kind()
        && asks_the_same
        && request.header(headers::PROCESS).is_some_and(is_gone)
}

/// What a request is, in a text that is the same for the same request.
pub(super) fn fingerprint(about: &About) -> String {
    let parts: BTreeMap<&str, &serde_json::Value> = ["prompt", "approvers", "metadata"]
        .iter()
        .map(|key| (*key, &about.payload[key]))
        .collect();
    let parts = serde_json::to_string(&parts).unwrap_or_default();
    format!("{} {:?} {parts}", about.kind(), about.session)
}
