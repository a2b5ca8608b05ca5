//! The sessions of one program.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use harn_events::{CloseSession, EventBus, OpenSessionError};
use harn_llm::Category;
use harn_llm::desk::Thrown;

use super::change::Change;
use super::journal::{CannotResume, Session};
use crate::keeper::{CannotClaim, Keeper, SessionClaim};

/// How many named sessions there may be.
pub const SESSIONS_MAX: usize = 128;

/// How many unnamed sessions are remembered for their readers after their loop has ended.
const UNNAMED_MAX: usize = 16;

/// The sessions of one program. When there are too many, the one that was not used for longest
/// goes, and says so.
pub struct SessionStore {
    bus: EventBus,
    keeper: Option<Arc<Keeper>>,
    named: HashMap<String, Named>,
    /// By id, oldest first; their loops hold the sessions themselves.
    unnamed: Vec<(String, Weak<Session>)>,
    /// The session that goes on where its journal ends.
    resumed: Option<String>,
    uses: u64,
    sessions_max: usize,
}

struct Named {
    session: Arc<Session>,
    last_use: u64,
    /// Loops that run on it. It is not taken away from them.
    runs: usize,
    /// Children that work in it, also between their loops. It is not taken away from them.
    holds: usize,
}

/// The table is full of sessions that are at work.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot open session `{id}`: all {sessions_max} sessions are active")]
pub struct AllActive {
    id: String,
    sessions_max: usize,
}

/// Why a session cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum CannotOpen {
    /// There are too many.
    #[error(transparent)]
    AllActive(#[from] AllActive),
    /// Its journal is not what was written.
    #[error(transparent)]
    Changed(CannotResume),
    /// Somebody else writes it, or its log cannot be used.
    #[error("session '{id}' {cause}")]
    Unclaimed {
        /// The session.
        id: String,
        /// Who, or what is wrong with the log.
        #[source]
        cause: CannotClaim,
    },
}

impl CannotOpen {
    /// What the program is told whose builtin wanted the session.
    pub(crate) fn told_by(&self, builtin: &str) -> Thrown {
        match self {
            Self::AllActive(_) => Thrown::Runtime(self.to_string()),
            Self::Changed(_) => {
                Thrown::Categorised(Category::ToolRejected, format!("{builtin}: {self}"))
            }
            Self::Unclaimed { cause, .. } => {
                let category = match cause {
                    CannotClaim::InUse(_) => Category::ResourceBusy,
                    CannotClaim::Log(_) => Category::Generic,
                };
                Thrown::Categorised(category, format!("{builtin}: {self}"))
            }
        }
    }
}

impl SessionStore {
    /// A store without sessions.
    pub fn new(bus: EventBus, keeper: Option<Arc<Keeper>>) -> Self {
        // The store decides who goes; the bus must never be faster.
        bus.set_session_cap(SESSIONS_MAX + 2 * UNNAMED_MAX);
        Self {
            bus,
            keeper,
            named: HashMap::new(),
            unnamed: Vec::new(),
            resumed: None,
            uses: 0,
            sessions_max: SESSIONS_MAX,
        }
    }

    /// The session of that id goes on where its journal ends, once somebody opens it. All
    /// others begin with nothing in them.
    pub fn set_resumed(&mut self, id: String) {
        self.resumed = Some(id);
    }

    /// Changes how many named sessions there may be.
    pub fn set_sessions_max(&mut self, sessions_max: usize) {
        self.sessions_max = sessions_max.max(1);
        self.bus
            .set_session_cap(self.sessions_max + 2 * UNNAMED_MAX);
    }

    /// A session, if there is one of that name. Looking is no use.
    pub fn get(&self, id: &str) -> Option<Arc<Session>> {
        self.named.get(id).map(|named| Arc::clone(&named.session))
    }

    /// The same, also for a session that nobody can name.
    pub fn get_also_unnamed(&self, id: &str) -> Option<Arc<Session>> {
        self.get(id).or_else(|| {
            let mut newest_first = self.unnamed.iter().rev();
            let (_, session) = newest_first.find(|(known, _)| known == id)?;
            session.upgrade()
        })
    }

    /// Opens a session, or uses the one there is. Gives also the sessions that had to go for
    /// it; whoever asked has to close them on the bus.
    ///
    /// # Errors
    /// There are too many, and all of them have a loop running; or somebody else writes it; or it
    /// is to go on where its journal ends, which cannot be read.
    pub fn open(&mut self, id: &str) -> Result<(Arc<Session>, Vec<String>), CannotOpen> {
        let mut evicted = Vec::new();
        if !self.named.contains_key(id) {
            // One that is refused takes no room from others.
            let claim = self.claim(id)?;
            evicted = self.make_room(id)?;
            let session = self.begin_or_resume(id, claim)?;
            self.add(id, session);
        }
        self.touch(id);
        Ok((Arc::clone(&self.named[id].session), evicted))
    }

