//! Commands that contain commands.

use super::{End, Parsed, Parser};
use crate::part::Part;
use crate::reserved::{is_name, is_reserved};

impl Parser<'_, '_> {
    /// A group, a subshell, a condition, a loop, a choice or a function, with its redirections.
    pub(super) fn compound(&mut self) -> Parsed<()> {
        let position = self.position();
        if self.cursor.peek() == Some('(') {
            self.subshell()?;
        } else {
            let word = self.reserved().unwrap_or_default().to_owned();
            match word.as_str() {
                "{" => self.group()?,
                "if" => self.condition()?,
                "while" | "until" => self.repetition(&word)?,
                "for" => self.for_loop()?,
                "case" => self.choice()?,
                "function" => return self.function_with_word(),
                _ => return self.wrong(format!("`{word}` where a command should be")),
            }
        }
        self.redirected(position)
    }

    /// The redirections of all that was just read.
    fn redirected(&mut self, position: usize) -> Parsed<()> {
        let mut part = Part {
            position,
            ..Part::default()
        };
        loop {
            self.cursor.skip_blanks()?;
            match self.redirection()? {
                None => break,
                Some(found) => part.redirections.extend(found),
            }
        }
        match part.redirections.is_empty() {
            true => Ok(()),
            false => self.sink.push(part),
        }
    }

    fn subshell(&mut self) -> Parsed<()> {
        self.cursor.bump();
        if self.cursor.peek() == Some('(') {
            return self.wrong("`((`, which is arithmetic in one shell and commands in another");
        }
        self.list(End::Parenthesis)?;
        self.cursor.bump();
        Ok(())
    }

    fn group(&mut self) -> Parsed<()> {
        self.expect_reserved("{")?;
        self.list(End::Words(&["}"]))?;
        self.expect_reserved("}")
    }

    fn condition(&mut self) -> Parsed<()> {
        self.expect_reserved("if")?;
        loop {
            self.list(End::Words(&["then"]))?;
            self.expect_reserved("then")?;
            self.list(End::Words(&["elif", "else", "fi"]))?;
            if !self.reserved_is(&["elif"]) {
                break;
            }
            self.expect_reserved("elif")?;
        }
        if self.reserved_is(&["else"]) {
            self.expect_reserved("else")?;
            self.list(End::Words(&["fi"]))?;
        }
        self.expect_reserved("fi")
    }

    fn repetition(&mut self, word: &str) -> Parsed<()> {
        self.expect_reserved(word)?;
        self.list(End::Words(&["do"]))?;
        self.body()
    }

    fn body(&mut self) -> Parsed<()> {
        self.expect_reserved("do")?;
        self.list(End::Words(&["done"]))?;
        self.expect_reserved("done")
    }

    fn for_loop(&mut self) -> Parsed<()> {
        self.expect_reserved("for")?;
        self.cursor.skip_blanks()?;
        let position = self.position();
        let name = match self.word()? {
            Some(name) if name.is_plain() && is_name(name.text()) => name.text().to_owned(),
            _ => return self.wrong("a loop without a variable"),
        };
        self.skip_lines()?;
        let rest = self.cursor.rest();
        let has_words = rest.strip_prefix("in").is_some_and(|rest| {
            let next = rest.chars().next();
            next.is_none_or(crate::cursor::ends_word)
        });
        let mut values = Vec::new();
        if has_words {
            self.cursor.at += 2;
            loop {
                self.cursor.skip_blanks()?;
                match self.word()? {
                    Some(word) => values.push(word.word),
                    None => break,
                }
            }
        }
        self.cursor.skip_blanks()?;
        self.cursor.eat(';');
        self.skip_lines()?;
        let is_harmless = |value: &crate::word::Word| {
            let text = value.literal();
            text.is_some_and(|text| !text.contains('['))
        };
        self.sink.fills_variables |= !values.iter().all(is_harmless) || !has_words;
        if let Some(part) = crate::builtins::fills(&name, position) {
            self.sink.push(part)?;
        }
        self.body()
    }

    fn choice(&mut self) -> Parsed<()> {
        self.expect_reserved("case")?;
        self.cursor.skip_blanks()?;
        if self.word()?.is_none() {
            return self.wrong("a choice without a word");
        }
        self.skip_lines()?;
        if !self.cursor.rest().starts_with("in") {
            return self.wrong("`in` is missing");
        }
        self.cursor.at += 2;
        if !self.cursor.peek().is_none_or(crate::cursor::ends_word) {
            return self.wrong("`in` is missing");
        }
        loop {
            self.skip_lines()?;
            if self.reserved_is(&["esac"]) {
                return self.expect_reserved("esac");
            }
            self.patterns()?;
            self.list(End::Branch)?;
            if !self.at_branch_end() {
                continue;
            }
            self.cursor.bump();
            self.cursor.bump();
            // The rest of `;;&`, which must not be taken for `&`.
            if self.cursor.rest().starts_with('&') {
                self.cursor.bump();
            }
        }
    }

    /// `(a | b)`, the first parenthesis being optional.
    fn patterns(&mut self) -> Parsed<()> {
        self.cursor.eat('(');
        loop {
            self.cursor.skip_blanks()?;
            if self.word()?.is_none() {
                return self.wrong("a branch without a pattern");
            }
            self.cursor.skip_blanks()?;
            match self.cursor.bump() {
                Some('|') => {}
                Some(')') => return Ok(()),
                _ => return self.wrong("a syntax error in a pattern"),
            }
        }
    }

    fn function_with_word(&mut self) -> Parsed<()> {
        self.expect_reserved("function")?;
        self.cursor.skip_blanks()?;
        let name = match self.word()? {
            Some(name) if name.is_plain() => name.text().to_owned(),
            _ => return self.wrong("a function without a name"),
        };
        self.cursor.skip_blanks()?;
        if self.cursor.peek() == Some('(') {
            self.empty_parentheses()?;
        }
        self.function(&name)
    }

    /// `()` after the name of a function.
    pub(super) fn empty_parentheses(&mut self) -> Parsed<()> {
        self.cursor.bump();
        self.cursor.skip_blanks()?;
        match self.cursor.eat(')') {
            true => Ok(()),
            false => self.wrong("a syntax error near `(`"),
        }
    }

    /// The body of a function.
    pub(super) fn function(&mut self, name: &str) -> Parsed<()> {
        let is_builtin = crate::builtins::is_builtin(name);
        if !is_name(name) || is_reserved(name) || is_builtin {
            return self.wrong(format!("a function with the name `{name}`"));
        }
        self.sink.functions.push(name.to_owned());
        self.skip_lines()?;
        let is_compound = self.cursor.peek() == Some('(') || self.reserved().is_some();
        if !is_compound || self.reserved_is(&["function"]) {
            return self.wrong("a function without a body");
        }
        self.sink.bodies += 1;
        let done = self.deeper(Self::compound);
        self.sink.bodies -= 1;
        done
    }
}
