//! The file of a namespace: a line for everything that happened.
//!
//! A line is added in one go. If a crash cuts one off, nobody was told that it is there: it is
//! not read, and taken away before the next line is added.

use std::collections::{HashMap, HashSet};
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

use harn_machine::value::{Dict, Text};
use harn_machine::{Answer, Before, Context, Failure, Fault, FileRequest, Request, Value};

use super::arguments::option;
use super::record::Record;
use crate::files::root::resolve;
use crate::files::{perform, status};
use crate::json;
use crate::state::state_root;

/// The file of a namespace.
pub(super) struct Log {
    path: PathBuf,
}

/// How long files were when their last line was seen to be whole.
#[derive(Default)]
struct Whole(HashMap<PathBuf, u64>);

impl Log {
    pub(super) fn open(
        context: &mut Context<'_>,
        namespace: &str,
        options: &Value,
    ) -> Result<Self, Failure> {
        let folder = root(context, options).join(relative(namespace)?);
        let path = folder.join("events.jsonl");
        Ok(Self { path })
    }

    /// Everything that was stored and not forgotten, in that order.
    pub(super) fn records(&self, context: &mut Context<'_>) -> Result<Vec<Record>, Failure> {
        let content = self.read(context)?;
        context.reserve(content.len().saturating_mul(4))?;
        let (mut records, mut forgotten) = (Vec::new(), HashSet::new());
        for event in self.events(&content)? {
            if let Some(Value::List(ids)) = event.get("forgotten_ids") {
                forgotten.extend(ids.iter().map(Value::to_text));
            }
            records.extend(Record::read(event));
        }
        records.retain(|record| !forgotten.contains(&record.id));
        Ok(records)
    }

    fn read(&self, context: &mut Context<'_>) -> Result<Vec<u8>, Failure> {
        let read = Request::File(FileRequest::Read(self.path.clone()));
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
    pub(super) fn add(&self, context: &mut Context<'_>, event: &Value) -> Result<(), Failure> {
        let folder = self.path.parent().unwrap_or(Path::new("")).to_owned();
        let made = perform(context, FileRequest::MakeFolder(folder));
        made.map_err(|reason| self.failure("create the folder of", &reason))?;
        let mut line = self.end_of_last_line(context)?;
        json::write(event, &mut line);
        line.push('\n');
        let append = FileRequest::Append(self.path.clone(), line.into_bytes());
        let added = perform(context, append);
        added.map_err(|reason| self.failure("write", &reason))?;
        let length = self.length(context);
        context.state::<Whole>().0.insert(self.path.clone(), length);
        Ok(())
    }

    fn length(&self, context: &mut Context<'_>) -> u64 {
        status(context, self.path.clone()).map_or(0, |facts| facts.size)
    }

    /// What the last line still needs before another can follow. What is left of a line that
    /// was cut off is taken away.
    fn end_of_last_line(&self, context: &mut Context<'_>) -> Result<String, Failure> {
        let length = self.length(context);
        let known = context.state::<Whole>().0.get(&self.path);
        if length == 0 || known == Some(&length) {
            return Ok(String::new());
        }
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
        let replaced = perform(context, replace);
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

/// Where memory is.
fn root(context: &mut Context<'_>, options: &Value) -> PathBuf {
    let named = match option(options, "root") {
        Value::Text(root) => Some(root),
        _ => match context.perform(&Request::Environment("HARN_MEMORY_ROOT".to_owned())) {
            Answer::Text(root) => root.map(Text::from),
            _ => None,
        },
    };
    match named.filter(|root| !root.is_empty()) {
        Some(root) => resolve(context, &root),
        None => state_root(context).join("memory"),
    }
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
