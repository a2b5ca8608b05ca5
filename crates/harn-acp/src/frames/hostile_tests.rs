//! Frames that nobody in good faith would send, and what each of them gets.

use std::sync::Arc;

use agent_client_protocol::RawJsonRpcMessage;
use serde_json::{Value, json};

use super::{Gate, Limits, Verdict};

/// What becomes of a frame, in a word: `request`, `notification` or `response` if it passes,
/// `drop`, or the code and the id of the answer.
fn verdict(gate: &Gate, frame: &[u8]) -> String {
    match gate.accept(frame) {
        Verdict::Pass(RawJsonRpcMessage::Request(request)) => {
            format!("request {}", json!(request.id))
        }
        Verdict::Pass(RawJsonRpcMessage::Notification(_)) => "notification".to_owned(),
        Verdict::Pass(RawJsonRpcMessage::Response(_)) => "response".to_owned(),
        Verdict::Dropped => "drop".to_owned(),
        Verdict::Answer(answer) => {
            let answer: Value = serde_json::from_str(&answer).unwrap();
            assert_eq!(answer["jsonrpc"], "2.0");
            assert!(answer["error"]["message"].is_string());
            assert!(answer.get("result").is_none());
            format!("{} {}", answer["error"]["code"], answer["id"])
        }
    }
}

fn gate() -> Gate {
    Gate::new(Limits::default(), Arc::default())
}

#[track_caller]
fn check(frame: impl AsRef<[u8]>, expected: &str) {
    let frame = frame.as_ref();
    let shown = String::from_utf8_lossy(&frame[..frame.len().min(80)]);
    assert_eq!(verdict(&gate(), frame), expected, "{shown}");
}

/// Not JSON, or not UTF-8.
const UNPARSABLE: &[&[u8]] = &[
    b"",
    b" ",
    b"\t\r",
    b"{",
    b"}",
    b"[",
    b"]",
    b"{]",
    b"\"",
    b"nul",
    b"TRUE",
    b"NaN",
    b"Infinity",
    b"-",
    b"+1",
    b"01",
    b"1.",
    b".5",
    b"0x10",
    b"1e999",
    b"'a'",
    b"{'a':1}",
    b"{a:1}",
    b"{\"a\":1,}",
    b"[1,]",
    b"{\"a\" 1}",
    b"{\"a\":1 \"b\":2}",
    b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\"",
    b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\"}}",
    b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\"} {\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"m\"}",
    b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\"} // a comment",
    b"/* a comment */ {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\"}",
    b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\\ud800\"}",
    b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\\x41\"}",
    b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\tb\"}",
    b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\0b\"}",
    b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}",
    b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xc0\xaf\"}",
    b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xed\xa0\x80\"}",
    b"\xff\xfe{\0}\0",
    b"\xef\xbb\xbf{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\"}",
    b"Content-Length: 38",
    b"GET / HTTP/1.1",
    b"\x16\x03\x01\x02\0",
    b"\0",
];

#[test]
fn what_is_no_json_is_a_parse_error_without_an_id() {
    for frame in UNPARSABLE {
        check(frame, "-32700 null");
    }
}

