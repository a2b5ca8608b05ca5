//! A place in a text.

use crate::invisible::is_hidden;
use crate::not_understood::NotUnderstood;

/// Reads a text character by character.
#[derive(Clone, Copy)]
pub(crate) struct Cursor<'t> {
    pub(crate) text: &'t str,
    pub(crate) at: usize,
}

impl<'t> Cursor<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        Self { text, at: 0 }
    }

    /// The rest of the text.
    pub(crate) fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    /// The next character as it is written.
    pub(crate) fn raw(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// The next character. A backslash at the end of a line joins it with the next one.
    pub(crate) fn peek(&mut self) -> Option<char> {
        while self.rest().starts_with("\\\n") {
            self.at += 2;
        }
        self.raw()
    }

    /// The one after the next.
    pub(crate) fn peek_second(&mut self) -> Option<char> {
        let mut ahead = *self;
        ahead.bump();
        ahead.peek()
    }

    /// Takes the next character.
    pub(crate) fn bump(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.at += next.len_utf8();
        Some(next)
    }

    /// Takes the next character as it is written.
    pub(crate) fn bump_raw(&mut self) -> Option<char> {
        let next = self.raw()?;
        self.at += next.len_utf8();
        Some(next)
    }

    /// Takes a character if it is the next one.
    pub(crate) fn eat(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        if found {
            self.bump();
        }
        found
    }

    /// Takes blanks and a comment, but no end of a line.
    pub(crate) fn skip_blanks(&mut self) -> Result<(), NotUnderstood> {
        loop {
            match self.peek() {
                Some(' ' | '\t') => {
                    self.bump();
                }
                Some('#') => return self.skip_comment(),
                _ => return Ok(()),
            }
        }
    }

    fn skip_comment(&mut self) -> Result<(), NotUnderstood> {
        while let Some(next) = self.raw().filter(|next| *next != '\n') {
            self.visible(next)?;
            self.bump_raw();
        }
        Ok(())
    }

    /// Refuses a character that hides outside quotes.
    pub(crate) fn visible(&self, character: char) -> Result<(), NotUnderstood> {
        match is_hidden(character) {
            true => Err(NotUnderstood::new("an invisible character", self.at)),
            false => Ok(()),
        }
    }
}

/// Whether a character ends a word.
pub(crate) fn ends_word(character: char) -> bool {
    matches!(
        character,
        ' ' | '\t' | '\n' | ';' | '&' | '|' | '<' | '>' | '(' | ')'
    )
}
