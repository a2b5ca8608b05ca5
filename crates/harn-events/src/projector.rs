//! What durable sinks leave out.
//!
//! While a model streams the arguments of a call, live readers get a snapshot
//! every few milliseconds, each containing all of the one before. Stored as they
//! are, a megabyte of arguments would fill gigabytes. Durable sinks keep the
//! first snapshot, then one each time the size has doubled, and every one that
//! is not simply longer than the one before.
//!
//! The rule depends on the sequence of events alone, so two sinks of a session
//! keep the same ones. Only sizes and digests are remembered, never arguments.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;

use serde_json::Value;

use crate::ToolCallStatus;
use crate::event::AgentEvent;
use crate::redact::REDACTED;

/// Calls that are followed at once.
const CALLS_MAX: usize = 1024;
/// Bytes of session and call ids that are kept.
const IDENTITY_BYTES_MAX: usize = 256 * 1024;
/// Leaves of one argument object that are followed; a larger one is stored in full.
const LEAVES_MAX: usize = 1024;

/// Decides which events a durable sink stores.
#[derive(Debug, Default)]
pub struct DurableAgentEventProjector {
    calls: HashMap<CallKey, Call>,
    identity_bytes: usize,
    /// Rises with every look at a call; the smallest one is evicted first.
    clock: u64,
}

/// Session and call.
type CallKey = (String, String);

/// What is remembered of a call's latest snapshot.
#[derive(Debug)]
struct Call {
    content: Content,
    /// Digest of tool name and audit.
    circumstances: u64,
    /// The next size worth storing.
    next_size: usize,
    last_seen: u64,
}

/// The digests of a snapshot, against which the next one is compared.
#[derive(Debug)]
enum Content {
    /// Argument text that does not parse yet.
    Partial(Prefix),
    /// A parsed value, leaf by leaf: the key is a digest of the leaf's path.
    Parsed(HashMap<u64, Prefix>),
    /// Too many leaves to follow.
    Untracked,
}

/// A text, known by its length and digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Prefix {
    len: usize,
    digest: u64,
}

impl Prefix {
    /// What redaction put at the end stands for text that is still arriving, and
    /// may turn out to be harmless; it must not make a plain extension look changed.
    fn of(text: &str) -> Self {
        let text = text.strip_suffix(REDACTED).unwrap_or(text);
        Self {
            len: text.len(),
            digest: digest(text.as_bytes()),
        }
    }

    fn starts(self, text: &str) -> bool {
        text.as_bytes()
            .get(..self.len)
            .is_some_and(|start| digest(start) == self.digest)
    }
}

impl DurableAgentEventProjector {
    /// A projector that has seen nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether this event is to be stored. Has to be asked for every event, in order.
    pub fn should_persist(&mut self, event: &AgentEvent) -> bool {
        let AgentEvent::ToolCallUpdate {
            session_id,
            tool_call_id,
            status,
            ..
        } = event
        else {
            return true;
        };
        let key = || (session_id.clone(), tool_call_id.clone());
        match Snapshot::of(event) {
            Some(snapshot) => self.admit(key(), &snapshot),
            None => {
                if matches!(status, ToolCallStatus::Completed | ToolCallStatus::Failed) {
                    self.forget(&key());
                }
                true
            }
        }
    }

    fn admit(&mut self, key: CallKey, snapshot: &Snapshot<'_>) -> bool {
        self.clock += 1;
        let size = snapshot.size();
        let known = self.calls.get(&key);
        let is_due = known.is_none_or(|call| !snapshot.extends(call) || size >= call.next_size);
        let next_size = match known {
            Some(call) if !is_due => call.next_size,
            _ => (size + 1).next_power_of_two(),
        };
        let call = Call {
            content: snapshot.content(),
            circumstances: snapshot.circumstances,
            next_size,
            last_seen: self.clock,
        };
        if let Some(known) = self.calls.get_mut(&key) {
            *known = call;
        } else if self.make_room(&key) {
            self.identity_bytes += identity_bytes(&key);
            self.calls.insert(key, call);
        }
        is_due
    }

    /// Evicts calls until there is room for another; `false` when there cannot be.
    fn make_room(&mut self, key: &CallKey) -> bool {
        if identity_bytes(key) > IDENTITY_BYTES_MAX {
            return false;
        }
        while self.calls.len() >= CALLS_MAX
            || self.identity_bytes + identity_bytes(key) > IDENTITY_BYTES_MAX
        {
            let oldest = self.calls.iter().min_by_key(|(_, call)| call.last_seen);
            let oldest = oldest
                .map(|(key, _)| key.clone())
                .expect("no room, so there are calls");
            self.forget(&oldest);
        }
        true
    }

