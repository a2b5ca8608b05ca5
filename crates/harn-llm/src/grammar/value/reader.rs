//! The machine that reads values.

use serde_json::{Map, Value};

use super::heredoc::{self, Heredoc, Look};
use super::number;
use super::text::{self, Quotes, Text};
use super::{DEPTH_MAX, Fault};
use crate::grammar::Repair;

/// The longest number, word or bare key. Longer ones are no such thing, and waiting for their
/// end would mean to look at them again with every piece.
const WORD_BYTES_MAX: usize = 1024;

/// What is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::grammar) enum Root {
    /// What follows `name(`, up to and with the closing parenthesis.
    Call,
    /// One value.
    Value,
}

/// How far a reader came.
#[derive(Debug)]
pub(in crate::grammar) enum Step {
    /// It needs more text.
    More,
    /// It is done; [`Reader::at`] is the first byte it did not use.
    Done(Value),
    /// The argument is there and the closing parenthesis is not.
    Unclosed { value: Value, fault: Fault },
    /// The text is no value.
    Failed(Fault),
}

#[derive(Debug)]
enum Frame {
    Object(Map<String, Value>, String),
    Array(Vec<Value>),
}

#[derive(Debug)]
enum Mode {
    /// After `name(`: a value or the end.
    Begin,
    /// A value.
    Value,
    /// A value or `]`.
    Element,
    /// A key or `}`.
    Key,
    /// What separates a key from its value.
    Colon,
    /// A comma or the end of what is open.
    After,
    /// The closing parenthesis.
    Close(Value),
    Text(Text),
    Heredoc(Heredoc, Option<char>),
    Done(Value),
}

#[derive(Clone, Copy, Debug)]
enum Comment {
    Line,
    Block,
}

/// Reads one value or the arguments of one call from a text that may still grow.
#[derive(Debug)]
pub(in crate::grammar) struct Reader {
    at: usize,
    root: Root,
    mode: Mode,
    frames: Vec<Frame>,
    comment: Option<Comment>,
    repairs: Vec<Repair>,
}

/// The next thing to look at.
enum Next {
    Char(char),
    More,
    End,
}

/// A small step: go on, wait, or give up.
enum Turn {
    On,
    More,
    Fail(Fault),
}

impl Reader {
    /// One that begins there.
    pub(in crate::grammar) fn new(root: Root, at: usize) -> Self {
        Self {
            at,
            root,
            mode: match root {
                Root::Call => Mode::Begin,
                Root::Value => Mode::Value,
            },
            frames: Vec::new(),
            comment: None,
            repairs: Vec::new(),
        }
    }

    /// The first byte that was not used.
    pub(in crate::grammar) fn at(&self) -> usize {
        self.at
    }

    /// What was mended so far.
    pub(in crate::grammar) fn take_repairs(&mut self) -> Vec<Repair> {
        std::mem::take(&mut self.repairs)
    }

    /// Where something other than blanks and comments follows.
    pub(super) fn rest_begins(&mut self, text: &str) -> Option<usize> {
        match self.next(text, true) {
            Next::Char(_) => Some(self.at),
            Next::More | Next::End => None,
        }
    }

    /// Whether it stands inside a string or a heredoc.
    pub(in crate::grammar) fn is_inside_text(&self) -> bool {
        matches!(self.mode, Mode::Text(_) | Mode::Heredoc(..))
    }

    /// Reads on. `text` must begin with what it was before; `ended` says that it is whole.
    pub(in crate::grammar) fn advance(&mut self, text: &str, ended: bool) -> Step {
        loop {
            match self.turn(text, ended) {
                Turn::On => {}
                Turn::More if ended => return self.cut_off(text),
                Turn::More => return Step::More,
                Turn::Fail(fault) => return self.failed(fault),
            }
            if let Mode::Done(value) = &mut self.mode {
                return Step::Done(std::mem::take(value));
            }
        }
    }

    fn failed(&mut self, fault: Fault) -> Step {
        match &mut self.mode {
            Mode::Close(value) => Step::Unclosed {
                value: std::mem::take(value),
                fault,
            },
            _ => Step::Failed(fault),
        }
    }

