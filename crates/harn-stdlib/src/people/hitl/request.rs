//! One request to people, and what they have said so far.

use harn_machine::Value;
use harn_machine::value::{Dict, Text};

use super::Kind;
use super::response::Response;

/// Who asks where no session does: the program itself.
pub(super) const PROGRAM: &str = "harn";

/// A request that is open.
pub(super) struct Request {
    pub(super) kind: Kind,
    pub(super) id: String,
    /// What people read.
    pub(super) prompt: String,
    pub(super) trace_id: String,
    /// Who may answer; empty: anybody.
    pub(super) approvers: Vec<String>,
    /// How many have to approve.
    pub(super) quorum: usize,
    /// What else the program has said about it.
    pub(super) metadata: Dict,
    /// How long it stays open.
    pub(super) timeout_ms: i64,
    /// When that time is over, by [`Context::elapsed`](harn_machine::Context::elapsed).
    pub(super) until: i64,
    /// The session whose loop asks.
    pub(super) session: Option<String>,
    /// The request as the log keeps it.
    pub(super) payload: Value,
    /// The headers of its record where other processes find it.
    pub(super) headers: Dict,
    /// Whether an earlier process has made it.
    pub(super) is_earlier: bool,
    /// The last event of its topic that was looked at.
    pub(super) cursor: i64,
    /// Those who have approved, in the order in which they did.
    approvals: Vec<Response>,
}

/// What people have decided.
pub(super) enum Verdict {
    /// Enough of them have said what was asked for: these, at least one.
    Given(Vec<Response>),
    /// One of them does not approve.
    Denied(Response),
}

impl Request {
    pub(super) fn new(kind: Kind, prompt: &str, timeout_ms: i64) -> Self {
        Self {
            kind,
            id: String::new(),
            prompt: prompt.to_owned(),
            trace_id: String::new(),
            approvers: Vec::new(),
            quorum: 1,
            metadata: Dict::default(),
            timeout_ms,
            until: 0,
            session: None,
            payload: Value::Nil,
            headers: Dict::default(),
            is_earlier: false,
            cursor: 0,
            approvals: Vec::new(),
        }
    }

    /// The same with something more that the program has said.
    pub(super) fn with(mut self, name: &str, value: Value) -> Self {
        self.metadata.insert(Text::new(name), value);
        self
    }

    /// Takes a response; what is decided by it, if anything is.
    pub(super) fn take(&mut self, response: Response) -> Option<Verdict> {
        if self.kind.ends_with_a_response() {
            return Some(Verdict::Given(vec![response]));
        }
        let reviewer = response.reviewer_name();
        let is_allowed = self.approvers.is_empty() || self.approvers.contains(&reviewer);
        let mut before = self.approvals.iter();
        if !is_allowed || before.any(|one| one.reviewer_name() == reviewer) {
            return None;
        }
        if !response.approved {
            return Some(Verdict::Denied(response));
        }
        self.approvals.push(response);
        let is_enough = self.approvals.len() >= self.quorum;
        is_enough.then(|| Verdict::Given(std::mem::take(&mut self.approvals)))
    }

    /// The request as the log keeps it.
    pub(super) fn described(&self, requested_at: &str) -> Value {
        let agent = self.session.as_deref().unwrap_or(PROGRAM);
        let approvers = self.approvers.iter().map(|name| name.as_str().into());
        Value::dict([
            ("request_id", self.id.as_str().into()),
            ("request_kind", self.kind.name().into()),
            ("agent", agent.into()),
            ("prompt", self.prompt.as_str().into()),
            ("trace_id", self.trace_id.as_str().into()),
            ("timestamp", requested_at.into()),
            ("approvers", approvers.collect()),
            ("metadata", self.metadata.clone().into()),
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn response(reviewer: &str, approved: bool) -> Response {
        let fields = Value::dict([("reviewer", reviewer.into()), ("approved", approved.into())]);
        Response::read(&fields, "2026-01-01T00:00:00Z")
    }

    /// What is decided after each response: `y`es, `n`o or nothing yet.
    #[track_caller]
    fn check(quorum: usize, approvers: &[&str], responses: &[(&str, bool)], expected: &str) {
        let mut request = Request::new(Kind::Approval, "deploy", 0);
        request.quorum = quorum;
        request.approvers = approvers.iter().map(|&name| name.to_owned()).collect();
        let decisions = responses.iter().map(|&(reviewer, approved)| {
            match request.take(response(reviewer, approved)) {
                None => '.',
                Some(Verdict::Denied(_)) => 'n',
                Some(Verdict::Given(_)) => 'y',
            }
        });
        assert_eq!(decisions.collect::<String>(), expected);
    }

    #[test]
    fn enough_distinct_people_have_to_approve() {
        check(1, &[], &[("a", true)], "y");
        check(2, &[], &[("a", true), ("a", true), ("b", true)], "..y");
        check(
            2,
            &["a", "b"],
            &[("c", true), ("b", true), ("a", true)],
            "..y",
        );
    }

    #[test]
    fn the_first_who_does_not_approve_decides() {
        check(2, &[], &[("a", true), ("b", false)], ".n");
        check(1, &["a"], &[("b", false), ("a", false)], ".n");
    }
}
