use super::*;
use crate::Secret;
use crate::tape::TapeRecorder;

fn request(said: &str, extra: Value) -> HttpRequest {
    let messages = json!([{"role": "user", "content": said}, extra]);
    HttpRequest {
        url: "https://api.example/v1".to_owned(),
        headers: vec![("authorization".to_owned(), Secret::new("Bearer sk-live-1"))],
        body: json!({"model": "m", "messages": messages}),
    }
}

/// A tape on which each of these was asked and answered with its own number.
fn tape(requests: &[HttpRequest]) -> Tape {
    let recorder = TapeRecorder::new(std::io::sink(), Redaction::none());
    let exchanges = requests.iter().enumerate().map(|(index, request)| {
        let mut open = recorder.begin(Wire::Chat, request);
        open.response(200, []);
        open.chunk(1, index.to_string().as_bytes());
        open.finish()
    });
    Tape {
        exchanges: exchanges.collect(),
        torn: None,
    }
}

#[track_caller]
fn body(player: &mut TapePlayer, request: &HttpRequest) -> String {
    let exchange = player.answer(Wire::Chat, request).unwrap();
    let response = exchange.response.as_ref().unwrap();
    let bytes: Vec<u8> = response
        .chunks
        .iter()
        .flat_map(|chunk| chunk.bytes.clone())
        .collect();
    String::from_utf8(bytes).unwrap()
}

#[test]
fn strict_answers_come_in_order_and_end() {
    let asked = [request("a", json!(1)), request("b", json!(2))];
    let mut player = TapePlayer::new(tape(&asked), Matching::Strict, Redaction::none());
    assert_eq!(player.unused(), 2);
    assert_eq!(body(&mut player, &asked[0]), "0");
    assert_eq!(body(&mut player, &asked[1]), "1");
    assert_eq!(player.unused(), 0);
    let error = player.answer(Wire::Chat, &asked[1]).unwrap_err();
    assert_eq!(error.to_string(), "request 3 is one more than the tape has");
}

#[test]
fn strict_answers_want_the_same_request_to_the_letter() {
    let asked = [request("a", json!(1))];
    let mut player = TapePlayer::new(tape(&asked), Matching::Strict, Redaction::none());
    let other_place = HttpRequest {
        url: "https://elsewhere".to_owned(),
        ..asked[0].clone()
    };
    let rows = [
        (
            Wire::Chat,
            request("b", json!(1)),
            "$.body.messages[0].content was \"a\" and is now \"b\"",
        ),
        (
            Wire::Ollama,
            asked[0].clone(),
            "$.wire was \"chat\" and is now \"ollama\"",
        ),
        (
            Wire::Chat,
            other_place,
            "$.url was \"https://api.example/v1\" and is now \"https://elsewhere\"",
        ),
    ];
    for (wire, request, difference) in rows {
        let error = player.answer(wire, &request).unwrap_err();
        let expected = format!("request 1 is not the one on the tape: {difference}");
        assert_eq!(error.to_string(), expected);
    }
    // Being wrong uses nothing up, and another key is no difference.
    let mut same = asked[0].clone();
    same.headers[0].1 = Secret::new("Bearer sk-live-2");
    assert_eq!(body(&mut player, &same), "0");
}

#[test]
fn a_secret_in_the_request_is_taken_out_before_it_is_compared() {
    let asked = [request("my key is sk-live-1", json!(1))];
    let tape = tape(&asked);
    let kept = tape.exchanges[0].request.body.to_string();
    assert!(kept.contains("my key is [redacted]"), "{kept}");
    let mut player = TapePlayer::new(tape, Matching::Strict, Redaction::none());
    assert_eq!(body(&mut player, &asked[0]), "0");
}

#[test]
fn lenient_answers_go_by_what_the_user_said_and_begin_anew() {
    let asked = [
        request("fix  it", json!(1)),
        request("other", json!(2)),
        request("fix it", json!(3)),
    ];
    let mut player = TapePlayer::new(tape(&asked), Matching::Lenient, Redaction::none());
    let changed = request("fix\nit", json!({"role": "tool", "content": "12:00"}));
    let answers: Vec<String> = (0..4).map(|_| body(&mut player, &changed)).collect();
    assert_eq!(answers, ["0", "2", "0", "2"]);
    assert_eq!(player.unused(), 1);
}

#[test]
fn a_request_that_nothing_fits_is_named() {
    let mut player = TapePlayer::new(
        tape(&[request("a", json!(1))]),
        Matching::Lenient,
        Redaction::none(),
    );
    let error = player
        .answer(Wire::Chat, &request("b", json!(1)))
        .unwrap_err();
    let expected = "nothing on the tape fits a request to m over chat after \"b\"";
    assert_eq!(error.to_string(), expected);
    let error = player
        .answer(Wire::Ollama, &request("a", json!(1)))
        .unwrap_err();
    assert!(crate::Error::from(error).message.contains("over ollama"));
}
