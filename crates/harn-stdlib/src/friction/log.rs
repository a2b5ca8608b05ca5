//! The events of a run, and the file that they may be added to.

use std::path::PathBuf;

use harn_machine::value::Dict;
use harn_machine::{
    Answer, Context, Failure, Fault, FileRequest, Holds, Registry, Request, Value, argument,
};

use super::event::event;
use super::text_of;
use crate::files::perform;
use crate::files::root::resolve;
use crate::json;

/// The variable that names a file for those who name none.
const FILE: &str = "HARN_FRICTION_LOG";

pub(super) fn register(registry: &mut Registry) {
    registry.plain(&[
        ("friction_clear", |context, _| {
            context.holding::<Events>().0.clear();
            Ok(Value::Nil)
        }),
        ("friction_events", |context, _| {
            Ok(Value::list(context.holding::<Events>().0.clone()))
        }),
        ("friction_record", friction_record),
    ]);
}

/// The events of a run, in order.
#[derive(Default)]
pub(super) struct Events(pub(super) Vec<Value>);

impl Holds for Events {
    fn each_value(&self, each: &mut dyn FnMut(&Value)) {
        self.0.iter().for_each(each);
    }
}

/// `friction_record(payload, options?)`
fn friction_record(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let event = Value::Dict(event(context, argument(arguments, 0))?);
    let options = match argument(arguments, 1) {
        Value::Dict(options) => options.clone(),
        _ => Dict::default(),
    };
    if matches!(options.get("enabled"), Some(Value::Bool(false))) {
        return Ok(Value::dict([
            ("recorded", false.into()),
            ("sink", "disabled".into()),
            ("event", event),
        ]));
    }
    context.holding::<Events>().0.push(event.clone());
    let Some(path) = path(context, &options) else {
        return Ok(Value::dict([
            ("recorded", true.into()),
            ("sink", "memory".into()),
            ("event", event),
        ]));
    };
    append(context, &path, &event)?;
    Ok(Value::dict([
        ("recorded", true.into()),
        ("sink", "jsonl".into()),
        ("path", path.into()),
        ("event", event),
    ]))
}

/// The file that events are added to.
fn path(context: &mut Context<'_>, options: &Dict) -> Option<String> {
    let given = text_of(options, "log_path").or_else(|| text_of(options, "path"));
    if let Some(path) = given {
        return Some(path.to_owned());
    }
    match context.perform(&Request::Environment(FILE.to_owned())) {
        Answer::Text(path) => path.filter(|path| !path.trim().is_empty()),
        _ => None,
    }
}

fn append(context: &mut Context<'_>, path: &str, event: &Value) -> Result<(), Failure> {
    let file: PathBuf = resolve(context, path);
    let mut line = String::new();
    json::write(event, &mut line);
    line.push('\n');
    let failed = |reason| Fault::runtime(format!("friction_record: cannot write {path}: {reason}"));
    if let Some(folder) = file.parent() {
        let folder = FileRequest::MakeFolder(folder.to_owned());
        perform(context, folder).map_err(failed)?;
    }
    let append = FileRequest::Append(file, line.into_bytes());
    perform(context, append).map_err(failed)?;
    Ok(())
}
