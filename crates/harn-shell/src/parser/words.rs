//! Words: quotes, and what the shell replaces.

use super::{Parsed, Parser};
use crate::cursor::ends_word;
use crate::word::Word;

/// A word, and what the shell still sees of how it was written.
#[derive(Default)]
pub(super) struct Lexed {
    pub(super) word: Word,
    /// What it begins with before any quote or expansion.
    pub(super) plain: String,
    /// Whether there was no quote and no expansion.
    is_plain: bool,
    /// Whether braces in it mean alternatives; found out once.
    has_alternatives: Option<bool>,
}

impl Lexed {
    /// Whether it is a text without quotes.
    pub(super) fn is_plain(&self) -> bool {
        self.is_plain
    }

    /// The text of a word without quotes.
    pub(super) fn text(&self) -> &str {
        &self.plain
    }

    pub(super) fn end_plain(&mut self) {
        self.is_plain = false;
    }

    fn take(&mut self, character: char) {
        self.word.push(character);
        if self.is_plain {
            self.plain.push(character);
        }
    }
}

impl Parser<'_, '_> {
    /// The word that comes next; `None`: none does.
    pub(super) fn word(&mut self) -> Parsed<Option<Lexed>> {
        let mut lexed = Lexed {
            is_plain: true,
            ..Lexed::default()
        };
        let start = self.cursor.at;
        let mut is_there = false;
        while let Some(next) = self.cursor.peek() {
            let is_substitution =
                matches!(next, '<' | '>') && self.cursor.peek_second() == Some('(');
            if is_substitution {
                self.process_substitution(&mut lexed)?;
                is_there = true;
                continue;
            }
            if ends_word(next) {
                break;
            }
            self.cursor.visible(next)?;
            is_there = true;
            self.piece(next, &mut lexed)?;
        }
        debug_assert!(is_there || self.cursor.at >= start, "a cursor goes forward");
        Ok(is_there.then_some(lexed))
    }

    fn piece(&mut self, next: char, lexed: &mut Lexed) -> Parsed<()> {
        match next {
            '\'' => {
                lexed.is_plain = false;
                self.cursor.bump();
                self.single_quoted(&mut lexed.word)
            }
            '"' => {
                lexed.is_plain = false;
                self.cursor.bump();
                self.double_quoted(&mut lexed.word)
            }
            '\\' => {
                lexed.is_plain = false;
                self.cursor.bump();
                match self.cursor.bump_raw() {
                    Some(escaped) => {
                        self.cursor.visible(escaped)?;
                        lexed.word.push(escaped);
                        Ok(())
                    }
                    None => self.wrong("a backslash at the end"),
                }
            }
            '$' | '`' => {
                // A dollar alone is a text.
                let is_dynamic = self.expansion(&mut lexed.word, false)?;
                match is_dynamic {
                    true => lexed.is_plain = false,
                    false if lexed.is_plain => lexed.plain.push('$'),
                    false => {}
                }
                Ok(())
            }
            '*' | '?' => self.pattern(next, lexed),
            '[' => {
                let is_alone = self.cursor.peek_second().is_none_or(ends_word);
                match is_alone {
                    true => self.plain_character(lexed),
                    false => self.pattern(next, lexed),
                }
            }
            '{' if self.begins_alternatives(lexed) => self.pattern(next, lexed),
            '~' if self.begins_home(lexed) => self.pattern(next, lexed),
            _ => self.plain_character(lexed),
        }
    }

    fn plain_character(&mut self, lexed: &mut Lexed) -> Parsed<()> {
        if let Some(character) = self.cursor.bump() {
            lexed.take(character);
        }
        Ok(())
    }

    /// A character that makes names of files, or several words.
    fn pattern(&mut self, character: char, lexed: &mut Lexed) -> Parsed<()> {
        self.cursor.bump();
        if lexed.is_plain && character == '[' {
            // So that an element of an array is recognised.
            lexed.plain.push('[');
        }
        lexed.is_plain = false;
        let splits = character != '~';
        lexed.word.push_dynamic(&character.to_string(), splits);
        Ok(())
    }

    /// Whether `{` begins alternatives for bash: there is a comma or a range after it.
    fn begins_alternatives(&mut self, lexed: &mut Lexed) -> bool {
        if let Some(known) = lexed.has_alternatives {
            return known;
        }
        let rest = self.cursor.rest();
        let blank = |character: char| matches!(character, ' ' | '\t' | '\n');
        let end = rest.find(blank).unwrap_or(rest.len());
        let has = rest[..end].contains(',') || rest[..end].contains("..");
        lexed.has_alternatives = Some(has);
        has
    }

    /// Whether `~` stands for a folder: at the start, or in a value.
    fn begins_home(&self, lexed: &Lexed) -> bool {
        lexed.word.pieces().is_empty() || lexed.plain.ends_with(['=', ':'])
    }

    pub(super) fn single_quoted(&mut self, word: &mut Word) -> Parsed<()> {
        let rest = self.cursor.rest();
        let Some(length) = rest.find('\'') else {
            return self.wrong("a quote without its end");
        };
        let text = &rest[..length];
        self.no_line_end(text)?;
        word.push_text(text);
        self.cursor.at += length + 1;
        Ok(())
    }

    pub(super) fn double_quoted(&mut self, word: &mut Word) -> Parsed<()> {
        loop {
            match self.cursor.peek() {
                None => return self.wrong("a quote without its end"),
                Some('"') => {
                    self.cursor.bump();
                    return Ok(());
                }
                Some('$' | '`') => {
                    self.expansion(word, true)?;
                }
                Some('\\') => self.escaped(word, &['$', '`', '"', '\\']),
                Some(character) => {
                    if character == '\n' {
                        self.no_line_end("\n")?;
                    }
                    self.cursor.bump();
                    word.push(character);
                }
            }
        }
    }

    /// A backslash that quotes only some characters.
    pub(super) fn escaped(&mut self, word: &mut Word, escapable: &[char]) {
        self.cursor.bump();
        match self.cursor.raw() {
            Some(next) if escapable.contains(&next) => {
                self.cursor.bump_raw();
                word.push(next);
            }
            _ => word.push('\\'),
        }
    }

    /// Refuses a line that ends inside a word while here-documents wait for their texts: shells
    /// do not agree on where these begin.
    fn no_line_end(&self, text: &str) -> Parsed<()> {
        let waits = !self.pending.is_empty() || self.pending_outside > 0;
        match waits && text.contains('\n') {
            true => self.wrong("a line that ends in a word, before a here-document"),
            false => Ok(()),
        }
    }
}
