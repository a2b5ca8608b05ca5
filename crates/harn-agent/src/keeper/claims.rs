//! Who may write a session: the keeper that has claimed it.
//!
//! ```text
//! claim ─► catch up with other processes ─► records … ─► dropped ─► all written ─► given back
//! ```
//!
//! The log knows the owners of all processes ([`harn_log::Owners`]). A claim is taken before the
//! first record of a session and before its place in the log is looked up, and it is given back
//! when the last of its records was written: the next owner goes on where the log ends.

use std::sync::Arc;

use harn_events::{LogFailure, agent_events_topic};
use harn_log::{AnyEventLog, Claim, ClaimError, Owner, block_on};

use super::{Keeper, Queue};
use crate::moment::rfc3339_seconds;
use crate::session::journal_topic;

/// Why a session cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum CannotClaim {
    /// Another process, or another program of this one, writes it.
    #[error("is in use by {}", describe_owner(.0))]
    InUse(Box<Owner>),
    /// The log does not tell who writes it, or cannot be told that we do.
    #[error("cannot be claimed in the log: {0}")]
    Log(#[source] LogFailure),
}

impl From<ClaimError> for CannotClaim {
    fn from(error: ClaimError) -> Self {
        match error {
            ClaimError::InUse(owner) => Self::InUse(owner),
            ClaimError::Io(error) => Self::Log(error.into()),
        }
    }
}

/// An owner as people are told of it.
pub fn describe_owner(owner: &Owner) -> String {
    let since = rfc3339_seconds(owner.since_ms);
    format!("process {} on {}, since {since}", owner.process, owner.host)
}

/// The right to write a session, and the keeper to write it with.
pub struct SessionClaim {
    keeper: Arc<Keeper>,
    /// Taken when this is dropped.
    claim: Option<Claim>,
}

impl SessionClaim {
    /// The keeper that has claimed the session.
    pub fn keeper(&self) -> &Arc<Keeper> {
        &self.keeper
    }
}

impl Drop for SessionClaim {
    /// What the session has recorded may still wait to be written. The claim waits with it.
    fn drop(&mut self) {
        let Some(claim) = self.claim.take() else {
            return;
        };
        let ending = EndingClaim::new(claim);
        let mut queue = self.keeper.shared.queue();
        if queue.has_records_of(&ending) {
            queue.ending_claims.push(ending);
            return;
        }
        drop(queue);
        drop(ending); // Without the lock of the queue: it writes to a file.
    }
}

/// A claim that is given back when the last records of its session were written.
pub(super) struct EndingClaim {
    _claim: Claim,
    topics: [String; 2],
}

impl EndingClaim {
    fn new(claim: Claim) -> Self {
        let topics = [
            journal_topic(claim.name()),
            agent_events_topic(claim.name()),
        ];
        Self {
            _claim: claim,
            topics,
        }
    }
}

impl Queue {
    fn has_records_of(&self, ending: &EndingClaim) -> bool {
        ending.topics.iter().any(|topic| self.has_unwritten(topic))
    }

    /// Takes the claims out whose sessions have no records here any more. The caller drops them
    /// when it has let go of the queue.
    pub(super) fn take_ended_claims(&mut self) -> Vec<EndingClaim> {
        if self.ending_claims.is_empty() {
            return Vec::new();
        }
        let ending = std::mem::take(&mut self.ending_claims);
        let (waiting, ended) = ending.into_iter().partition(|one| self.has_records_of(one));
        self.ending_claims = waiting;
        ended
    }
}

impl Keeper {
    /// Claims a session, so that no other process writes it, and no other program of this one.
    /// Programs whose keepers were [lent](Self::lend) by one keeper share their claims.
    ///
    /// `None`: there is no log that anybody could write to.
    ///
    /// # Errors
    /// Another owner has it; nothing was written then. Or the log cannot be read or written.
    pub fn claim(self: &Arc<Self>, session_id: &str) -> Result<Option<SessionClaim>, CannotClaim> {
        self.claim_with(session_id, |log| {
            let scope = self.claim_scope(log);
            let claim = log.owners().claim(scope, session_id)?;
            let caught_up = block_on(log.catch_up());
            caught_up.map_err(|error| CannotClaim::Log(error.into()))?;
            Ok(claim)
        })
    }

