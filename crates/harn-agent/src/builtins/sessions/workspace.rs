//! Where a session works.

use std::path::{Component, Path, PathBuf};

use harn_events::{MountMode, MountedRoot, WorkspaceAnchor};
use harn_llm::desk::Thrown;
use serde_json::{Map, Value, json};

use super::Call;
use crate::session::{Session, kept};

/// `agent_session_workspace_anchor(id)`.
pub(super) fn anchor(call: Call<'_>) -> Result<Value, Thrown> {
    let session = call.seen(0, "id")?;
    Ok(json!(anchor_of(&session)))
}

/// `agent_session_set_workspace_anchor(id, anchor|nil)`.
pub(super) fn set_anchor(call: Call<'_>) -> Result<Value, Thrown> {
    let session = call.used(0, "id")?;
    let anchor = match call.asked.argument(1) {
        Value::Null => Value::Null,
        Value::Object(_) => json!(read_anchor(call, call.asked.argument(1))?),
        _ => return call.refuse("`anchor` must be a dict or nil"),
    };
    session.keep(kept::WORKSPACE_ANCHOR, anchor.clone());
    Ok(anchor)
}

/// `agent_session_workspace_policy(id)`.
pub(super) fn policy(call: Call<'_>) -> Result<Value, Thrown> {
    let session = call.seen(0, "id")?;
    Ok(json!(session.kept(kept::WORKSPACE_POLICY)))
}

/// `agent_session_set_workspace_policy(id, policy)`.
pub(super) fn set_policy(call: Call<'_>) -> Result<Value, Thrown> {
    let session = call.used(0, "id")?;
    let policy = Value::Object(call.dict(1, "policy")?.clone());
    session.keep(kept::WORKSPACE_POLICY, policy.clone());
    Ok(policy)
}

/// `agent_session_add_root(id, path, opts?)`. A root that is there already is mounted anew.
pub(super) fn add_root(call: Call<'_>) -> Result<Value, Thrown> {
    let session = call.used(0, "id")?;
    let path = canonical(call, call.text(1, "path")?);
    let mount_mode = read_mode(call, &call.options(2)?)?;
    let mut anchor = some_anchor(call, &session)?;
    let root = MountedRoot {
        path,
        mount_mode,
        mounted_at: call.now(),
    };
    let roots = &mut anchor.additional_roots;
    match roots.iter_mut().find(|other| other.path == root.path) {
        Some(other) => *other = root,
        None => roots.push(root),
    }
    session.keep(kept::WORKSPACE_ANCHOR, json!(anchor));
    Ok(shown_roots(Some(anchor)))
}

/// `agent_session_remove_root(id, path)`. A root that is not there is gone already.
pub(super) fn remove_root(call: Call<'_>) -> Result<Value, Thrown> {
    let session = call.used(0, "id")?;
    let given = call.text(1, "path")?;
    let path = canonical(call, given);
    let mut anchor = some_anchor(call, &session)?;
    // The folder itself may be gone by now, and then nobody can say what its path was.
    let is_meant = |root: &MountedRoot| root.path == path || root.path == given;
    anchor.additional_roots.retain(|root| !is_meant(root));
    session.keep(kept::WORKSPACE_ANCHOR, json!(anchor));
    Ok(shown_roots(Some(anchor)))
}

/// `agent_session_list_roots(id)`.
pub(super) fn list_roots(call: Call<'_>) -> Result<Value, Thrown> {
    let session = call.seen(0, "id")?;
    Ok(shown_roots(anchor_of(&session)))
}

/// Where a session works, if that was said.
pub(super) fn anchor_of(session: &Session) -> Option<WorkspaceAnchor> {
    let kept = session.kept(kept::WORKSPACE_ANCHOR)?;
    serde_json::from_value(kept).ok()
}

/// An anchor as a program writes it: `primary` is enough.
pub(super) fn read_anchor(call: Call<'_>, given: &Value) -> Result<WorkspaceAnchor, Thrown> {
    let Value::Object(fields) = given else {
        return call.refuse("workspace anchor must be a dict");
    };
    let Some(primary) = fields.get("primary").and_then(Value::as_str) else {
        return call.refuse("workspace anchor must have a string `primary`");
    };
    let roots = match fields.get("additional_roots") {
        None | Some(Value::Null) => &[][..],
        Some(Value::Array(roots)) => roots,
        Some(_) => return call.refuse("`additional_roots` must be a list"),
    };
    let roots = roots.iter().map(|root| read_root(call, root));
    Ok(WorkspaceAnchor {
        primary: canonical(call, primary),
        additional_roots: roots.collect::<Result<_, Thrown>>()?,
        anchored_at: time_in(call, fields, "anchored_at"),
    })
}

fn read_root(call: Call<'_>, given: &Value) -> Result<MountedRoot, Thrown> {
    let fields = match given {
        Value::Object(fields) => fields.clone(),
        Value::String(path) => Map::from_iter([("path".to_owned(), json!(path))]),
        _ => return call.refuse("additional roots must be dicts"),
    };
    let Some(path) = fields.get("path").and_then(Value::as_str) else {
        return call.refuse("additional roots must have a string `path`");
    };
    Ok(MountedRoot {
        path: canonical(call, path),
        mount_mode: read_mode(call, &fields)?,
        mounted_at: time_in(call, &fields, "mounted_at"),
    })
}

fn read_mode(call: Call<'_>, fields: &Map<String, Value>) -> Result<MountMode, Thrown> {
    let Some(word) = call.option_text(fields, "mount_mode")? else {
        return Ok(MountMode::ReadOnly);
    };
    match MountMode::from_wire(word) {
        Some(mode) => Ok(mode),
        None => call.refuse(format!(
            "unknown mount_mode '{word}' (expected 'read_only', 'extend', or 'sandboxed')"
        )),
    }
}

fn time_in(call: Call<'_>, fields: &Map<String, Value>, key: &str) -> String {
    let given = fields.get(key).and_then(Value::as_str);
    given.map_or_else(|| call.now(), str::to_owned)
}

fn some_anchor(call: Call<'_>, session: &Session) -> Result<WorkspaceAnchor, Thrown> {
    match anchor_of(session) {
        Some(anchor) => Ok(anchor),
        None => call.refuse(format!(
            "session '{}' has no workspace anchor",
            session.id()
        )),
    }
}

fn shown_roots(anchor: Option<WorkspaceAnchor>) -> Value {
    match anchor {
        Some(anchor) => {
            json!({"primary": anchor.primary, "additional": anchor.additional_roots})
        }
        None => json!({"primary": null, "additional": []}),
    }
}

/// The one path of a place. A place that does not exist yet can be named, too.
fn canonical(call: Call<'_>, path: &str) -> String {
    let place = call.runtime.folder.join(path);
    let place = std::path::absolute(&place).unwrap_or(place);
    let place = place.canonicalize().unwrap_or_else(|_| tidy(&place));
    place.display().to_string()
}

/// A path without `.` and `..`.
fn tidy(path: &Path) -> PathBuf {
    let mut tidy = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                tidy.pop();
            }
            part => tidy.push(part),
        }
    }
    tidy
}
