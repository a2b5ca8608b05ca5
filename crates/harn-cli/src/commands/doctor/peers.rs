//! Those that a project talks to, and what they answer.

use std::collections::BTreeMap;

use harn_vm::KnownModels;
use harn_vm::llm::catalog::ProjectTrust;
use serde::Serialize;

use super::super::mcp::{Answered, probe_configured};
use super::super::project::manifest_here;
use super::super::tool_servers::configured;
use super::super::trust;
use super::checks::{Asked, askable, asker};

/// Who is really asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asks {
    Everybody,
    Nobody,
}

/// Somebody that a project talks to. The names are a promise.
#[derive(Serialize)]
pub(super) struct Peer {
    /// `mcp` or `provider`.
    pub(super) kind: &'static str,
    pub(super) name: String,
    /// Whether it answers as it should; nothing if it was not asked.
    pub(super) ok: Option<bool>,
    pub(super) answer: Option<String>,
    pub(super) error: Option<String>,
    /// What to do about an error.
    pub(super) next: Option<String>,
}

impl Peer {
    fn new(kind: &'static str, name: String) -> Self {
        Self {
            kind,
            name,
            ok: None,
            answer: None,
            error: None,
            next: None,
        }
    }
}

/// The servers of `harn.toml`. Those of a project that is not trusted are not asked.
///
/// # Errors
/// What is wrong with one of their tables, or with a variable about them.
pub(super) fn servers(asks: Asks) -> Result<Vec<Peer>, String> {
    if asks == Asks::Nobody || trust::of_project_here() == ProjectTrust::Untrusted {
        let servers = configured(manifest_here().as_deref())?;
        let servers = servers.into_iter();
        return Ok(servers.map(|one| Peer::new("mcp", one.name)).collect());
    }
    let answered = probe_configured()?.into_iter();
    let peers = answered.map(|Answered { name, told }| {
        let mut peer = Peer::new("mcp", name);
        peer.ok = Some(told.is_ok());
        match told {
            Ok(answer) => peer.answer = Some(answer),
            Err(error) => {
                peer.next = Some(format!("`harn mcp probe {}` tells more", peer.name));
                peer.error = Some(error);
            }
        }
        peer
    });
    Ok(peers.collect())
}

/// The providers of models that have a key or were chosen by a variable.
///
/// # Errors
/// What is wrong with their configuration.
pub(super) fn providers(
    environment: &BTreeMap<String, String>,
    asks: Asks,
) -> Result<Vec<Peer>, String> {
    let trust = trust::of_project_here();
    let known = KnownModels::read(manifest_here().as_deref(), trust, environment)?;
    let providers = askable(&known, environment).into_iter();
    let providers = providers.filter(|provider| provider.is_configured);
    if asks == Asks::Nobody {
        return Ok(providers
            .map(|one| Peer::new("provider", one.name))
            .collect());
    }
    let asker = asker(environment)?;
    let peers = providers.map(|provider| {
        let Asked { message, next } = provider.ask(&asker);
        let mut peer = Peer::new("provider", provider.name);
        peer.ok = Some(next.is_none());
        match next {
            None => peer.answer = Some(message),
            Some(next) => {
                peer.error = Some(message);
                peer.next = Some(next);
            }
        }
        peer
    });
    Ok(peers.collect())
}