    fn forget(&mut self, key: &CallKey) {
        if self.calls.remove(key).is_some() {
            self.identity_bytes -= identity_bytes(key);
        }
    }
}

fn identity_bytes(key: &CallKey) -> usize {
    key.0.len() + key.1.len()
}

/// An event that says nothing but how far a call's arguments have come.
struct Snapshot<'a> {
    arguments: Arguments<'a>,
    circumstances: u64,
}

#[derive(Clone, Copy)]
enum Arguments<'a> {
    Partial(&'a str),
    Parsed(&'a Value),
}

impl<'a> Snapshot<'a> {
    /// The snapshot an event consists of; `None` when it says anything else.
    fn of(event: &'a AgentEvent) -> Option<Self> {
        let AgentEvent::ToolCallUpdate {
            session_id: _,
            tool_call_id: _,
            tool_name,
            status: ToolCallStatus::Pending,
            raw_output: None,
            error: None,
            duration_ms: None,
            execution_duration_ms: None,
            error_category: None,
            executor: None,
            parsing: None,
            raw_input,
            raw_input_partial,
            audit,
        } = event
        else {
            return None;
        };
        let arguments = match (raw_input, raw_input_partial) {
            (Some(value), None) => Arguments::Parsed(value),
            (None, Some(text)) => Arguments::Partial(text),
            _ => return None,
        };
        let audit = audit
            .as_ref()
            .and_then(|audit| serde_json::to_string(audit).ok());
        let circumstances = format!("{tool_name}\0{}", audit.unwrap_or_default());
        Some(Self {
            arguments,
            circumstances: digest(circumstances.as_bytes()),
        })
    }

    /// Bytes of the text, or of the value as compact JSON.
    fn size(&self) -> usize {
        match self.arguments {
            Arguments::Partial(text) => text.len(),
            Arguments::Parsed(value) => {
                let mut counter = ByteCounter(0);
                serde_json::to_writer(&mut counter, value).expect("counting cannot fail");
                counter.0
            }
        }
    }

    fn content(&self) -> Content {
        match self.arguments {
            Arguments::Partial(text) => Content::Partial(Prefix::of(text)),
            Arguments::Parsed(value) => {
                let mut leaves = HashMap::new();
                let all = visit_leaves(value, 0, &mut |path, text| {
                    leaves.insert(path, Prefix::of(text));
                    leaves.len() <= LEAVES_MAX
                });
                if all {
                    Content::Parsed(leaves)
                } else {
                    Content::Untracked
                }
            }
        }
    }

    /// Whether everything the previous snapshot had is still there, and at most
    /// longer: a text that goes on, further keys, further elements.
    fn extends(&self, previous: &Call) -> bool {
        if previous.circumstances != self.circumstances {
            return false;
        }
        match (&previous.content, self.arguments) {
            (Content::Partial(prefix), Arguments::Partial(text)) => prefix.starts(text),
            (Content::Parsed(before), Arguments::Parsed(value)) => {
                let mut kept = 0;
                let grew = visit_leaves(value, 0, &mut |path, text| match before.get(&path) {
                    None => true,
                    Some(prefix) => {
                        kept += 1;
                        prefix.starts(text)
                    }
                });
                grew && kept == before.len()
            }
            _ => false,
        }
    }
}

/// Calls `visit` with path digest and text of each leaf until it says `false`.
fn visit_leaves(value: &Value, path: u64, visit: &mut dyn FnMut(u64, &str) -> bool) -> bool {
    match value {
        Value::String(text) => visit(path, text),
        Value::Null | Value::Bool(_) | Value::Number(_) => visit(path, &value.to_string()),
        Value::Array(items) => items
            .iter()
            .enumerate()
            .all(|(at, item)| visit_leaves(item, step(path, &at.to_le_bytes()), visit)),
        Value::Object(fields) => fields
            .iter()
            .all(|(key, field)| visit_leaves(field, step(path, key.as_bytes()), visit)),
    }
}

fn step(path: u64, part: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    (path, part).hash(&mut hasher);
    hasher.finish()
}

fn digest(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    hasher.finish()
}

struct ByteCounter(usize);

impl io::Write for ByteCounter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn snapshot(call: &str, raw_input: Option<Value>, partial: Option<&str>) -> AgentEvent {
        AgentEvent::ToolCallUpdate {
            session_id: "s".into(),
            tool_call_id: call.into(),
            tool_name: "write".into(),
            status: ToolCallStatus::Pending,
            raw_output: None,
            error: None,
            duration_ms: None,
            execution_duration_ms: None,
            error_category: None,
            executor: None,
            parsing: None,
            raw_input,
            raw_input_partial: partial.map(str::to_owned),
            audit: None,
        }
    }

    /// Which of a sequence of partial texts are stored, as a string of `+` and `-`.
    #[track_caller]
    fn check_partial(texts: &[&str], expected: &str) {
        let mut projector = DurableAgentEventProjector::new();
        let stored = texts.iter().map(|text| {
            let is_stored = projector.should_persist(&snapshot("c", None, Some(text)));
            if is_stored { '+' } else { '-' }
        });
        assert_eq!(stored.collect::<String>(), expected);
    }

    #[test]
    fn the_first_snapshot_and_one_per_doubling_are_kept() {
        let text = "abcdefghijklmnopqrstuvwxyz";
        let texts: Vec<&str> = (1..=17).map(|len| &text[..len]).collect();
        check_partial(&texts, "++-+---+-------+-");
    }

    #[test]
    fn a_snapshot_that_is_not_an_extension_is_kept() {
        check_partial(&["abcdef", "abcdefg", "abc", "abd", "abde"], "+-+++");
    }

    #[test]
    fn growth_in_the_middle_of_an_object_is_an_extension() {
        let mut projector = DurableAgentEventProjector::new();
        let mut stored_bytes = 0;
        let total = 1 << 20;
        for len in (0..=total).step_by(16 * 1024) {
            // Keys are sorted in JSON, so the text grows in front of the path.
            let input = json!({"content": "x".repeat(len), "path": "src/main.rs"});
            let size = input.to_string().len();
            if projector.should_persist(&snapshot("c", Some(input), None)) {
                stored_bytes += size;
            }
        }
        assert!(
            stored_bytes <= 4 * total,
            "stored {stored_bytes} bytes for {total}"
        );
    }

    #[test]
    fn a_changed_tool_name_or_form_is_kept() {
        let mut projector = DurableAgentEventProjector::new();
        assert!(projector.should_persist(&snapshot("c", None, Some("{\"a\":1"))));
        assert!(projector.should_persist(&snapshot("c", Some(json!({"a": 1})), None)));
        let mut renamed = snapshot("c", Some(json!({"a": 1})), None);
        assert!(!projector.should_persist(&renamed));
        if let AgentEvent::ToolCallUpdate { tool_name, .. } = &mut renamed {
            *tool_name = "edit".into();
        }
        assert!(projector.should_persist(&renamed));
    }

    #[test]
    fn everything_that_is_not_a_snapshot_is_kept() {
        let mut projector = DurableAgentEventProjector::new();
        for _ in 0..3 {
            let mut promoted = snapshot("c", Some(json!({"a": 1})), None);
            if let AgentEvent::ToolCallUpdate { parsing, .. } = &mut promoted {
                *parsing = Some(false);
            }
            assert!(projector.should_persist(&promoted));
        }
    }

    #[test]
    fn the_least_recently_seen_call_is_evicted() {
        let mut projector = DurableAgentEventProjector::new();
        for call in 0..=CALLS_MAX {
            assert!(projector.should_persist(&snapshot(&call.to_string(), None, Some("abcde"))));
        }
        assert_eq!(projector.calls.len(), CALLS_MAX);
        assert!(!projector.should_persist(&snapshot("1024", None, Some("abcdef"))));
        assert!(
            projector.should_persist(&snapshot("0", None, Some("abcdef"))),
            "evicted"
        );
    }

    #[test]
    fn identities_are_bounded_in_bytes() {
        let mut projector = DurableAgentEventProjector::new();
        for call in 0..100 {
            let id = format!("{call:0>9000}");
            projector.should_persist(&snapshot(&id, None, Some("a")));
        }
        assert!(projector.identity_bytes <= IDENTITY_BYTES_MAX);
        let huge = "c".repeat(IDENTITY_BYTES_MAX + 1);
        assert!(projector.should_persist(&snapshot(&huge, None, Some("abcde"))));
        assert!(
            projector.should_persist(&snapshot(&huge, None, Some("abcdef"))),
            "stored in full"
        );
    }
}
