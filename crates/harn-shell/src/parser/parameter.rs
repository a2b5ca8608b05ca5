//! `${…}`

use super::{Parsed, Parser};
use crate::part::{Assignment, Part};
use crate::word::Word;

impl Parser<'_, '_> {
    /// `{…}` after a dollar. Gives whether its value can become several words.
    pub(super) fn parameter(&mut self, is_quoted: bool) -> Parsed<bool> {
        let position = self.position();
        self.cursor.bump();
        let is_length = self.cursor.peek() == Some('#') && self.cursor.peek_second() != Some('}');
        if is_length {
            self.cursor.bump();
        }
        let name = self.parameter_name()?;
        let splits = !is_quoted || name == "@";
        let is_all = self.subscript()?;
        match self.cursor.peek() {
            Some('}') => {
                self.cursor.bump();
                return Ok(splits || is_all);
            }
            Some(':') => {
                self.cursor.bump();
                match self.cursor.peek() {
                    Some('-' | '=' | '?' | '+') => self.default(&name, position, is_quoted)?,
                    _ => self.slice()?,
                }
            }
            Some('-' | '=' | '?' | '+') => self.default(&name, position, is_quoted)?,
            Some('#' | '%' | '/' | '^' | ',') => {
                self.cursor.bump();
                self.inside(is_quoted)?;
            }
            _ => return self.wrong("an expansion that is not understood"),
        }
        Ok(splits || is_all)
    }

    fn parameter_name(&mut self) -> Parsed<String> {
        let mut name = String::new();
        match self.cursor.peek() {
            Some(first) if first.is_ascii_alphabetic() || first == '_' => {
                while let Some(next) = self.cursor.peek() {
                    if !(next.is_ascii_alphanumeric() || next == '_') {
                        break;
                    }
                    name.extend(self.cursor.bump());
                }
            }
            Some(first) if first.is_ascii_digit() => {
                while self.cursor.peek().is_some_and(|next| next.is_ascii_digit()) {
                    name.extend(self.cursor.bump());
                }
            }
            Some('@' | '*' | '#' | '?' | '$' | '-') => name.extend(self.cursor.bump()),
            // `${!x}` and `${ x; }` run or evaluate what a variable holds.
            _ => return self.wrong("an expansion that is not understood"),
        }
        Ok(name)
    }

    /// `[@]`, `[*]` or `[0]`; gives whether it stands for all elements.
    fn subscript(&mut self) -> Parsed<bool> {
        if !self.cursor.eat('[') {
            return Ok(false);
        }
        let is_all = matches!(self.cursor.peek(), Some('@' | '*'));
        match is_all {
            true => {
                self.cursor.bump();
            }
            false => {
                while self.cursor.peek().is_some_and(|next| next.is_ascii_digit()) {
                    self.cursor.bump();
                }
            }
        }
        match self.cursor.eat(']') {
            true => Ok(is_all),
            // bash evaluates it.
            false => self.wrong("an element of an array"),
        }
    }

    /// `-word` and its like. `=word` sets the variable.
    fn default(&mut self, name: &str, position: usize, is_quoted: bool) -> Parsed<()> {
        let operator = self.cursor.bump();
        let value = self.inside(is_quoted)?;
        if operator == Some('=') {
            let assignment = Assignment {
                name: name.to_owned(),
                value,
            };
            self.sink.push(Part {
                assignments: vec![assignment],
                position,
                ..Part::default()
            })?;
        }
        Ok(())
    }

    /// `offset:length`, of numbers only: bash evaluates everything else.
    fn slice(&mut self) -> Parsed<()> {
        while let Some(next) = self.cursor.bump() {
            match next {
                '0'..='9' | ' ' | ':' | '-' => {}
                '}' => return Ok(()),
                _ => break,
            }
        }
        self.wrong("a part of a variable by more than numbers")
    }

    /// The word up to the closing brace. Quotes inside quotes mean different things in different
    /// shells.
    fn inside(&mut self, is_quoted: bool) -> Parsed<Word> {
        let mut word = Word::default();
        loop {
            let Some(next) = self.cursor.peek() else {
                return self.wrong("an expansion without its end");
            };
            match next {
                '}' => {
                    self.cursor.bump();
                    return Ok(word);
                }
                '\'' | '"' | '\\' if is_quoted => {
                    return self.wrong("quotes in an expansion in quotes");
                }
                '\'' => {
                    self.cursor.bump();
                    self.single_quoted(&mut word)?;
                }
                '"' => {
                    self.cursor.bump();
                    self.double_quoted(&mut word)?;
                }
                '\\' => {
                    self.cursor.bump();
                    let Some(escaped) = self.cursor.bump_raw() else {
                        return self.wrong("an expansion without its end");
                    };
                    word.push(escaped);
                }
                '$' | '`' => {
                    self.expansion(&mut word, is_quoted)?;
                }
                '<' | '>' | '(' | ')' | '{' | '\n' | '&' | ';' | '|' => {
                    return self.wrong("an expansion that is not understood");
                }
                next => {
                    self.cursor.visible(next)?;
                    self.cursor.bump();
                    word.push(next);
                }
            }
        }
    }
}
