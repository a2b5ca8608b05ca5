//! What the shell replaces in a word: `$…` and back quotes.

use super::{End, Parsed, Parser};
use crate::word::Word;

impl Parser<'_, '_> {
    /// An expansion, at its `$` or back quote. Gives whether it was one: a dollar can be a text.
    pub(super) fn expansion(&mut self, word: &mut Word, is_quoted: bool) -> Parsed<bool> {
        let start = self.cursor.at;
        if self.cursor.peek() == Some('`') {
            self.deeper(|parser| parser.back_quoted(is_quoted))?;
            self.replaced(word, start, !is_quoted);
            return Ok(true);
        }
        self.cursor.bump();
        let splits = match self.cursor.peek() {
            Some('(') if self.cursor.peek_second() == Some('(') => {
                self.deeper(Self::arithmetic)?;
                !is_quoted
            }
            Some('(') => {
                self.deeper(Self::substitution)?;
                !is_quoted
            }
            Some('{') => self.deeper(|parser| parser.parameter(is_quoted))?,
            Some('[') => return self.wrong("`$[`, which is arithmetic in some shells"),
            Some('\'') if !is_quoted => {
                self.escaped_quote()?;
                false
            }
            Some('"') if !is_quoted => {
                self.cursor.bump();
                let mut inside = Word::default();
                self.double_quoted(&mut inside)?;
                // Even its text may be replaced by a translation.
                inside.splits()
            }
            Some(next) if next.is_ascii_alphabetic() || next == '_' => {
                while let Some(next) = self.cursor.peek() {
                    if !(next.is_ascii_alphanumeric() || next == '_') {
                        break;
                    }
                    self.cursor.bump();
                }
                !is_quoted
            }
            Some(next @ ('0'..='9' | '@' | '*' | '#' | '?' | '-' | '$' | '!')) => {
                self.cursor.bump();
                !is_quoted || next == '@'
            }
            _ => {
                word.push('$');
                return Ok(false);
            }
        };
        self.replaced(word, start, splits);
        Ok(true)
    }

    fn replaced(&mut self, word: &mut Word, start: usize, splits: bool) {
        word.push_dynamic(&self.cursor.text[start..self.cursor.at], splits);
    }

    /// `<(…)` and `>(…)`
    pub(super) fn process_substitution(&mut self, lexed: &mut super::words::Lexed) -> Parsed<()> {
        let start = self.cursor.at;
        self.cursor.bump();
        self.deeper(Self::substitution)?;
        lexed.replaced(&self.cursor.text[start..self.cursor.at]);
        Ok(())
    }

    /// `(…)` after a dollar: commands.
    fn substitution(&mut self) -> Parsed<()> {
        self.cursor.bump();
        let outside = std::mem::take(&mut self.pending);
        self.pending_outside += outside.len();
        let done = self.list(End::Parenthesis);
        self.pending_outside -= outside.len();
        done?;
        self.no_pending()?;
        self.pending = outside;
        self.cursor.bump();
        Ok(())
    }

    /// Commands between back quotes. Their text is unquoted once before it is read.
    fn back_quoted(&mut self, is_quoted: bool) -> Parsed<()> {
        let position = self.position();
        self.cursor.bump();
        let mut text = String::new();
        loop {
            match self.cursor.bump_raw() {
                None => return self.wrong("a back quote without its end"),
                Some('`') => break,
                Some('\\') => match self.cursor.bump_raw() {
                    Some(next @ ('`' | '\\' | '$')) => text.push(next),
                    Some('"') if is_quoted => text.push('"'),
                    Some(next) => text.extend(['\\', next]),
                    None => return self.wrong("a back quote without its end"),
                },
                Some(next) => text.push(next),
            }
        }
        let waits = !self.pending.is_empty() || self.pending_outside > 0;
        if waits && text.contains('\n') {
            return self.wrong("a line that ends in a substitution, before a here-document");
        }
        self.sink.text(&text, self.depth, Some(position))
    }

    /// `'…'` after a dollar. dash takes the backslashes as they are, so they must not hide where
    /// the quote ends.
    fn escaped_quote(&mut self) -> Parsed<()> {
        self.cursor.bump();
        let rest = self.cursor.rest();
        let Some(length) = rest.find('\'') else {
            return self.wrong("a quote without its end");
        };
        let text = &rest[..length];
        let waits = !self.pending.is_empty() || self.pending_outside > 0;
        if text.ends_with('\\') || (waits && text.contains('\n')) {
            return self.wrong("`$'…'` whose end depends on the shell");
        }
        self.cursor.at += length + 1;
        Ok(())
    }

    /// `((…))` after a dollar.
    fn arithmetic(&mut self) -> Parsed<()> {
        self.cursor.bump();
        self.cursor.bump();
        let mut open = 0_usize;
        let (mut is_operand, mut has_blank) = (false, false);
        loop {
            let Some(next) = self.cursor.peek() else {
                return self.wrong("arithmetic without its end");
            };
            // Two words in a row are no arithmetic; they may be a command in a subshell.
            let begins_operand = next.is_ascii_alphanumeric() || matches!(next, '_' | '$' | '(');
            if begins_operand && has_blank {
                return self.wrong("arithmetic that is not understood");
            }
            (is_operand, has_blank) = match next {
                ' ' | '\t' => (is_operand, is_operand),
                '$' | ')' | '_' => (true, false),
                next => (next.is_ascii_alphanumeric(), false),
            };
            match next {
                '(' => open += 1,
                ')' if open > 0 => open -= 1,
                ')' if self.cursor.peek_second() == Some(')') => {
                    self.cursor.bump();
                    self.cursor.bump();
                    return Ok(());
                }
                '$' => {
                    self.sink.evaluates_variables = true;
                    self.expansion(&mut Word::default(), true)?;
                    continue;
                }
                '=' => {
                    self.comparison()?;
                    continue;
                }
                '+' | '-' if self.cursor.peek_second() == Some(next) => {
                    return self.wrong("arithmetic that changes a variable");
                }
                '<' | '>' | '!' if self.cursor.peek_second() == Some('=') => {
                    self.cursor.bump();
                }
                '<' | '>' if self.cursor.peek_second() == Some(next) => {
                    self.cursor.bump();
                    if self.cursor.peek_second() == Some('=') {
                        return self.wrong("arithmetic that changes a variable");
                    }
                }
                next if next.is_ascii_alphabetic() || next == '_' => {
                    self.sink.evaluates_variables = true;
                }
                '0'..='9'
                | ' '
                | '\t'
                | '+'
                | '-'
                | '*'
                | '/'
                | '%'
                | '<'
                | '>'
                | '!'
                | '&'
                | '|'
                | '^'
                | '~'
                | '?'
                | ':'
                | ','
                | '#' => {}
                _ => return self.wrong("arithmetic that is not understood"),
            }
            self.cursor.bump();
        }
    }

    /// `==`, and no other use of `=`: it would change a variable.
    fn comparison(&mut self) -> Parsed<()> {
        self.cursor.bump();
        match self.cursor.eat('=') {
            true => Ok(()),
            false => self.wrong("arithmetic that changes a variable"),
        }
    }
}

impl super::words::Lexed {
    fn replaced(&mut self, source: &str) {
        self.word.push_dynamic(source, false);
        self.end_plain();
    }
}
