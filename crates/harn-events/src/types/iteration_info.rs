//! What is known of an iteration when it is over.
//!
//! Most of it belongs to the iteration; two lists belong to the session and become longer with
//! each of its calls. An event shares them with the session, and a log stores of them what the
//! record before had not:
//!
//! ```text
//! readers  "session_tools_used":["look","look","edit"]
//! stored   "session_tools_used":{"$first":2,"$then":["edit"]}
//! ```

use std::ops::Index;

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};

use super::NameList;

/// The keys of the lists.
const LISTS: [&str; 2] = ["session_tools_used", "session_successful_tools"];

/// How many of the names of the list before a stored list begins with.
const FIRST: &str = "$first";
/// What follows them.
const THEN: &str = "$then";

/// What is known of an iteration when it is over.
#[derive(Clone, Debug, Default)]
pub struct IterationInfo {
    /// Everything but the lists.
    facts: Value,
    /// Those of [`LISTS`], where they are known and are not among the facts.
    lists: [Option<NameList>; 2],
}

impl IterationInfo {
    /// The same with the tools that the session has called, one for each call, and those that
    /// went well, each once.
    #[must_use]
    pub fn with_session_tools(self, used: NameList, successful: NameList) -> Self {
        Self {
            facts: self.facts,
            lists: [Some(used), Some(successful)],
        }
    }

    /// Everything but the lists of the session.
    pub fn facts(&self) -> &Value {
        &self.facts
    }

    /// The same, to be changed.
    pub fn facts_mut(&mut self) -> &mut Value {
        &mut self.facts
    }
}

impl From<Value> for IterationInfo {
    fn from(facts: Value) -> Self {
        Self {
            facts,
            lists: [None, None],
        }
    }
}

impl Index<&str> for IterationInfo {
    type Output = Value;

    fn index(&self, key: &str) -> &Value {
        &self.facts[key]
    }
}

/// Two are the same if everybody who reads them sees the same.
impl PartialEq for IterationInfo {
    fn eq(&self, other: &Self) -> bool {
        let is_known = |info: &Self| info.lists.iter().any(Option::is_some);
        match self.lists == other.lists || !(is_known(self) || is_known(other)) {
            true => self.facts == other.facts,
            false => json!(self) == json!(other),
        }
    }
}

impl Serialize for IterationInfo {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let lists = LISTS.into_iter().zip(&self.lists);
        let lists = lists.filter_map(|(key, list)| Some((key, list.as_ref()?)));
        let Value::Object(facts) = &self.facts else {
            return self.facts.serialize(serializer);
        };
        let mut info = serializer.serialize_map(None)?;
        for (key, fact) in facts {
            info.serialize_entry(key, fact)?;
        }
        for (key, list) in lists {
            info.serialize_entry(key, list)?;
        }
        info.end()
    }
}

impl<'de> Deserialize<'de> for IterationInfo {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Value::deserialize(deserializer).map(Self::from)
    }
}

/// The lists of a session as the last record has them: what the lists of the next one are told
/// by, and are read by.
#[derive(Clone, Debug, Default)]
pub struct SessionLists([NameList; 2]);

impl SessionLists {
    /// What is stored of an iteration; `None`: what it says.
    pub(crate) fn stored(&self, info: &IterationInfo) -> Option<IterationInfo> {
        let mut facts = Value::Null;
        for (at, key) in LISTS.into_iter().enumerate() {
            let Some(list) = &info.lists[at] else {
                continue;
            };
            let known = list.shared_with(&self.0[at]);
            if facts.is_null() {
                facts.clone_from(&info.facts);
            }
            facts[key] = match known {
                0 => json!(list),
                _ => json!({FIRST: known, THEN: names(list, known)}),
            };
        }
        (!facts.is_null()).then(|| facts.into())
    }

    /// Takes note of the lists of an iteration, where they are whole.
    pub fn remember(&mut self, info: &IterationInfo) {
        for (last, list) in self.0.iter_mut().zip(&info.lists) {
            if let Some(list) = list {
                last.clone_from(list);
            }
        }
    }

    /// Makes the lists of an iteration whole. Its records come in their order; where some are
    /// missing, so are the names that only they had.
    pub fn complete(&mut self, info: &mut IterationInfo) {
        self.remember(info);
        for (at, key) in LISTS.into_iter().enumerate() {
            let stored = info.facts.get(key);
            if let Some(list) = stored.and_then(|stored| self.whole(at, stored)) {
                if let Some(facts) = info.facts.as_object_mut() {
                    facts.remove(key);
                }
                self.0[at].clone_from(&list);
                info.lists[at] = Some(list);
            }
        }
    }