    fn cut_off(&mut self, text: &str) -> Step {
        let message = match &self.mode {
            Mode::Text(_) => "unterminated string".to_owned(),
            Mode::Heredoc(heredoc, _) => format!("unterminated heredoc `<<{}`", heredoc.tag()),
            _ => match self.frames.last() {
                Some(Frame::Object(..)) => "unexpected end of input, expected `}`".to_owned(),
                Some(Frame::Array(_)) => "unexpected end of input, expected `]`".to_owned(),
                None => "unexpected end of input".to_owned(),
            },
        };
        self.failed(Fault {
            message,
            at: text.len(),
            is_unfinished: true,
        })
    }

    fn turn(&mut self, text: &str, ended: bool) -> Turn {
        match &mut self.mode {
            Mode::Text(string) => {
                let ending = string.advance(text, &mut self.at, ended, &mut self.repairs);
                return match ending {
                    text::Ending::Found(read, true) => self.named(read),
                    text::Ending::Found(read, false) => self.place(Value::String(read)),
                    text::Ending::NotYet => Turn::More,
                    text::Ending::Failed(fault) => Turn::Fail(fault),
                };
            }
            Mode::Heredoc(..) => return self.heredoc(text, ended),
            _ => {}
        }
        let next = match self.next(text, ended) {
            Next::Char(next) => next,
            Next::More | Next::End => return Turn::More,
        };
        match self.mode {
            Mode::Begin if next == ')' => {
                self.at += 1;
                self.mode = Mode::Done(Value::Object(Map::new()));
                Turn::On
            }
            Mode::Element if next == ']' => self.close_frame(),
            Mode::Begin | Mode::Value | Mode::Element => self.value(next, text, ended),
            Mode::Key => self.key(next, text, ended),
            Mode::Colon => self.colon(next, text, ended),
            Mode::After => self.after(next),
            Mode::Close(_) => self.close_call(next),
            Mode::Text(_) | Mode::Heredoc(..) | Mode::Done(_) => Turn::On,
        }
    }

    /// Passes blanks and comments.
    fn next(&mut self, text: &str, ended: bool) -> Next {
        let short = if ended { Next::End } else { Next::More };
        loop {
            let rest = &text[self.at..];
            if let Some(comment) = self.comment {
                let end = match comment {
                    Comment::Line => "\n",
                    Comment::Block => "*/",
                };
                let Some(found) = rest.find(end) else {
                    // A star at the very end may be half of the comment's end.
                    self.at = text.len() - usize::from(rest.ends_with('*'));
                    return short;
                };
                self.at += found + end.len();
                self.comment = None;
                continue;
            }
            let Some(next) = rest.chars().next() else {
                return short;
            };
            if next.is_whitespace() || next == '\u{feff}' {
                self.at += next.len_utf8();
                continue;
            }
            match (next, rest.as_bytes().get(1)) {
                ('/', Some(b'/')) => self.comment = Some(Comment::Line),
                ('/', Some(b'*')) => self.comment = Some(Comment::Block),
                ('/', None) if !ended => return short,
                ('#', _) => {
                    self.repairs.push(Repair::new("comment with `#`", self.at));
                    self.comment = Some(Comment::Line);
                }
                _ => return Next::Char(next),
            }
            self.at += if next == '#' { 1 } else { 2 };
        }
    }

    fn value(&mut self, next: char, text: &str, ended: bool) -> Turn {
        match next {
            '{' => self.open(Frame::Object(Map::new(), String::new()), Mode::Key),
            '[' => self.open(Frame::Array(Vec::new()), Mode::Element),
            '"' | '\'' | '`' | '“' | '”' | '‘' | '’' => {
                self.quoted(next, text, ended, false)
            }
            '<' => match heredoc::opening(&text[self.at..], ended) {
                Look::Yes { tag, length } => self.open_heredoc(tag, length, None),
                Look::More => Turn::More,
                Look::No => self.fail("expected `<<TAG` and a line break".to_owned()),
            },
            '-' | '+' | '.' | '0'..='9' => self.number(text, ended),
            ',' if matches!(self.mode, Mode::Element) => {
                self.mend("extra comma", 1);
                Turn::On
            }
            _ if is_word_start(next) => self.word(text, ended),
            _ => self.unexpected(next, "a value"),
        }
    }

