//! What was written: the text of a program as tokens and as a tree.
//!
//! ```text
//! text ──► lexer ──► tokens + comments ──► parser ──► tree ──► formatter ──► text
//!             └──────── errors ────────────────┘
//! ```
//!
//! Everything points back into the text by [`Span`]s of bytes; a [`LineIndex`] turns
//! them into the lines and columns people see.
//!
//! ```
//! use harn_syntax::{Lexed, TokenKind, lex};
//!
//! let text = "let answer = 42";
//! let Lexed { tokens, errors, .. } = lex(text);
//! assert!(errors.is_empty());
//! let kinds: Vec<_> = tokens.iter().map(|token| token.kind).collect();
//! assert_eq!(
//!     kinds,
//!     [TokenKind::Let, TokenKind::Identifier, TokenKind::Assign, TokenKind::Int, TokenKind::End]
//! );
//! ```

mod diagnostic;
mod format;
mod lexer;
mod parser;
mod position;
pub mod template;
mod token;
pub mod tree;
pub mod visit;

pub use diagnostic::{Code, Colour, Diagnostic, Edit, Fix, Label, Severity, render};
pub use format::{FormatOptions, format};
pub use lexer::{Comment, CommentKind, LexError, LexErrorKind, Lexed, lex};
pub use parser::{NESTING_MAX, Parsed, SYNTAX_CODES, SyntaxError, parse};
pub use position::{LineIndex, Position, Span};
pub use template::{Template, TemplateError, parse_template};
pub use token::{Token, TokenKind};
