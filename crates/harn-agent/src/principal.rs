//! Who acts: a person or a program that is known by something it has shown.
//!
//! A principal is written beside what was done, and what it has made belongs to it. A model is
//! none: it acts for the principal whose session it works in.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The name of whoever started this process and reads its files.
const OPERATOR: &str = "operator";

/// Who acts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Principal {
    /// What it is.
    pub kind: PrincipalKind,
    /// What tells it from others of its kind.
    pub id: String,
    /// The way it came, such as `stdio`, `key` or `terminal`.
    pub via: String,
    /// Whether it has shown who it is.
    pub verified: bool,
}

/// What a principal is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PrincipalKind {
    /// A person at a terminal.
    Terminal,
    /// What has started Harn, or was let in by whoever did.
    Host,
    /// A caller of a listener that knows a key.
    Key,
    /// A caller that a layer in front of a listener vouches for.
    Claim,
    /// Somebody who reviews.
    Reviewer,
    /// A program.
    Program,
    /// Another agent, or somebody of whom nothing is known.
    Peer,
}

impl Principal {
    /// Somebody who has shown who they are.
    pub fn new(kind: PrincipalKind, id: impl Into<String>, via: impl Into<String>) -> Self {
        Self {
            kind,
            id: id.into(),
            via: via.into(),
            verified: true,
        }
    }

    /// The operator: whoever started this process.
    pub fn operator(via: impl Into<String>) -> Self {
        Self::new(PrincipalKind::Host, OPERATOR, via)
    }

    /// Harn itself, which ends what nobody uses any more.
    pub fn harn() -> Self {
        Self::new(PrincipalKind::Program, "harn", "process")
    }

    /// Somebody who was let in without showing anything. All of them are one.
    pub fn anonymous(via: impl Into<String>) -> Self {
        Self {
            verified: false,
            ..Self::new(PrincipalKind::Peer, "anonymous", via)
        }
    }

    /// Whether it is whoever started this process.
    pub fn is_operator(&self) -> bool {
        self.kind == PrincipalKind::Host && self.id == OPERATOR && self.verified
    }

    /// Whether both are the same, whichever way they came.
    pub fn is_same_as(&self, other: &Self) -> bool {
        self.kind == other.kind && self.id == other.id && self.verified == other.verified
    }

    /// Whether something is its own. What was made before makers were written down is the
    /// operator's.
    pub fn owns(&self, maker: Option<&Self>) -> bool {
        match maker {
            Some(maker) => self.is_same_as(maker),
            None => self.is_operator(),
        }
    }

    /// As it is stored: `{kind, id, via, verified}`.
    pub fn stored(&self) -> Value {
        json!(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_principal_is_the_same_whichever_way_it_comes() {
        let ci = Principal::new(PrincipalKind::Key, "ci", "key");
        assert!(ci.is_same_as(&Principal::new(PrincipalKind::Key, "ci", "signature")));
        assert!(!ci.is_same_as(&Principal::new(PrincipalKind::Claim, "ci", "claims")));
        assert!(!ci.is_same_as(&Principal::new(PrincipalKind::Key, "cd", "key")));
        assert!(Principal::operator("token").is_same_as(&Principal::operator("stdio")));
    }

    #[test]
    fn a_key_called_like_the_operator_is_not_the_operator() {
        let key = Principal::new(PrincipalKind::Key, "operator", "key");
        assert!(!key.is_operator() && !key.owns(None));
        assert!(Principal::operator("stdio").owns(None));
    }

    #[test]
    fn it_is_stored_in_words() {
        let stored = Principal::anonymous("listener").stored();
        let expected =
            json!({"kind": "peer", "id": "anonymous", "via": "listener", "verified": false});
        assert_eq!(stored, expected);
        let read: Principal = serde_json::from_value(stored).unwrap();
        assert_eq!(read, Principal::anonymous("listener"));
    }
}
