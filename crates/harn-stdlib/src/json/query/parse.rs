//! The text of a query.
//!
//! ```text
//! pipe       all ('|' all)*
//! all        logic (',' logic)*
//! logic      comparison (('and' | 'or') comparison)*
//! comparison negation (('==' | '!=' | '<' | '>') negation)?
//! negation   'not' negation | primary
//! ```
//!
//! A word after a step of a path is one more field of it, also after a space.

use harn_machine::Value;
use harn_machine::value::Text;

use super::field::Field;
use super::{Join, Query, Relation, Step, Word};

/// How deeply a query may be nested: each level is a few calls, here and when it is run.
const DEPTH_MAX: u32 = 64;

/// Reads a query, or says what is wrong with it.
pub(super) fn parse(text: &str) -> Result<Query, String> {
    let mut reader = Reader {
        rest: text,
        depth: 0,
    };
    let query = reader.pipe()?;
    match reader.skip_space() {
        "" => Ok(query),
        rest => Err(format!("unexpected input near '{rest}'")),
    }
}

struct Reader<'a> {
    /// What is not read yet.
    rest: &'a str,
    depth: u32,
}

impl<'a> Reader<'a> {
    fn pipe(&mut self) -> Result<Query, String> {
        self.nested(|reader| reader.chain("|", Self::all, Query::Pipe))
    }

    fn all(&mut self) -> Result<Query, String> {
        self.chain(",", Self::logic, Query::All)
    }

    /// The value of a key: commas end it.
    fn field_value(&mut self) -> Result<Query, String> {
        self.nested(|reader| reader.chain("|", Self::logic, Query::Pipe))
    }

    /// Queries with a mark between them; a single one stays what it is.
    fn chain(
        &mut self,
        mark: &str,
        read: fn(&mut Self) -> Result<Query, String>,
        join: fn(Vec<Query>) -> Query,
    ) -> Result<Query, String> {
        let first = read(self)?;
        if !self.skip_space().starts_with(mark) {
            return Ok(first);
        }
        let mut queries = vec![first];
        while self.passes(mark) {
            queries.push(read(self)?);
        }
        Ok(join(queries))
    }

    fn logic(&mut self) -> Result<Query, String> {
        let first = self.comparison()?;
        let mut more = Vec::new();
        loop {
            let join = match word(self.skip_space()) {
                "and" => Join::And,
                "or" => Join::Or,
                _ if more.is_empty() => return Ok(first),
                _ => return Ok(Query::Logic(Box::new(first), more)),
            };
            self.word();
            more.push((join, self.comparison()?));
        }
    }

    fn comparison(&mut self) -> Result<Query, String> {
        let left = self.negation()?;
        for (mark, relation) in [
            ("==", Relation::Equal),
            ("!=", Relation::Unequal),
            ("<", Relation::Less),
            (">", Relation::Greater),
        ] {
            if self.passes(mark) {
                let right = self.negation()?;
                return Ok(Query::Comparison(Box::new(left), relation, Box::new(right)));
            }
        }
        Ok(left)
    }

    fn negation(&mut self) -> Result<Query, String> {
        if word(self.skip_space()) != "not" {
            return self.primary();
        }
        self.word();
        self.nested(|reader| Ok(Query::Not(Box::new(reader.negation()?))))
    }

    fn primary(&mut self) -> Result<Query, String> {
        let rest = self.skip_space();
        let base = match rest.bytes().next() {
            Some(b'.') if rest.starts_with("..") => {
                self.rest = &rest[2..];
                Query::Descendants
            }
            Some(b'.') => {
                self.rest = &rest[1..];
                return self.path(None);
            }
            Some(b'[') => return self.path(None),
            Some(b'(') => {
                self.rest = &rest[1..];
                let query = self.pipe()?;
                self.expect(')')?;
                query
            }
            Some(b'{') => {
                self.rest = &rest[1..];
                self.object()?
            }
            Some(b'"') => Query::Literal(self.string()?.into()),
            Some(b'-' | b'0'..=b'9') => Query::Literal(self.number()?),
            _ if !word(rest).is_empty() => self.named()?,
            _ => return Err(format!("expected expression near '{rest}'")),
        };
        match self.skip_space().bytes().next() {
            Some(b'.') => {
                self.dot()?;
                self.path(Some(Box::new(base)))
            }
            Some(b'[') => self.path(Some(Box::new(base))),
            _ => Ok(base),
        }
    }

    /// What a word stands for.
    fn named(&mut self) -> Result<Query, String> {
        let name = self.word();
        Ok(match name {
            "length" => Query::Word(Word::Length),
            "keys" => Query::Word(Word::Keys),
            "values" => Query::Word(Word::Values),
            "type" => Query::Word(Word::Type),
            "map" => Query::Map(self.argument()?),
            "select" => Query::Select(self.argument()?),
            "true" => Query::Literal(Value::Bool(true)),
            "false" => Query::Literal(Value::Bool(false)),
            "null" | "nil" => Query::Literal(Value::Nil),
            _ => return Err(format!("unknown identifier '{name}'")),
        })
    }

    fn argument(&mut self) -> Result<Box<Query>, String> {
        self.expect('(')?;
        let query = self.pipe()?;
        self.expect(')')?;
        Ok(Box::new(query))
    }

