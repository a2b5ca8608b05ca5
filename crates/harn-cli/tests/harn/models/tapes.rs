//! `--tape-record` and `--tape-replay`, and recordings of what a real server said.

use super::server::{Server, says_milk};
use super::{Programs, provider_file, shop};
use crate::program::{Call, finished};

const STREAMS: &str = "\
for piece in llm_stream(\"What should I buy?\") {
  println(piece)
}
";

fn keyed(programs: &Programs, arguments: &[&str]) -> Call {
    let mut command = programs.command(arguments);
    command.env("FAKE_API_KEY", "sk-test-0123");
    command.env("HARN_PROVIDERS_CONFIG", "providers.toml");
    finished(&mut command)
}

/// A project with a tape on which a server says that milk should be bought.
fn recorded() -> Programs {
    let server = Server::start([says_milk]);
    let programs = shop(&[("stream.harn", STREAMS)]);
    programs.add("providers.toml", provider_file(&server.url));
    keyed(
        &programs,
        &["run", "main.harn", "--tape-record", "shop.tape"],
    )
    .exits_with(0)
    .says("Buy milk.\n", "");
    assert_eq!(server.requests().len(), 1);
    programs
}

#[test]
fn a_tape_answers_as_the_server_did() {
    let programs = recorded();
    keyed(
        &programs,
        &["run", "main.harn", "--tape-replay", "shop.tape"],
    )
    .exits_with(0)
    .says("Buy milk.\n", "");
    let lenient = ["--tape-replay", "shop.tape", "--tape-match", "lenient"];
    let arguments = [&["run", "stream.harn"][..], &lenient].concat();
    keyed(&programs, &arguments)
        .exits_with(0)
        .says("Buy \nmilk.\n", "");
}

#[test]
fn a_tape_needs_neither_a_key_nor_the_permission_to_make_calls() {
    let programs = recorded();
    let mut command = programs.command(&["run", "main.harn", "--tape-replay", "shop.tape"]);
    command.env("HARN_PROVIDERS_CONFIG", "providers.toml");
    finished(command.env("HARN_LLM_CALLS_DISABLED", "1"))
        .exits_with(0)
        .says("Buy milk.\n", "");
}

#[test]
fn a_tape_notices_another_question() {
    let programs = recorded();
    programs.add("other.harn", "llm_call(\"What should I sell?\")\n");
    let call = keyed(
        &programs,
        &["run", "other.harn", "--tape-replay", "shop.tape"],
    );
    let call = call.exits_with(1);
    let difference = "request 1 is not the one on the tape";
    assert!(call.stderr.contains(difference), "{call:?}");
}

#[test]
fn a_tape_goes_on_where_it_ended() {
    let programs = recorded();
    let server = Server::start([says_milk]);
    programs.add("providers.toml", provider_file(&server.url));
    keyed(
        &programs,
        &["run", "main.harn", "--tape-record", "shop.tape"],
    )
    .exits_with(0);
    server.requests();
    assert_eq!(programs.text("shop.tape").lines().count(), 2);
}

#[test]
fn a_tape_that_is_none_is_refused_before_the_program_starts() {
    let programs = shop(&[("bad.tape", "{\"tape\": 1}\n{}\n")]);
    for option in ["--tape-replay", "--tape-record"] {
        let call = programs
            .harn(&["run", "main.harn", option, "bad.tape"])
            .exits_with(1);
        assert_eq!(call.stdout, "");
        assert!(
            call.stderr.starts_with("error: bad.tape line 1: "),
            "{call:?}"
        );
    }
}

#[test]
fn a_torn_tape_is_mended_and_told() {
    let programs = recorded();
    let whole = programs.text("shop.tape");
    programs.add("shop.tape", format!("{whole}{{\"ta"));
    programs
        .harn(&["run", "-e", "println(1)", "--tape-record", "shop.tape"])
        .exits_with(0)
        .says(
            "1\n",
            "note: shop.tape line 2 was never finished and is cut off\n",
        );
    assert_eq!(programs.text("shop.tape"), whole);
}

/// What a server said comes back from fixtures and by hash, also as a stream.
#[test]
fn recorded_answers_answer_again() {
    let server = Server::start([says_milk]);
    let programs = shop(&[("stream.harn", STREAMS)]);
    programs.add("providers.toml", provider_file(&server.url));
    let arguments = [
        "run",
        "main.harn",
        "--record=kept",
        "--llm-mock-record",
        "kept.jsonl",
    ];
    keyed(&programs, &arguments)
        .exits_with(0)
        .says("Buy milk.\n", "");
    server.requests();
    for arguments in [
        &["run", "main.harn", "--replay=kept"][..],
        &["run", "stream.harn", "--replay=kept"],
        &["run", "main.harn", "--llm-mock", "kept.jsonl"],
    ] {
        keyed(&programs, arguments)
            .exits_with(0)
            .says("Buy milk.\n", "");
    }
    let call = keyed(&programs, &["run", "main.harn", "--replay"]).exits_with(1);
    assert!(
        call.stderr
            .contains("No fixture found for LLM call (hash: "),
        "{call:?}"
    );
}
