//! What is said about programs, for people and for programs.

use std::borrow::Borrow;
use std::io;

use harn_check::modules::SourceFile;
use harn_syntax::{Colour, Diagnostic, LineIndex, Severity, Span, render};
use serde::Serialize;

use crate::output::{Output, Untrusted};

/// What is said about one file.
pub(super) struct Findings {
    /// How the file is called on the command line.
    pub(super) name: String,
    pub(super) diagnostics: Vec<Diagnostic>,
}

impl Findings {
    pub(super) fn has_errors(&self) -> bool {
        let mut severities = self.diagnostics.iter().map(|one| one.severity);
        severities.any(|severity| severity == Severity::Error)
    }

    /// Shows them to a person.
    pub(super) fn show(&self, file: &SourceFile, output: &mut Output) {
        let colour = match output.talks_in_colour() {
            true => Colour::Ansi,
            false => Colour::Never,
        };
        let name = Untrusted(&self.name).to_string();
        for diagnostic in &self.diagnostics {
            let text = render(diagnostic, &name, &file.text, &file.lines, colour);
            output.note(format_args!("{}", text.trim_end()));
        }
    }

    fn json<'a>(&'a self, file: &'a SourceFile) -> FileJson<'a> {
        let shown = |diagnostic| DiagnosticJson::of(diagnostic, file);
        FileJson {
            file: &self.name,
            diagnostics: self.diagnostics.iter().map(shown).collect(),
        }
    }
}

/// Writes a JSON document about several files.
pub(super) fn write_json<F: Borrow<SourceFile>>(
    files: &[(Findings, F)],
    output: &mut Output,
) -> io::Result<()> {
    let count = |severity| {
        let diagnostics = files.iter().flat_map(|(findings, _)| &findings.diagnostics);
        diagnostics.filter(|one| one.severity == severity).count()
    };
    let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
    let files = files
        .iter()
        .map(|(findings, file)| findings.json(file.borrow()));
    output.json(&DocumentJson {
        files: files.collect(),
        errors,
        warnings,
    })
}

#[derive(Serialize)]
struct DocumentJson<'a> {
    files: Vec<FileJson<'a>>,
    errors: usize,
    warnings: usize,
}

#[derive(Serialize)]
struct FileJson<'a> {
    file: &'a str,
    diagnostics: Vec<DiagnosticJson<'a>>,
}

#[derive(Serialize)]
struct DiagnosticJson<'a> {
    severity: &'a str,
    code: &'a str,
    message: &'a str,
    #[serde(flatten)]
    place: Place,
    label: Option<&'a str>,
    secondary: Vec<LabelJson<'a>>,
    notes: &'a [String],
    help: Option<&'a str>,
    fix: Option<FixJson<'a>>,
}

/// Lines and columns are counted from 1, columns in characters; the end is exclusive.
#[derive(Serialize)]
struct Place {
    line: u32,
    column: u32,
    end_line: u32,
    end_column: u32,
}

#[derive(Serialize)]
struct LabelJson<'a> {
    #[serde(flatten)]
    place: Place,
    text: &'a str,
}

#[derive(Serialize)]
struct FixJson<'a> {
    title: &'a str,
    edits: Vec<LabelJson<'a>>,
}

impl Place {
    fn of(span: Span, text: &str, lines: &LineIndex) -> Self {
        let start = lines.position(text, span.start);
        let end = lines.position(text, span.end);
        Self {
            line: start.line,
            column: start.column,
            end_line: end.line,
            end_column: end.column,
        }
    }
}

impl<'a> DiagnosticJson<'a> {
    fn of(diagnostic: &'a Diagnostic, file: &SourceFile) -> Self {
        let place = |span| Place::of(span, &file.text, &file.lines);
        let secondary = diagnostic.secondary.iter().map(|label| LabelJson {
            place: place(label.span),
            text: &label.text,
        });
        let fix = diagnostic.fix.as_ref().map(|fix| FixJson {
            title: &fix.title,
            edits: fix
                .edits
                .iter()
                .map(|edit| LabelJson {
                    place: place(edit.span),
                    text: &edit.text,
                })
                .collect(),
        });
        Self {
            severity: diagnostic.severity.text(),
            code: diagnostic.code.0,
            message: &diagnostic.message,
            place: place(diagnostic.span),
            label: diagnostic.label.as_deref(),
            secondary: secondary.collect(),
            notes: &diagnostic.notes,
            help: diagnostic.help.as_deref(),
            fix,
        }
    }
}
