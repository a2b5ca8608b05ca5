//! Takes the text of a command apart.
//!
//! ```text
//! list ─► and-or ─► pipeline ─► command ─┬─► simple ─► words ─► expansions ─► list …
//!                                        └─► compound ─► list …
//! ```
//!
//! The parser descends, so everything that can be inside itself goes through [`Parser::deeper`],
//! which has a bound. There is no tree: each simple command becomes a part where it is read.

mod compound;
mod expansion;
mod here_documents;
mod parameter;
mod simple;
mod words;

use std::sync::Arc;

use here_documents::HereDocument;
pub(crate) use simple::Read;

use crate::cursor::{Cursor, ends_word};
use crate::not_understood::NotUnderstood;
use crate::part::{Layer, Part, Script};
use crate::reserved::is_reserved;
use crate::word::Word;
use crate::wrappers;

/// How many parts a command may have.
pub const PARTS_MAX: usize = 256;

/// How long the text of a command may be.
pub const TEXT_BYTES_MAX: usize = 64 * 1024;

/// How deep commands, substitutions and wrappers may be inside each other.
pub const DEPTH_MAX: usize = 32;

type Parsed<T> = Result<T, NotUnderstood>;

/// Takes a command apart that a shell would read.
///
/// # Errors
/// It is nothing that every shell in use would take for the same commands.
pub fn parse(text: &str) -> Parsed<Script> {
    let mut sink = Sink::default();
    sink.text(text, 0, None)?;
    sink.script()
}

/// Takes a command apart whose words are known: one part, unless the program is a shell or
/// another program that runs programs for others.
///
/// # Errors
/// As [`parse`].
pub fn parse_argv(words: &[String]) -> Parsed<Script> {
    let bytes: usize = words.iter().map(String::len).sum();
    if bytes > TEXT_BYTES_MAX {
        return Err(too_long());
    }
    if words.iter().any(|word| word.contains('\0')) {
        return Err(NotUnderstood::new("a NUL character", 0));
    }
    let mut sink = Sink::default();
    let words = words.iter().map(Word::of).collect();
    let read = Read {
        words,
        ..Read::default()
    };
    sink.command(read, 0, 0)?;
    sink.script()
}

fn too_long() -> NotUnderstood {
    let reason = format!("a text of more than {TEXT_BYTES_MAX} bytes");
    NotUnderstood::new(reason, 0)
}

/// What was found so far, in a text and in all texts inside it.
#[derive(Default)]
pub(crate) struct Sink {
    parts: Vec<Part>,
    functions: Vec<String>,
    /// The programs that were named inside bodies of functions, to find those that call
    /// functions.
    named_in_bodies: Vec<String>,
    /// The programs that run what is read.
    pub(crate) via: Vec<Arc<Layer>>,
    /// How many bodies of functions are open.
    pub(crate) bodies: usize,
    /// An arithmetic expansion looks a variable up, which bash evaluates again.
    pub(crate) evaluates_variables: bool,
    /// A variable gets a text from elsewhere, which could be meant for such an evaluation.
    pub(crate) fills_variables: bool,
}

impl Sink {
    /// Takes a text apart that is `depth` deep inside others. `within`: where the outermost of
    /// them has it.
    pub(crate) fn text(&mut self, text: &str, depth: usize, within: Option<usize>) -> Parsed<()> {
        if text.len() > TEXT_BYTES_MAX {
            return Err(too_long());
        }
        if depth > DEPTH_MAX {
            let reason = format!("more than {DEPTH_MAX} levels");
            return Err(NotUnderstood::new(reason, within.unwrap_or(0)));
        }
        if let Some(at) = text.find('\0') {
            return Err(NotUnderstood::new("a NUL character", within.unwrap_or(at)));
        }
        let mut parser = Parser {
            cursor: Cursor::new(text),
            depth,
            within,
            sink: self,
            pending: Vec::new(),
            pending_outside: 0,
        };
        let done = parser.list(End::Text);
        let at = |problem: NotUnderstood| NotUnderstood {
            position: within.unwrap_or(problem.position),
            ..problem
        };
        done.map_err(at)
    }

    /// Takes a simple command: peels wrappers off, and looks at what the shell does itself.
    pub(crate) fn command(&mut self, read: Read, depth: usize, position: usize) -> Parsed<()> {
        wrappers::peel(self, read, depth, position)
    }

    /// How many parts there are so far.
    pub(crate) fn len(&self) -> usize {
        self.parts.len()
    }

    /// Puts the parts from `middle` on before those from `start` on: a command comes before what
    /// is inside its words.
    pub(crate) fn bring_forward(&mut self, start: usize, middle: usize) {
        self.parts[start..].rotate_left(middle - start);
    }

    /// Keeps a part.
    pub(crate) fn push(&mut self, mut part: Part) -> Parsed<()> {
        if self.parts.len() == PARTS_MAX {
            let reason = format!("more than {PARTS_MAX} parts");
            return Err(NotUnderstood::new(reason, part.position));
        }
        if let (Some(program), true) = (&part.program, self.bodies > 0) {
            self.named_in_bodies.push(program.clone());
        }
        part.via.clone_from(&self.via);
        self.parts.push(part);
        Ok(())
    }

    fn script(self) -> Parsed<Script> {
        if self.parts.is_empty() {
            return Err(NotUnderstood::new("no command at all", 0));
        }
        if self.evaluates_variables && self.fills_variables {
            let reason = "arithmetic on variables whose values come from elsewhere";
            return Err(NotUnderstood::new(reason, 0));
        }
        let calls = |name: &String| self.functions.contains(name);
        if let Some(name) = self.named_in_bodies.iter().find(|name| calls(name)) {
            let reason = format!("a function that calls the function `{name}`");
            return Err(NotUnderstood::new(reason, 0));
        }
        Ok(Script {
            parts: self.parts,
            functions: self.functions,
        })
    }
}

