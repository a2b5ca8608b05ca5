//! What is in folders.

use std::path::{Path, PathBuf};

use harn_machine::{
    Answer, Context, Failure, FileRequest, Registry, Request, Value, argument, thrown,
};

use super::content::{done, failed};
use super::root::{execution_root, resolve};
use super::{path, perform, status};
use crate::dates::iso8601;
use crate::encoding::hex;
use crate::expect::text_or;
use crate::random::octets;

pub(super) fn register(registry: &mut Registry) {
    registry.plain(&[
        ("list_dir", list_dir),
        ("mkdir", mkdir),
        ("temp_dir", temp_dir),
        ("walk_dir", walk_dir),
    ]);
}

fn mkdir(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let path = path(context, arguments, 0);
    let made = perform(context, FileRequest::MakeFolder(path.clone()));
    done(made, "Failed to create directory", &path)
}

fn list_dir(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let path = resolve(context, &text_or(arguments, 0, "."));
    match entries(context, &path) {
        Ok(entries) => Ok(entries.into_iter().map(|entry| entry.name.into()).collect()),
        Err(reason) => failed("Failed to list directory", &path, &reason),
    }
}

fn temp_dir(context: &mut Context<'_>, _: &mut [Value]) -> Result<Value, Failure> {
    let wanted = context.perform(&Request::Environment("TMPDIR".to_owned()));
    Ok(match wanted {
        Answer::Text(Some(folder)) if !folder.is_empty() => folder.into(),
        _ => "/tmp".into(),
    })
}

struct Entry {
    name: String,
    kind: String,
}

/// The entries of a folder, sorted by name.
fn entries(context: &mut Context<'_>, path: &Path) -> Result<Vec<Entry>, String> {
    let Answer::Pairs(pairs) = perform(context, FileRequest::List(path.to_owned()))? else {
        return Ok(Vec::new());
    };
    let entries = pairs.into_iter().map(|(name, kind)| Entry { name, kind });
    Ok(entries.collect())
}

/// Something that is found below a folder.
pub(super) struct Found {
    pub(super) path: PathBuf,
    pub(super) is_folder: bool,
    pub(super) is_file: bool,
    pub(super) depth: usize,
}

/// How far to look.
#[derive(Clone, Copy)]
pub(super) struct Walk {
    pub(super) depth_max: usize,
    pub(super) follows_links: bool,
}

/// Everything below a folder, itself included; a folder comes before what is in it. What cannot
/// be read is skipped.
pub(super) fn walk(context: &mut Context<'_>, top: PathBuf, walk: Walk) -> Vec<Found> {
    let Some(facts) = status(context, top.clone()) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    let mut left = vec![Found {
        path: top,
        is_folder: facts.is_folder,
        is_file: facts.is_file,
        depth: 0,
    }];
    // Links can lead back to a folder around them. Two that lead to the same folder elsewhere
    // both show what is in it.
    let mut around: Vec<String> = Vec::new();
    while let Some(one) = left.pop() {
        around.truncate(one.depth);
        if one.is_folder && one.depth < walk.depth_max && enters(context, &mut around, &one, walk) {
            let inside = entries(context, &one.path).unwrap_or_default();
            for entry in inside.into_iter().rev() {
                left.push(inspected(context, &one, &entry, walk));
            }
        }
        found.push(one);
    }
    found
}

/// Whether a folder is not also one of those around it.
fn enters(context: &mut Context<'_>, around: &mut Vec<String>, folder: &Found, walk: Walk) -> bool {
    if !walk.follows_links {
        return true;
    }
    let real = canonical(context, &folder.path);
    let is_new = !around.contains(&real);
    around.push(real);
    is_new
}

/// What an entry of a folder is. A link to a folder is one only if links are followed.
fn inspected(context: &mut Context<'_>, folder: &Found, entry: &Entry, walk: Walk) -> Found {
    let path = folder.path.join(&entry.name);
    let (is_folder, is_file) = match entry.kind.as_str() {
        "link" => {
            let facts = status(context, path.clone());
            let is_folder = facts.is_some_and(|facts| facts.is_folder);
            let is_file = facts.is_some_and(|facts| facts.is_file);
            (is_folder && walk.follows_links, is_file)
        }
        kind => (kind == "folder", kind == "file"),
    };
    Found {
        path,
        is_folder,
        is_file,
        depth: folder.depth + 1,
    }
}

fn canonical(context: &mut Context<'_>, path: &Path) -> String {
    match perform(context, FileRequest::Canonical(path.to_owned())) {
        Ok(Answer::Text(Some(path))) => path,
        _ => path.display().to_string(),
    }
}

fn walk_dir(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    if arguments.is_empty() {
        return thrown("walk_dir: root path is required");
    }
    let top = path(context, arguments, 0);
    let mut how = Walk {
        depth_max: usize::MAX,
        follows_links: false,
    };
    if let Value::Dict(options) = argument(arguments, 1) {
        let is_on = |key: &str| options.get(key).is_some_and(Value::is_truthy);
        if is_on("long_running") || is_on("background") {
            let descriptor = format!("walk_dir {}", top.display());
            return Ok(begun(context, "walk_dir", &descriptor));
        }
        how.follows_links = is_on("follow_symlinks");
        if let Some(Value::Int(depth)) = options.get("max_depth") {
            how.depth_max = crate::expect::count(*depth);
        }
    }
    let found = walk(context, top, how);
    let described = found.into_iter().map(|one| {
        Value::dict([
            ("depth", one.depth.into()),
            ("is_dir", one.is_folder.into()),
            ("is_file", one.is_file.into()),
            ("path", one.path.display().to_string().into()),
        ])
    });
    Ok(described.collect())
}

/// What is told of an operation that goes on in the background.
pub(super) fn begun(context: &mut Context<'_>, operation: &str, descriptor: &str) -> Value {
    let handle = format!("hso-{}", hex::encode(&octets::<8>(context)));
    Value::dict([
        ("command_or_op_descriptor", descriptor.into()),
        ("duration_ms", Value::Int(0)),
        ("ended_at", Value::Nil),
        ("handle_id", handle.into()),
        ("operation", operation.into()),
        ("started_at", iso8601(context.now()).into()),
        ("status", "running".into()),
    ])
}

/// The execution root as text.
pub(super) fn root_text(context: &mut Context<'_>) -> String {
    execution_root(context).display().to_string()
}
