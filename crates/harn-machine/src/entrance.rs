//! Where a program begins.
//!
//! What a program keeps between runs belongs to the program, not to the file whose function
//! happens to ask: a function of a module finds the same store as the script that imports it.

use std::path::{Path, PathBuf};

use harn_syntax::tree::{ItemKind, Module, StatementKind};

use crate::load::Entry;

/// Where a program begins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entrance {
    /// The folder of its first file; `None` if there is no file.
    pub folder: Option<PathBuf>,
    /// The pipeline that runs. A script has none and is called like its file.
    pub name: String,
}

impl Entrance {
    /// The one of a file.
    pub(crate) fn of(path: &Path, module: &Module, entry: &Entry) -> Self {
        let stem = path.file_stem().unwrap_or_default();
        let script = || stem.to_string_lossy().into_owned();
        let name = match entry {
            Entry::Named(name) => name.clone(),
            Entry::Default => default_pipeline(module).map_or_else(script, str::to_owned),
        };
        Self {
            folder: path.parent().map(Path::to_owned),
            name,
        }
    }
}

/// The pipeline that runs unless another is named.
fn default_pipeline(module: &Module) -> Option<&str> {
    let items = module.statements.iter().map(|statement| &statement.kind);
    let mut names = items.filter_map(|kind| match kind {
        StatementKind::Item(item) => match &item.kind {
            ItemKind::Pipeline(pipeline) => Some(pipeline.name.text.as_str()),
            _ => None,
        },
        _ => None,
    });
    let first = names.next()?;
    let is_default = first == "default" || names.any(|name| name == "default");
    Some(if is_default { "default" } else { first })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, entry: &Entry, name: &str) {
        let module = harn_syntax::parse(text).module;
        let entrance = Entrance::of(Path::new("/a/b.harn"), &module, entry);
        let folder = Some(PathBuf::from("/a"));
        let name = name.to_owned();
        assert_eq!(entrance, Entrance { folder, name });
    }

    #[test]
    fn a_program_is_called_like_the_pipeline_that_runs() {
        let pipelines = "pipeline one() {}\npipeline default() {}\n";
        check(pipelines, &Entry::Default, "default");
        check(
            "pipeline one() {}\npipeline two() {}\n",
            &Entry::Default,
            "one",
        );
        check(pipelines, &Entry::Named("one".to_owned()), "one");
    }

    #[test]
    fn a_script_is_called_like_its_file() {
        check("let a = 1\n", &Entry::Default, "b");
    }
}
