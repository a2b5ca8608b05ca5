//! Patterns of one word: `*`, `?`, `[…]` and `{a,b}`, anywhere.

use std::fmt;

/// How many alternatives a pattern may have once its braces are multiplied out.
const ALTERNATIVES_MAX: usize = 256;

/// A pattern that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glob {
    /// The text matches if one of them does.
    alternatives: Vec<Vec<Token>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Literal(char),
    /// `*`
    Any,
    /// `?`
    One,
    Set {
        is_negated: bool,
        ranges: Vec<(char, char)>,
    },
}

/// Why a pattern cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable(pub(crate) String);

impl fmt::Display for Unreadable {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for Unreadable {}

/// A character of a pattern, and whether it was quoted and so stands for itself.
pub(crate) type Written = (char, bool);

impl Glob {
    /// Reads a pattern; a backslash makes the next character stand for itself.
    ///
    /// # Errors
    /// A bracket or brace without its end, too many alternatives.
    pub fn parse(pattern: &str) -> Result<Self, Unreadable> {
        let mut written = Vec::new();
        let mut characters = pattern.chars();
        while let Some(next) = characters.next() {
            match next {
                '\\' => match characters.next() {
                    Some(escaped) => written.push((escaped, true)),
                    None => return Err(Unreadable("a backslash at the end".into())),
                },
                next => written.push((next, false)),
            }
        }
        Self::of(&written)
    }

    pub(crate) fn of(written: &[Written]) -> Result<Self, Unreadable> {
        let spelled = multiplied_out(written)?;
        let alternatives: Result<_, _> = spelled.iter().map(|one| tokens(one)).collect();
        Ok(Self {
            alternatives: alternatives?,
        })
    }

    /// Whether the whole of a text matches.
    pub fn matches(&self, text: &str) -> bool {
        self.alternatives.iter().any(|tokens| matches(tokens, text))
    }

    /// The texts that match, if they can be listed.
    pub(crate) fn literals(&self) -> Option<Vec<String>> {
        let literal = |tokens: &Vec<Token>| {
            let characters = tokens.iter().map(|token| match token {
                Token::Literal(character) => Some(*character),
                Token::Any | Token::One | Token::Set { .. } => None,
            });
            characters.collect::<Option<String>>()
        };
        self.alternatives.iter().map(literal).collect()
    }

    /// Whether it matches every text.
    pub(crate) fn is_everything(&self) -> bool {
        let is_any = |token: &Token| *token == Token::Any;
        let mut alternatives = self.alternatives.iter();
        alternatives.any(|tokens| !tokens.is_empty() && tokens.iter().all(is_any))
    }
}

/// The spellings that braces stand for.
fn multiplied_out(written: &[Written]) -> Result<Vec<Vec<Written>>, Unreadable> {
    let mut all: Vec<Vec<Written>> = vec![Vec::new()];
    let mut at = 0;
    while at < written.len() {
        if written[at] != ('{', false) {
            all.iter_mut().for_each(|one| one.push(written[at]));
            at += 1;
            continue;
        }
        // `{}` stands for itself, as for a shell.
        if written.get(at + 1) == Some(&('}', false)) {
            let braces = [('{', true), ('}', true)];
            all.iter_mut().for_each(|one| one.extend(braces));
            at += 2;
            continue;
        }
        let (choices, after) = choices(written, at + 1)?;
        if all.len().saturating_mul(choices.len()) > ALTERNATIVES_MAX {
            return Err(Unreadable(format!(
                "more than {ALTERNATIVES_MAX} alternatives"
            )));
        }
        let joined = all.iter().flat_map(|one| {
            choices.iter().map(move |choice| {
                let mut joined = one.clone();
                joined.extend_from_slice(choice);
                joined
            })
        });
        all = joined.collect();
        at = after;
    }
    Ok(all)
}

/// The choices between braces, and where the closing one has ended.
fn choices(written: &[Written], from: usize) -> Result<(Vec<Vec<Written>>, usize), Unreadable> {
    let mut choices = vec![Vec::new()];
    for (at, character) in written.iter().enumerate().skip(from) {
        match character {
            ('{', false) => return Err(Unreadable("braces inside braces".into())),
            ('}', false) => return Ok((choices, at + 1)),
            (',', false) => choices.push(Vec::new()),
            other => {
                if let Some(last) = choices.last_mut() {
                    last.push(*other);
                }
            }
        }
    }
    Err(Unreadable("`{` without `}`".into()))
}

fn tokens(written: &[Written]) -> Result<Vec<Token>, Unreadable> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some((character, is_quoted)) = written.get(at) {
        at += 1;
        match (character, is_quoted) {
            // Two stars are one: a star matches everything here.
            ('*', false) => {
                if tokens.last() != Some(&Token::Any) {
                    tokens.push(Token::Any);
                }
            }
            ('?', false) => tokens.push(Token::One),
            // The name of the program `[`.
            ('[', false) if written.len() == 1 => tokens.push(Token::Literal('[')),
            ('[', false) => {
                let (set, after) = set(written, at)?;
                tokens.push(set);
                at = after;
            }
            (character, _) => tokens.push(Token::Literal(*character)),
        }
    }
    Ok(tokens)
}

