//! Everything below a folder.

use std::path::{Path, PathBuf};

use harn_machine::{Answer, Context, Failure, FileRequest, Registry, Value, argument, thrown};

use super::folders::{Entry, begun, entries};
use super::{allowed, path, perform, status};

pub(super) fn register(registry: &mut Registry) {
    registry.plain(&[("walk_dir", walk_dir)]);
}

/// Something that is found below a folder.
pub(super) struct Found {
    /// Its path, which begins as that of the folder is written.
    pub(super) path: String,
    pub(super) is_folder: bool,
    pub(super) is_file: bool,
    pub(super) depth: usize,
}

/// How far to look, and for whom.
#[derive(Clone, Copy)]
pub(super) struct Walk {
    /// The builtin that looks, for its errors.
    pub(super) builtin: &'static str,
    pub(super) depth_max: usize,
    pub(super) follows_links: bool,
}

/// Shows everything below a folder, itself included; a folder comes before what is in it. What
/// cannot be read is skipped.
pub(super) fn walk(
    context: &mut Context<'_>,
    top: &Path,
    walk: Walk,
    mut show: impl FnMut(Found),
) -> Result<(), Failure> {
    let facts = status(context, top.to_owned());
    allowed(context, walk.builtin)?;
    let Some(facts) = facts else {
        return Ok(());
    };
    let mut left = vec![Found {
        path: top.display().to_string(),
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
            let inside = entries(context, Path::new(&one.path)).unwrap_or_default();
            for entry in inside.into_iter().rev() {
                left.push(inspected(context, &one, &entry, walk));
            }
        }
        show(one);
    }
    Ok(())
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
    let path = joined(&folder.path, &entry.name);
    let (is_folder, is_file) = match entry.kind.as_str() {
        "link" => {
            let facts = status(context, PathBuf::from(&path));
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

fn joined(folder: &str, name: &str) -> String {
    let mut path = String::with_capacity(folder.len() + 1 + name.len());
    path.push_str(folder);
    if !folder.ends_with('/') {
        path.push('/');
    }
    path.push_str(name);
    path
}

fn canonical(context: &mut Context<'_>, path: &str) -> String {
    match perform(context, FileRequest::Canonical(PathBuf::from(path))) {
        Ok(Answer::Text(Some(path))) => path,
        _ => path.to_owned(),
    }
}

fn walk_dir(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    if arguments.is_empty() {
        return thrown("walk_dir: root path is required");
    }
    let top = path(context, arguments, 0);
    let mut how = Walk {
        builtin: "walk_dir",
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
    let mut described = Vec::new();
    walk(context, &top, how, |one| {
        described.push(Value::dict([
            ("depth", one.depth.into()),
            ("is_dir", one.is_folder.into()),
            ("is_file", one.is_file.into()),
            ("path", one.path.into()),
        ]));
    })?;
    Ok(described.into_iter().collect())
}
