//! What is wrong with imports, where it stands.

use harn_syntax::tree::{Import, ItemKind, StatementKind};
use harn_syntax::{Code, Diagnostic, Span};
use smol_str::SmolStr;

use super::error::ImportError;
use super::problems::ImportProblem;
use super::source_file::SourceFile;
use crate::codes::code_list;

code_list! {
    /// Every code about an import with one line about it.
    IMPORT_CODES:
    UNRESOLVED_IMPORT "unresolved-import" "the imported module cannot be found or read"
    BROKEN_IMPORT "broken-import" "the imported module is no program"
    UNKNOWN_IMPORT "unknown-import" "the imported module does not have what is asked for"
    IMPORT_COLLISION "import-collision" "two imports bring functions of the same name"
    RE_EXPORT "re-export" "`pub import` names what the other module keeps to itself"
    RE_EXPORT_COLLISION "re-export-collision" "a function is passed on whose name is taken"
}

/// The problems of a file as diagnostics.
pub(super) fn diagnostics(file: &SourceFile, problems: &[ImportProblem]) -> Vec<Diagnostic> {
    let statements = file.parsed.module.statements.iter();
    let imports: Vec<&Import> = statements
        .filter_map(|statement| match &statement.kind {
            StatementKind::Item(item) => match &item.kind {
                ItemKind::Import(import) => Some(import),
                _ => None,
            },
            _ => None,
        })
        .collect();
    let diagnostic = |problem: &ImportProblem| {
        let import = imports.get(problem.import)?;
        Some(Diagnostic::error(
            code(&problem.error),
            place(import, &problem.error),
            problem.error.to_string(),
        ))
    };
    problems.iter().filter_map(diagnostic).collect()
}

/// Where a problem is: at the name it is about, if that is written, else at the path.
fn place(import: &Import, error: &ImportError) -> Span {
    let names = import.names.iter().flatten();
    let mut named = names.filter(|name| Some(&name.text) == subject(error));
    named.next().map_or(import.path.span, |name| name.span)
}

fn subject(error: &ImportError) -> Option<&SmolStr> {
    match error {
        ImportError::NotDefined { name, .. }
        | ImportError::Collision { name, .. }
        | ImportError::NotExported { name, .. }
        | ImportError::ReexportCollision { name, .. } => Some(name),
        ImportError::UnknownStandard(_)
        | ImportError::Unreadable { .. }
        | ImportError::Lexical(_)
        | ImportError::Syntax(_)
        | ImportError::Compile { .. }
        | ImportError::NotLoaded { .. } => None,
    }
}

fn code(error: &ImportError) -> Code {
    match error {
        ImportError::UnknownStandard(_) | ImportError::Unreadable { .. } => UNRESOLVED_IMPORT,
        ImportError::Lexical(_) | ImportError::Syntax(_) | ImportError::Compile { .. } => {
            BROKEN_IMPORT
        }
        ImportError::NotDefined { .. } => UNKNOWN_IMPORT,
        ImportError::Collision { .. } => IMPORT_COLLISION,
        ImportError::NotExported { .. } | ImportError::NotLoaded { .. } => RE_EXPORT,
        ImportError::ReexportCollision { .. } => RE_EXPORT_COLLISION,
    }
}
