//! From text to tokens.
//!
//! The lexer looks at each character once and never fails: what it cannot read becomes
//! an error and is left out, so that tools can go on. Comments are kept beside the
//! tokens, for the formatter and for documentation.

use std::fmt;

use crate::position::{BYTE_ORDER_MARK, LineIndex, Span};
use crate::token::{Token, TokenKind};

/// A text as tokens.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lexed {
    /// The tokens in order. The last one is [`TokenKind::End`].
    pub tokens: Vec<Token>,
    /// The comments in order.
    pub comments: Vec<Comment>,
    /// What could not be read, in order.
    pub errors: Vec<LexError>,
}

/// A comment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Comment {
    /// What kind it is.
    pub kind: CommentKind,
    /// Where it is, with its slashes and without the line break after it.
    pub span: Span,
}

/// What kind a comment is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommentKind {
    /// `// …`
    Line,
    /// `/* … */`
    Block,
    /// `/// …`
    DocLine,
    /// `/** … */`
    DocBlock,
}

/// Something that is no token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LexError {
    /// What is wrong.
    pub kind: LexErrorKind,
    /// Where.
    pub offset: u32,
}

/// What is wrong with a piece of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LexErrorKind {
    /// No token starts with this character.
    UnexpectedCharacter(char),
    /// A string without its closing quote.
    UnterminatedString,
    /// A comment without its end.
    UnterminatedComment,
}

impl LexError {
    /// The error as people see it. `lines` are those of `text`.
    pub fn message(&self, text: &str, lines: &LineIndex) -> String {
        let position = lines.position(text, self.offset);
        format!("{} at {position}", self.kind)
    }
}

impl fmt::Display for LexErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnexpectedCharacter(character) => {
                write!(f, "Unexpected character '{character}'")
            }
            Self::UnterminatedString => f.write_str("Unterminated string"),
            Self::UnterminatedComment => f.write_str("Unterminated block comment"),
        }
    }
}

/// Turns a text into tokens.
pub fn lex(text: &str) -> Lexed {
    let mut lexer = Lexer::new(text, 0);
    lexer.skip_byte_order_mark();
    lexer.skip_shebang();
    lexer.run()
}

/// Turns a part of a text into tokens whose places are those in the whole.
pub(crate) fn lex_part(text: &str, part: Span) -> Lexed {
    Lexer::new(&text[..part.end as usize], part.start as usize).run()
}

/// How many bytes a token and the white space around it usually have. Knowing it saves the
/// list of tokens from being moved again and again while it grows.
const BYTES_PER_TOKEN: usize = 4;

struct Lexer<'a> {
    text: &'a str,
    /// The byte that is looked at next. Where a token or a comment begins or ends, it is the
    /// first of a character; inside them, bytes that belong to longer characters are skipped
    /// one by one, as they are never mistaken for others.
    at: usize,
    lexed: Lexed,
}

impl<'a> Lexer<'a> {
    fn new(text: &'a str, at: usize) -> Self {
        let mut lexed = Lexed::default();
        let bytes = text.len().saturating_sub(at);
        lexed.tokens.reserve(bytes / BYTES_PER_TOKEN + 2);
        Self { text, at, lexed }
    }

    fn run(mut self) -> Lexed {
        while self.at < self.text.len() {
            self.next();
        }
        self.push(TokenKind::End, self.text.len());
        self.lexed
    }

