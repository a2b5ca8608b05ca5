//! What a text that is no program is told.

use std::borrow::Cow;

use super::string;
use crate::diagnostic::{Code, Diagnostic};
use crate::lexer::{LexError, LexErrorKind};
use crate::position::{LineIndex, Span};
use crate::token::{Token, TokenKind};

const UNEXPECTED_CHARACTER: Code = Code("unexpected-character");
const UNTERMINATED_STRING: Code = Code("unterminated-string");
const UNTERMINATED_COMMENT: Code = Code("unterminated-comment");
const UNEXPECTED_TOKEN: Code = Code("unexpected-token");
const UNEXPECTED_END: Code = Code("unexpected-end");
const LEXICAL: [Code; 3] = [
    UNEXPECTED_CHARACTER,
    UNTERMINATED_STRING,
    UNTERMINATED_COMMENT,
];

/// Every code of the lexer and the parser with one line about it.
pub const SYNTAX_CODES: &[(Code, &str)] = &[
    (UNEXPECTED_CHARACTER, "a character that begins nothing"),
    (UNTERMINATED_STRING, "a string is never closed"),
    (UNTERMINATED_COMMENT, "a comment is never closed"),
    (UNEXPECTED_TOKEN, "something else must stand here"),
    (UNEXPECTED_END, "the file ends in the middle of something"),
];

/// Why a text is no program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// The error as it ends a run, with its place.
    pub message: String,
    /// The error as it is shown at its place.
    pub diagnostic: Diagnostic,
}

impl SyntaxError {
    /// Whether there is something that is no token, as opposed to tokens that make no program.
    pub fn is_lexical(&self) -> bool {
        LEXICAL.contains(&self.diagnostic.code)
    }

    pub(super) fn lexical(error: &LexError, text: &str, lines: &LineIndex) -> Self {
        let start = error.offset as usize;
        let length = text[start..].chars().next().map_or(0, char::len_utf8);
        let span = Span::new(start, start + length);
        let (code, label) = match error.kind {
            LexErrorKind::UnexpectedCharacter(_) => {
                (UNEXPECTED_CHARACTER, "no token starts with this")
            }
            LexErrorKind::UnterminatedString => (UNTERMINATED_STRING, "it begins here"),
            LexErrorKind::UnterminatedComment => (UNTERMINATED_COMMENT, "it begins here"),
        };
        let message = error.message(text, lines);
        Self {
            diagnostic: Diagnostic::error(code, span, message.as_str()).with_label(label),
            message,
        }
    }
}

/// Something that was expected and not found.
#[derive(Clone, Debug)]
pub(super) struct Failure {
    pub(super) expected: Cow<'static, str>,
    /// What was found instead; `None` at the end of the file.
    pub(super) found: Option<Cow<'static, str>>,
    pub(super) span: Span,
}

impl Failure {
    pub(super) fn report(&self, text: &str, lines: &LineIndex) -> SyntaxError {
        let expected = &self.expected;
        let (message, diagnostic) = match &self.found {
            Some(found) => {
                let place = lines.position(text, self.span.start);
                let title = format!("Expected {expected}, found {found}");
                (
                    format!("Expected {expected}, got {found} at {place}"),
                    Diagnostic::error(UNEXPECTED_TOKEN, self.span, title)
                        .with_label("unexpected token"),
                )
            }
            None => {
                let message = format!("Unexpected end of file, expected {expected}");
                (
                    message.clone(),
                    Diagnostic::error(UNEXPECTED_END, self.span, message)
                        .with_label("file ends here"),
                )
            }
        };
        let help = match expected.as_ref() {
            "}" => Some("add a closing `}` to finish this block"),
            ")" => Some("add a closing `)` to finish this expression or parameter list"),
            "]" => Some("add a closing `]` to finish this list or subscript"),
            _ => None,
        };
        SyntaxError {
            message,
            diagnostic: match help {
                Some(help) => diagnostic.with_help(help),
                None => diagnostic,
            },
        }
    }
}

/// A token as errors name it; `None` for the end of the file.
pub(super) fn describe(token: Token, text: &str) -> Option<Cow<'static, str>> {
    let source = token.span.of(text);
    let literal = |kind: &str, content: &str| Some(Cow::Owned(format!("{kind}({content})")));
    match token.kind {
        TokenKind::End => None,
        TokenKind::Newline => Some(Cow::Borrowed("\\n")),
        TokenKind::Identifier => literal("id", source),
        TokenKind::String => literal("str", &string::text_of(source)),
        TokenKind::RawString => literal("rstr", string::raw_text_of(source)),
        TokenKind::InterpolatedString => Some(Cow::Borrowed("istr(...)")),
        TokenKind::Int => match source.parse::<i64>() {
            Ok(number) => literal("int", &number.to_string()),
            Err(_) => literal("float", &float_text(source)),
        },
        TokenKind::Float => literal("float", &float_text(source)),
        TokenKind::Duration => match string::milliseconds(source) {
            Some(time) => literal("duration", &format!("{time}ms")),
            None => literal("duration", source),
        },
        kind => kind.text().map(Cow::Borrowed),
    }
}

fn float_text(source: &str) -> String {
    source.parse::<f64>().unwrap_or(f64::INFINITY).to_string()
}