    fn key(&mut self, next: char, text: &str, ended: bool) -> Turn {
        match next {
            '}' => self.close_frame(),
            ',' => {
                self.mend("extra comma", 1);
                Turn::On
            }
            '"' | '\'' | '`' | '“' | '”' | '‘' | '’' => {
                self.quoted(next, text, ended, true)
            }
            _ if is_word_start(next) || next.is_ascii_digit() => {
                let Some(word) = self.whole_word(text, ended, |c| is_word(c) || c == '-') else {
                    return self.wait_for_word(text);
                };
                if next.is_ascii_digit() || word.contains('-') {
                    self.repairs
                        .push(Repair::new("key without quotes", self.at));
                }
                self.at += word.len();
                self.named(word.to_owned())
            }
            _ => self.unexpected(next, "a key or `}`"),
        }
    }

    fn named(&mut self, read: String) -> Turn {
        let Some(Frame::Object(map, key)) = self.frames.last_mut() else {
            unreachable!("keys are only read in objects");
        };
        if map.contains_key(&read) {
            self.repairs.push(Repair::new("repeated key", self.at));
        }
        *key = read;
        self.mode = Mode::Colon;
        Turn::On
    }

    fn colon(&mut self, next: char, text: &str, ended: bool) -> Turn {
        match next {
            ':' => self.at += 1,
            '=' => {
                let length = match text.as_bytes().get(self.at + 1) {
                    Some(b'>') => 2,
                    None if !ended => return Turn::More,
                    _ => 1,
                };
                self.mend("`=` for `:`", length);
            }
            _ => {
                let Some(Frame::Object(_, key)) = self.frames.last() else {
                    unreachable!("keys are only read in objects");
                };
                let message = format!("expected `:` after key `{}`, got `{next}`", short(key));
                return self.fail(message);
            }
        }
        self.mode = Mode::Value;
        Turn::On
    }

    fn after(&mut self, next: char) -> Turn {
        let is_object = matches!(self.frames.last(), Some(Frame::Object(..)));
        let follows = if is_object { Mode::Key } else { Mode::Element };
        match next {
            ',' => self.at += 1,
            ';' => self.mend("`;` for `,`", 1),
            '}' if is_object => return self.close_frame(),
            ']' if !is_object => return self.close_frame(),
            '"' | '\'' | '`' | '“' | '‘' => {
                self.repairs.push(Repair::new("missing comma", self.at));
            }
            '{' | '[' | '-' | '0'..='9' if !is_object => {
                self.repairs.push(Repair::new("missing comma", self.at));
            }
            _ if is_word_start(next) => {
                self.repairs.push(Repair::new("missing comma", self.at));
            }
            _ if is_object => return self.unexpected(next, "`,` or `}`"),
            _ => return self.unexpected(next, "`,` or `]`"),
        }
        self.mode = follows;
        Turn::On
    }

    fn close_call(&mut self, next: char) -> Turn {
        match next {
            ')' => {
                self.at += 1;
                let Mode::Close(value) = &mut self.mode else {
                    unreachable!("only called to close");
                };
                self.mode = Mode::Done(std::mem::take(value));
                Turn::On
            }
            _ => self.unexpected(next, "`)`"),
        }
    }

    fn open(&mut self, frame: Frame, mode: Mode) -> Turn {
        if self.frames.len() == DEPTH_MAX {
            return self.fail(format!("values may nest {DEPTH_MAX} levels at most"));
        }
        self.at += 1;
        self.frames.push(frame);
        self.mode = mode;
        Turn::On
    }

    fn close_frame(&mut self) -> Turn {
        self.at += 1;
        let value = match self.frames.pop() {
            Some(Frame::Object(map, _)) => Value::Object(map),
            Some(Frame::Array(list)) => Value::Array(list),
            None => unreachable!("something is open when it is closed"),
        };
        self.place(value)
    }

    /// Puts a finished value where it belongs.
    fn place(&mut self, value: Value) -> Turn {
        self.mode = Mode::After;
        match self.frames.last_mut() {
            Some(Frame::Object(map, key)) => {
                map.insert(std::mem::take(key), value);
            }
            Some(Frame::Array(list)) => list.push(value),
            None if self.root == Root::Call => self.mode = Mode::Close(value),
            None => self.mode = Mode::Done(value),
        }
        Turn::On
    }