/// JSON and no message, with the answer it gets.
const INVALID: &[(&str, &str)] = &[
    ("1", "-32600 null"),
    ("-0", "-32600 null"),
    ("1.5", "-32600 null"),
    ("null", "-32600 null"),
    ("true", "-32600 null"),
    (r#""text""#, "-32600 null"),
    ("{}", "-32600 null"),
    ("[]", "-32600 null"),
    ("[1,2,3]", "-32600 null"),
    (r#"[{"jsonrpc":"2.0","id":1,"method":"m"}]"#, "-32600 null"),
    (r#"[{"jsonrpc":"2.0","method":"m"}]"#, "-32600 null"),
    (
        r#"[[{"jsonrpc":"2.0","id":1,"method":"m"}]]"#,
        "-32600 null",
    ),
    (r#"{"jsonrpc":"2.0"}"#, "-32600 null"),
    (r#"{"jsonrpc":"2.0","id":1}"#, "-32600 1"),
    (r#"{"jsonrpc":"2.0","id":"a"}"#, r#"-32600 "a""#),
    (r#"{"jsonrpc":"2.0","id":null}"#, "-32600 null"),
    (r#"{"jsonrpc":"2.0","id":{},"params":{}}"#, "-32600 null"),
    (r#"{"id":1,"method":"m"}"#, "-32600 1"),
    (r#"{"jsonrpc":"1.0","id":1,"method":"m"}"#, "-32600 1"),
    (r#"{"jsonrpc":2.0,"id":1,"method":"m"}"#, "-32600 1"),
    (r#"{"jsonrpc":2,"id":1,"method":"m"}"#, "-32600 1"),
    (r#"{"jsonrpc":"2","id":1,"method":"m"}"#, "-32600 1"),
    (r#"{"jsonrpc":null,"id":1,"method":"m"}"#, "-32600 1"),
    (r#"{"jsonrpc":["2.0"],"id":1,"method":"m"}"#, "-32600 1"),
    (r#"{"JSONRPC":"2.0","id":1,"method":"m"}"#, "-32600 1"),
    (r#"{"jsonrpc":"2.0","id":null,"method":"m"}"#, "-32600 null"),
    (r#"{"jsonrpc":"2.0","id":1.0,"method":"m"}"#, "-32600 null"),
    (r#"{"jsonrpc":"2.0","id":1.5,"method":"m"}"#, "-32600 null"),
    (r#"{"jsonrpc":"2.0","id":1e3,"method":"m"}"#, "-32600 null"),
    (r#"{"jsonrpc":"2.0","id":-0.0,"method":"m"}"#, "-32600 null"),
    (r#"{"jsonrpc":"2.0","id":true,"method":"m"}"#, "-32600 null"),
    (r#"{"jsonrpc":"2.0","id":[1],"method":"m"}"#, "-32600 null"),
    (
        r#"{"jsonrpc":"2.0","id":{"a":1},"method":"m"}"#,
        "-32600 null",
    ),
    (
        r#"{"jsonrpc":"2.0","id":9223372036854775808,"method":"m"}"#,
        "-32600 null",
    ),
    (
        r#"{"jsonrpc":"2.0","id":-9223372036854775809,"method":"m"}"#,
        "-32600 null",
    ),
    (r#"{"jsonrpc":"2.0","id":1,"method":1}"#, "-32600 1"),
    (r#"{"jsonrpc":"2.0","id":1,"method":null}"#, "-32600 1"),
    (r#"{"jsonrpc":"2.0","id":1,"method":["m"]}"#, "-32600 1"),
    (r#"{"jsonrpc":"2.0","id":1,"method":{}}"#, "-32600 1"),
    (
        r#"{"jsonrpc":"2.0","id":1,"method":"m","params":1}"#,
        "-32600 1",
    ),
    (
        r#"{"jsonrpc":"2.0","id":1,"method":"m","params":"p"}"#,
        "-32600 1",
    ),
    (
        r#"{"jsonrpc":"2.0","id":1,"method":"m","params":false}"#,
        "-32600 1",
    ),
    (
        r#"{"jsonrpc":"2.0","id":1,"method":"m","result":1}"#,
        "-32600 1",
    ),
    (
        r#"{"jsonrpc":"2.0","id":"x","method":"m","error":{}}"#,
        r#"-32600 "x""#,
    ),
    (
        r#"{"jsonrpc":"2.0","id":1,"method":"m","id":null}"#,
        "-32600 null",
    ),
];

#[test]
fn what_is_no_request_is_an_invalid_one_with_the_id_if_there_is_any() {
    for (frame, answer) in INVALID {
        check(frame, answer);
    }
}

/// Never answered, whatever they say.
const DROPPED: &[&str] = &[
    r#"{"method":"m"}"#,
    r#"{"jsonrpc":"1.0","method":"m"}"#,
    r#"{"jsonrpc":"2.0","method":1}"#,
    r#"{"jsonrpc":"2.0","method":null}"#,
    r#"{"jsonrpc":"2.0","method":"m","params":1}"#,
    r#"{"jsonrpc":"2.0","method":"m","params":"p"}"#,
    r#"{"jsonrpc":"2.0","method":"m","result":1}"#,
    r#"{"jsonrpc":"2.0","method":"m","error":{"code":1,"message":""}}"#,
    r#"{"jsonrpc":"2.0","id":1,"result":1}"#,
    r#"{"jsonrpc":"2.0","id":"1","result":1}"#,
    r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m"}}"#,
    r#"{"jsonrpc":"2.0","id":null,"result":1}"#,
    r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"m"}}"#,
    r#"{"jsonrpc":"2.0","id":1.5,"result":1}"#,
    r#"{"jsonrpc":"2.0","result":1}"#,
    r#"{"error":1}"#,
    r#"{"id":[],"result":{}}"#,
];

#[test]
fn broken_notifications_and_answers_nobody_asked_for_are_dropped() {
    for frame in DROPPED {
        check(frame, "drop");
    }
}

/// Odd, and right.
const FINE: &[(&str, &str)] = &[
    (r#"{"jsonrpc":"2.0","id":0,"method":"m"}"#, "request 0"),
    (r#"{"jsonrpc":"2.0","id":-1,"method":"m"}"#, "request -1"),
    (r#"{"jsonrpc":"2.0","id":"","method":""}"#, r#"request """#),
    (
        r#"{"jsonrpc":"2.0","id":"1","method":"m"}"#,
        r#"request "1""#,
    ),
    (
        r#"{"jsonrpc":"2.0","id":9223372036854775807,"method":"m"}"#,
        "request 9223372036854775807",
    ),
    (
        r#"{"jsonrpc":"2.0","id":1,"method":"m","params":null}"#,
        "request 1",
    ),
    (
        r#"{"jsonrpc":"2.0","id":1,"method":"m","params":[]}"#,
        "request 1",
    ),
    (
        r#"{"jsonrpc":"2.0","id":1,"method":"m","unknown":{"a":[1]}}"#,
        "request 1",
    ),
    (
        r#"{"id":2,"id":1,"jsonrpc":"2.0","method":"m"}"#,
        "request 1",
    ),
    (
        " \t{ \"jsonrpc\" : \"2.0\" , \"id\" : 1 , \"method\" : \"m\" } \r",
        "request 1",
    ),
    (
        r#"{"jsonrpc":"2.0","id":1,"method":"\u0000\ud83d\ude00"}"#,
        "request 1",
    ),
    (r#"{"jsonrpc":"2.0","method":"m"}"#, "notification"),
    (
        r#"{"jsonrpc":"2.0","method":"m","params":{}}"#,
        "notification",
    ),
    (
        r#"{"jsonrpc":"2.0","method":"$/unknown","params":null}"#,
        "notification",
    ),
];

#[test]
fn what_is_odd_and_right_passes_with_its_id_as_it_was() {
    for (frame, expected) in FINE {
        check(frame, expected);
    }
}

#[test]
fn a_frame_may_nest_as_deep_as_the_limit_and_no_deeper() {
    let nested = |depth: usize| {
        let (open, close) = ("[".repeat(depth - 1), "]".repeat(depth - 1));
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"m","params":{open}{close}}}"#)
    };
    check(nested(100), "request 1");
    check(nested(101), "-32600 null");
    check("[".repeat(1_000_000), "-32600 null");
    check(r#"{"a":"#.repeat(200_000), "-32600 null");
    // Brackets inside a text are no nesting.
    let text = r#"[\"{[\\"#.repeat(1000);
    check(
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{text}"}}"#),
        "request 1",
    );
}

#[test]
fn each_rule_has_its_counter() {
    let counters = Arc::<super::Counters>::default();
    let limits = Limits {
        requests_max: 2,
        ..Limits::default()
    };
    let gate = Gate::new(limits, Arc::clone(&counters));
    for frame in [
        "{",
        &"[".repeat(500),
        "[]",
        r#"{"jsonrpc":"2.0","method":1}"#,
        r#"{"jsonrpc":"2.0","id":7,"result":1}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"m"}"#,
        r#"{"jsonrpc":"2.0","id":2,"method":"m"}"#,
        r#"{"jsonrpc":"2.0","id":3,"method":"m"}"#,
    ] {
        verdict(&gate, frame.as_bytes());
    }
    gate.refuse_large();
    gate.refuse_binary();
    let met: Vec<_> = counters.all().into_iter().filter(|(_, n)| *n > 0).collect();
    assert_eq!(
        met,
        [
            ("accepted", 2),
            ("too_large", 1),
            ("too_deep", 1),
            ("unparsable", 1),
            ("invalid", 2),
            ("notifications_dropped", 1),
            ("answers_dropped", 1),
            ("overload", 1),
        ]
    );
}

#[test]
fn overload_says_when_to_come_back() {
    let limits = Limits {
        requests_max: 1,
        ..Limits::default()
    };
    let gate = Gate::new(limits, Arc::default());
    let request = |id: u32| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"m"}}"#);
    assert_eq!(verdict(&gate, request(1).as_bytes()), "request 1");
    let Verdict::Answer(answer) = gate.accept(request(2).as_bytes()) else {
        panic!("the second request is one too many");
    };
    let answer: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!(answer["id"], 2);
    assert_eq!(answer["error"]["code"], -32603);
    assert_eq!(answer["error"]["data"]["retryAfterMs"], 1000);
    gate.send(&RawJsonRpcMessage::response(1, Ok(json!({}))));
    assert_eq!(verdict(&gate, request(2).as_bytes()), "request 2");
}

#[test]
fn an_id_that_is_in_use_is_refused_until_it_was_answered() {
    let gate = gate();
    let request = br#"{"jsonrpc":"2.0","id":"a","method":"m"}"#;
    assert_eq!(verdict(&gate, request), r#"request "a""#);
    assert_eq!(verdict(&gate, request), r#"-32600 "a""#);
    gate.send(&RawJsonRpcMessage::response("a".to_owned(), Ok(json!({}))));
    assert_eq!(verdict(&gate, request), r#"request "a""#);
}

#[test]
fn a_broken_answer_still_ends_the_question() {
    for answer in [
        r#"{"jsonrpc":"2.0","id":5,"result":1,"error":{"code":1,"message":"m"}}"#,
        r#"{"jsonrpc":"2.0","id":5,"error":"no"}"#,
        r#"{"jsonrpc":"2.0","id":5,"error":{"code":1.5,"message":"m"}}"#,
        r#"{"jsonrpc":"2.0","id":5,"error":{"code":1}}"#,
        r#"{"jsonrpc":"1.0","id":5,"result":1}"#,
        r#"{"id":5,"result":1}"#,
    ] {
        let gate = gate();
        gate.send(&RawJsonRpcMessage::request("ask".to_owned(), json!({}), 5).unwrap());
        assert!(gate.awaits_peer());
        let Verdict::Pass(message) = gate.accept(answer.as_bytes()) else {
            panic!("{answer} leaves the asker waiting");
        };
        let message = serde_json::to_value(&message).unwrap();
        assert_eq!(message["id"], 5);
        assert_eq!(message["error"]["code"], -32600, "{answer}");
        assert!(!gate.awaits_peer());
    }
}

#[test]
fn an_answer_is_taken_once_and_with_its_type() {
    let gate = gate();
    gate.send(&RawJsonRpcMessage::request("ask".to_owned(), json!({}), 5).unwrap());
    let as_text = br#"{"jsonrpc":"2.0","id":"5","result":1}"#;
    let as_number = br#"{"jsonrpc":"2.0","id":5,"result":1}"#;
    assert_eq!(verdict(&gate, as_text), "drop");
    assert_eq!(verdict(&gate, as_number), "response");
    assert_eq!(verdict(&gate, as_number), "drop");
}

#[test]
fn what_is_too_large_to_send_becomes_an_error() {
    let limits = Limits {
        frame_out_bytes_max: 300,
        ..Limits::default()
    };
    let gate = Gate::new(limits, Arc::default());
    let large = json!({"text": "x".repeat(400)});
    let sent = gate.send(&RawJsonRpcMessage::response(1, Ok(large.clone())));
    let answer: Value = serde_json::from_str(&sent.frame.unwrap()).unwrap();
    assert_eq!(answer["id"], 1);
    assert_eq!(answer["error"]["code"], -32603);

    let sent = gate.send(&RawJsonRpcMessage::notification("n".into(), large.clone()).unwrap());
    assert!(sent.frame.is_none() && sent.is_update);

    let sent = gate.send(&RawJsonRpcMessage::request("ask".into(), large, 9).unwrap());
    assert!(sent.frame.is_none());
    let told = serde_json::to_value(sent.answer_to_agent.unwrap()).unwrap();
    assert_eq!(
        (&told["id"], &told["error"]["code"]),
        (&json!(9), &json!(-32603))
    );
    assert!(!gate.awaits_peer());
}

#[test]
fn nothing_of_a_broken_frame_is_repeated() {
    let Verdict::Answer(answer) = gate().accept(b"{\"token\": \"sk-secret\"") else {
        panic!("it is no JSON");
    };
    assert!(!answer.contains("sk-secret"));
}
