use std::time::Duration;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::{Collector, Reply, StopReason};

fn asking(said: &str) -> Request {
    Request {
        model: "asked".to_owned(),
        messages: vec![json!({"role": "user", "content": said})].into(),
        ..Request::default()
    }
}

#[track_caller]
fn scenario(text: &str) -> Scenario {
    Scenario::parse("s.scenario.toml", text).unwrap()
}

fn events(pieces: &[Piece]) -> Vec<StreamEvent> {
    pieces
        .iter()
        .filter_map(|piece| piece.event.clone().ok())
        .collect()
}

fn collected(pieces: &[Piece]) -> Reply {
    let mut collector = Collector::default();
    for event in events(pieces) {
        collector.push(event);
    }
    collector.finish()
}

#[track_caller]
fn said(scenario: &mut Scenario, question: &str) -> String {
    collected(&scenario.next(&asking(question)).unwrap()).text
}

#[test]
fn a_turn_is_told_in_pieces_and_comes_together_again() {
    let mut scenario = scenario(
        r#"
        model = "scripted"
        [[turn]]
        thinking = "They want to know what is in the file."
        text = "Let me look into that file."
        usage = { input = 120, output = 30, cache_read = 100, reasoning = 9 }
        call = [
          { tool = "read_file", arguments = { path = "notes.md", lines = [1, 2.5], all = true } },
          { tool = "now", id = "mine" },
        ]
        "#,
    );
    let pieces = scenario.next(&asking("what is in it?")).unwrap();
    let reply = collected(&pieces);
    assert_eq!(reply.model.as_deref(), Some("scripted"));
    assert_eq!(
        reply.thinking.as_deref(),
        Some("They want to know what is in the file.")
    );
    assert_eq!(reply.text, "Let me look into that file.");
    let calls: Vec<_> = reply
        .tool_calls
        .iter()
        .map(|call| (call.id.as_str(), call.name.as_str(), call.arguments.clone()))
        .collect();
    let arguments = json!({"path": "notes.md", "lines": [1, 2.5], "all": true});
    let expected = [
        ("call_1_1", "read_file", arguments),
        ("mine", "now", json!({})),
    ];
    assert_eq!(calls, expected);
    assert_eq!(reply.stop.unwrap().reason, StopReason::ToolUse);
    let usage = reply.usage;
    assert_eq!(
        [usage.input, usage.output, usage.cache_read, usage.reasoning],
        [120, 30, 100, 9]
    );
    let texts = events(&pieces)
        .iter()
        .filter(|event| matches!(event, StreamEvent::TextDelta { .. }))
        .count();
    assert!(texts > 3, "{texts}");
    assert!(matches!(pieces[0].event, Ok(StreamEvent::Start { .. })));
    assert_eq!(pieces[0].pause_ms, 300);
}

#[test]
fn the_same_seed_plays_the_same_way_and_another_does_not() {
    let play = |seed: u64| {
        let text =
            format!("seed = {seed}\n[[turn]]\ntext = \"a longer sentence with several words\"\n");
        scenario(&text).next(&asking("x")).unwrap()
    };
    assert_eq!(play(1), play(1));
    assert_ne!(play(1), play(2));
}

#[test]
fn turns_are_played_in_order_and_once() {
    let mut scenario = scenario("[[turn]]\ntext = \"one\"\n[[turn]]\ntext = \"two\"\n");
    assert_eq!(scenario.remaining(), 2);
    assert_eq!(said(&mut scenario, "x"), "one");
    assert_eq!(said(&mut scenario, "x"), "two");
    assert_eq!(scenario.remaining(), 0);
    let error = scenario.next(&asking("x")).unwrap_err();
    let expected = "the scenario s.scenario.toml is over: all of its turns (2) were played";
    assert_eq!(error.message, expected);
}

#[test]
fn a_turn_waits_for_what_it_wants_to_hear() {
    let mut scenario = scenario(
        "[[turn]]\nwhen = \"*milk*\"\ntext = \"milk\"\n\
         [[turn]]\nwhen = \"hi\"\ntext = \"hello\"\nrepeat = true\n",
    );
    assert_eq!(said(&mut scenario, "hi"), "hello");
    assert_eq!(said(&mut scenario, "hi"), "hello");
    let error = scenario.next(&asking("bread?")).unwrap_err();
    let expected = "no turn of the scenario s.scenario.toml fits \"bread?\": \
                    line 1 waits for \"*milk*\", line 4 waits for \"hi\"";
    assert_eq!(error.message, expected);
    let mut with_result = asking("go");
    with_result
        .messages
        .push(json!({"role": "tool", "content": "2 bottles of milk"}));
    let pieces = scenario.next(&with_result).unwrap();
    assert_eq!(collected(&pieces).text, "milk");
    assert_eq!(scenario.remaining(), 0);
}

