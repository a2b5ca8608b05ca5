//! What we tell the person who wrote a program.
//!
//! A diagnostic is plain data. The terminal ([`render`]), JSON and editors each show the
//! same value in their own way.

use std::fmt::Write as _;

use crate::position::{LineIndex, Position, Span};

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The program runs, but probably not as meant.
    Warning,
    /// The program does not run.
    Error,
}

impl Severity {
    /// As it is written.
    pub fn text(self) -> &'static str {
        match self {
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// What kind of diagnostic it is. `harn explain` tells more about each, and it never changes
/// its meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Code(pub &'static str);

/// Something to tell about a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// What kind it is.
    pub code: Code,
    /// What happened.
    pub message: String,
    /// Where.
    pub span: Span,
    /// What is to be seen there.
    pub label: Option<String>,
    /// Other places that have to do with it.
    pub secondary: Vec<Label>,
    /// What else is worth knowing.
    pub notes: Vec<String>,
    /// What to do about it.
    pub help: Option<String>,
    /// A change that would do it.
    pub fix: Option<Fix>,
}

/// A place and what is to be seen there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// Where.
    pub span: Span,
    /// What.
    pub text: String,
}

/// A change to the text of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// What it does, as one would say it on a button.
    pub title: String,
    /// The changes. They do not overlap.
    pub edits: Vec<Edit>,
}

/// A piece of text to put in the place of another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// What is replaced.
    pub span: Span,
    /// What takes its place.
    pub text: String,
}

impl Diagnostic {
    /// An error.
    pub fn error(code: Code, span: Span, message: impl Into<String>) -> Self {
        Self::new(Severity::Error, code, span, message.into())
    }

    /// A warning.
    pub fn warning(code: Code, span: Span, message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, code, span, message.into())
    }

    fn new(severity: Severity, code: Code, span: Span, message: String) -> Self {
        Self {
            severity,
            code,
            message,
            span,
            label: None,
            secondary: Vec::new(),
            notes: Vec::new(),
            help: None,
            fix: None,
        }
    }

    /// Says what is to be seen at its place.
    #[must_use]
    pub fn with_label(mut self, label: impl Into<String>) -> Self {
        self.label = Some(label.into());
        self
    }

    /// Points at another place.
    #[must_use]
    pub fn with_secondary(mut self, span: Span, text: impl Into<String>) -> Self {
        self.secondary.push(Label {
            span,
            text: text.into(),
        });
        self
    }

    /// Adds something worth knowing.
    #[must_use]
    pub fn with_note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// Says what to do about it.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Offers a change.
    #[must_use]
    pub fn with_fix(mut self, title: impl Into<String>, edits: Vec<Edit>) -> Self {
        self.fix = Some(Fix {
            title: title.into(),
            edits,
        });
        self
    }
}

/// How diagnostics are painted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    /// Not at all.
    Never,
    /// For a terminal.
    Ansi,
}

impl Colour {
    fn paint(self, style: &str, text: &str) -> String {
        match self {
            Self::Never => text.to_owned(),
            Self::Ansi => format!("\x1b[{style}m{text}\x1b[0m"),
        }
    }
}

/// A diagnostic as text for a terminal, ending in a line break. `file` is how the file is
/// called, `lines` are those of `text`.
///
/// Programs may hold anything, so characters that control a terminal are shown as pictures
/// of themselves, one for one, which keeps the carets in their places.
pub fn render(
    diagnostic: &Diagnostic,
    file: &str,
    text: &str,
    lines: &LineIndex,
    colour: Colour,
) -> String {
    let place = lines.position(text, diagnostic.span.start);
    let margin = " ".repeat(place.line.to_string().len() + 1);
    let blue = |part: &str| colour.paint("34", part);
    let severity = match diagnostic.severity {
        Severity::Error => colour.paint("1;31", "error"),
        Severity::Warning => colour.paint("1;33", "warning"),
    };
    let line = &harmless(lines.line(text, place.line));
    let file = harmless(file);
    let mut out = format!("{severity}: {}\n", harmless(&diagnostic.message));
    let _ = writeln!(out, "{margin}{} {file}:{place}", blue("-->"));
    let _ = writeln!(out, "{margin} {}", blue("|"));
    let number = format!("{:>width$}", place.line, width = margin.len());
    let _ = writeln!(out, "{} {} {line}", blue(&number), blue("|"));
    if let Some(label) = &diagnostic.label {
        let indent = " ".repeat(place.column as usize - 1);
        let carets = "^".repeat(carets(line, place, diagnostic.span.of(text)));
        let pointer = colour.paint("31", &format!("{carets} {}", harmless(label)));
        let _ = writeln!(out, "{margin} {} {indent}{pointer}", blue("|"));
    }
    for Label { span, text: label } in &diagnostic.secondary {
        let place = lines.position(text, span.start);
        let label = harmless(label);
        let _ = writeln!(out, "{margin} {} {file}:{place}: {label}", blue("="));
    }
    for note in &diagnostic.notes {
        let _ = writeln!(out, "{margin} {} note: {}", blue("="), harmless(note));
    }
    if let Some(help) = &diagnostic.help {
        let _ = writeln!(out, "{margin} {} help: {}", blue("="), harmless(help));
    }
    out
}

