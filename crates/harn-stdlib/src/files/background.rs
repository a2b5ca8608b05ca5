//! Looking for files while the program goes on.
//!
//! ```text
//! glob(…, {long_running: true}) ─► effect ─► handle, at once
//!                                    └─────► a thread: look ─► report to the session
//! ```
//!
//! What is looked for is data, so that the world can carry it to another thread; how one looks
//! is the same as in the foreground.

use std::path::PathBuf;

use harn_machine::{Answer, Context, Failure, Fault, FileRequest, Request, Value};

use super::glob::matching;
use super::walk::{Found, Look, Walk, below, facts_about};
use crate::json::write;
use crate::surroundings::AGENT_SESSION;

/// The kind of effects that begin something in the background.
pub const LONG_RUNNING: &str = "long_running";

/// Begins something; gives its handle. The world is told what to look for.
pub(super) fn begin(
    context: &mut Context<'_>,
    (operation, descriptor): (&str, &str),
    sought: &Sought,
) -> Result<Value, Failure> {
    let session = context.strand().values.get(AGENT_SESSION).cloned();
    let payload = Value::dict([
        ("operation", operation.into()),
        ("descriptor", descriptor.into()),
        ("session", session.unwrap_or(Value::Nil)),
        ("top", sought.top.display().to_string().into()),
        (
            "pattern",
            sought.pattern.clone().map_or(Value::Nil, Value::from),
        ),
        (
            "depth_max",
            sought.depth_max.map_or(Value::Nil, Value::from),
        ),
        ("follows_links", sought.follows_links.into()),
    ]);
    let mut text = String::new();
    write(&payload, &mut text);
    let answer = context.perform(&Request::Other {
        kind: LONG_RUNNING,
        payload: text,
    });
    let (handle_id, started_at) = match answer {
        Answer::Pairs(mut pairs) if !pairs.is_empty() => pairs.swap_remove(0),
        _ => {
            let text = format!("{operation}: nothing goes on in the background here");
            return Err(Fault::thrown(text));
        }
    };
    Ok(Value::dict([
        ("command_or_op_descriptor", descriptor.into()),
        ("duration_ms", Value::Int(0)),
        ("ended_at", Value::Nil),
        ("handle_id", handle_id.into()),
        ("operation", operation.into()),
        ("started_at", started_at.into()),
        ("status", "running".into()),
    ]))
}

/// What is looked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sought {
    /// Below which folder.
    pub top: PathBuf,
    /// What paths must match; `None`: everything is told, with what it is.
    pub pattern: Option<String>,
    /// How deep to look; `None`: to the bottom.
    pub depth_max: Option<usize>,
    /// Whether links to folders are followed.
    pub follows_links: bool,
}

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sighted {
    /// The paths that match, sorted.
    Paths(Vec<String>),
    /// Everything there is.
    Entries(Vec<Found>),
}

impl Sought {
    /// Looks, on any thread. `is_wanted` is asked now and then.
    ///
    /// # Errors
    /// Nobody wants it any more, or it may not be looked at.
    pub fn look(
        &self,
        perform: &mut dyn FnMut(&FileRequest) -> Answer,
        is_wanted: &dyn Fn() -> bool,
    ) -> Result<Sighted, String> {
        let mut looking = Looking {
            perform,
            is_wanted,
            refusal: None,
        };
        let facts = facts_about(&mut looking, self.top.clone());
        if let Some(reason) = looking.refusal.take() {
            return Err(reason);
        }
        let sighted = match (&self.pattern, facts) {
            (Some(_), None) => Sighted::Paths(Vec::new()),
            (None, None) => Sighted::Entries(Vec::new()),
            (Some(pattern), Some(facts)) => {
                Sighted::Paths(matching(&mut looking, (&self.top, facts), pattern)?)
            }
            (None, Some(facts)) => {
                let walk = Walk {
                    builtin: "walk_dir",
                    depth_max: self.depth_max.unwrap_or(usize::MAX),
                    follows_links: self.follows_links,
                };
                let mut entries = Vec::new();
                below(&mut looking, (&self.top, facts), walk, |one| {
                    entries.push(one)
                });
                Sighted::Entries(entries)
            }
        };
        match is_wanted() {
            true => Ok(sighted),
            false => Err("cancelled".to_owned()),
        }
    }
}

/// Looks at files for somebody who may lose interest.
struct Looking<'a> {
    perform: &'a mut dyn FnMut(&FileRequest) -> Answer,
    is_wanted: &'a dyn Fn() -> bool,
    /// The rule that forbade the last look.
    refusal: Option<String>,
}

impl Look for Looking<'_> {
    fn look(&mut self, request: FileRequest) -> Answer {
        let answer = (self.perform)(&request);
        if let Answer::Refused(reason) = &answer {
            self.refusal = Some(reason.clone());
        }
        answer
    }

    fn goes_on(&self) -> bool {
        (self.is_wanted)()
    }
}
