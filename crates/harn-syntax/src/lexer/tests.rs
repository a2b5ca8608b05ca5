use proptest::prelude::*;

use super::*;
use crate::token::{SIGNS, WORDS};

/// The tokens of a text: kind and text.
fn tokens(text: &str) -> Vec<(TokenKind, &str)> {
    let lexed = lex(text);
    let tokens = lexed.tokens.iter();
    let mut tokens: Vec<_> = tokens
        .map(|token| (token.kind, token.span.of(text)))
        .collect();
    assert_eq!(tokens.pop(), Some((TokenKind::End, "")));
    tokens
}

fn errors(text: &str) -> Vec<String> {
    let lines = LineIndex::new(text);
    let errors = lex(text).errors.into_iter();
    errors.map(|error| error.message(text, &lines)).collect()
}

/// 1.3: every reserved word, and nothing longer.
#[test]
fn words_are_reserved_as_a_whole() {
    for word in WORDS {
        let kind = TokenKind::of_word(word).unwrap();
        assert_eq!(tokens(word), [(kind, *word)]);
        assert_eq!(kind.text(), Some(*word));
        let longer = format!("{word}_");
        assert_eq!(tokens(&longer), [(TokenKind::Identifier, longer.as_str())]);
    }
    assert_eq!(WORDS.len(), 46);
}

/// 1.3: usable as identifiers.
#[test]
fn words_with_a_meaning_in_one_place_are_identifiers() {
    for word in [
        "each",
        "settle",
        "with",
        "as",
        "stream",
        "max_concurrent",
        "gen",
        "timeout",
        "default",
        "summarize",
        "description",
        "where",
        "out",
        "not",
    ] {
        assert_eq!(tokens(word), [(TokenKind::Identifier, word)]);
    }
}

/// Some editors write one.
#[test]
fn a_byte_order_mark_is_skipped() {
    assert_eq!(tokens("\u{feff}a"), [(TokenKind::Identifier, "a")]);
    assert_eq!(
        tokens("\u{feff}#!/usr/bin/env harn\na"),
        [(TokenKind::Newline, "\n"), (TokenKind::Identifier, "a")]
    );
    assert_eq!(
        errors("a\u{feff}"),
        ["Unexpected character '\u{feff}' at 1:2"]
    );
}

#[test]
fn identifiers_are_unicode() {
    for name in ["a", "_", "_1", "größe", "名前2", "ñ_ñ"] {
        assert_eq!(tokens(name), [(TokenKind::Identifier, name)]);
    }
}

/// 1.3: admissible as a member, a key or a field.
#[test]
fn most_reserved_words_may_be_names() {
    for word in WORDS {
        let excepted = ["finally", "eval_pack", "require", "select", "skill"];
        let kind = TokenKind::of_word(word).unwrap();
        assert_eq!(kind.is_name(), !excepted.contains(word), "{word}");
    }
    assert!(TokenKind::Identifier.is_name());
    assert!(!TokenKind::String.is_name());
}

/// 1.6.
#[test]
fn operators_are_matched_longest_first() {
    for sign in SIGNS {
        let found = tokens(sign);
        assert_eq!(found.len(), 1, "{sign}");
        assert_eq!(found[0].0.text(), Some(*sign));
    }
    let texts = |text| -> Vec<&str> { tokens(text).iter().map(|(_, text)| *text).collect() };
    assert_eq!(texts("a==b"), ["a", "==", "b"]);
    assert_eq!(texts("..."), [".", ".", "."]);
    assert_eq!(texts("???."), ["??", "?."]);
    assert_eq!(texts("***="), ["**", "*="]);
    assert_eq!(texts("|>||"), ["|>", "||"]);
    assert_eq!(texts("->-="), ["->", "-="]);
    assert_eq!(texts("<<="), ["<", "<="]);
}

/// 1.4.
#[test]
fn numbers() {
    use TokenKind::{Dot, Duration, Float, Identifier, Int, Minus};
    for (text, expected) in [
        ("0", &[(Int, "0")][..]),
        ("007", &[(Int, "007")]),
        ("99999999999999999999", &[(Int, "99999999999999999999")]),
        ("1.5", &[(Float, "1.5")]),
        ("1.", &[(Int, "1"), (Dot, ".")]),
        (".5", &[(Dot, "."), (Int, "5")]),
        (
            "42.method",
            &[(Int, "42"), (Dot, "."), (Identifier, "method")],
        ),
        ("1.2.3", &[(Float, "1.2"), (Dot, "."), (Int, "3")]),
        ("1e5", &[(Int, "1"), (Identifier, "e5")]),
        ("0x1f", &[(Int, "0"), (Identifier, "x1f")]),
        ("1_000", &[(Int, "1"), (Identifier, "_000")]),
        ("-1", &[(Minus, "-"), (Int, "1")]),
        ("5ms", &[(Duration, "5ms")]),
        ("5msx", &[(Duration, "5ms"), (Identifier, "x")]),
        ("5s", &[(Duration, "5s")]),
        ("5m", &[(Duration, "5m")]),
        ("5h", &[(Duration, "5h")]),
        ("5d", &[(Duration, "5d")]),
        ("5w", &[(Duration, "5w")]),
        ("5sec", &[(Int, "5"), (Identifier, "sec")]),
        ("5s1", &[(Int, "5"), (Identifier, "s1")]),
        ("5s_", &[(Duration, "5s"), (Identifier, "_")]),
        ("5m.x", &[(Duration, "5m"), (Dot, "."), (Identifier, "x")]),
        ("1.5s", &[(Float, "1.5"), (Identifier, "s")]),
        ("5 s", &[(Int, "5"), (Identifier, "s")]),
    ] {
        assert_eq!(tokens(text), expected, "{text}");
    }
}