fn set(written: &[Written], from: usize) -> Result<(Token, usize), Unreadable> {
    let mut at = from;
    let is_negated = matches!(written.get(at), Some(('!' | '^', false)));
    at += usize::from(is_negated);
    let first = at;
    let mut ranges = Vec::new();
    loop {
        let Some((low, is_quoted)) = written.get(at).copied() else {
            return Err(Unreadable("`[` without `]`".into()));
        };
        if low == ']' && !is_quoted && at > first {
            return Ok((Token::Set { is_negated, ranges }, at + 1));
        }
        let is_range = written.get(at + 1) == Some(&('-', false));
        match written.get(at + 2).filter(|high| is_range && high.0 != ']') {
            Some((high, _)) if *high < low => {
                return Err(Unreadable(format!("the range {low}-{high} is empty")));
            }
            Some((high, _)) => {
                ranges.push((low, *high));
                at += 3;
            }
            None => {
                ranges.push((low, low));
                at += 1;
            }
        }
    }
}

/// Goes back to the last star only, so it takes at most the product of both lengths.
fn matches(tokens: &[Token], text: &str) -> bool {
    let (mut token, mut at) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    loop {
        let next = text[at..].chars().next();
        let taken = match (tokens.get(token), next) {
            (Some(Token::Any), _) => {
                star = Some((token + 1, at));
                token += 1;
                continue;
            }
            (None, None) => return true,
            (Some(wanted), Some(next)) if wanted.takes(next) => Some(next),
            _ => None,
        };
        if let Some(next) = taken {
            token += 1;
            at += next.len_utf8();
            continue;
        }
        let Some((after, from)) = star else {
            return false;
        };
        let Some(skipped) = text[from..].chars().next() else {
            return false;
        };
        star = Some((after, from + skipped.len_utf8()));
        token = after;
        at = from + skipped.len_utf8();
    }
}

impl Token {
    fn takes(&self, character: char) -> bool {
        match self {
            Self::Literal(wanted) => *wanted == character,
            Self::Any | Self::One => true,
            Self::Set { is_negated, ranges } => {
                let mut ranges = ranges.iter();
                let is_in = ranges.any(|(low, high)| (*low..=*high).contains(&character));
                is_in != *is_negated
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_anywhere() {
        for (pattern, text, expected) in [
            ("*", "", true),
            ("*", "anything", true),
            ("a*b*c", "axxbyyc", true),
            ("a*b*c", "axxbyy", false),
            ("*b*", "abc", true),
            ("?", "", false),
            ("?", "ü", true),
            ("[a-c]x", "bx", true),
            ("[!a-c]x", "bx", false),
            ("[]]", "]", true),
            ("[a-]", "-", true),
            ("{a,b}c", "bc", true),
            ("{a,b}c", "cc", false),
            ("x{,y}", "x", true),
            ("{}", "{}", true),
            ("\\*", "*", true),
            ("\\*", "x", false),
            ("[", "[", true),
            ("a**b", "ab", true),
        ] {
            let glob = Glob::parse(pattern).unwrap();
            assert_eq!(glob.matches(text), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn what_cannot_be_read_says_why() {
        for (pattern, expected) in [
            ("a\\", "a backslash at the end"),
            ("[a", "`[` without `]`"),
            ("{a", "`{` without `}`"),
            ("{a{b}}", "braces inside braces"),
            ("[c-a]", "the range c-a is empty"),
            (
                "{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}",
                "more than 256 alternatives",
            ),
        ] {
            let problem = Glob::parse(pattern).unwrap_err();
            assert_eq!(problem.to_string(), expected, "{pattern}");
        }
    }
}