    /// The byte `ahead` bytes from here; 0 beyond the end.
    fn peek(&self, ahead: usize) -> u8 {
        let bytes = self.text.as_bytes();
        bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    /// Adds a token from `start` to here.
    fn push(&mut self, kind: TokenKind, start: usize) {
        let span = Span::new(start, self.at.max(start));
        self.lexed.tokens.push(Token { kind, span });
    }

    fn fail(&mut self, kind: LexErrorKind, at: usize) {
        let offset = Span::new(at, at).start;
        // A string that is not closed is noticed after what is wrong inside it.
        let errors = &mut self.lexed.errors;
        let place = errors.partition_point(|error| error.offset <= offset);
        errors.insert(place, LexError { kind, offset });
    }

    /// Some editors begin a file with a mark that says how its bytes are ordered.
    fn skip_byte_order_mark(&mut self) {
        if self.text.starts_with(BYTE_ORDER_MARK) {
            self.at = BYTE_ORDER_MARK.len_utf8();
        }
    }

    fn skip_shebang(&mut self) {
        if self.rest().starts_with("#!") {
            self.at = self.text.find('\n').unwrap_or(self.text.len());
        }
    }

    fn next(&mut self) {
        let start = self.at;
        match self.peek(0) {
            b'r' if self.peek(1) == b'"' => self.raw_string(),
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => self.word(),
            b' ' | b'\t' | b'\r' => self.at += 1,
            b'\n' => {
                self.at += 1;
                self.push(TokenKind::Newline, start);
            }
            b'\\' if self.peek(1) == b'\n' => self.at += 2,
            b'\\' if self.peek(1) == b'\r' && self.peek(2) == b'\n' => self.at += 3,
            b'/' if self.peek(1) == b'/' => self.line_comment(),
            b'/' if self.peek(1) == b'*' => self.block_comment(),
            b'"' => self.string(),
            b'0'..=b'9' => self.number(),
            128.. => self.other_word(),
            _ => self.sign(),
        }
    }

    fn line_comment(&mut self) {
        let start = self.at;
        let end = self.rest().find('\n');
        self.at = end.map_or(self.text.len(), |end| start + end);
        let text = &self.text[start..self.at];
        let kind = match text.starts_with("///") && !text.starts_with("////") {
            true => CommentKind::DocLine,
            false => CommentKind::Line,
        };
        let span = Span::new(start, self.at);
        self.lexed.comments.push(Comment { kind, span });
    }

    /// Block comments nest.
    fn block_comment(&mut self) {
        let start = self.at;
        let mut depth = 0;
        loop {
            match (self.peek(0), self.peek(1)) {
                (b'/', b'*') => {
                    depth += 1;
                    self.at += 2;
                }
                (b'*', b'/') => {
                    depth -= 1;
                    self.at += 2;
                    if depth == 0 {
                        break;
                    }
                }
                _ if self.at >= self.text.len() => {
                    self.fail(LexErrorKind::UnterminatedComment, start);
                    return;
                }
                _ => self.at += 1,
            }
        }
        let text = &self.text[start..self.at];
        let is_doc = text.starts_with("/**") && !text.starts_with("/***") && text != "/**/";
        let kind = match is_doc {
            true => CommentKind::DocBlock,
            false => CommentKind::Block,
        };
        let span = Span::new(start, self.at);
        self.lexed.comments.push(Comment { kind, span });
    }

    fn string(&mut self) {
        match self.rest().starts_with("\"\"\"") {
            true => self.multi_line_string(),
            false => self.plain_string(),
        }
    }

    fn plain_string(&mut self) {
        let start = self.at;
        let mut kind = TokenKind::String;
        self.at += 1;
        loop {
            match self.peek(0) {
                b'"' => {
                    self.at += 1;
                    return self.push(kind, start);
                }
                b'\\' if !matches!(self.peek(1), b'\n' | 0) => self.at += 2,
                b'$' if self.peek(1) == b'{' => {
                    kind = TokenKind::InterpolatedString;
                    let Some(source) = self.interpolation() else {
                        return self.unterminated(start);
                    };
                    if source.of(self.text).trim().is_empty() {
                        self.fail(LexErrorKind::UnexpectedCharacter('}'), self.at);
                    }
                }
                b'\n' => return self.unterminated(start),
                _ if self.at >= self.text.len() => return self.unterminated(start),
                _ => self.at += 1,
            }
        }
    }

    /// Nothing but an interpolation has a meaning inside.
    fn multi_line_string(&mut self) {
        let start = self.at;
        let mut kind = TokenKind::String;
        self.at += 3;
        loop {
            match self.peek(0) {
                b'"' if self.peek(1) == b'"' && self.peek(2) == b'"' => {
                    self.at += 3;
                    return self.push(kind, start);
                }
                b'$' if self.peek(1) == b'{' => {
                    kind = TokenKind::InterpolatedString;
                    if self.interpolation().is_none() {
                        return self.unterminated(start);
                    }
                }
                _ if self.at >= self.text.len() => return self.unterminated(start),
                _ => self.at += 1,
            }
        }
    }

    fn raw_string(&mut self) {
        let start = self.at;
        self.at += 2;
        let end = self.rest().find(['"', '\n']);
        match end.map(|end| (end, self.rest().as_bytes()[end])) {
            Some((end, b'"')) => {
                self.at += end + 1;
                self.push(TokenKind::RawString, start);
            }
            end => {
                self.at = end.map_or(self.text.len(), |(end, _)| self.at + end);
                self.fail(LexErrorKind::UnterminatedString, start + 1);
            }
        }
    }

    /// Skips `${ … }` and returns what is inside. Only braces count: quotes neither end
    /// it nor hide them.
    fn interpolation(&mut self) -> Option<Span> {
        self.at += 2;
        let start = self.at;
        let mut depth = 1;
        while depth > 0 {
            match self.peek(0) {
                b'{' => depth += 1,
                b'}' => depth -= 1,
                _ if self.at >= self.text.len() => return None,
                _ => {}
            }
            self.at += 1;
        }
        Some(Span::new(start, self.at - 1))
    }

    /// A string that was never closed: the rest of its line is lost.
    fn unterminated(&mut self, start: usize) {
        self.fail(LexErrorKind::UnterminatedString, start);
        let end = self.text[start..].find('\n');
        let end_of_line = end.map_or(self.text.len(), |end| start + end);
        self.at = self.at.max(end_of_line);
    }

    fn skip_digits(&mut self) {
        while self.peek(0).is_ascii_digit() {
            self.at += 1;
        }
    }

    fn number(&mut self) {
        let start = self.at;
        self.skip_digits();
        if self.peek(0) == b'.' && self.peek(1).is_ascii_digit() {
            self.at += 1;
            self.skip_digits();
            return self.push(TokenKind::Float, start);
        }
        let unit = self.unit();
        self.at += unit;
        let kind = match unit {
            0 => TokenKind::Int,
            _ => TokenKind::Duration,
        };
        self.push(kind, start);
    }

    /// How long the unit of time is that begins here; 0 if there is none. Only `ms` may
    /// be followed by more letters.
    fn unit(&self) -> usize {
        if self.rest().starts_with("ms") {
            return 2;
        }
        let is_unit = matches!(self.peek(0), b's' | b'm' | b'h' | b'd' | b'w');
        let next = self.rest().chars().nth(1);
        match is_unit && !next.is_some_and(char::is_alphanumeric) {
            true => 1,
            false => 0,
        }
    }

    fn sign(&mut self) {
        let start = self.at;
        if let Some(kind) = TokenKind::of_two(self.peek(0), self.peek(1)) {
            self.at += 2;
            return self.push(kind, start);
        }
        self.at += 1;
        match TokenKind::of_one(self.text.as_bytes()[start]) {
            Some(kind) => self.push(kind, start),
            None => {
                let character = char::from(self.text.as_bytes()[start]);
                self.fail(LexErrorKind::UnexpectedCharacter(character), start);
            }
        }
    }

    /// A name or a reserved word that begins with a letter of ASCII or an underscore.
    fn word(&mut self) {
        let start = self.at;
        self.skip_word();
        let word = &self.text[start..self.at];
        let kind = TokenKind::of_word(word).unwrap_or(TokenKind::Identifier);
        self.push(kind, start);
    }

    /// What begins with any other character: a name, if that is a letter.
    fn other_word(&mut self) {
        let start = self.at;
        let Some(first) = self.rest().chars().next() else {
            return;
        };
        self.at += first.len_utf8();
        if !first.is_alphabetic() {
            return self.fail(LexErrorKind::UnexpectedCharacter(first), start);
        }
        self.skip_word();
        self.push(TokenKind::Identifier, start);
    }

    /// Skips letters, digits and underscores.
    fn skip_word(&mut self) {
        loop {
            match self.peek(0) {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' => self.at += 1,
                0..128 => return,
                128.. => match self.rest().chars().next() {
                    Some(next) if next.is_alphanumeric() => self.at += next.len_utf8(),
                    _ => return,
                },
            }
        }
    }
}

#[cfg(test)]
mod tests;