/// Where a list of commands ends.
#[derive(Clone, Copy)]
enum End {
    /// With the text.
    Text,
    /// With `)`.
    Parenthesis,
    /// With one of these words.
    Words(&'static [&'static str]),
    /// With `;;` or another end of a branch, or with `esac`.
    Branch,
}

/// Reads one text.
struct Parser<'t, 's> {
    cursor: Cursor<'t>,
    depth: usize,
    /// Where the text is, if it is inside another one.
    within: Option<usize>,
    sink: &'s mut Sink,
    /// Here-documents whose texts begin after the end of this line.
    pending: Vec<HereDocument>,
    /// How many there are of commands around the substitution that is read.
    pending_outside: usize,
}

impl Parser<'_, '_> {
    fn wrong<T>(&self, reason: impl Into<String>) -> Parsed<T> {
        Err(NotUnderstood::new(reason, self.cursor.at))
    }

    /// Where something is, in the outermost text.
    fn position(&self) -> usize {
        self.within.unwrap_or(self.cursor.at)
    }

    /// Reads something that can be inside itself.
    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= DEPTH_MAX {
            return self.wrong(format!("more than {DEPTH_MAX} levels"));
        }
        self.depth += 1;
        let done = read(self);
        self.depth -= 1;
        done
    }

    /// Commands up to an end, which is not taken. There has to be one.
    fn list(&mut self, end: End) -> Parsed<()> {
        let mut is_empty = true;
        loop {
            self.skip_lines()?;
            if self.is_at(end) {
                break;
            }
            if self.cursor.peek().is_none() {
                return self.wrong("an end that is missing");
            }
            self.and_or()?;
            is_empty = false;
            self.cursor.skip_blanks()?;
            match self.cursor.peek() {
                Some('\n') => {}
                Some(';') if !self.at_branch_end() => {
                    self.cursor.bump();
                }
                Some('&') if self.cursor.peek_second() != Some('&') => {
                    self.cursor.bump();
                }
                _ if self.is_at(end) => {}
                _ => return self.wrong("a syntax error"),
            }
        }
        match (is_empty, end) {
            // Nothing but comments is no error in a text, and a branch may be empty.
            (true, End::Text | End::Branch) | (false, _) => {}
            (true, End::Parenthesis | End::Words(_)) => return self.wrong("an empty list"),
        }
        match end {
            End::Text => self.no_pending(),
            End::Parenthesis | End::Words(_) | End::Branch => Ok(()),
        }
    }

    fn no_pending(&self) -> Parsed<()> {
        match self.pending.is_empty() {
            true => Ok(()),
            false => self.wrong("a here-document without its text"),
        }
    }

    /// Ends of lines, blanks and comments, with the here-documents that begin there.
    fn skip_lines(&mut self) -> Parsed<()> {
        loop {
            self.cursor.skip_blanks()?;
            if self.cursor.peek() != Some('\n') {
                return Ok(());
            }
            self.cursor.bump();
            self.end_line()?;
        }
    }

    fn is_at(&mut self, end: End) -> bool {
        match end {
            End::Text => self.cursor.peek().is_none(),
            End::Parenthesis => self.cursor.peek() == Some(')'),
            End::Words(words) => self.reserved_is(words),
            End::Branch => self.at_branch_end() || self.reserved_is(&["esac"]),
        }
    }

    /// Whether `;;`, `;&` or `;;&` comes next.
    fn at_branch_end(&mut self) -> bool {
        self.cursor.peek() == Some(';') && matches!(self.cursor.peek_second(), Some(';' | '&'))
    }

    /// The word without quotes that comes next, if it is one of the grammar's.
    fn reserved(&mut self) -> Option<&str> {
        self.cursor.peek();
        let rest = self.cursor.rest();
        let end = rest.find(ends_word).unwrap_or(rest.len());
        Some(&rest[..end]).filter(|word| is_reserved(word))
    }

    fn reserved_is(&mut self, words: &[&str]) -> bool {
        self.reserved().is_some_and(|word| words.contains(&word))
    }

    /// Takes a word of the grammar.
    fn expect_reserved(&mut self, word: &str) -> Parsed<()> {
        match self.reserved_is(&[word]) {
            true => {
                self.cursor.at += word.len();
                Ok(())
            }
            false => self.wrong(format!("`{word}` is missing")),
        }
    }

    fn and_or(&mut self) -> Parsed<()> {
        loop {
            self.pipeline()?;
            self.cursor.skip_blanks()?;
            let next = self.cursor.peek();
            match next {
                Some('&' | '|') if self.cursor.peek_second() == next => {
                    self.cursor.bump();
                    self.cursor.bump();
                }
                _ => return Ok(()),
            }
            self.skip_lines()?;
        }
    }

    fn pipeline(&mut self) -> Parsed<()> {
        self.cursor.skip_blanks()?;
        while self.reserved_is(&["!"]) {
            self.cursor.bump();
            self.cursor.skip_blanks()?;
        }
        loop {
            self.command()?;
            self.cursor.skip_blanks()?;
            if self.cursor.peek() != Some('|') || self.cursor.peek_second() == Some('|') {
                return Ok(());
            }
            self.cursor.bump();
            // `|&` connects errors too.
            self.cursor.eat('&');
            self.skip_lines()?;
        }
    }

    fn command(&mut self) -> Parsed<()> {
        if self.cursor.peek() == Some('(') || self.reserved().is_some() {
            return self.deeper(Self::compound);
        }
        self.simple()
    }
}