    fn object(&mut self) -> Result<Query, String> {
        let mut fields = Vec::new();
        if self.passes("}") {
            return Ok(Query::Object(fields));
        }
        loop {
            let rest = self.skip_space();
            let key = match word(rest) {
                "" if rest.starts_with('"') => self.string()?,
                "" => return Err(format!("expected object key near '{rest}'")),
                _ => Text::new(self.word()),
            };
            self.expect(':')?;
            fields.push((key, self.field_value()?));
            if !self.passes(",") {
                break;
            }
        }
        self.expect('}')?;
        Ok(Query::Object(fields))
    }

    /// The steps that follow a dot or another query.
    fn path(&mut self, base: Option<Box<Query>>) -> Result<Query, String> {
        let mut steps = Vec::new();
        loop {
            let rest = self.skip_space();
            match rest.bytes().next() {
                Some(b'[') => {
                    self.rest = &rest[1..];
                    steps.push(self.brackets()?);
                }
                Some(b'.') => self.dot()?,
                _ if !word(rest).is_empty() => {
                    steps.push(Step::Field(Field::new(Text::new(self.word()))))
                }
                _ => return Ok(Query::Path(base, steps)),
            }
        }
    }

    /// A dot in a path, which must be followed by a step.
    fn dot(&mut self) -> Result<(), String> {
        self.rest = &self.rest[1..];
        let rest = self.skip_space();
        match rest.starts_with('[') || !word(rest).is_empty() {
            true => Ok(()),
            false => Err(format!("expected field name near '{rest}'")),
        }
    }

    /// What is in brackets, after the opening one.
    fn brackets(&mut self) -> Result<Step, String> {
        let rest = self.skip_space();
        if self.passes("]") {
            return Ok(Step::Each);
        }
        let step = if rest.starts_with('"') {
            Step::Field(Field::new(self.string()?))
        } else {
            let start = self.bound()?;
            match (self.passes(":"), start) {
                (true, start) => Step::Slice(start, self.bound()?),
                (false, Some(at)) => Step::Item(at),
                (false, None) => {
                    return Err("expected array index or slice bound".to_owned());
                }
            }
        };
        self.expect(']')?;
        Ok(step)
    }

    /// An index, if one is written here.
    fn bound(&mut self) -> Result<Option<i64>, String> {
        let rest = self.skip_space();
        let sign = usize::from(rest.starts_with('-'));
        let digits = rest[sign..].bytes().take_while(u8::is_ascii_digit).count();
        if sign + digits == 0 {
            return Ok(None);
        }
        let (written, after) = rest.split_at(sign + digits);
        let index = written.parse();
        let index = index.map_err(|_| format!("invalid number near '{rest}'"))?;
        self.rest = after;
        Ok(Some(index))
    }

    fn number(&mut self) -> Result<Value, String> {
        let rest = self.rest;
        let is_part = |octet: &u8| matches!(octet, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E');
        let end = rest.bytes().take_while(is_part).count();
        let (written, after) = rest.split_at(end);
        match super::super::parse(written) {
            Ok(number) => {
                self.rest = after;
                Ok(number)
            }
            Err(_) => Err(format!("invalid number near '{rest}'")),
        }
    }

    /// A string; the next character is a quote.
    fn string(&mut self) -> Result<Text, String> {
        let rest = self.rest;
        if !rest.starts_with('"') {
            return Err(format!("expected string near '{rest}'"));
        }
        let mut octets = rest.bytes().enumerate().skip(1);
        let end = loop {
            match octets.next() {
                Some((at, b'"')) => break at + 1,
                Some((_, b'\\')) => drop(octets.next()),
                Some(_) => {}
                None => return Err("unterminated string literal".to_owned()),
            }
        };
        self.rest = &rest[end..];
        match super::super::parse(&rest[..end]) {
            Ok(value) => Ok(value.to_text()),
            Err(reason) => Err(format!("invalid string literal: {reason}")),
        }
    }

    /// Reads what may contain queries again.
    fn nested<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, String>,
    ) -> Result<T, String> {
        if self.depth == DEPTH_MAX {
            return Err("the query is nested too deeply".to_owned());
        }
        self.depth += 1;
        let read = read(self);
        self.depth -= 1;
        read
    }

    fn expect(&mut self, mark: char) -> Result<(), String> {
        let rest = self.skip_space();
        match rest.strip_prefix(mark) {
            Some(after) => {
                self.rest = after;
                Ok(())
            }
            None => Err(format!("expected '{mark}' near '{rest}'")),
        }
    }

    /// Whether a mark comes next, which then is passed.
    fn passes(&mut self, mark: &str) -> bool {
        match self.skip_space().strip_prefix(mark) {
            Some(after) => {
                self.rest = after;
                true
            }
            None => false,
        }
    }

    /// Passes a word.
    fn word(&mut self) -> &'a str {
        let word = word(self.rest);
        self.rest = &self.rest[word.len()..];
        word
    }

    /// Passes white space and gives the rest.
    fn skip_space(&mut self) -> &'a str {
        self.rest = self.rest.trim_start();
        self.rest
    }
}

/// The word that a text begins with.
fn word(text: &str) -> &str {
    let is_part = |octet: u8| octet == b'_' || octet.is_ascii_alphanumeric();
    match text.bytes().next() {
        Some(b'0'..=b'9') | None => "",
        Some(_) => {
            let length = text.bytes().take_while(|octet| is_part(*octet)).count();
            &text[..length]
        }
    }
}
