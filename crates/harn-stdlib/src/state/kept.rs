//! An object that is kept in a file.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::PathBuf;

use harn_machine::value::{Dict, Text};
use harn_machine::{Answer, Before, Context, FileRequest, Request, Value};

use super::encoding::{indented, object};
use crate::json;

/// An object in a file, as this program knows it.
#[derive(Debug)]
pub(super) struct Kept {
    path: PathBuf,
    entries: BTreeMap<Text, Entry>,
    /// What the file held when it was last read or written.
    before: Before,
}

#[derive(Debug)]
struct Entry {
    value: Value,
    /// The value as it is written, so that a change does not write all others anew.
    text: String,
}

/// Something that is done to an object.
#[derive(Debug)]
pub(super) enum Change {
    /// Sets a member.
    Set(Text, Value),
    /// Adds fields to a member that is an object.
    Merge(Text, Dict),
    /// Removes a member.
    Remove(Text),
    /// Removes all members.
    Clear,
    /// Changes nothing.
    Nothing,
}

/// Why an object cannot be read or written: what was tried, and what the system says.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Trouble(pub(super) &'static str, pub(super) String);

impl Kept {
    /// Reads a file; an object without members if there is none.
    pub(super) fn read(context: &mut Context<'_>, path: PathBuf) -> Result<Self, Trouble> {
        let mut kept = Self {
            path,
            entries: BTreeMap::new(),
            before: Before::Nothing,
        };
        kept.read_again(context)?;
        Ok(kept)
    }

    fn read_again(&mut self, context: &mut Context<'_>) -> Result<(), Trouble> {
        let read = Request::OwnFile(FileRequest::Read(self.path.clone()));
        (self.before, self.entries) = match context.perform(&read) {
            Answer::Octets(octets) => {
                let entries = entries(&octets).map_err(|reason| {
                    let path = self.path.display();
                    Trouble("read", format!("{path}: {reason}"))
                })?;
                (Before::Octets(octets), entries)
            }
            Answer::Failed(failure) if failure.kind == ErrorKind::NotFound => {
                (Before::Nothing, BTreeMap::new())
            }
            answer => return Err(trouble("read", answer)),
        };
        Ok(())
    }

    pub(super) fn get(&self, key: &Text) -> Option<&Value> {
        self.entries.get(key).map(|entry| &entry.value)
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = &Text> {
        self.entries.keys()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&Text, &Value)> {
        self.entries.iter().map(|(key, entry)| (key, &entry.value))
    }

    /// Makes a change and writes the file. Whatever others have changed meanwhile stays.
    pub(super) fn change(
        &mut self,
        context: &mut Context<'_>,
        change: &Change,
    ) -> Result<(), Trouble> {
        self.change_all(context, std::slice::from_ref(change))
    }

    /// The same for several changes at once.
    pub(super) fn change_all(
        &mut self,
        context: &mut Context<'_>,
        changes: &[Change],
    ) -> Result<(), Trouble> {
        if let Some(folder) = self.path.parent() {
            let folder = FileRequest::MakeFolder(folder.to_owned());
            if let Answer::Failed(failure) = context.perform(&Request::OwnFile(folder)) {
                return Err(Trouble("mkdir", failure.message));
            }
        }
        loop {
            changes.iter().for_each(|change| self.apply(change));
            if self.write(context)? {
                return Ok(());
            }
            self.read_again(context)?;
        }
    }

    fn apply(&mut self, change: &Change) {
        match change {
            Change::Set(key, value) => {
                let entry = Entry::new(value);
                self.entries.insert(key.clone(), entry);
            }
            Change::Merge(key, fields) => {
                let known = self.get(key).cloned();
                let merged = merged(known, fields);
                let entry = Entry::new(&merged.into());
                self.entries.insert(key.clone(), entry);
            }
            Change::Remove(key) => {
                self.entries.remove(key);
            }
            Change::Clear => self.entries.clear(),
            Change::Nothing => {}
        }
    }

    /// Writes the file, unless somebody else has.
    fn write(&mut self, context: &mut Context<'_>) -> Result<bool, Trouble> {
        let members = self.entries.iter();
        let members = members.map(|(key, entry)| (key.as_str(), entry.text.as_str()));
        let content = object(members).into_bytes();
        let before = std::mem::replace(&mut self.before, Before::Nothing);
        let replace = FileRequest::Replace(self.path.clone(), content, before);
        let request = Request::OwnFile(replace);
        match context.perform(&request) {
            Answer::Truth(is_written) => {
                if let Request::OwnFile(FileRequest::Replace(_, content, _)) = request {
                    self.before = Before::Octets(content);
                }
                Ok(is_written)
            }
            answer => Err(trouble("write", answer)),
        }
    }
}

/// Fields with others added, which count if both are there.
pub(super) fn merged(known: Option<Value>, fields: &Dict) -> Dict {
    let Some(Value::Dict(mut known)) = known else {
        return fields.clone();
    };
    for (name, value) in fields.iter() {
        known.insert(name.clone(), value.clone());
    }
    known
}

/// A value as it is found when it is read again.
pub(super) fn as_kept(value: &Value) -> Value {
    Entry::new(value).value
}

impl Entry {
    fn new(value: &Value) -> Self {
        let text = indented(value, 1);
        // A program finds what it would find in its next run.
        let value = json::parse(&text).unwrap_or_default();
        Self { value, text }
    }
}

fn trouble(what: &'static str, answer: Answer) -> Trouble {
    Trouble(
        what,
        match answer {
            Answer::Failed(failure) => failure.message,
            _ => "there is no such thing here".to_owned(),
        },
    )
}

/// The members of an object that was written.
fn entries(octets: &[u8]) -> Result<BTreeMap<Text, Entry>, String> {
    let text = str::from_utf8(octets).map_err(|_| "it is not UTF-8".to_owned())?;
    match json::parse(text)? {
        Value::Dict(dict) => Ok(dict
            .iter()
            .map(|(key, value)| (key.clone(), Entry::new(value)))
            .collect()),
        other => Err(format!("expected an object, found {}", other.type_name())),
    }
}