    /// The same for a child, which works from now on until [`release`](Self::release). There is
    /// always room for it: where all sessions work there is one more, and as many as too many go
    /// when they rest.
    ///
    /// # Errors
    /// Somebody else writes the session.
    pub fn open_working(&mut self, id: &str) -> Result<(Arc<Session>, Vec<String>), CannotOpen> {
        let mut evicted = Vec::new();
        if !self.named.contains_key(id) {
            let session = self.begin(id)?;
            while self.named.len() >= self.sessions_max
                && let Some(oldest) = self.oldest_idle()
            {
                self.remove(&oldest);
                evicted.push(oldest);
            }
            self.add(id, session);
            let sessions = self.named.len().max(self.sessions_max);
            self.bus.set_session_cap(sessions + 2 * UNNAMED_MAX);
        }
        self.touch(id);
        if let Some(named) = self.named.get_mut(id) {
            named.holds += 1;
        }
        Ok((Arc::clone(&self.named[id].session), evicted))
    }

    fn add(&mut self, id: &str, session: Arc<Session>) {
        let named = Named {
            session,
            last_use: 0,
            runs: 0,
            holds: 0,
        };
        self.named.insert(id.to_owned(), named);
    }

    /// A session for one loop that nobody can name.
    ///
    /// # Errors
    /// Somebody else writes the session, as one that repeats the same run does.
    pub fn open_unnamed(&mut self, id: &str) -> Result<Arc<Session>, CannotOpen> {
        let session = self.begin(id)?;
        self.remember_unnamed(id, &session);
        Ok(session)
    }

    /// The same with an id that was just made for it, and that nobody had before.
    ///
    /// # Errors
    /// The log cannot be told whose it is.
    pub fn open_new(&mut self, id: &str) -> Result<Arc<Session>, CannotOpen> {
        let claimed = self.keeper.as_ref().map(|keeper| keeper.claim_new(id));
        let claim = claimed.transpose().map_err(unclaimed(id))?.flatten();
        tell_unless_kept(id, self.bus.open_new_session(id));
        let session = Session::open_new(id, &self.bus, claim);
        self.remember_unnamed(id, &session);
        Ok(session)
    }

    /// Claims a session before anything looks at its place in the log.
    fn claim(&self, id: &str) -> Result<Option<SessionClaim>, CannotOpen> {
        match &self.keeper {
            Some(keeper) => keeper.claim(id).map_err(unclaimed(id)),
            None => Ok(None),
        }
    }

    fn remember_unnamed(&mut self, id: &str, session: &Arc<Session>) {
        self.unnamed.push((id.to_owned(), Arc::downgrade(session)));
    }

    fn begin_or_resume(
        &self,
        id: &str,
        claim: Option<SessionClaim>,
    ) -> Result<Arc<Session>, CannotOpen> {
        self.open_on_bus(id);
        if self.resumed.as_deref() != Some(id) {
            return Ok(Session::open(id, &self.bus, claim));
        }
        Session::resume(id, &self.bus, claim).map_err(|cannot| match cannot {
            CannotResume::Log(cause) => unclaimed(id)(CannotClaim::Log(cause)),
            changed @ CannotResume::Changed { .. } => CannotOpen::Changed(changed),
        })
    }

    fn begin(&self, id: &str) -> Result<Arc<Session>, CannotOpen> {
        let claim = self.claim(id)?;
        self.open_on_bus(id);
        Ok(Session::open(id, &self.bus, claim))
    }

    fn open_on_bus(&self, id: &str) {
        tell_unless_kept(id, self.bus.open_session(id));
    }

    /// Notes that a session is used.
    pub fn touch(&mut self, id: &str) {
        self.uses += 1;
        if let Some(named) = self.named.get_mut(id) {
            named.last_use = self.uses;
        }
    }

    /// A loop runs on a session from now on.
    pub fn begin_run(&mut self, id: &str) {
        self.touch(id);
        if let Some(named) = self.named.get_mut(id) {
            named.runs += 1;
        }
    }

    /// A loop on a session has ended.
    pub fn end_run(&mut self, id: &str) {
        if let Some(named) = self.named.get_mut(id) {
            named.runs = named.runs.saturating_sub(1);
        }
        // The loop of an unnamed session was its whole life; its last events may still be read.
        let is_over = self.unnamed.len() > UNNAMED_MAX;
        let oldest = is_over.then(|| self.unnamed.remove(0));
        if let Some((oldest, _)) = oldest {
            self.bus
                .close_session(&oldest, CloseSession::because("evicted"));
        }
    }

