//! Everything that is said about a file before it runs.
//!
//! A program goes through phases, and the first one that fails ends it: a file that cannot be
//! read has no types, and one with a type error is not compiled.

use harn_syntax::{Diagnostic, Severity};

use crate::imported::Imported;
use crate::modules::SourceFile;
use crate::refusals::refusals;
use crate::types::{CheckOptions, check_types};

/// How far a program gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// Its characters are not all tokens.
    Lex,
    /// Its tokens are not all statements.
    Parse,
    /// Its types do not fit.
    Check,
    /// It cannot be compiled.
    Compile,
    /// It can be run.
    Run,
}

/// What is said about a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Analysis {
    /// The phase that ends it.
    pub phase: Phase,
    /// What that phase and those before it have to say, in the order in which it is said.
    pub diagnostics: Vec<Diagnostic>,
    /// The text that stands for the failure; `None` if it can be run.
    pub error: Option<String>,
}

impl Analysis {
    fn failed(phase: Phase, diagnostics: Vec<Diagnostic>, error: Option<String>) -> Self {
        Self {
            phase,
            diagnostics,
            error,
        }
    }
}

/// Looks at a file and what its imports bring.
pub fn analyse(file: &SourceFile, imported: &Imported, options: CheckOptions) -> Analysis {
    let errors = &file.parsed.errors;
    let lexical = errors.iter().take_while(|error| error.is_lexical()).count();
    if let Some(first) = errors.first() {
        // What follows a character that is no token is rarely worth reading.
        let (phase, shown) = match lexical {
            0 => (Phase::Parse, &errors[..]),
            _ => (Phase::Lex, &errors[..lexical]),
        };
        let diagnostics = shown.iter().map(|error| error.diagnostic.clone()).collect();
        return Analysis::failed(phase, diagnostics, Some(first.message.clone()));
    }
    let mut diagnostics = check_types(&file.parsed.module, imported, options);
    let is_error = |one: &&Diagnostic| one.severity == Severity::Error;
    if let Some(error) = diagnostics.iter().find(is_error) {
        let error = Some(error.message.clone());
        return Analysis::failed(Phase::Check, diagnostics, error);
    }
    let refusals = refusals(&file.parsed.module);
    let first = refusals.first().map(|refusal| refusal.message.clone());
    diagnostics.extend(refusals.into_iter().map(|refusal| refusal.diagnostic));
    Analysis {
        phase: match first {
            Some(_) => Phase::Compile,
            None => Phase::Run,
        },
        diagnostics,
        error: first,
    }
}

/// The text that stands for the failure of a file that imports nothing; `None` if it can be run.
///
/// ```
/// use harn_check::error_of;
///
/// assert_eq!(error_of("let n: int = 1"), None);
/// let error = error_of("pipeline default() { let n: int = \"x\" }");
/// assert_eq!(error.as_deref(), Some("'n' declared as int, but assigned string"));
/// ```
pub fn error_of(text: &str) -> Option<String> {
    let file = SourceFile::of_text(text);
    analyse(&file, &Imported::default(), CheckOptions::default()).error
}

#[cfg(test)]
mod tests {
    use super::*;

    fn phase(text: &str) -> (Phase, Vec<String>) {
        let file = SourceFile::of_text(text);
        let analysis = analyse(&file, &Imported::default(), CheckOptions::default());
        let messages = analysis.diagnostics.into_iter().map(|one| one.message);
        (analysis.phase, messages.collect())
    }

    /// 0: the first phase that fails ends a run.
    #[test]
    fn the_first_phase_that_fails_is_told() {
        let wrong_type = "'n' declared as int, but assigned string".to_owned();
        assert_eq!(
            phase("#\nlet = 1"),
            (
                Phase::Lex,
                vec!["Unexpected character '#' at 1:1".to_owned()]
            )
        );
        assert_eq!(phase("let = 1\nlet n: int = \"\"\nbreak").0, Phase::Parse);
        assert_eq!(
            phase("let n: int = \"\"\nbreak"),
            (Phase::Check, vec![wrong_type])
        );
        assert_eq!(phase("let n: int = 1\nbreak").0, Phase::Compile);
        assert_eq!(phase("let n: int = 1"), (Phase::Run, vec![]));
    }
}