    /// The same for an event, or a record, that was parsed and no more.
    pub fn complete_value(&mut self, event: &mut Value) {
        self.note(event);
        let event = match event.get_mut("event") {
            None => event,
            Some(_) => &mut event["event"],
        };
        for (at, key) in LISTS.into_iter().enumerate() {
            let stored = event["iteration_info"].get_mut(key);
            if let Some(stored) = stored.filter(|stored| is_partial(stored)) {
                *stored = json!(self.0[at]);
            }
        }
    }

    /// Takes note of the lists of an event, or a record, that was parsed and no more.
    pub fn note(&mut self, event: &Value) {
        let info = info_in(event);
        for (at, key) in LISTS.into_iter().enumerate() {
            if let Some(list) = info.get(key).and_then(|stored| self.whole(at, stored)) {
                self.0[at] = list;
            }
        }
    }

    /// Whether an event, or a record, that was parsed and no more has a list that is not whole.
    pub fn are_partial_in(event: &Value) -> bool {
        let info = info_in(event);
        let mut lists = LISTS.iter().filter_map(|key| info.get(key));
        lists.any(is_partial)
    }

    /// A list, whichever way it is stored.
    fn whole(&self, at: usize, stored: &Value) -> Option<NameList> {
        if let Some(names) = stored.as_array() {
            let names = names.iter().map(Value::as_str);
            return names.collect::<Option<NameList>>();
        }
        // Only records in which a list is the last one's with more behind it say so.
        let (first, then) = (stored[FIRST].as_u64()?, stored[THEN].as_array()?);
        let mut list = self.0[at].first(usize::try_from(first).ok()?);
        then.iter()
            .filter_map(Value::as_str)
            .for_each(|name| list.push(name));
        Some(list)
    }
}

fn info_in(event: &Value) -> &Value {
    &event.get("event").unwrap_or(event)["iteration_info"]
}

fn is_partial(stored: &Value) -> bool {
    stored[FIRST].is_u64() && stored[THEN].is_array()
}

/// Whether the text of a stored record may have a list that is not whole.
pub fn has_partial_list(text: &str) -> bool {
    text.contains("\"$first\":")
}

fn names(list: &NameList, first: usize) -> Vec<String> {
    let names = list.from(first);
    names.iter().map(|name| name.as_ref().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(names: &[&str]) -> NameList {
        names.iter().copied().collect()
    }

    fn info(used: &NameList) -> IterationInfo {
        let info = IterationInfo::from(json!({"tool_count": 1}));
        info.with_session_tools(used.clone(), list(&["look"]))
    }

    #[test]
    fn readers_see_whole_lists() {
        let told = info(&list(&["look", "look"]));
        let whole = json!({
            "tool_count": 1,
            "session_tools_used": ["look", "look"],
            "session_successful_tools": ["look"],
        });
        assert_eq!(json!(told), whole);
        assert_eq!(told, IterationInfo::from(whole.clone()));
        assert_ne!(told, IterationInfo::from(json!({"tool_count": 1})));
        let read: IterationInfo = serde_json::from_value(whole).unwrap();
        assert_eq!(read, told);
    }

    #[test]
    fn what_is_stored_is_what_is_new_and_is_read_whole_again() {
        let (mut written, mut read, mut parsed) =
            <(SessionLists, SessionLists, SessionLists)>::default();
        let mut used = NameList::default();
        for (at, name) in ["look", "edit", "look"].into_iter().enumerate() {
            used.push(name);
            let told = info(&used);
            let stored = written.stored(&told).unwrap();
            written.remember(&told);
            let expected = match at {
                0 => json!(["look"]),
                at => json!({"$first": at, "$then": [name]}),
            };
            assert_eq!(stored["session_tools_used"], expected);
            assert_eq!(has_partial_list(&json!(stored).to_string()), at > 0);
            let mut again = stored.clone();
            read.complete(&mut again);
            assert_eq!(again, told);
            for mut value in [
                json!({"iteration_info": stored}),
                json!({"event": {"iteration_info": stored}}),
            ] {
                parsed.complete_value(&mut value);
                let info = value.get("event").unwrap_or(&value)["iteration_info"].clone();
                assert_eq!(info, json!(told));
            }
        }
    }

    #[test]
    fn names_that_are_gone_are_left_out() {
        let mut read = SessionLists::default();
        let stored = json!({"session_tools_used": {"$first": 3, "$then": ["edit"]}});
        let mut info = IterationInfo::from(stored);
        read.complete(&mut info);
        assert_eq!(json!(info), json!({"session_tools_used": ["edit"]}));
    }

    #[test]
    fn what_is_no_list_of_names_stays_as_it_is() {
        for facts in [
            json!(null),
            json!(7),
            json!({"session_tools_used": 7}),
            json!({"session_tools_used": [1]}),
            json!({"session_tools_used": {"$first": "x"}}),
        ] {
            let mut info = IterationInfo::from(facts.clone());
            SessionLists::default().complete(&mut info);
            assert_eq!(json!(info), facts);
            assert!(SessionLists::default().stored(&info).is_none());
        }
    }
}