    /// A child no longer works in a session.
    pub fn release(&mut self, id: &str) {
        if let Some(named) = self.named.get_mut(id) {
            named.holds = named.holds.saturating_sub(1);
        }
    }

    /// Whether a loop runs on a session.
    pub fn is_running(&self, id: &str) -> bool {
        self.named.get(id).is_some_and(|named| named.runs > 0)
    }

    /// Forgets a session. Its end is not told here.
    pub fn remove(&mut self, id: &str) -> Option<Arc<Session>> {
        self.named.remove(id).map(|named| named.session)
    }

    /// Makes a session the child of another.
    pub fn link(&mut self, parent: &str, child: &str, branched_at: Option<u64>) {
        let Some(session) = self.get(child) else {
            return;
        };
        let old = session.read(|state| state.parent_id.clone());
        if let Some(old) = old
            .filter(|old| old != parent)
            .and_then(|old| self.get(&old))
        {
            old.record(Change::ChildRemoved {
                id: child.to_owned(),
            });
        }
        session.record(Change::Linked {
            parent_id: Some(parent.to_owned()),
            branched_at_event_index: branched_at,
        });
        if let Some(parent) = self.get(parent) {
            parent.record(Change::ChildAdded {
                id: child.to_owned(),
            });
        }
    }

    /// The session furthest up that a session comes from.
    pub fn root_of(&self, id: &str) -> String {
        let mut seen = vec![id.to_owned()];
        loop {
            let last = seen[seen.len() - 1].clone();
            let parent = self.get(&last);
            let parent = parent.and_then(|session| session.read(|state| state.parent_id.clone()));
            match parent {
                Some(parent) if !seen.contains(&parent) => seen.push(parent),
                _ => return last,
            }
        }
    }

    /// The session that was not used for longest and that nobody works in.
    fn oldest_idle(&self) -> Option<String> {
        let is_idle = |named: &Named| named.runs == 0 && named.holds == 0;
        let idle = self.named.iter().filter(|(_, named)| is_idle(named));
        let oldest = idle.min_by_key(|(_, named)| named.last_use);
        oldest.map(|(id, _)| id.clone())
    }

    fn make_room(&mut self, id: &str) -> Result<Vec<String>, AllActive> {
        let mut evicted = Vec::new();
        while self.named.len() >= self.sessions_max {
            let Some(oldest) = self.oldest_idle() else {
                return Err(AllActive {
                    id: id.to_owned(),
                    sessions_max: self.sessions_max,
                });
            };
            self.remove(&oldest);
            evicted.push(oldest);
        }
        Ok(evicted)
    }
}

fn unclaimed(id: &str) -> impl FnOnce(CannotClaim) -> CannotOpen {
    let id = id.to_owned();
    move |cause| CannotOpen::Unclaimed { id, cause }
}

/// A session goes on also where its events cannot be kept; the operator hears of it.
fn tell_unless_kept(id: &str, opened: Result<(), OpenSessionError>) {
    if let Err(error) = opened {
        tracing::warn!(target: "agent.session", session_id = id, %error, "events are not kept");
    }
}

#[cfg(test)]
mod tests {
    use harn_log::{AnyEventLog, MemoryEventLog, block_on};

    use super::*;
    use crate::session::session_records;

    /// Indexes never repeat, also across processes.
    #[test]
    fn an_unnamed_session_that_was_there_before_goes_on_counting() {
        let log = Arc::new(AnyEventLog::Memory(MemoryEventLog::new(16)));
        let new = |store: &mut SessionStore| store.open_new("s").unwrap();
        let known = |store: &mut SessionStore| store.open_unnamed("s").unwrap();
        for open in [new, known] {
            let keeper = Keeper::new(Arc::clone(&log));
            let mut store = SessionStore::new(EventBus::default(), Some(Arc::clone(&keeper)));
            open(&mut store);
            block_on(keeper.sync()).unwrap();
        }
        let records = block_on(session_records(&*log, "s")).unwrap();
        let indexes: Vec<u64> = records.iter().map(|record| record.index).collect();
        assert_eq!(indexes, [0, 1]);
    }

    #[test]
    fn a_session_that_a_child_works_in_is_not_taken_away() {
        let mut store = SessionStore::new(EventBus::default(), None);
        store.set_sessions_max(2);
        store.open_working("child").unwrap();
        store.open("idle").unwrap();
        assert!(!store.is_running("child"), "no loop runs in it yet");
        let (_, evicted) = store.open("new").unwrap();
        assert_eq!(evicted, ["idle"]);
        store.release("child");
        let (_, evicted) = store.open("newer").unwrap();
        assert_eq!(evicted, ["child"]);
    }
}
