//! The file of a namespace: a line for everything that happened.
//!
//! A line is added in one go. If a crash cuts one off, nobody was told that it is there: it is
//! not read, and taken away before the next line is added.

use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

use harn_machine::value::Dict;
use harn_machine::{Answer, Before, Context, Failure, Fault, FileRequest, Request, Value};

use super::arguments::option;
use super::known::{self, Known, Stamp};
use super::record::Record;
use crate::files::root::resolve;
use crate::json;
use crate::state::state_root;

/// The file of a namespace.
pub(super) struct Log {
    path: PathBuf,
    /// Whether a call says where it is; otherwise it lies where Harn keeps such files.
    is_named: bool,
}

impl Log {
    pub(super) fn open(
        context: &mut Context<'_>,
        namespace: &str,
        options: &Value,
    ) -> Result<Self, Failure> {
        let (root, is_named) = root(context, options);
        let path = root.join(relative(namespace)?).join("events.jsonl");
        Ok(Self { path, is_named })
    }

    fn request(&self, request: FileRequest) -> Request {
        match self.is_named {
            true => Request::File(request),
            false => Request::OwnFile(request),
        }
    }

    /// Does something with the file; gives the reason if it fails.
    fn perform(&self, context: &mut Context<'_>, request: FileRequest) -> Result<Answer, String> {
        match context.perform(&self.request(request)) {
            Answer::Failed(failure) => Err(failure.message),
            answer => Ok(answer),
        }
    }

    /// Everything that was stored and not forgotten, in that order. A file that has not changed
    /// is not read again.
    pub(super) fn records(&self, context: &mut Context<'_>) -> Result<Rc<Vec<Record>>, Failure> {
        let stamp = self.stamp(context);
        if let Some(known) = known::find(context, &self.path, stamp) {
            return Ok(known.records.clone());
        }
        let content = self.read(context)?;
        context.reserve(content.len().saturating_mul(4))?;
        let mut known = Known::default();
        known.add_all(self.events(&content)?);
        let records = known.records.clone();
        // What was cut off is not known to be whole, and looked at before a line is added.
        if content.last().is_none_or(|octet| *octet == b'\n') {
            known::remember(context, &self.path, stamp, known);
        }
        Ok(records)
    }

    fn stamp(&self, context: &mut Context<'_>) -> Stamp {
        let facts = match self.perform(context, FileRequest::Status(self.path.clone())) {
            Ok(Answer::Status(status)) => status,
            _ => None,
        };
        facts.map_or_else(Stamp::default, |facts| Stamp {
            size: facts.size,
            modified: facts.modified,
        })
    }

    fn read(&self, context: &mut Context<'_>) -> Result<Vec<u8>, Failure> {
        let read = self.request(FileRequest::Read(self.path.clone()));
        match context.perform(&read) {
            Answer::Octets(octets) => Ok(octets),
            Answer::Failed(failure) if failure.kind != ErrorKind::NotFound => {
                Err(self.failure("read", &failure.message))
            }
            _ => Ok(Vec::new()),
        }
    }

    fn events(&self, content: &[u8]) -> Result<Vec<Dict>, Failure> {
        let mut events = Vec::new();
        for (at, line) in content.split_inclusive(|octet| *octet == b'\n').enumerate() {
            match event(line) {
                Ok(event) => events.extend(event),
                Err(_) if !line.ends_with(b"\n") => {}
                Err(reason) => {
                    let (line, path) = (at + 1, self.path.display());
                    let message =
                        format!("memory: failed to parse line {line} from {path}: {reason}");
                    return Err(Fault::runtime(message));
                }
            }
        }
        Ok(events)
    }

    /// Adds a line.
    pub(super) fn add(&self, context: &mut Context<'_>, event: Dict) -> Result<(), Failure> {
        let folder = self.path.parent().unwrap_or(Path::new("")).to_owned();
        let made = self.perform(context, FileRequest::MakeFolder(folder));
        made.map_err(|reason| self.failure("create the folder of", &reason))?;
        let before = self.stamp(context);
        let known = known::take(context, &self.path, before);
        let mut line = match known {
            Some(_) => String::new(),
            None => self.end_of_last_line(context)?,
        };
        json::write(&Value::Dict(event.clone()), &mut line);
        line.push('\n');
        let size = before.size + line.len() as u64;
        let append = FileRequest::Append(self.path.clone(), line.into_bytes());
        let added = self.perform(context, append);
        added.map_err(|reason| self.failure("write", &reason))?;
        // If somebody else was here at the same time, the file is read again.
        let after = self.stamp(context);
        if let Some(mut known) = known.filter(|_| after.size == size) {
            known.add_all([event]);
            known::remember(context, &self.path, after, known);
        }
        Ok(())
    }

    /// What the last line still needs before another can follow. What is left of a line that
    /// was cut off is taken away.
    fn end_of_last_line(&self, context: &mut Context<'_>) -> Result<String, Failure> {
        let content = self.read(context)?;
        let whole = content.iter().rposition(|octet| *octet == b'\n');
        let whole = whole.map_or(0, |at| at + 1);
        if whole == content.len() {
            return Ok(String::new());
        }
        if event(&content[whole..]).is_ok() {
            return Ok("\n".to_owned());
        }
        let kept = content[..whole].to_vec();
        let replace = FileRequest::Replace(self.path.clone(), kept, Before::Octets(content));
        let replaced = self.perform(context, replace);
        replaced.map_err(|reason| self.failure("write", &reason))?;
        Ok(String::new())
    }

    fn failure(&self, what: &str, reason: &str) -> Failure {
        let path = self.path.display();
        Fault::runtime(format!("memory: failed to {what} {path}: {reason}"))
    }
}

/// What a line tells; `None` if it is blank.
fn event(line: &[u8]) -> Result<Option<Dict>, String> {
    let text = str::from_utf8(line).map_err(|error| error.to_string())?;
    let text = text.trim();
    if text.is_empty() {
        return Ok(None);
    }
    match json::parse(text)? {
        Value::Dict(event) => Ok(Some(event)),
        other => Err(format!("expected an object, found {}", other.type_name())),
    }
}

/// Where memory is, and whether the call says so.
fn root(context: &mut Context<'_>, options: &Value) -> (PathBuf, bool) {
    if let Value::Text(root) = option(options, "root")
        && !root.is_empty()
    {
        return (resolve(context, &root), true);
    }
    let variable = Request::Environment("HARN_MEMORY_ROOT".to_owned());
    let folder = match context.perform(&variable) {
        Answer::Text(Some(root)) if !root.is_empty() => resolve(context, &root),
        _ => state_root(context).join("memory"),
    };
    (folder, false)
}

/// A namespace as a path below the root.
fn relative(namespace: &str) -> Result<PathBuf, Failure> {
    let mut path = PathBuf::new();
    for part in Path::new(namespace.trim()).components() {
        match part {
            Component::Normal(part) => path.push(part),
            Component::CurDir => {}
            Component::ParentDir => {
                let message = "memory namespace must not escape the memory root";
                return Err(Fault::runtime(message));
            }
            Component::RootDir | Component::Prefix(_) => {
                return Err(Fault::runtime("memory namespace must be relative"));
            }
        }
    }
    Ok(path)
}