    fn quoted(&mut self, next: char, text: &str, ended: bool, is_key: bool) -> Turn {
        let rest = &text[self.at..];
        if matches!(next, '“' | '”' | '‘' | '’') {
            let close = if matches!(next, '“' | '”') {
                '”'
            } else {
                '’'
            };
            self.mend("smart quotes", next.len_utf8());
            self.mode = Mode::Text(Text::new(Quotes::Smart(close), is_key));
            return Turn::On;
        }
        let after = &rest[1..];
        if !is_key {
            match heredoc::opening(after, ended) {
                Look::Yes { tag, length } => return self.open_heredoc(tag, length + 1, Some(next)),
                Look::More => return Turn::More,
                Look::No => {}
            }
        }
        let run = rest.chars().take(3).take_while(|c| *c == next).count();
        if run < 3 && run == rest.len() && !ended {
            return Turn::More;
        }
        if run == 3 {
            self.mend("triple quotes", 3);
            self.mode = Mode::Text(Text::new(Quotes::Triple(next), is_key));
        } else {
            self.at += 1;
            self.mode = Mode::Text(Text::new(Quotes::Plain(next), is_key));
        }
        Turn::On
    }

    fn open_heredoc(&mut self, tag: String, length: usize, quote: Option<char>) -> Turn {
        self.at += length;
        self.mode = Mode::Heredoc(Heredoc::new(tag, self.at), quote);
        Turn::On
    }

    fn heredoc(&mut self, text: &str, ended: bool) -> Turn {
        let Mode::Heredoc(heredoc, quote) = &mut self.mode else {
            unreachable!("only called in a heredoc");
        };
        let heredoc::Ending::Found { body_end, after } = heredoc.advance(text, ended) else {
            return Turn::More;
        };
        let next = text[after..].chars().next();
        if quote.is_some() && next.is_none() && !ended {
            return Turn::More;
        }
        let body = heredoc.body(text, body_end).to_owned();
        let is_quoted = quote.is_some() && *quote == next;
        self.at = after + usize::from(is_quoted);
        self.place(Value::String(body))
    }

    fn number(&mut self, text: &str, ended: bool) -> Turn {
        let in_number = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '+' | '-');
        let Some(word) = self.whole_word(text, ended, in_number) else {
            return self.wait_for_word(text);
        };
        match number::read(word) {
            Some(number) => {
                self.at += word.len();
                self.place(Value::Number(number))
            }
            None => self.fail(format!("invalid number `{}`", short(word))),
        }
    }

    fn word(&mut self, text: &str, ended: bool) -> Turn {
        let Some(word) = self.whole_word(text, ended, is_word) else {
            return self.wait_for_word(text);
        };
        let value = match word {
            "true" | "True" => Value::Bool(true),
            "false" | "False" => Value::Bool(false),
            "null" | "undefined" | "None" => Value::Null,
            _ => {
                let message = format!(
                    "unexpected identifier `{}`; text values need quotes",
                    short(word)
                );
                return self.fail(message);
            }
        };
        if matches!(word, "True" | "False" | "None") {
            self.repairs.push(Repair::new("Python literal", self.at));
        }
        self.at += word.len();
        self.place(value)
    }

    /// The word that stands here, if its end can be seen.
    fn whole_word<'t>(
        &self,
        text: &'t str,
        ended: bool,
        belongs: impl Fn(char) -> bool,
    ) -> Option<&'t str> {
        let rest = &text[self.at..];
        let mut end = rest.len();
        for (at, next) in rest.char_indices() {
            if !belongs(next) {
                end = at;
                break;
            }
            if at > WORD_BYTES_MAX {
                return None;
            }
        }
        (end < rest.len() || ended).then(|| &rest[..end])
    }

    fn wait_for_word(&self, text: &str) -> Turn {
        if text.len() - self.at > WORD_BYTES_MAX {
            return self.fail("a word or number is too long".to_owned());
        }
        Turn::More
    }

    fn mend(&mut self, what: &'static str, length: usize) {
        self.repairs.push(Repair::new(what, self.at));
        self.at += length;
    }

    fn unexpected(&self, next: char, expected: &str) -> Turn {
        self.fail(format!("expected {expected}, got `{next}`"))
    }

    fn fail(&self, message: String) -> Turn {
        Turn::Fail(Fault {
            message,
            at: self.at,
            is_unfinished: false,
        })
    }
}

fn is_word_start(c: char) -> bool {
    c.is_alphabetic() || matches!(c, '_' | '$')
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '$')
}

/// Errors quote long words only in part.
fn short(word: &str) -> String {
    crate::grammar::texts::preview(word, 40)
}
