//! Who sends a request, and how we know.

use std::net::IpAddr;

use axum::http::header::AUTHORIZATION;
use serde_json::{Map, Value};

use crate::signed::{self, Signature};
use crate::{Error, Secret, token};

/// Who sends a request. Handed on as an extension of the request.
#[derive(Clone, Debug, PartialEq)]
pub struct Caller {
    /// The name of the key, or the subject of the claims; empty for anybody.
    pub name: String,
    /// How we know.
    pub means: Means,
    /// What the fronting layer says of the caller; empty unless it says anything.
    pub claims: Map<String, Value>,
}

/// How a caller is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Means {
    /// Not at all: the listener asks nobody.
    Nothing,
    /// It knows the token that the listener has made, so it is the operator or was told by them.
    Token,
    /// It knows a key.
    Key,
    /// It signed the request.
    Signature,
    /// A layer in front of us vouches for it.
    Claims,
}

/// By what callers are known. Without any, everybody is let in who can reach the listener.
#[derive(Clone, Default)]
pub struct Credentials {
    token: Option<Secret>,
    keys: Vec<(String, Secret)>,
    signing_keys: Vec<(String, Secret)>,
    fronts: Vec<IpAddr>,
}

/// What a request has to show.
pub(crate) enum Shown {
    /// Nothing at all.
    Nothing,
    /// Something that is wrong.
    Wrong,
    /// Enough.
    Good(Caller),
    /// A signature that fits the head; the body must fit too.
    Signed(Caller, Signature),
}

/// Where a layer in front of us puts what it knows of the caller: a JSON object with `sub`.
pub(crate) const CLAIMS: &str = "x-harn-claims";
const API_KEY: &str = "x-api-key";
const KEY_BYTES_MIN: usize = 16;

impl Credentials {
    /// Lets in whoever sends this key as `Authorization: Bearer` or `x-api-key`.
    ///
    /// # Errors
    /// The key is too short, or the name is taken.
    pub fn add_key(&mut self, name: &str, key: Secret) -> Result<(), Error> {
        add(&mut self.keys, name, key)
    }

    /// Lets in whoever signs requests with this key.
    ///
    /// # Errors
    /// The key is too short, or the name is taken.
    pub fn add_signing_key(&mut self, name: &str, key: Secret) -> Result<(), Error> {
        add(&mut self.signing_keys, name, key)
    }

    /// Believes what the layer at this address says in `x-harn-claims`.
    pub fn trust_claims_from(&mut self, front: IpAddr) {
        self.fronts.push(front.to_canonical());
    }

    /// Whether everybody is let in.
    pub fn is_empty(&self) -> bool {
        self.token.is_none()
            && self.keys.is_empty()
            && self.signing_keys.is_empty()
            && self.fronts.is_empty()
    }

    /// Lets in whoever knows the token that the listener has made.
    pub(crate) fn set_token(&mut self, token: Secret) {
        self.token = Some(token);
    }

    /// Looks at what a request has to show.
    pub(crate) fn judge(&self, peer: Option<IpAddr>, head: &signed::Head<'_>) -> Shown {
        if peer.is_some_and(|peer| self.fronts.contains(&peer.to_canonical()))
            && let Some(claims) = head.headers.get(CLAIMS)
        {
            return match read_claims(claims.as_bytes()) {
                Some(caller) => Shown::Good(caller),
                None => Shown::Wrong,
            };
        }
        let Some(authorization) = head.headers.get(AUTHORIZATION) else {
            return self.judge_api_key(head);
        };
        let Some((scheme, rest)) = authorization.to_str().ok().and_then(|v| v.split_once(' '))
        else {
            return Shown::Wrong;
        };
        if scheme.eq_ignore_ascii_case("bearer") {
            self.judge_key(rest.trim().as_bytes())
        } else if scheme == signed::SCHEME {
            self.judge_signature(rest, head)
        } else {
            Shown::Wrong
        }
    }

    fn judge_api_key(&self, head: &signed::Head<'_>) -> Shown {
        if let Some(key) = head.headers.get(API_KEY) {
            return self.judge_key(key.as_bytes());
        }
        // Only a token is part of an address; a key there would end up in histories.
        let query = head.uri.query().filter(|_| self.token.is_some());
        match query.and_then(token::split_query) {
            Some((token, _)) => self.judge_token(token.as_bytes()),
            None => Shown::Nothing,
        }
    }

    fn judge_token(&self, shown: &[u8]) -> Shown {
        match &self.token {
            Some(token) if token.is(shown) => Shown::Good(Caller::named("", Means::Token)),
            _ => Shown::Wrong,
        }
    }

    /// Compares with every key, so that the time does not say which one nearly fits.
    fn judge_key(&self, key: &[u8]) -> Shown {
        let mut found = None;
        for (name, known) in &self.keys {
            if known.is(key) {
                found = Some(name);
            }
        }
        match found {
            Some(name) => Shown::Good(Caller::named(name, Means::Key)),
            None => self.judge_token(key),
        }
    }

    fn judge_signature(&self, text: &str, head: &signed::Head<'_>) -> Shown {
        let Some(signature) = Signature::read(text) else {
            return Shown::Wrong;
        };
        let key = self
            .signing_keys
            .iter()
            .find(|(name, _)| *name == signature.key);
        match key {
            Some((name, key)) if signature.fits(key, head) => {
                Shown::Signed(Caller::named(name, Means::Signature), signature)
            }
            _ => Shown::Wrong,
        }
    }
}

impl Caller {
    /// Somebody a listener did not ask.
    pub fn anybody() -> Self {
        Self::named("", Means::Nothing)
    }

    fn named(name: &str, means: Means) -> Self {
        Self {
            name: name.to_owned(),
            means,
            claims: Map::new(),
        }
    }
}

fn add(keys: &mut Vec<(String, Secret)>, name: &str, key: Secret) -> Result<(), Error> {
    if key.len() < KEY_BYTES_MIN {
        return Err(Error::WeakKey {
            name: name.to_owned(),
            length: key.len(),
            min: KEY_BYTES_MIN,
        });
    }
    if keys.iter().any(|(known, _)| known == name) {
        return Err(Error::TwoKeys(name.to_owned()));
    }
    keys.push((name.to_owned(), key));
    Ok(())
}

fn read_claims(text: &[u8]) -> Option<Caller> {
    let claims: Map<String, Value> = serde_json::from_slice(text).ok()?;
    let name = claims.get("sub")?.as_str()?.to_owned();
    Some(Caller {
        name,
        means: Means::Claims,
        claims,
    })
}
