//! Simple commands: assignments, a program with its words, redirections.

use super::{Parsed, Parser};
use crate::part::{Assignment, Operator, Redirection};
use crate::reserved::{assigned, is_name, is_reserved};
use crate::word::Word;

/// A simple command as it was read: its wrappers are not peeled off yet.
#[derive(Clone, Debug, Default)]
pub(crate) struct Read {
    /// The program first.
    pub(crate) words: Vec<Word>,
    pub(crate) assignments: Vec<Assignment>,
    pub(crate) redirections: Vec<Redirection>,
}

impl Parser<'_, '_> {
    pub(super) fn simple(&mut self) -> Parsed<()> {
        let position = self.position();
        let start = self.sink.len();
        let mut read = Read::default();
        let mut is_empty = true;
        loop {
            self.cursor.skip_blanks()?;
            if let Some(found) = self.redirection()? {
                read.redirections.extend(found);
                is_empty = false;
                continue;
            }
            let Some(word) = self.word()? else {
                break;
            };
            is_empty = false;
            self.no_descriptor(&word)?;
            if read.words.is_empty() {
                self.no_element(&word)?;
                if let Some(assignment) = word.assignment() {
                    read.assignments.push(assignment);
                    continue;
                }
                if word.is_plain() && is_reserved(word.text()) {
                    return self.wrong("a word of the grammar that is split over lines");
                }
                self.cursor.skip_blanks()?;
                let is_alone = read.assignments.is_empty() && read.redirections.is_empty();
                if self.cursor.peek() == Some('(') && word.is_plain() && is_alone {
                    let name = word.text().to_owned();
                    self.empty_parentheses()?;
                    return self.function(&name);
                }
            }
            read.words.push(word.word);
        }
        if is_empty {
            return self.wrong("a syntax error");
        }
        let middle = self.sink.len();
        self.sink.command(read, self.depth, position)?;
        self.sink.bring_forward(start, middle);
        Ok(())
    }

    /// Refuses `{NAME}>`: in bash a variable that gets a descriptor.
    fn no_descriptor(&mut self, word: &super::words::Lexed) -> Parsed<()> {
        let inside = word.plain.strip_prefix('{');
        let inside = inside.and_then(|rest| rest.strip_suffix('}'));
        let is_variable = inside.is_some_and(is_name) && word.is_plain();
        match is_variable && matches!(self.cursor.peek(), Some('<' | '>')) {
            true => self.wrong("a descriptor from a variable"),
            false => Ok(()),
        }
    }

    /// Refuses `NAME[…`: bash evaluates what is in the brackets of an assignment.
    fn no_element(&self, word: &super::words::Lexed) -> Parsed<()> {
        let before = word.plain.split_once('[').map(|(before, _)| before);
        match before.is_some_and(is_name) {
            true => self.wrong("an element of an array"),
            false => Ok(()),
        }
    }

    /// The redirection that comes next. `Some(None)`: a text is given, which names no file.
    pub(super) fn redirection(&mut self) -> Parsed<Option<Option<Redirection>>> {
        let before = self.cursor;
        let descriptor = self.descriptor()?;
        let operator = match (self.cursor.peek(), self.cursor.peek_second()) {
            (Some('<' | '>'), Some('(')) => {
                self.cursor = before;
                return Ok(None);
            }
            (Some('<' | '>'), _) => self.operator()?,
            (Some('&'), Some('>')) => return self.both().map(Some),
            _ => return Ok(None),
        };
        let Some(operator) = operator else {
            return Ok(Some(None));
        };
        self.cursor.skip_blanks()?;
        let Some(target) = self.word()? else {
            return self.wrong("a redirection without a file");
        };
        let target = target.word;
        let operator = match operator {
            Operator::Duplicate => Self::duplicated(&target),
            other => Some(other),
        };
        let Some(operator) = operator else {
            return self.wrong("a descriptor from a variable");
        };
        Ok(Some(Some(Redirection {
            descriptor,
            operator,
            target,
        })))
    }

    /// What `>&` and `<&` mean: a descriptor, or in bash a file.
    fn duplicated(target: &Word) -> Option<Operator> {
        let target = target.literal()?;
        let digits = target.strip_suffix('-').unwrap_or(target);
        Some(match digits.bytes().all(|byte| byte.is_ascii_digit()) {
            true => Operator::Duplicate,
            false => Operator::Both,
        })
    }

    /// The digit right before a redirection.
    fn descriptor(&mut self) -> Parsed<Option<u8>> {
        let Some(digit) = self.cursor.peek().and_then(|next| next.to_digit(10)) else {
            return Ok(None);
        };
        let rest = self.cursor.rest();
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let mut ahead = self.cursor;
        ahead.at += digits;
        if !matches!(ahead.peek(), Some('<' | '>')) {
            return Ok(None);
        }
        // bash reads `10>`; for dash that is a word, and the redirection of another descriptor.
        if digits > 1 {
            return self.wrong("a descriptor of more than one digit");
        }
        self.cursor = ahead;
        Ok(u8::try_from(digit).ok())
    }

    /// `None`: a text follows, which was taken.
    fn operator(&mut self) -> Parsed<Option<Operator>> {
        let first = self.cursor.bump();
        let next = self.cursor.peek();
        let operator = match (first, next) {
            (Some('>'), Some('>')) => Operator::Append,
            (Some('>'), Some('|')) => Operator::Write,
            (_, Some('&')) => Operator::Duplicate,
            (Some('<'), Some('>')) => Operator::ReadWrite,
            (Some('<'), Some('<')) => {
                self.cursor.bump();
                self.given_text()?;
                return Ok(None);
            }
            (Some('>'), _) => return Ok(Some(Operator::Write)),
            (_, _) => return Ok(Some(Operator::Read)),
        };
        self.cursor.bump();
        Ok(Some(operator))
    }

    /// `&>FILE`. For dash that is `&`, and another command after it: the same only if nothing
    /// follows.
    fn both(&mut self) -> Parsed<Option<Redirection>> {
        self.cursor.bump();
        self.cursor.bump();
        self.cursor.eat('>');
        self.cursor.skip_blanks()?;
        let Some(target) = self.word()? else {
            return self.wrong("a redirection without a file");
        };
        self.cursor.skip_blanks()?;
        match self.cursor.peek() {
            None | Some('\n' | ';' | '|' | ')' | '&') => Ok(Some(Redirection {
                descriptor: None,
                operator: Operator::Both,
                target: target.word,
            })),
            Some(_) => self.wrong("words after `&>`, which are a command in some shells"),
        }
    }
}

impl super::words::Lexed {
    /// The assignment that the word is before the program.
    pub(super) fn assignment(&self) -> Option<Assignment> {
        let (name, length) = assigned(&self.plain)?;
        let name = name.to_owned();
        let value = self.word.after(length);
        Some(Assignment { name, value })
    }
}
