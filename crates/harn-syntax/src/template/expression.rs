//! What has a value.
//!
//! The reader goes from left to right over the content of one directive and stops at the
//! first thing that is wrong. A character that means nothing is reported as such wherever
//! it stands, rather than what was expected in its place.

use smol_str::SmolStr;

use super::NESTING_MAX;
use super::error::TemplateErrorKind as Kind;
use super::filter::Filter;
use super::tree::{Comparison, Expression, FilterCall, Filtered, Path, Step};

/// Words that are no names.
const RESERVED: [&str; 6] = ["nil", "true", "false", "and", "or", "not"];

/// The longer ones first.
const COMPARISONS: [(&str, Comparison); 6] = [
    ("==", Comparison::Equal),
    ("!=", Comparison::NotEqual),
    ("<=", Comparison::LessOrEqual),
    (">=", Comparison::GreaterOrEqual),
    ("<", Comparison::Less),
    (">", Comparison::Greater),
];

/// Reads a text from left to right.
pub(super) struct Reader<'a> {
    /// What was not read yet.
    rest: &'a str,
    /// How many parentheses are open.
    depth: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self {
            rest: text,
            depth: 0,
        }
    }

    /// What was not read yet.
    pub(super) fn rest(&self) -> &'a str {
        self.rest
    }

    pub(super) fn is_at_end(&mut self) -> bool {
        self.peek().is_none()
    }

    /// Makes sure that everything was read.
    pub(super) fn finish(&mut self) -> Result<(), Kind> {
        match self.peek() {
            None => Ok(()),
            Some(next) => Err(self.expected(Kind::UnexpectedCharacter(next))),
        }
    }

    /// Skips a sign if it is next.
    pub(super) fn eat(&mut self, sign: &str) -> bool {
        self.skip_space();
        match self.rest.strip_prefix(sign) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// Skips a word if it is next.
    pub(super) fn eat_word(&mut self, word: &str) -> bool {
        self.peek_word() == word && self.eat(word)
    }

    /// `or { "|" NAME [ ":" or { "," or } ] }`
    pub(super) fn filtered(&mut self) -> Result<Filtered, Kind> {
        let value = self.or()?;
        let mut filters = Vec::new();
        while self.eat("|") {
            filters.push(self.filter()?);
        }
        Ok(Filtered { value, filters })
    }

    fn filter(&mut self) -> Result<FilterCall, Kind> {
        let name = self.name();
        let name = name.ok_or_else(|| self.expected(Kind::ExpectedFilterName))?;
        let filter = Filter::of_name(name).ok_or_else(|| Kind::UnknownFilter(name.into()))?;
        let mut arguments = Vec::new();
        if self.eat(":") {
            arguments.push(self.or()?);
            while !self.is_before_key() && self.eat(",") {
                arguments.push(self.or()?);
            }
        }
        match filter.argument_count().contains(&arguments.len()) {
            true => Ok(FilterCall { filter, arguments }),
            false => Err(Kind::WrongArgumentCount(filter)),
        }
    }

    /// Whether a comma and `key:` come next. Such a comma separates the bindings of an
    /// include; no argument looks like that.
    fn is_before_key(&mut self) -> bool {
        self.skip_space();
        let mut ahead = Reader::new(self.rest);
        ahead.eat(",") && ahead.name().is_some() && ahead.eat(":")
    }

    fn or(&mut self) -> Result<Expression, Kind> {
        let first = self.and()?;
        let mut operands = vec![first];
        while self.eat_word("or") || self.eat("||") {
            operands.push(self.and()?);
        }
        Ok(single(operands).unwrap_or_else(Expression::Or))
    }

    fn and(&mut self) -> Result<Expression, Kind> {
        let first = self.not()?;
        let mut operands = vec![first];
        while self.eat_word("and") || self.eat("&&") {
            operands.push(self.not()?);
        }
        Ok(single(operands).unwrap_or_else(Expression::And))
    }

    fn not(&mut self) -> Result<Expression, Kind> {
        let mut negations = 0usize;
        while self.eat_word("not") || self.eat_exclamation() {
            negations += 1;
        }
        // Two of them make a bool, and two more change nothing. Leaving those out keeps the
        // tree flat.
        let kept = match negations {
            0..=2 => negations,
            _ => 2 - negations % 2,
        };
        let operand = self.comparison()?;
        Ok((0..kept).fold(operand, |operand, _| Expression::Not(Box::new(operand))))
    }

    fn eat_exclamation(&mut self) -> bool {
        self.skip_space();
        !self.rest.starts_with("!=") && self.eat("!")
    }

    fn comparison(&mut self) -> Result<Expression, Kind> {
        let left = self.primary()?;
        let found = COMPARISONS.iter().find(|(sign, _)| self.eat(sign));
        let Some((_, comparison)) = found else {
            return Ok(left);
        };
        let right = self.primary()?;
        Ok(Expression::Compare(*comparison, Box::new((left, right))))
    }

    fn primary(&mut self) -> Result<Expression, Kind> {
        match self.peek() {
            Some('(') => self.parenthesis(),
            Some('"' | '\'') => self.string().map(Expression::String),
            Some('-' | '0'..='9') => self.number(),
            Some(next) if is_name_start(next) => self.word(),
            _ => Err(self.expected(Kind::ExpectedExpression)),
        }
    }

    fn parenthesis(&mut self) -> Result<Expression, Kind> {
        if self.depth == NESTING_MAX {
            return Err(Kind::ExpressionTooDeep);
        }
        self.eat("(");
        self.depth += 1;
        let inside = self.or()?;
        self.depth -= 1;
        match self.eat(")") {
            true => Ok(inside),
            false => Err(self.expected(Kind::ExpectedParenthesis)),
        }
    }

    fn word(&mut self) -> Result<Expression, Kind> {
        let word = self.peek_word();
        let value = match word {
            "nil" => Expression::Nil,
            "true" => Expression::Bool(true),
            "false" => Expression::Bool(false),
            _ if RESERVED.contains(&word) => return Err(Kind::ExpectedExpression),
            _ => return self.path().map(Expression::Path),
        };
        self.eat(word);
        Ok(value)
    }

    fn path(&mut self) -> Result<Path, Kind> {
        let root = self.name().unwrap_or_default().into();
        let mut steps = Vec::new();
        loop {
            if self.eat(".") {
                let name = self.name();
                let name = name.ok_or_else(|| self.expected(Kind::ExpectedMember))?;
                steps.push(Step::Key(name.into()));
            } else if self.eat("[") {
                steps.push(self.index()?);
            } else {
                return Ok(Path { root, steps });
            }
        }
    }

    /// What stands between brackets, and the closing one.
    fn index(&mut self) -> Result<Step, Kind> {
        let step = match self.peek() {
            Some('"' | '\'') => Step::Key(self.string()?),
            Some('-' | '0'..='9') => match self.number()? {
                Expression::Int(index) => Step::Index(index),
                _ => return Err(Kind::ExpectedIndex),
            },
            _ => return Err(self.expected(Kind::ExpectedIndex)),
        };
        match self.eat("]") {
            true => Ok(step),
            false => Err(self.expected(Kind::ExpectedBracket)),
        }
    }

    /// Digits, perhaps with a sign before and a fraction after them.
    fn number(&mut self) -> Result<Expression, Kind> {
        let text = self.rest;
        let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
        let sign = usize::from(text.starts_with('-'));
        let whole = sign + digits(&text[sign..]);
        if whole == sign {
            return Err(Kind::UnexpectedCharacter('-'));
        }
        let fraction = text[whole..].strip_prefix('.').map_or(0, digits);
        let length = match fraction {
            0 => whole,
            _ => whole + 1 + fraction,
        };
        let (number, rest) = text.split_at(length);
        self.rest = rest;
        let int = match fraction {
            0 => number.parse().ok().map(Expression::Int),
            _ => None,
        };
        let float = || number.parse().ok().map(Expression::Float);
        int.or_else(float).ok_or(Kind::ExpectedExpression)
    }

    /// A text in quotes: what it stands for.
    fn string(&mut self) -> Result<SmolStr, Kind> {
        let rest = skip_string(self.rest).ok_or(Kind::UnterminatedString)?;
        let inside = &self.rest[1..self.rest.len() - rest.len() - 1];
        self.rest = rest;
        if !inside.contains('\\') {
            return Ok(inside.into());
        }
        let mut text = String::with_capacity(inside.len());
        let mut characters = inside.chars();
        while let Some(character) = characters.next() {
            text.push(match character {
                '\\' => characters.next().map_or('\\', escaped),
                _ => character,
            });
        }
        Ok(text.into())
    }

    /// The name that is next, which may be a reserved word.
    fn name(&mut self) -> Option<&'a str> {
        let word = self.peek_word();
        if word.is_empty() {
            return None;
        }
        self.rest = &self.rest[word.len()..];
        Some(word)
    }

    /// The word that is next; empty if something else is.
    fn peek_word(&mut self) -> &'a str {
        match self.peek() {
            Some(next) if is_name_start(next) => {
                let end = self.rest.find(|character| !is_name_part(character));
                &self.rest[..end.unwrap_or(self.rest.len())]
            }
            _ => "",
        }
    }

    fn peek(&mut self) -> Option<char> {
        self.skip_space();
        self.rest.chars().next()
    }

    fn skip_space(&mut self) {
        self.rest = self.rest.trim_start();
    }

    /// The error for something that is missing here, unless a character that means nothing
    /// stands in its place.
    fn expected(&mut self, kind: Kind) -> Kind {
        let Some(next) = self.peek() else {
            return kind;
        };
        let after = self.rest[next.len_utf8()..].chars().next();
        match next {
            '=' if after != Some('=') => Kind::SingleEquals,
            '&' if after != Some('&') => Kind::SingleAmpersand,
            '-' if after.is_some_and(|after| after.is_ascii_digit()) => kind,
            '=' | '&' | '!' | '<' | '>' | '|' => kind,
            '(' | ')' | '[' | ']' | '.' | ',' | ':' | '"' | '\'' | '0'..='9' => kind,
            _ if is_name_start(next) => kind,
            _ => Kind::UnexpectedCharacter(next),
        }
    }
}

/// Whether a text is a name and no reserved word.
pub(super) fn is_name(text: &str) -> bool {
    text.starts_with(is_name_start) && text.chars().all(is_name_part) && !RESERVED.contains(&text)
}

fn is_name_start(character: char) -> bool {
    character.is_alphabetic() || character == '_'
}

pub(super) fn is_name_part(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// What follows the text in quotes that begins here; `None` if it does not end.
pub(super) fn skip_string(text: &str) -> Option<&str> {
    let quote = text.chars().next()?;
    let mut characters = text[quote.len_utf8()..].chars();
    loop {
        match characters.next()? {
            '\\' => {
                characters.next()?;
            }
            character if character == quote => return Some(characters.as_str()),
            _ => {}
        }
    }
}

/// What a character after a backslash stands for.
fn escaped(character: char) -> char {
    match character {
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        _ => character,
    }
}

/// The only operand, or all of them.
fn single(mut operands: Vec<Expression>) -> Result<Expression, Vec<Expression>> {
    match operands.len() {
        1 => operands.pop().ok_or(operands),
        _ => Err(operands),
    }
}
