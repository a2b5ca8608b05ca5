//! The methods about sessions, but for turns.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};

use super::connection::Connection;
use crate::error::Refusal;
use crate::session::{Place, Session};

/// `session/new`.
///
/// # Errors
/// The folder is none, or the session cannot be kept.
pub(super) async fn new(
    connection: &Arc<Connection>,
    parameters: &Value,
) -> Result<Value, Refusal> {
    let place = place(parameters)?;
    let id = format!("acp_{}", harn_vm::new_id());
    let session = Session::create(&connection.server, id, place).await?;
    connection.server.add(&session)?;
    connection.follow(&session);
    Ok(json!({"sessionId": session.id}))
}

/// Where a session works.
fn place(parameters: &Value) -> Result<Place, Refusal> {
    let more = match &parameters["additionalDirectories"] {
        Value::Null => Vec::new(),
        Value::Array(folders) => folders.iter().collect(),
        _ => {
            let why = "`additionalDirectories` has to be a list";
            return Err(Refusal::bad_parameters(why));
        }
    };
    let more = more
        .into_iter()
        .map(|one| folder(one, "additionalDirectories"));
    Ok(Place {
        cwd: folder(&parameters["cwd"], "cwd")?,
        more: more.collect::<Result<_, _>>()?,
    })
}

fn folder(given: &Value, name: &str) -> Result<PathBuf, Refusal> {
    let Some(text) = given.as_str() else {
        let why = format!("`{name}` has to be a path");
        return Err(Refusal::bad_parameters(why));
    };
    let path = Path::new(text);
    if !path.is_absolute() {
        let why = format!("`{name}` has to be an absolute path");
        return Err(Refusal::bad_parameters(why).with(json!({"path": text})));
    }
    if !path.is_dir() {
        let why = format!("`{name}` has to be a folder that exists");
        return Err(Refusal::bad_parameters(why).with(json!({"path": text})));
    }
    Ok(path.to_owned())
}
