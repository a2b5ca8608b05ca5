//! The kinds of values that each file has.

use std::sync::Arc;

use super::database::{Cells, Computations, Database, Query};
use super::error::Unreadable;
use super::exports::{Exports, exports};
use super::imported::imported;
use super::memo::{Dependency, FileId, Memo};
use super::outline::Outline;
use super::problems::{ImportProblem, problems};
use super::resolve::{ResolvedImport, resolve};
use super::source_file::SourceFile;
use crate::imported::Imported;

macro_rules! query {
    ($(#[$doc:meta])* $name:ident: $value:ty, $slot:ident, $count:ident, $dependency:expr, $compute:expr) => {
        $(#[$doc])*
        pub(super) struct $name;

        impl Query for $name {
            type Value = $value;

            fn slot(cells: &mut Cells) -> &mut Option<Memo<Self::Value>> {
                &mut cells.$slot
            }

            fn dependency(file: FileId) -> Option<Dependency> {
                $dependency(file)
            }

            fn count(computations: &mut Computations) -> &mut u64 {
                &mut computations.$count
            }

            fn compute(database: &mut Database, file: FileId) -> Self::Value {
                $compute(database, file)
            }
        }
    };
}

query! {
    /// The tree of a file.
    ParsedQuery: Result<Arc<SourceFile>, Unreadable>, parsed, parsed,
    |file| Some(Dependency::Parsed(file)), compute_parsed
}

query! {
    /// What a file declares.
    OutlineQuery: Arc<Outline>, outline, outlines,
    |file| Some(Dependency::Outline(file)), compute_outline
}

query! {
    /// Where the imports of a file lead.
    ResolutionsQuery: Arc<[ResolvedImport]>, resolutions, resolutions,
    |file| Some(Dependency::Resolutions(file)), compute_resolutions
}

query! {
    /// What a file exports.
    ExportsQuery: Arc<Exports>, exports, exports,
    |file| Some(Dependency::Exports(file)), |database, file| Arc::new(exports(database, file))
}

query! {
    /// What the imports of a file bring.
    ImportedQuery: Arc<Imported>, imported, imported,
    |_| None, |database, file| Arc::new(imported(database, file))
}

query! {
    /// What is wrong with the imports of a file.
    ProblemsQuery: Arc<[ImportProblem]>, problems, problems,
    |_| None, |database, file| problems(database, file).into()
}

fn compute_parsed(database: &mut Database, file: FileId) -> Result<Arc<SourceFile>, Unreadable> {
    let text = database.text(file)?;
    let path = Arc::clone(database.path(file));
    Ok(Arc::new(SourceFile::new(path, text)))
}

fn compute_outline(database: &mut Database, file: FileId) -> Arc<Outline> {
    Arc::new(match database.get::<ParsedQuery>(file) {
        Ok(file) => Outline::of(&file),
        Err(reason) => Outline::unreadable(reason),
    })
}

fn compute_resolutions(database: &mut Database, file: FileId) -> Arc<[ResolvedImport]> {
    let outline = database.get::<OutlineQuery>(file);
    let importer = Arc::clone(database.path(file));
    let imports = outline.imports.iter().map(|import| ResolvedImport {
        import: import.clone(),
        target: resolve(database, &importer, &import.path),
    });
    imports.collect()
}