#[test]
fn a_turn_can_fail() {
    let mut scenario = scenario(
        "[[turn]]\n\
         error = { category = \"rate_limit\", retry_after_ms = 1500, status = 429 }\n\
         [[turn]]\nerror = { category = \"auth\", message = \"no key\" }\n",
    );
    let error = scenario.next(&asking("x")).unwrap_err();
    assert_eq!(error.category, Category::RateLimit);
    assert_eq!(error.retry_after, Some(Duration::from_millis(1500)));
    assert_eq!(error.status, Some(429));
    assert_eq!(error.message, "the script says rate_limit");
    assert_eq!(scenario.next(&asking("x")).unwrap_err().message, "no key");
}

#[test]
fn a_connection_can_be_lost_within_an_answer() {
    let text = "piece_chars = 2\n[[turn]]\ntext = \"abcdef\"\ndisconnect_after = N\n\
                call = [{ tool = \"t\", arguments = '{\"a\":1}' }]\n";
    // Three pieces of text, the beginning of the call, four pieces of arguments.
    let rows = [
        (0, "", 0),
        (2, "abcd", 0),
        (5, "abcdef", 0),
        (99, "abcdef", 1),
    ];
    for (after, expected, calls) in rows {
        let mut scenario = scenario(&text.replace('N', &after.to_string()));
        let pieces = scenario.next(&asking("x")).unwrap();
        let reply = collected(&pieces);
        assert_eq!(reply.text, expected);
        assert_eq!(reply.tool_calls.len(), calls);
        assert_eq!(reply.stop, None);
        let last = pieces.last().unwrap().event.as_ref().unwrap_err();
        assert_eq!(last.category, Category::StreamTruncated);
        let message =
            "the stream ended before the answer did, as line 2 of s.scenario.toml wants it";
        assert_eq!(last.message, message);
    }
}

#[test]
fn arguments_given_as_text_are_sent_to_the_letter() {
    let mut scenario = scenario("[[turn]]\ncall = [{ tool = \"t\", arguments = '{\"a\": ' }]\n");
    let reply = collected(&scenario.next(&asking("x")).unwrap());
    assert_eq!(reply.tool_calls[0].raw_arguments, "{\"a\": ");
}

#[test]
fn refusals_summaries_and_ends_are_told() {
    let mut scenario = scenario(
        "[[turn]]\nrefusal = \"I will not.\"\n\
         [[turn]]\nthinking_summary = \"Hm.\"\ntext = \"cut\"\nstop = \"max_tokens\"\n\
         [[turn]]\ntext = \"\"\n",
    );
    let refused = collected(&scenario.next(&asking("x")).unwrap());
    assert_eq!(refused.refusal.as_deref(), Some("I will not."));
    assert_eq!(refused.stop.unwrap().reason, StopReason::Refusal);
    assert_eq!(refused.model.as_deref(), Some("asked"));
    let cut = collected(&scenario.next(&asking("x")).unwrap());
    assert_eq!(cut.thinking_summary.as_deref(), Some("Hm."));
    let stop = cut.stop.unwrap();
    assert_eq!(
        (stop.reason, stop.word.as_deref()),
        (StopReason::Length, Some("max_tokens"))
    );
    let nothing = collected(&scenario.next(&asking("x")).unwrap());
    assert_eq!(
        (nothing.text.as_str(), nothing.stop.unwrap().reason),
        ("", StopReason::End)
    );
}

#[test]
fn tokens_are_estimated_where_the_script_does_not_count_them() {
    let mut scenario = scenario("[[turn]]\ntext = \"123456789\"\n");
    let request = Request {
        system: Some("12345678".to_owned()),
        ..asking("12345")
    };
    // "12345\nuser" and the system prompt are 18 bytes.
    let usage = collected(&scenario.next(&request).unwrap()).usage;
    assert_eq!((usage.input, usage.output), (5, 3));
}

