//! Checkpoints: what the stages of a pipeline have come to, so that its next run can go on.

use std::io::ErrorKind;
use std::path::PathBuf;

use harn_machine::{Answer, Context, Failure, FileRequest, Registry, Request, Value};

use super::kept::Trouble;
use super::shelf::{self, Shelf, exists, get, list, remove, set};
use super::state_root;

pub(super) fn register(registry: &mut Registry) {
    registry.plain(&[
        ("checkpoint", set::<Checkpoints>),
        ("checkpoint_clear", clear),
        ("checkpoint_delete", remove::<Checkpoints>),
        ("checkpoint_exists", exists::<Checkpoints>),
        ("checkpoint_get", get::<Checkpoints>),
        ("checkpoint_list", list::<Checkpoints>),
    ]);
}

struct Checkpoints;

impl Shelf for Checkpoints {
    const NAME: &'static str = "checkpoint";

    fn path(context: &mut Context<'_>) -> PathBuf {
        let name = match context.entrance().name.as_str() {
            "" => "default",
            name => name,
        };
        let file = format!("{name}.json");
        state_root(context).join("checkpoints").join(file)
    }
}

/// Removes the file, also one that nobody could read.
fn clear(context: &mut Context<'_>, _: &mut [Value]) -> Result<Value, Failure> {
    shelf::forget::<Checkpoints>(context);
    let path = Checkpoints::path(context);
    match context.perform(&Request::OwnFile(FileRequest::Delete(path))) {
        Answer::Failed(reason) if reason.kind != ErrorKind::NotFound => {
            let trouble = Trouble("clear", reason.message);
            Err(shelf::failure::<Checkpoints>(trouble))
        }
        _ => Ok(Value::Nil),
    }
}
