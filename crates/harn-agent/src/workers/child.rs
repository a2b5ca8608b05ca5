//! The session of a child, and where it comes from.

use std::sync::Arc;

use serde_json::Value;

use crate::run::Pause;
use crate::runtime::Runtime;
use crate::session::{CannotOpen, Change, Content, Session, SessionState, kept};

/// The session of a child, which works as long as this is there.
pub(crate) struct Child {
    runtime: Arc<Runtime>,
    pub(crate) session: Arc<Session>,
    /// The session whose loop asked for it, also if nobody can name that.
    pub(crate) parent: Option<Arc<Session>>,
    /// What there was in the session before the child began.
    pub(crate) seen: Seen,
    /// Lets the loop stop between two turns, where somebody may ask for that.
    pub(crate) pause: Option<Arc<dyn Pause>>,
}

/// How much of a session was there before a child began. What its parent, or an earlier run,
/// has spent, found or was denied is not the child's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) messages: usize,
    pub(crate) events: usize,
    pub(crate) assets: usize,
}

/// Who asks for a child.
#[derive(Clone, Copy)]
pub(crate) struct Asking<'a> {
    /// The session whose loop asks.
    pub(crate) session_id: Option<&'a str>,
    /// The id of the child's session if nobody names one; empty: a new one.
    pub(crate) unnamed: &'a str,
}

impl Asking<'_> {
    /// The id of a session that nobody named.
    pub(crate) fn new_id(self, runtime: &Runtime) -> String {
        match self.unnamed {
            "" => format!("sub_agent_session_{}", runtime.new_id()),
            id => id.to_owned(),
        }
    }
}

impl Child {
    /// Opens the session of a child. A new one begins as a fork of the session whose loop asks;
    /// one that exists goes on, and belongs to that session from now on.
    ///
    /// # Errors
    /// Somebody else writes the session.
    pub(crate) async fn open(
        runtime: &Arc<Runtime>,
        asking: Option<&str>,
        id: &str,
    ) -> Result<Self, CannotOpen> {
        let parent = asking.and_then(|asking| runtime.sessions().get_also_unnamed(asking));
        let parent = parent.filter(|parent| parent.id() != id);
        let is_new = runtime.session(id).is_none();
        let session = runtime.open_working_session(id).await?;
        // A session that nobody can name has no children that could name it.
        let named = parent.as_ref().map(|parent| parent.id().to_owned());
        let named = named.filter(|id| runtime.session(id).is_some());
        if let (Some(parent), true) = (&parent, named.is_some()) {
            if is_new {
                fork(parent, &session);
            }
            runtime.sessions().link(parent.id(), id, None);
        }
        Ok(Self {
            runtime: Arc::clone(runtime),
            seen: Seen::of(&session),
            session,
            parent,
            pause: None,
        })
    }
}

impl Child {
    /// Opens a session that is linked to the one whose loop asks, without what was said there.
    ///
    /// # Errors
    /// Somebody else writes the session.
    pub(crate) async fn open_apart(
        runtime: &Arc<Runtime>,
        asking: Option<&str>,
        id: &str,
    ) -> Result<Self, CannotOpen> {
        let parent = asking.and_then(|asking| runtime.session(asking));
        let parent = parent.filter(|parent| parent.id() != id);
        let session = runtime.open_working_session(id).await?;
        if let Some(parent) = &parent {
            runtime.sessions().link(parent.id(), id, None);
        }
        Ok(Self {
            runtime: Arc::clone(runtime),
            seen: Seen::of(&session),
            session,
            parent,
            pause: None,
        })
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.runtime.sessions().release(self.session.id());
    }
}

impl Seen {
    /// What there is in a session now.
    pub(crate) fn of(session: &Session) -> Self {
        session.read(|state| Self {
            messages: state.messages.len(),
            events: state.events.len(),
            assets: state.assets.len(),
        })
    }
}

/// Gives a session what was said in another.
fn fork(source: &Session, target: &Session) {
    let content = source.read(before_the_turn).child_of(source.id());
    target.record(Change::Forked {
        content: Box::new(content),
    });
    for name in kept::INHERITED {
        let (there, here) = (source.kept(name), target.kept(name));
        if there != here {
            target.keep(name, there.unwrap_or_default());
        }
    }
}

/// What was said before the turn whose calls run. That turn asks for the child: its calls have
/// no results yet, and a conversation that ends with them would tell the child that they were
/// interrupted.
fn before_the_turn(state: &SessionState) -> Content {
    let mut content = state.content();
    if state.run.open_calls.is_empty() {
        return content;
    }
    let is_turn = |message: &Value| message["role"] == "assistant";
    if let Some(turn) = content.messages.iter().rposition(is_turn) {
        let events = std::mem::take(&mut content.events);
        content = content.first(turn);
        content.events = events;
    }
    content
}