/// The text with a picture in the place of every character that would do something to a
/// terminal: move, paint, or turn the direction of writing.
fn harmless(text: &str) -> String {
    let picture = |character: char| match character {
        '\t' => '\t',
        '\0'..='\x1f' => char::from_u32(0x2400 + character as u32).unwrap_or('\u{fffd}'),
        '\x7f' => '\u{2421}',
        '\u{80}'..='\u{9f}' | '\u{61c}' | '\u{200e}' | '\u{200f}' => '\u{fffd}',
        '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '\u{fffd}',
        other => other,
    };
    text.chars().map(picture).collect()
}

/// How many characters to point at: those of the span, but none beyond its first line.
fn carets(line: &str, place: Position, covered: &str) -> usize {
    let left = line.chars().count() + 1 - (place.column as usize).min(line.chars().count() + 1);
    let covered = covered.lines().next().unwrap_or("").chars().count();
    covered.min(left).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "fn f() {\n  let n: int = \"é\"\n}\n";

    fn check(diagnostic: &Diagnostic, expected: &str) {
        let lines = LineIndex::new(TEXT);
        let rendered = render(diagnostic, "demo.harn", TEXT, &lines, Colour::Never);
        assert_eq!(rendered, expected);
    }

    fn at(needle: &str) -> Span {
        let start = TEXT.find(needle).unwrap();
        Span::new(start, start + needle.len())
    }

    /// 18.2, the example.
    #[test]
    fn a_diagnostic_shows_its_line() {
        let diagnostic = Diagnostic::error(
            Code("type-mismatch"),
            at("let"),
            "'n' declared as int, but assigned string",
        );
        check(
            &diagnostic.clone().with_help("..."),
            concat!(
                "error: 'n' declared as int, but assigned string\n",
                "  --> demo.harn:2:3\n",
                "   |\n",
                " 2 |   let n: int = \"é\"\n",
                "   = help: ...\n",
            ),
        );
    }

    #[test]
    fn a_label_has_a_caret_for_each_character() {
        let diagnostic = Diagnostic::warning(Code("x"), at("\"é\""), "odd").with_label("here");
        check(
            &diagnostic,
            concat!(
                "warning: odd\n",
                "  --> demo.harn:2:16\n",
                "   |\n",
                " 2 |   let n: int = \"é\"\n",
                "   |                ^^^ here\n",
            ),
        );
    }

    #[test]
    fn a_label_stays_on_its_line_and_points_beyond_the_end_of_the_text() {
        let whole = Span::new(0, TEXT.len());
        let diagnostic = Diagnostic::error(Code("x"), whole, "odd").with_label("here");
        check(
            &diagnostic,
            concat!(
                "error: odd\n",
                "  --> demo.harn:1:1\n",
                "   |\n",
                " 1 | fn f() {\n",
                "   | ^^^^^^^^ here\n",
            ),
        );
        let end = Span::new(TEXT.len(), TEXT.len());
        let diagnostic = Diagnostic::error(Code("x"), end, "odd").with_label("file ends here");
        check(
            &diagnostic,
            concat!(
                "error: odd\n",
                "  --> demo.harn:4:1\n",
                "   |\n",
                " 4 | \n",
                "   | ^ file ends here\n",
            ),
        );
    }

    #[test]
    fn other_places_and_notes_come_before_the_help() {
        let diagnostic = Diagnostic::error(Code("x"), at("fn"), "odd")
            .with_secondary(at("let"), "bound here")
            .with_note("a note")
            .with_help("a help");
        check(
            &diagnostic,
            concat!(
                "error: odd\n",
                "  --> demo.harn:1:1\n",
                "   |\n",
                " 1 | fn f() {\n",
                "   = demo.harn:2:3: bound here\n",
                "   = note: a note\n",
                "   = help: a help\n",
            ),
        );
    }

    #[test]
    fn what_controls_a_terminal_is_shown_and_not_obeyed() {
        let text = "let s = \"\x1b[2J\u{202e}\"\tx";
        let start = text.find('x').unwrap();
        let diagnostic =
            Diagnostic::error(Code("x"), Span::new(start, start + 1), "odd\x1b[0m\n\x7f")
                .with_label("here\r")
                .with_help("\u{9b}");
        let lines = LineIndex::new(text);
        assert_eq!(
            render(&diagnostic, "a\x07.harn", text, &lines, Colour::Never),
            concat!(
                "error: odd␛[0m␊␡\n",
                "  --> a␇.harn:1:17\n",
                "   |\n",
                " 1 | let s = \"␛[2J\u{fffd}\"\tx\n",
                "   |                 ^ here␍\n",
                "   = help: \u{fffd}\n",
            )
        );
    }

    #[test]
    fn colours_are_for_terminals() {
        let lines = LineIndex::new(TEXT);
        let diagnostic = Diagnostic::error(Code("x"), at("fn"), "odd");
        let rendered = render(&diagnostic, "demo.harn", TEXT, &lines, Colour::Ansi);
        assert!(rendered.starts_with("\x1b[1;31merror\x1b[0m: odd\n"));
    }
}
