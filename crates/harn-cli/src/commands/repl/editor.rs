//! Entries from a terminal: lines that can be edited, with history, completion and colours.

use std::borrow::Cow;
use std::io;

use harn_check::builtins;
use harn_syntax::{Span, TokenKind, lex};
use harn_vm::Session;
use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::{CmdKind, Highlighter};
use rustyline::hint::Hinter;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Config, Context, Helper};

use super::entry::{COMMANDS, is_complete};
use super::history::History;
use crate::output::Palette;

const PROMPT: &str = "harn> ";

/// Reads entries from a terminal.
pub(super) struct Editor {
    lines: Result<rustyline::Editor<Assistant, rustyline::history::MemHistory>, ReadlineError>,
    history: History,
}

impl Editor {
    pub(super) fn new(palette: Palette) -> Self {
        let history = History::new();
        let config = Config::builder().auto_add_history(false).build();
        let store = rustyline::history::MemHistory::with_config(&config);
        let mut lines = rustyline::Editor::with_history(config, store);
        if let Ok(lines) = &mut lines {
            lines.set_helper(Some(Assistant {
                palette,
                names: Vec::new(),
            }));
            for entry in history.load() {
                let _is_a_repetition = lines.add_history_entry(entry);
            }
        }
        Self { lines, history }
    }

    /// The next entry; `None` if there will be none. Ctrl-C throws away what is typed.
    ///
    /// # Errors
    /// The terminal cannot be read.
    pub(super) fn next(&mut self, session: &Session) -> io::Result<Option<String>> {
        let lines = match &mut self.lines {
            Ok(lines) => lines,
            Err(error) => return Err(io::Error::other(error.to_string())),
        };
        if let Some(assistant) = lines.helper_mut() {
            assistant.names = session.names().map(str::to_owned).collect();
        }
        match lines.readline(PROMPT) {
            Ok(entry) => {
                if !entry.trim().is_empty() && lines.add_history_entry(&entry).unwrap_or(false) {
                    self.history.add(&entry);
                }
                Ok(Some(entry))
            }
            Err(ReadlineError::Interrupted) => Ok(Some(String::new())),
            Err(ReadlineError::Eof) => Ok(None),
            Err(ReadlineError::Io(error)) => Err(error),
            Err(error) => Err(io::Error::other(error.to_string())),
        }
    }
}

/// What helps while a line is typed.
struct Assistant {
    palette: Palette,
    /// The names of the session.
    names: Vec<String>,
}

impl Helper for Assistant {}

impl Hinter for Assistant {
    type Hint = String;
}

impl Validator for Assistant {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        Ok(match is_complete(context.input()) {
            true => ValidationResult::Valid(None),
            false => ValidationResult::Incomplete,
        })
    }
}

impl Completer for Assistant {
    type Candidate = String;

    fn complete(
        &self,
        line: &str,
        position: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<String>)> {
        Ok(complete(&line[..position], &self.names))
    }
}

impl Highlighter for Assistant {
    fn highlight<'l>(&self, line: &'l str, _: usize) -> Cow<'l, str> {
        Cow::Owned(painted(line, self.palette))
    }

    fn highlight_char(&self, _: &str, _: usize, kind: CmdKind) -> bool {
        kind != CmdKind::MoveCursor
    }

    fn highlight_prompt<'b, 's: 'b, 'p: 'b>(&'s self, prompt: &'p str, _: bool) -> Cow<'b, str> {
        Cow::Owned(self.palette.name(prompt).to_string())
    }
}

/// Where the word begins that a text ends with, and what it can become.
fn complete(before: &str, names: &[String]) -> (usize, Vec<String>) {
    let is_part = |char: char| char.is_alphanumeric() || char == '_' || char == ':';
    let start = before
        .char_indices()
        .rev()
        .take_while(|(_, char)| is_part(*char))
        .last()
        .map_or(before.len(), |(at, _)| at);
    let word = &before[start..];
    let mut found: Vec<String> = match before[..start].strip_suffix('.') {
        Some(receiver) => members(receiver, word),
        None if word.is_empty() => Vec::new(),
        None if start == 0 && word.starts_with(':') => starting(COMMANDS.into_iter(), word),
        None => {
            let plain = builtins::all().iter().map(|builtin| builtin.name);
            let plain = plain.filter(|name| !name.contains('.') && !name.starts_with("__"));
            let words = TokenKind::RESERVED.iter().copied();
            let names = names.iter().map(String::as_str);
            starting(plain.chain(words).chain(names), word)
        }
    };
    found.sort();
    found.dedup();
    (start, found)
}

