//! What is in a folder and in those below it.

use std::path::{Path, PathBuf};

use harn_machine::value::Dict;
use harn_machine::{Answer, Context, Failure, FileRequest, Registry, Value, argument};

use super::place::scanned_folder;
use crate::expect::text;
use crate::files::root::execution_root;
use crate::files::{allowed, perform, status};

/// How far down a scan goes unless it says otherwise.
const DEPTH: i64 = 5;

pub(super) fn register(registry: &mut Registry) {
    registry.plain(&[("scan_directory", scan_directory)]);
}

/// `scan_directory(dir, pattern | options, options?)`
fn scan_directory(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let mut scan = Scan::new(context, arguments);
    let folder = scanned_folder(context, &text(arguments, 0));
    status(context, folder.clone());
    allowed(context, "scan_directory")?;
    scan.look_into(context, folder)?;
    scan.found.sort_by(|one, next| one.0.cmp(&next.0));
    Ok(scan.found.into_iter().map(|(_, entry)| entry).collect())
}

struct Scan {
    root: PathBuf,
    pattern: Option<Pattern>,
    max_depth: i64,
    include_hidden: bool,
    include_dirs: bool,
    include_files: bool,
    /// Every entry by its path.
    found: Vec<(String, Value)>,
}

impl Scan {
    fn new(context: &mut Context<'_>, arguments: &[Value]) -> Self {
        let (mut pattern, mut options) = (None, Dict::default());
        for at in [1, 2] {
            match argument(arguments, at) {
                Value::Dict(given) => options = given.clone(),
                Value::Nil => {}
                given => pattern = Some(given.to_text()),
            }
        }
        if let Some(given) = options.get("pattern").filter(|given| !given.is_nil()) {
            pattern.get_or_insert_with(|| given.to_text());
        }
        let option = |name: &str, usual: bool| match options.get(name) {
            None | Some(Value::Nil) => usual,
            Some(value) => value.is_truthy(),
        };
        Self {
            root: execution_root(context),
            pattern: pattern.map(|pattern| Pattern::new(&pattern)),
            max_depth: match options.get("max_depth") {
                Some(Value::Int(depth)) => *depth,
                _ => DEPTH,
            },
            include_hidden: option("include_hidden", false),
            include_dirs: option("include_dirs", true),
            include_files: option("include_files", true),
            found: Vec::new(),
        }
    }

    /// Adds what is in a folder and below. Links are not followed, so a scan comes to an end, and
    /// what cannot be listed has no entries.
    fn look_into(&mut self, context: &mut Context<'_>, folder: PathBuf) -> Result<(), Failure> {
        let mut left = vec![(folder, 0)];
        while let Some((folder, depth)) = left.pop() {
            if depth > self.max_depth {
                continue;
            }
            let Ok(Answer::Pairs(entries)) = perform(context, FileRequest::List(folder.clone()))
            else {
                continue;
            };
            for (name, kind) in entries {
                if name.starts_with('.') && !self.include_hidden {
                    continue;
                }
                let path = folder.join(&name);
                self.entry(context, &path, &name)?;
                if kind == "folder" {
                    left.push((path, depth + 1));
                }
            }
        }
        Ok(())
    }

    fn entry(&mut self, context: &mut Context<'_>, path: &Path, name: &str) -> Result<(), Failure> {
        let Some(facts) = status(context, path.to_owned()) else {
            return Ok(());
        };
        let is_wanted = match facts.is_folder {
            true => self.include_dirs,
            false => self.include_files,
        };
        let shown = path.strip_prefix(&self.root).unwrap_or(path);
        let shown = shown.display().to_string();
        let pattern = self.pattern.as_ref();
        let matches = pattern.is_none_or(|it| it.matches(&shown) || it.matches(name));
        if is_wanted && matches {
            context.reserve(size_of::<(String, Value)>() + shown.len())?;
            let entry = Value::dict([
                ("is_dir", facts.is_folder.into()),
                ("modified", facts.modified.div_euclid(1000).into()),
                ("path", shown.as_str().into()),
                ("size", i64::try_from(facts.size).unwrap_or(i64::MAX).into()),
            ]);
            self.found.push((shown, entry));
        }
        Ok(())
    }
}

/// What a path has to look like.
#[derive(Debug)]
enum Pattern {
    /// It begins and ends with these.
    Around(String, String),
    /// It contains this.
    Inside(String),
}

impl Pattern {
    fn new(pattern: &str) -> Self {
        let stars = pattern.matches('*').count();
        let ends = pattern.find('*').zip(pattern.rfind('*'));
        match ends {
            Some((first, last)) if stars == 1 || pattern.contains("**") => {
                Self::Around(pattern[..first].to_owned(), pattern[last + 1..].to_owned())
            }
            _ => Self::Inside(pattern.to_owned()),
        }
    }

    fn matches(&self, path: &str) -> bool {
        match self {
            Self::Inside(part) => path.contains(part.as_str()),
            Self::Around(start, end) => {
                let rest = path.strip_prefix(start.as_str());
                rest.is_some_and(|rest| {
                    // `**/name` means that name in the first folder, too.
                    rest.ends_with(end.as_str()) || end.strip_prefix('/') == Some(rest)
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_look_at_both_ends_or_anywhere() {
        for (pattern, path, matches) in [
            ("*.rs", "a/b.rs", true),
            ("*.rs", "a/b.rst", false),
            ("a*", "a/b.rs", true),
            ("src/**/*.rs", "src/a/b.rs", true),
            ("src/**/*.rs", "src/b.rs", true),
            ("src/**/*.rs", "lib/b.rs", false),
            ("src/**", "src/b", true),
            ("**/b.rs", "b.rs", true),
            ("**/b.rs", "a/b.rs", true),
            ("**/b.rs", "ab.rs", false),
            ("ab*ba", "aba", false),
            ("b.r", "a/b.rs", true),
            ("x", "a/b.rs", false),
            ("", "a", true),
            ("a*b*c", "abc", false),
            ("a*b*c", "xa*b*c", true),
        ] {
            assert_eq!(
                Pattern::new(pattern).matches(path),
                matches,
                "{pattern} {path}"
            );
        }
    }
}