#[test]
fn pace_is_set_for_all_turns_or_for_one() {
    let mut scenario = scenario(
        "first_pause_ms = 7\npause_ms = 0\npiece_chars = 3\n\
         [[turn]]\ntext = \"abcdef\"\n\
         [[turn]]\ntext = \"abcdef\"\npiece_chars = 100\npause_ms = 10\nfirst_pause_ms = 1\n",
    );
    let pauses =
        |pieces: &[Piece]| -> Vec<u64> { pieces.iter().map(|piece| piece.pause_ms).collect() };
    let all = scenario.next(&asking("x")).unwrap();
    // The beginning, two pieces, the counts and the end.
    assert_eq!(pauses(&all), [7, 0, 0, 0, 0]);
    let one = pauses(&scenario.next(&asking("x")).unwrap());
    assert_eq!((one.len(), one[0]), (4, 1));
    assert!((5..=15).contains(&one[1]), "{one:?}");
}

#[test]
fn a_mistake_is_named_with_its_line() {
    let turn = "[[turn]]\ntext = \"ok\"\n";
    let rows = [
        (
            "".to_owned(),
            1,
            "there is no [[turn]], so the model has nothing to say",
        ),
        (
            "seed = -1\n[[turn]]\n".to_owned(),
            1,
            "invalid value: integer `-1`",
        ),
        (
            format!("{turn}\n[[turn]]\ntxet = \"x\"\n"),
            5,
            "unknown field `txet`",
        ),
        (format!("{turn}text = 1 2\n"), 3, ""),
        (
            format!("{turn}\n[[turn]]\ntext = 7\n"),
            5,
            "invalid type: integer `7`",
        ),
        (
            format!("{turn}\n[[turn]]\nwhen = \"x\"\n"),
            4,
            "this turn says nothing; give it a `text`, `thinking`, `call`, `refusal` or `error`",
        ),
        (
            format!("{turn}\n[[turn]]\ntext = \"x\"\nerror = {{ category = \"auth\" }}\n"),
            4,
            "a turn with an `error` says nothing; to fail within an answer use `disconnect_after`",
        ),
        (
            "[[turn]]\n\nerror = { category = \"odd\" }\n".to_owned(),
            3,
            "there is no error category `odd`",
        ),
        (
            "[[turn]]\ncall = [\n  { tool = \"t\", arguments = [1] },\n]\n".to_owned(),
            3,
            "`arguments` are a table or a text",
        ),
        (
            "[[turn]]\n[[turn.call]]\ntool = \"\"\n".to_owned(),
            3,
            "`tool` is the name of a tool",
        ),
        (
            format!("{turn}piece_chars = 0\n"),
            3,
            "a piece has at least one character",
        ),
    ];
    for (text, line, reason) in rows {
        let mistake = Scenario::parse("s.toml", &text).unwrap_err();
        assert_eq!(mistake.line, line, "{mistake}");
        let expected = format!("s.toml line {line}: {reason}");
        assert!(mistake.to_string().starts_with(&expected), "{mistake}");
    }
}

#[test]
fn the_examples_of_the_book_are_scenarios() {
    let page = include_str!("../../../../docs/src/models/scenarios.md");
    let blocks = page.split("```toml\n").skip(1);
    let blocks: Vec<&str> = blocks.filter_map(|rest| rest.split("```").next()).collect();
    assert_eq!(blocks.len(), 4);
    for block in blocks {
        let mut scenario = scenario(block);
        let turns = scenario.remaining();
        let _ = scenario.next(&asking("weather"));
        assert_eq!(scenario.remaining(), turns - 1);
    }
}

#[test]
fn nothing_said_is_no_value_to_trip_over() {
    let mut scenario = scenario("[[turn]]\ntext = \"x\"\n");
    let request = Request {
        messages: vec![Value::Null, json!("odd"), json!({"role": 7})].into(),
        ..Request::default()
    };
    assert!(scenario.next(&request).is_ok());
}

proptest! {
    #[test]
    fn no_text_breaks_the_reader(text in "(\\[\\[turn\\]\\]\n|text = \"a\"\n|call = |error = |\\{|\\}|.|\n){0,20}") {
        let parsed = Scenario::parse("s", &text);
        if let Err(mistake) = parsed {
            prop_assert!(mistake.line <= text.matches('\n').count() + 1);
        }
    }
}
