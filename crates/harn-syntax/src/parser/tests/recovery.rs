use super::*;

#[track_caller]
fn recovers(source: &str, tree: &str, errors: &[&str]) {
    let parsed = parse(source);
    assert_eq!(parsed.module.to_string().trim_end(), tree, "{source}");
    assert_eq!(all_errors(source), errors, "{source}");
}

#[test]
fn reading_goes_on_after_an_error() {
    recovers(
        "let = 1; b",
        "b",
        &["Expected variable name or destructuring pattern, got = at 1:5"],
    );
    recovers(
        "let = 1\nfoo\nlet b = 2",
        "(let b 2)",
        &["Expected variable name or destructuring pattern, got = at 1:5"],
    );
    recovers(
        "fn f() {\n  let = 1\n  return 2\n}\nlet c = )\nfn g() { }",
        "(fn f () (do (return 2)))\n(fn g () (do))",
        &[
            "Expected variable name or destructuring pattern, got = at 2:7",
            "Expected expression, got ) at 5:9",
        ],
    );
}

#[test]
fn a_stray_brace_is_skipped() {
    recovers("}\na", "a", &[]);
    recovers("a }\n}\nb", "a\nb", &[]);
}

#[test]
fn a_block_that_never_ends_is_one_error() {
    recovers(
        "fn f() {\n  a\n",
        "",
        &["Unexpected end of file, expected }"],
    );
}

/// What reading a text costs.
fn cost(text: &str) -> usize {
    let mut parser = Parser::new(text, lex(text).tokens);
    parser.module();
    parser.looks.get()
}

/// Twice the text costs twice as much, whatever it is.
#[test]
fn reading_is_linear() {
    const PIECES: [&str; 40] = [
        "a ",
        "a < ",
        "a<b",
        "f(",
        ")",
        "{",
        "}",
        "{a: ",
        "{ -> ",
        "[",
        "\"${",
        "\"\"\"${",
        "(",
        "x ? ",
        "if a {",
        "else ",
        "@a(",
        "@a ",
        "1 + ",
        "2 ** ",
        ";",
        "\n",
        "a.b",
        "a?",
        "...",
        "fn f(",
        "fn f() {",
        "match x { ",
        "1 -> { ",
        "let x: a<",
        "let x: {a: ",
        "let x = ",
        "type T = fn(",
        "pub ",
        "import { a ",
        "select { ",
        "tool t() { ",
        "eval_pack p { ",
        "-",
        "Point {x: ",
    ];
    for piece in PIECES {
        let (once, twice) = (cost(&piece.repeat(5_000)), cost(&piece.repeat(10_000)));
        assert!(
            twice <= once * 2 + once / 10,
            "{piece:?}: {once}, then {twice}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Whatever the text, there is a tree, and every place lies in the text.
    #[test]
    fn nothing_panics(text in arbitrary_source()) {
        let parsed = parse(&text);
        let _ = parsed.module.to_string();
        for error in parsed.errors {
            let _ = error.diagnostic.span.of(&text);
        }
    }
}

/// Text made of what programs are made of.
fn arbitrary_source() -> impl Strategy<Value = String> {
    let words = prop::sample::select(vec![
        "let",
        "var",
        "fn",
        "if",
        "else",
        "match",
        "try",
        "catch",
        "finally",
        "retry",
        "parallel",
        "each",
        "with",
        "as",
        "stream",
        "select",
        "timeout",
        "default",
        "from",
        "for",
        "in",
        "not",
        "while",
        "return",
        "throw",
        "yield",
        "emit",
        "pub",
        "import",
        "pipeline",
        "extends",
        "tool",
        "description",
        "skill",
        "eval_pack",
        "summarize",
        "struct",
        "enum",
        "type",
        "interface",
        "impl",
        "override",
        "guard",
        "require",
        "deadline",
        "mutex",
        "defer",
        "spawn",
        "gen",
        "where",
        "out",
        "to",
        "exclusive",
        "nil",
        "true",
        "a",
        "b",
        "Point",
        "_",
        "max_concurrent",
        "1",
        "2.5",
        "3s",
        "\"s\"",
        "r\"w\"",
        "\"${a}\"",
        "\"\"\"",
        "\"${",
        "{",
        "}",
        "(",
        ")",
        "[",
        "]",
        "<",
        ">",
        ",",
        ":",
        ";",
        "@",
        ".",
        "...",
        "?.",
        "?",
        "->",
        "|>",
        "||",
        "&&",
        "==",
        "!=",
        "<=",
        ">=",
        "??",
        "+",
        "-",
        "*",
        "/",
        "%",
        "**",
        "!",
        "=",
        "+=",
        "|",
        "\n",
        "\n",
        "\\\n",
        "// c\n",
        "/* c */",
        "#",
        "é",
    ]);
    prop::collection::vec(words, 0..60).prop_map(|words| words.join(" "))
}
