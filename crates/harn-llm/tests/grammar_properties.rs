//! What holds for every text, however odd.

use harn_llm::grammar::think::{Piece, ThinkSplitter};
use harn_llm::grammar::visible::{VisibleStream, sanitize};
use harn_llm::grammar::{
    Candidate, Candidates, Channel, Parsed, ToolNames, extract, fenced, parse, value,
};
use proptest::prelude::*;
use serde_json::Value;

fn tools() -> ToolNames {
    ["read", "write"].into_iter().collect()
}

/// Texts made of what matters to the grammar, so that many of them are nearly right.
fn nearly_an_answer() -> impl Strategy<Value = String> {
    let parts = [
        "<tool_call>",
        "</tool_call>",
        "<|tool_call|>",
        "</|tool_call|>",
        "<assistant_prose>",
        "</assistant_prose>",
        "<user_response>",
        "</user_response>",
        "<done>",
        "</done>",
        "##DONE##",
        "<think>",
        "</think>",
        "read(",
        "write(",
        "other(",
        "{",
        "}",
        "[",
        "]",
        "(",
        ")",
        ")",
        "path: ",
        "\"a\"",
        "\"",
        "'",
        "`",
        "\\",
        "\\u00e9",
        "\\ud83d",
        ",",
        ":",
        "=",
        "<<T\n",
        "\nT",
        "<<",
        "<",
        ">",
        "\n",
        "\n",
        " ",
        "1",
        "-",
        "true",
        "None",
        "“",
        "”",
        "é",
        "😀",
        "```\n",
        "```tool\n",
        "\n```\n",
        "//",
        "/*",
        "*/",
        "#",
        "tool_code: ",
        "Action: ",
        "read({ path: \"a\" })",
        "{\"name\": \"read\", \"args\": {}}",
        "<foo>",
        "</foo>",
        "[result of x]",
        "[end of x]",
        "DONE",
        "\r\n",
    ];
    prop::collection::vec(prop::sample::select(parts.to_vec()), 0..40)
        .prop_map(|parts| parts.concat())
}

fn calls(parsed: &Parsed) -> Vec<(String, Value)> {
    parsed
        .calls
        .iter()
        .map(|call| (call.name.clone(), call.arguments.clone()))
        .collect()
}

fn announced(pieces: &[&str], channel: Channel) -> Vec<Candidate> {
    let mut candidates = Candidates::new(tools(), channel, 1);
    let mut found: Vec<Candidate> = pieces
        .iter()
        .flat_map(|piece| candidates.push(piece))
        .collect();
    found.extend(candidates.finish());
    found
}

fn split(pieces: &[&str]) -> (String, String) {
    let mut splitter = ThinkSplitter::default();
    let mut found: Vec<Piece> = pieces
        .iter()
        .flat_map(|piece| splitter.push(piece))
        .collect();
    found.extend(splitter.finish());
    let (mut text, mut thought) = (String::new(), String::new());
    for piece in found {
        match piece {
            Piece::Text(piece) => text.push_str(&piece),
            Piece::Thought(piece) => thought.push_str(&piece),
        }
    }
    (text, thought)
}

fn check_all(text: &str, cuts: &[usize]) -> Result<(), TestCaseError> {
    let parsed = parse(text, &tools(), Some("##DONE##"));
    if let Some(canonical) = &parsed.canonical {
        let again = parse(canonical, &tools(), Some("##DONE##"));
        prop_assert_eq!(
            calls(&again),
            calls(&parsed),
            "{:?} and {:?}",
            text,
            canonical
        );
    }
    fenced::parse(text, &tools(), Some("##DONE##"));
    let _ = (value::read(text), extract::extract(text), sanitize(text));

    let mut pieces = vec![];
    let mut rest = text;
    for cut in cuts {
        let at = rest
            .char_indices()
            .nth(*cut)
            .map_or(rest.len(), |(at, _)| at);
        pieces.push(&rest[..at]);
        rest = &rest[at..];
    }
    pieces.push(rest);
    for channel in [Channel::Tagged, Channel::Fenced] {
        let whole = announced(&[text], channel);
        prop_assert_eq!(announced(&pieces, channel), whole.clone(), "{:?}", text);
        let opened = whole
            .iter()
            .filter(|it| matches!(it, Candidate::Opened { .. }))
            .count();
        prop_assert_eq!(opened * 2, whole.len());
    }
    prop_assert_eq!(split(&pieces), split(&[text]));
    let mut visible = VisibleStream::default();
    for piece in &pieces {
        visible.push(piece);
    }
    prop_assert_eq!(visible.finish().text, sanitize(text));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn nearly_right_answers_are_read_alike_in_any_pieces(
        text in nearly_an_answer(),
        cuts in prop::collection::vec(0_usize..9, 0..20),
    ) {
        check_all(&text, &cuts)?;
    }

    #[test]
    fn any_text_is_read_without_a_panic(text in "\\PC{0,80}", cuts in prop::collection::vec(0_usize..9, 0..9)) {
        check_all(&text, &cuts)?;
    }
}

/// Texts that would take hours if anything were read again and again.
#[test]
fn hostile_texts_are_read_in_linear_time() {
    let numbered = |part: fn(usize) -> String| (0..5_000).map(part).collect::<String>();
    let texts = [
        "<tool_call>\n".repeat(10_000),
        "<tool_call>read({})\n".repeat(10_000) + "</tool_call>",
        "<tool_call>read({a: \"</tool_call>".repeat(5_000),
        numbered(|n| format!("<tool_call>read({{a: <<T{n}\n</tool_call>\n")),
        numbered(|n| format!("<assistant_prose><<T{n}\n</assistant_prose>\n")),
        numbered(|n| format!("read({{a: <<T{n}\n")),
        "<assistant_prose>\n".repeat(10_000) + "</assistant_prose>",
        "<done>x\nread({a: `\n".repeat(10_000),
        "<read({\n".repeat(10_000) + "<done>",
        "<plan>\n".repeat(10_000) + "<done>",
        "```tool\n{\"name\": \"read\", \"args\": [\n".repeat(5_000),
        "<think>".repeat(25_000),
        "{\"mode\": \"ask_user\" ".repeat(10_000),
        "<".repeat(125_000),
    ];
    for text in &texts {
        parse(text, &tools(), Some("##DONE##"));
        fenced::parse(text, &tools(), Some("##DONE##"));
        let pieces: Vec<String> = text.chars().map(String::from).collect();
        let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
        for channel in [Channel::Tagged, Channel::Fenced] {
            announced(&pieces, channel);
        }
    }
    for text in &texts {
        sanitize(text);
    }
}
