//! What is typed: a command, or a piece of a program, or not all of it yet.

use harn_syntax::{TokenKind, lex, parse};

/// Every command.
pub(super) const COMMANDS: [&str; 4] = [":doc", ":help", ":quit", ":type"];

/// What was typed.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Entry<'a> {
    Nothing,
    Help,
    Quit,
    Type(&'a str),
    Doc(&'a str),
    /// A command that there is not.
    Unknown(&'a str),
    Program(&'a str),
}

impl<'a> Entry<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        let trimmed = text.trim();
        if trimmed.is_empty() {
            return Self::Nothing;
        }
        if !trimmed.starts_with(':') {
            return Self::Program(text);
        }
        let (command, rest) = trimmed
            .split_once(char::is_whitespace)
            .unwrap_or((trimmed, ""));
        match (command, rest.trim()) {
            (":h" | ":help", _) => Self::Help,
            (":q" | ":quit" | ":exit", _) => Self::Quit,
            (":t" | ":type", expression) if !expression.is_empty() => Self::Type(expression),
            (":d" | ":doc", name) if !name.is_empty() => Self::Doc(name),
            (":t" | ":type" | ":d" | ":doc", _) => Self::Help,
            _ => Self::Unknown(command),
        }
    }
}

/// Whether an entry is all there: no bracket is open, nothing ends in the middle. An empty
/// line ends it in any case, so that nobody is caught.
pub(super) fn is_complete(text: &str) -> bool {
    if text.trim_start().starts_with(':') || text.ends_with("\n\n") || text == "\n" {
        return true;
    }
    open_brackets(text) <= 0 && !ends_too_early(text)
}

fn open_brackets(text: &str) -> i64 {
    let tokens = lex(text).tokens.into_iter();
    tokens
        .map(|token| match token.kind {
            TokenKind::LeftBrace | TokenKind::LeftParenthesis | TokenKind::LeftBracket => 1,
            TokenKind::RightBrace | TokenKind::RightParenthesis | TokenKind::RightBracket => -1,
            _ => 0,
        })
        .sum()
}

fn ends_too_early(text: &str) -> bool {
    // The line that was typed is part of the entry, whether another follows or not.
    let errors = parse(text.trim_end()).errors;
    errors.iter().any(|error| match error.diagnostic.code.0 {
        "unexpected-end" | "unterminated-comment" => true,
        // Only such a string can go on in the next line.
        "unterminated-string" => text.contains("\"\"\""),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_begin_with_a_colon() {
        for (text, expected) in [
            ("", Entry::Nothing),
            ("  \n", Entry::Nothing),
            (":q", Entry::Quit),
            (" :type  1 + 2 ", Entry::Type("1 + 2")),
            (":type", Entry::Help),
            (":doc list.map", Entry::Doc("list.map")),
            (":tpye 1", Entry::Unknown(":tpye")),
            ("1 + 2", Entry::Program("1 + 2")),
            ("{a: 1}", Entry::Program("{a: 1}")),
        ] {
            assert_eq!(Entry::of(text), expected, "{text}");
        }
    }

    #[test]
    fn an_entry_goes_on_while_something_is_open() {
        for open in [
            "fn f() {",
            "fn f() {\n  return 1",
            "f(1,",
            "[1, 2",
            "let a =",
            "1 +",
            "/* why",
            "\"\"\"\ntext",
            "if a { 1 } else",
        ] {
            assert!(!is_complete(open), "{open}");
        }
        for complete in [
            "",
            "1 + 2",
            "fn f() {\n  return 1\n}",
            "let = 1",
            "1)",
            "\"open",
            ":type [",
            "fn f() {\n\n",
        ] {
            assert!(is_complete(complete), "{complete}");
        }
    }
}