    /// The same for a session whose id was just made, so that nobody else can know it.
    ///
    /// # Errors
    /// The log cannot be written.
    pub fn claim_new(
        self: &Arc<Self>,
        session_id: &str,
    ) -> Result<Option<SessionClaim>, CannotClaim> {
        self.claim_with(session_id, |log| {
            let scope = self.claim_scope(log);
            Ok(log.owners().claim_new(scope, session_id)?)
        })
    }

    fn claim_with(
        self: &Arc<Self>,
        session_id: &str,
        claim: impl FnOnce(&Arc<AnyEventLog>) -> Result<Claim, CannotClaim>,
    ) -> Result<Option<SessionClaim>, CannotClaim> {
        // A topic cannot have such a name, so nothing of the session is kept.
        let Some(log) = self.log().filter(|_| !session_id.is_empty()) else {
            return Ok(None);
        };
        Ok(Some(SessionClaim {
            keeper: Arc::clone(self),
            claim: Some(claim(log)?),
        }))
    }

    fn claim_scope(&self, log: &AnyEventLog) -> harn_log::ClaimScope {
        *self.scope.get_or_init(|| log.owners().scope())
    }
}

#[cfg(test)]
mod tests {
    use harn_log::{Draft, LogEvent, MemoryEventLog, Topic};
    use serde_json::json;

    use super::*;

    fn keeper() -> Arc<Keeper> {
        Keeper::new(Arc::new(AnyEventLog::Memory(MemoryEventLog::new(16))))
    }

    fn owner(keeper: &Keeper, session_id: &str) -> Option<Owner> {
        let owners = keeper.log().unwrap().owners();
        owners.owner_of(session_id).unwrap()
    }

    #[test]
    fn programs_of_one_conversation_share_its_session_and_others_are_refused() {
        let keeper = keeper();
        let [one, again, other] = ["one", "one", "other"].map(|name| keeper.lend_apart(name));
        let claim = one.lend().claim("s").unwrap();
        let shared = again.claim("s").unwrap();
        for refused in [other.claim("s"), keeper.claim("s")] {
            let refused = refused.err().unwrap().to_string();
            let process = std::process::id();
            let told = format!("is in use by process {process} on ");
            assert!(refused.starts_with(&told), "{refused}");
        }
        drop(claim);
        assert!(other.claim("s").is_err(), "one of the two goes on");
        drop(shared);
        assert!(other.claim("s").is_ok());
    }

    /// The next owner goes on where the log ends, so nothing may come after it has looked.
    #[test]
    fn a_session_is_given_back_when_its_last_records_were_written() {
        let keeper = keeper();
        let ending = || {
            let mut claim = keeper.claim("s").unwrap().unwrap();
            EndingClaim::new(claim.claim.take().unwrap())
        };
        for topic in [journal_topic("s"), agent_events_topic("s")] {
            let topic = Topic::new(topic).unwrap();
            let record = Draft::new(&topic, LogEvent::new("n", json!(0))).unwrap();
            let mut queue = Queue {
                records: vec![record],
                ending_claims: vec![ending()],
                ..Queue::default()
            };
            assert!(queue.take_ended_claims().is_empty());
            assert!(owner(&keeper, "s").is_some());
            let records = std::mem::take(&mut queue.records);
            queue.is_writing = true;
            assert!(queue.take_ended_claims().is_empty(), "it is on its way");
            drop(records);
            queue.is_writing = false;
            drop(queue.take_ended_claims());
            assert_eq!(owner(&keeper, "s"), None);
        }
    }

    #[test]
    fn a_claim_that_ends_with_a_record_under_way_is_given_back_by_the_writer() {
        let keeper = keeper();
        let topic = Topic::new(journal_topic("s")).unwrap();
        let claim = keeper.claim("s").unwrap();
        let record = Draft::new(&topic, LogEvent::new("n", json!(0))).unwrap();
        keeper.put(record).unwrap();
        drop(claim);
        block_on(keeper.sync()).unwrap();
        assert_eq!(owner(&keeper, "s"), None);
    }
}
