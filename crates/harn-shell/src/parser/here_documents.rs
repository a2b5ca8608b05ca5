//! Texts that are given in place: `<<` and `<<<`.

use super::{Parsed, Parser};
use crate::cursor::{Cursor, ends_word};
use crate::not_understood::NotUnderstood;
use crate::word::Word;

/// A text that begins after the end of the line.
pub(super) struct HereDocument {
    /// The line that ends it.
    delimiter: String,
    /// Whether it is taken as it is: its delimiter has quotes.
    is_quoted: bool,
    strips_tabs: bool,
}

impl Parser<'_, '_> {
    /// What follows `<<`.
    pub(super) fn given_text(&mut self) -> Parsed<()> {
        if self.cursor.eat('<') {
            self.cursor.skip_blanks()?;
            return match self.word()? {
                Some(_) => Ok(()),
                None => self.wrong("a redirection without a text"),
            };
        }
        let strips_tabs = self.cursor.eat('-');
        self.cursor.skip_blanks()?;
        let (delimiter, is_quoted) = self.delimiter()?;
        if delimiter.is_empty() || delimiter.contains('\n') {
            return self.wrong("a here-document without a delimiter");
        }
        self.pending.push(HereDocument {
            delimiter,
            is_quoted,
            strips_tabs,
        });
        Ok(())
    }

    fn delimiter(&mut self) -> Parsed<(String, bool)> {
        let mut delimiter = String::new();
        let mut is_quoted = false;
        while let Some(next) = self.cursor.peek().filter(|next| !ends_word(*next)) {
            self.cursor.visible(next)?;
            self.cursor.bump();
            match next {
                '$' | '`' => return self.wrong("a here-document with a strange delimiter"),
                '\\' => {
                    is_quoted = true;
                    delimiter.extend(self.cursor.bump_raw());
                }
                '\'' | '"' => {
                    is_quoted = true;
                    let rest = self.cursor.rest();
                    let Some(length) = rest.find(next) else {
                        return self.wrong("a quote without its end");
                    };
                    if rest[..length].contains(['\\', '$', '`']) {
                        return self.wrong("a here-document with a strange delimiter");
                    }
                    delimiter.push_str(&rest[..length]);
                    self.cursor.at += length + 1;
                }
                next => delimiter.push(next),
            }
        }
        Ok((delimiter, is_quoted))
    }

    /// A line has ended: the texts that waited for it begin.
    pub(super) fn end_line(&mut self) -> Parsed<()> {
        if self.pending_outside > 0 {
            return self.wrong("a line that ends in a substitution, before a here-document");
        }
        for document in std::mem::take(&mut self.pending) {
            self.document(&document)?;
        }
        Ok(())
    }

    fn document(&mut self, document: &HereDocument) -> Parsed<()> {
        let position = self.position();
        let text = self.document_text(document)?;
        if document.is_quoted {
            return Ok(());
        }
        let within = Some(position);
        let mut inside = Parser {
            cursor: Cursor::new(&text),
            depth: self.depth,
            within,
            sink: &mut *self.sink,
            pending: Vec::new(),
            pending_outside: 0,
        };
        let done = inside.deeper(Parser::replaced_text);
        done.map_err(|problem| NotUnderstood {
            position,
            ..problem
        })
    }

    /// The lines up to the delimiter, which are taken.
    fn document_text(&mut self, document: &HereDocument) -> Parsed<String> {
        let mut text = String::new();
        let mut joins = false;
        let mut last_line = String::new();
        loop {
            let rest = self.cursor.rest();
            if rest.is_empty() {
                return self.wrong("a here-document without its end");
            }
            let length = rest.find('\n').unwrap_or(rest.len());
            let line = match document.strips_tabs {
                true => rest[..length].trim_start_matches('\t'),
                false => &rest[..length],
            };
            let is_end = line == document.delimiter;
            let joined = joins && format!("{last_line}{line}") == document.delimiter;
            // Shells do not agree on whether a line that was joined can end the text.
            if joins && (is_end || joined) {
                return self.wrong("a here-document with a doubtful end");
            }
            self.cursor.at = (self.cursor.at + length + 1).min(self.cursor.text.len());
            if is_end {
                return Ok(text);
            }
            text.push_str(line);
            text.push('\n');
            let backslashes = line.bytes().rev().take_while(|byte| *byte == b'\\').count();
            joins = !document.is_quoted && backslashes % 2 == 1;
            last_line = line[..line.len() - usize::from(joins)].to_owned();
        }
    }

    /// The text of a here-document in which the shell replaces things.
    fn replaced_text(&mut self) -> Parsed<()> {
        let mut replaced = Word::default();
        while let Some(next) = self.cursor.peek() {
            match next {
                '$' | '`' => {
                    self.expansion(&mut replaced, true)?;
                }
                '\\' => self.escaped(&mut replaced, &['$', '`', '\\']),
                _ => {
                    self.cursor.bump();
                }
            }
        }
        Ok(())
    }
}