/// What can follow a dot: the members of a namespace, or else methods.
fn members(receiver: &str, word: &str) -> Vec<String> {
    let is_part = |char: char| char.is_alphanumeric() || char == '_';
    let namespace = receiver.rsplit(|char| !is_part(char)).next().unwrap_or("");
    let all = builtins::all()
        .iter()
        .filter_map(|one| one.name.split_once('.'));
    let members = all
        .filter(|(of, _)| *of == namespace)
        .map(|(_, member)| member);
    let members = starting(members, word);
    if !members.is_empty() {
        return members;
    }
    let methods = builtins::methods().iter().flat_map(|(_, methods)| *methods);
    let names = methods.flat_map(|one| [one.name()].into_iter().chain(one.aliases.iter().copied()));
    starting(names, word)
}

fn starting<'a>(names: impl Iterator<Item = &'a str>, word: &str) -> Vec<String> {
    names
        .filter(|name| name.starts_with(word))
        .map(str::to_owned)
        .collect()
}

/// A line in colours.
fn painted(line: &str, palette: Palette) -> String {
    let lexed = lex(line);
    let tokens = lexed.tokens.iter().filter_map(|token| {
        let style = match token.kind {
            kind if kind.is_word() => Style::Word,
            TokenKind::String | TokenKind::RawString | TokenKind::InterpolatedString => Style::Text,
            TokenKind::Int | TokenKind::Float | TokenKind::Duration => Style::Number,
            _ => return None,
        };
        Some((token.span, style))
    });
    let comments = lexed.comments.iter().map(|one| (one.span, Style::Comment));
    let mut parts: Vec<(Span, Style)> = tokens.chain(comments).collect();
    parts.sort_by_key(|(span, _)| span.start);
    let mut text = String::new();
    let mut done = 0;
    for (span, style) in parts {
        let (start, end) = (span.start as usize, span.end as usize);
        let (Some(between), Some(part)) = (line.get(done..start), line.get(start..end)) else {
            continue;
        };
        text.push_str(between);
        text.push_str(&style.paint(part, palette));
        done = end;
    }
    text.push_str(line.get(done..).unwrap_or(""));
    text
}

#[derive(Clone, Copy)]
enum Style {
    Word,
    Text,
    Number,
    Comment,
}

impl Style {
    fn paint(self, text: &str, palette: Palette) -> String {
        match self {
            Self::Word => palette.heading(text).to_string(),
            Self::Text => palette.fine(text).to_string(),
            Self::Number => palette.name(text).to_string(),
            Self::Comment => palette.faint(text).to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(before: &str, start: usize, expected: &[&str]) {
        let names = ["total".to_owned(), "to_do".to_owned()];
        let (found_start, found) = complete(before, &names);
        assert_eq!(
            (found_start, found),
            (start, expected.iter().map(ToString::to_string).collect())
        );
    }

    #[test]
    fn names_words_and_builtins_are_completed() {
        check("1 + tot", 4, &["total"]);
        check("to_d", 0, &["to_do"]);
        check("whi", 0, &["while"]);
        check("let x = uppercase_", 8, &["uppercase_first"]);
        check("", 0, &[]);
        check("f(", 2, &[]);
        check("qqq", 0, &[]);
    }

    #[test]
    fn members_follow_a_dot() {
        check("xs.tal", 3, &["tally"]);
        check("stream.debo", 7, &["debounce"]);
        check("s.to_up", 2, &["to_upper"]);
    }

    #[test]
    fn commands_are_completed_at_the_beginning() {
        check(":ty", 0, &[":type"]);
        check(":doc upperc", 5, &["uppercase", "uppercase_first"]);
    }

    #[test]
    fn colours_do_not_change_a_line() {
        let plain = Palette::plain();
        for line in [
            "let a = \"x ${1}\" // why",
            "1 + 2",
            "\"open",
            "#§$",
            "日本 + 1",
        ] {
            assert_eq!(painted(line, plain), line);
        }
    }
}
