//! Everything below a folder.

use std::path::{Path, PathBuf};

use harn_machine::{
    Answer, Context, Failure, FileRequest, FileStatus, Registry, Request, Value, argument, thrown,
};

use super::background::{self, Sought};
use super::folders::Entry;
use super::{allowed, path};

pub(super) fn register(registry: &mut Registry) {
    registry.plain(&[("walk_dir", walk_dir)]);
}

/// Something that is found below a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Its path, which begins as that of the folder is written.
    pub path: String,
    /// Whether it is a folder.
    pub is_folder: bool,
    /// Whether it is a file.
    pub is_file: bool,
    /// How many folders are around it, up to the one that was looked in.
    pub depth: usize,
}

/// How far to look, and for whom.
#[derive(Clone, Copy)]
pub(super) struct Walk {
    /// The builtin that looks, for its errors.
    pub(super) builtin: &'static str,
    pub(super) depth_max: usize,
    pub(super) follows_links: bool,
}

/// Where one looks at files: from a program, or in the background for it.
pub(super) trait Look {
    fn look(&mut self, request: FileRequest) -> Answer;

    /// Whether anybody still wants to know.
    fn goes_on(&self) -> bool {
        true
    }
}

impl Look for Context<'_> {
    fn look(&mut self, request: FileRequest) -> Answer {
        self.perform(&Request::File(request))
    }
}

/// Shows everything below a folder, itself included; a folder comes before what is in it. What
/// cannot be read is skipped.
pub(super) fn walk(
    context: &mut Context<'_>,
    top: &Path,
    walk: Walk,
    show: impl FnMut(Found),
) -> Result<(), Failure> {
    let facts = facts_about(context, top.to_owned());
    allowed(context, walk.builtin)?;
    if let Some(facts) = facts {
        below(context, (top, facts), walk, show);
    }
    Ok(())
}

/// The same, for whoever has looked at the folder itself.
pub(super) fn below(
    look: &mut impl Look,
    (top, facts): (&Path, FileStatus),
    walk: Walk,
    mut show: impl FnMut(Found),
) {
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
        if !look.goes_on() {
            return;
        }
        around.truncate(one.depth);
        if one.is_folder && one.depth < walk.depth_max && enters(look, &mut around, &one, walk) {
            for entry in inside(look, Path::new(&one.path)).into_iter().rev() {
                left.push(inspected(look, &one, &entry, walk));
            }
        }
        show(one);
    }
}

/// Facts about what is at a path, if there is something.
pub(super) fn facts_about(look: &mut impl Look, path: PathBuf) -> Option<FileStatus> {
    match look.look(FileRequest::Status(path)) {
        Answer::Status(status) => status,
        _ => None,
    }
}

/// The entries of a folder; none if it cannot be read.
fn inside(look: &mut impl Look, path: &Path) -> Vec<Entry> {
    let Answer::Pairs(pairs) = look.look(FileRequest::List(path.to_owned())) else {
        return Vec::new();
    };
    let entries = pairs.into_iter().map(|(name, kind)| Entry { name, kind });
    entries.collect()
}

/// Whether a folder is not also one of those around it.
fn enters(look: &mut impl Look, around: &mut Vec<String>, folder: &Found, walk: Walk) -> bool {
    if !walk.follows_links {
        return true;
    }
    let real = canonical(look, &folder.path);
    let is_new = !around.contains(&real);
    around.push(real);
    is_new
}

/// What an entry of a folder is. A link to a folder is one only if links are followed.
fn inspected(look: &mut impl Look, folder: &Found, entry: &Entry, walk: Walk) -> Found {
    let path = joined(&folder.path, &entry.name);
    let (is_folder, is_file) = match entry.kind.as_str() {
        "link" => {
            let facts = facts_about(look, PathBuf::from(&path));
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

fn canonical(look: &mut impl Look, path: &str) -> String {
    match look.look(FileRequest::Canonical(PathBuf::from(path))) {
        Answer::Text(Some(path)) => path,
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
        how.follows_links = is_on("follow_symlinks");
        if let Some(Value::Int(depth)) = options.get("max_depth") {
            how.depth_max = crate::expect::count(*depth);
        }
        if is_on("long_running") || is_on("background") {
            let descriptor = format!("walk_dir {}", top.display());
            let sought = Sought {
                top,
                pattern: None,
                depth_max: Some(how.depth_max).filter(|depth| *depth < usize::MAX),
                follows_links: how.follows_links,
            };
            return background::begin(context, ("walk_dir", &descriptor), &sought);
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