/// 1.5.
#[test]
fn strings() {
    use TokenKind::{Identifier, InterpolatedString, RawString, String};
    for (text, kind) in [
        (r#""""#, String),
        (r#""plain""#, String),
        (r#""esc \" \\ \$ \n \q""#, String),
        (r#""\${not}""#, String),
        (r#""$ $x {}""#, String),
        (r#""a ${b} c""#, InterpolatedString),
        (r#""${xs.join(", ")}""#, InterpolatedString),
        (r#""${ {a: {b: 1}} }""#, InterpolatedString),
        ("\"${\nx\n}\"", InterpolatedString),
        (r#"r"\n ${x} \""#, RawString),
        ("\"\"\"one\ntwo\"\"\"", String),
        ("\"\"\"a \" \"\" b\"\"\"", String),
        ("\"\"\"\\${x}\"\"\"", InterpolatedString),
        ("\"\"\"${\"\"\"}\"\"\"", InterpolatedString),
        ("\"\"\"${}\"\"\"", InterpolatedString),
    ] {
        assert_eq!(tokens(text), [(kind, text)], "{text}");
        assert_eq!(errors(text), [""; 0], "{text}");
    }
    assert_eq!(
        tokens(r#"bar"x""#),
        [(Identifier, "bar"), (String, "\"x\"")],
        "the r belongs to the name"
    );
}

/// 1.7.
#[test]
fn lexical_errors_say_where() {
    for (text, error) in [
        ("a & b", "Unexpected character '&' at 1:3"),
        ("x\n  ^", "Unexpected character '^' at 2:3"),
        ("~", "Unexpected character '~' at 1:1"),
        ("`", "Unexpected character '`' at 1:1"),
        (" #!x", "Unexpected character '#' at 1:2"),
        ("é \u{1F600}", "Unexpected character '\u{1F600}' at 1:3"),
        ("\\ \n", "Unexpected character '\\' at 1:1"),
        ("let s = \"abc", "Unterminated string at 1:9"),
        ("\"abc\ndef\"", "Unterminated string at 1:1"),
        ("\"abc\\", "Unterminated string at 1:1"),
        ("\"${abc", "Unterminated string at 1:1"),
        ("\"\"\"abc", "Unterminated string at 1:1"),
        ("r\"abc\n", "Unterminated string at 1:2"),
        ("a /* b /* c */", "Unterminated block comment at 1:3"),
        ("\"${}\"", "Unexpected character '}' at 1:5"),
        ("\"a${ }b\"", "Unexpected character '}' at 1:7"),
        ("\"a${ }b", "Unterminated string at 1:1"),
    ] {
        assert_eq!(
            errors(text).first().map(std::string::String::as_str),
            Some(error),
            "{text:?}"
        );
    }
}

/// 1.1.
#[test]
fn lines_and_white_space() {
    use TokenKind::{Identifier, Newline};
    let newline = (Newline, "\n");
    assert_eq!(
        tokens("a\r\n\tb"),
        [(Identifier, "a"), newline, (Identifier, "b")]
    );
    assert_eq!(tokens("a \\\nb"), [(Identifier, "a"), (Identifier, "b")]);
    assert_eq!(tokens("a \\\r\nb"), [(Identifier, "a"), (Identifier, "b")]);
    assert_eq!(
        tokens("#!/usr/bin/env harn\na"),
        [newline, (Identifier, "a")]
    );
    assert_eq!(tokens("#! only"), []);
}

/// 1.2.
#[test]
fn comments_are_kept_apart() {
    use CommentKind::{Block, DocBlock, DocLine, Line};
    let comments = |text: &'static str| -> Vec<(CommentKind, &str)> {
        let lexed = lex(text);
        let comments = lexed.comments.iter();
        comments
            .map(|comment| (comment.kind, comment.span.of(text)))
            .collect()
    };
    for (text, expected) in [
        ("// a\nb", &[(Line, "// a")][..]),
        (
            "/// doc\n//// not",
            &[(DocLine, "/// doc"), (Line, "//// not")],
        ),
        ("/* a /* b */ c */ x", &[(Block, "/* a /* b */ c */")]),
        ("/** doc */", &[(DocBlock, "/** doc */")]),
        ("/*** no */", &[(Block, "/*** no */")]),
        ("/**/", &[(Block, "/**/")]),
        ("//", &[(Line, "//")]),
    ] {
        assert_eq!(comments(text), expected, "{text}");
    }
    let kinds: Vec<_> = tokens("a // b\nc").iter().map(|(kind, _)| *kind).collect();
    use TokenKind::{Identifier, Newline};
    assert_eq!(
        kinds,
        [Identifier, Newline, Identifier],
        "the line break stays"
    );
}

proptest! {
    /// Tokens, comments and what is between them make up the text, in order.
    #[test]
    fn nothing_overlaps_whatever_the_text(text in "(?s)[a-c0-9ms \"\\\\/*{}$\n\r.é&r-]{0,60}") {
        let lexed = lex(&text);
        let mut end = 0;
        for token in &lexed.tokens {
            prop_assert!(token.span.start >= end, "{token:?}");
            prop_assert!(token.span.end >= token.span.start);
            end = token.span.end;
            let _it_is_on_character_boundaries = token.span.of(&text);
        }
        for comment in &lexed.comments {
            let _it_is_on_character_boundaries = comment.span.of(&text);
        }
        let lines = LineIndex::new(&text);
        for error in &lexed.errors {
            let _it_has_a_place = error.message(&text, &lines);
        }
        prop_assert_eq!(lexed.tokens.last().map(|token| token.kind), Some(TokenKind::End));
    }
}
