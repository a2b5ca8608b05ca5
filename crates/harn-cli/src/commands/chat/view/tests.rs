use harn_events::ToolKind;
use serde_json::json;

use super::*;

const S: &str = "s";

fn prices() -> Prices {
    Prices::none()
}

fn chunk(session: &str, content: &str) -> AgentEvent {
    AgentEvent::AgentMessageChunk {
        session_id: session.to_owned(),
        content: content.to_owned(),
    }
}

fn thought(content: &str) -> AgentEvent {
    AgentEvent::AgentThoughtChunk {
        session_id: S.to_owned(),
        content: content.to_owned(),
    }
}

fn iteration(session: &str) -> AgentEvent {
    AgentEvent::IterationStart {
        session_id: session.to_owned(),
        iteration: 1,
        provider: "mock".to_owned(),
        model: "m".to_owned(),
    }
}

fn call(session: &str, id: &str, arguments: Value) -> AgentEvent {
    AgentEvent::ToolCall {
        session_id: session.to_owned(),
        tool_call_id: id.to_owned(),
        tool_name: "run".to_owned(),
        kind: Some(ToolKind::Execute),
        status: ToolCallStatus::Pending,
        raw_input: arguments,
        parsing: None,
        audit: None,
    }
}

fn update(session: &str, id: &str, status: ToolCallStatus, error: Option<&str>) -> AgentEvent {
    AgentEvent::ToolCallUpdate {
        session_id: session.to_owned(),
        tool_call_id: id.to_owned(),
        tool_name: "run".to_owned(),
        status,
        raw_output: error.is_none().then(|| json!({"text": "out\u{1b}[2J"})),
        error: error.map(str::to_owned),
        duration_ms: Some(12),
        execution_duration_ms: None,
        error_category: None,
        executor: None,
        parsing: None,
        raw_input: None,
        raw_input_partial: None,
        audit: None,
    }
}

fn after(events: &[AgentEvent]) -> View {
    let mut view = View::default();
    view.begin_turn(0);
    events.iter().for_each(|event| view.apply(event, &prices()));
    view
}

/// The entries in short: a letter for the kind, and the text.
fn told(view: &View) -> Vec<String> {
    let entries = view.entries().iter();
    let told = entries.map(|entry| match &entry.kind {
        Kind::Prompt(text) => format!("> {text}"),
        Kind::Answer(text) => format!("a {text}"),
        Kind::Thought(text) => format!("t {text}"),
        Kind::Printed(text) => format!("p {text}"),
        Kind::Notice(text) => format!("n {text}"),
        Kind::Problem(text) => format!("! {text}"),
        Kind::Call(call) => format!(
            "c {} {} {:?} {}{}",
            call.name,
            call.told,
            call.state,
            call.result,
            if call.is_inner { " (inner)" } else { "" }
        ),
    });
    told.collect()
}

#[test]
fn pieces_of_an_answer_are_one_entry_until_something_else_happens() {
    let view = after(&[
        iteration(S),
        thought("I "),
        thought("think"),
        chunk(S, "Hel"),
        chunk(S, "lo"),
        call(S, "1", json!({"command": "ls"})),
        update(S, "1", ToolCallStatus::InProgress, None),
        update(S, "1", ToolCallStatus::Completed, None),
        iteration(S),
        chunk(S, "Done"),
    ]);
    let expected = [
        "t I think",
        "a Hello",
        "c run ls Done out\\u{1b}[2J",
        "a Done",
    ];
    assert_eq!(told(&view), expected);
    assert_eq!(view.last_answer(), Some("Done"));
    assert_eq!(view.meter.model, "m");
}

#[test]
fn agents_inside_the_agent_show_their_calls_only() {
    let view = after(&[
        iteration(S),
        iteration("child"),
        chunk("child", "secret"),
        call("child", "1", json!({"command": "ls"})),
        update("child", "1", ToolCallStatus::Failed, Some("no")),
        chunk(S, "Answer"),
    ]);
    assert_eq!(told(&view), ["c run ls Failed no (inner)", "a Answer"]);
    assert_eq!(view.meter.model, "m");
}

#[test]
fn a_turn_that_ends_leaves_no_call_open() {
    let mut view = after(&[
        call(S, "1", json!({})),
        update(S, "1", ToolCallStatus::InProgress, None),
    ]);
    assert_eq!(view.doing(), "run");
    assert!(view.open_call(S, "1").is_some());
    view.end_turn(&Ended::Cancelled);
    assert_eq!(told(&view), ["c run  Failed it was stopped", "n stopped"]);
    assert!(view.turn().is_none() && view.open_call(S, "1").is_none());
    // What comes late changes nothing any more.
    view.apply(&update(S, "2", ToolCallStatus::Completed, None), &prices());
    assert!(view.turn().is_none());
}

#[test]
fn what_the_program_gives_is_the_answer_only_if_nobody_has_answered() {
    let mut view = after(&[chunk(S, "Streamed")]);
    view.end_turn(&Ended::Well(Some("Streamed".to_owned())));
    assert_eq!(told(&view), ["a Streamed"]);
    let mut view = after(&[]);
    view.printed("one\n");
    view.printed("two\n");
    view.end_turn(&Ended::Well(Some("Given".to_owned())));
    assert_eq!(told(&view), ["p one\ntwo\n", "a Given"]);
    let mut view = after(&[]);
    view.end_turn(&Ended::Failed("bad\u{7}".to_owned()));
    assert_eq!(told(&view), ["! bad\\u{7}"]);
}

#[test]
fn candidates_are_not_shown_before_they_are_calls() {
    let mut candidate = call(S, "c", json!({}));
    if let AgentEvent::ToolCall { parsing, .. } = &mut candidate {
        *parsing = Some(true);
    }
    assert!(told(&after(&[candidate])).is_empty());
}

#[test]
fn tokens_are_counted_and_fill_the_context() {
    let end = |session: &str, input: u64| AgentEvent::IterationEnd {
        session_id: session.to_owned(),
        iteration: 1,
        iteration_info: json!({"input_tokens": input, "output_tokens": 10, "model": "m"}).into(),
    };
    let mut view = after(&[end(S, 100), end("child", 5000), end(S, 200)]);
    let meter = &mut view.meter;
    assert_eq!((meter.input_tokens, meter.output_tokens), (5300, 30));
    assert_eq!((meter.context_tokens, meter.percent()), (210, None));
    meter.context_window = Some(1000);
    assert_eq!(meter.percent(), Some(21));
}

#[test]
fn what_was_said_before_is_shown_again() {
    let past = |role: &str, text: &str| Part::Said {
        role: role.to_owned(),
        text: text.to_owned(),
        calls: Vec::new(),
    };
    let call = crate::commands::sessions::conversation::Call {
        id: "1".to_owned(),
        name: "read".to_owned(),
        arguments: r#"{"path":"a"}"#.to_owned(),
        result: Some("text".to_owned()),
    };
    let mut view = View::default();
    view.past(vec![
        past("user", "Hi"),
        Part::Said {
            role: "assistant".to_owned(),
            text: "I look.".to_owned(),
            calls: vec![call],
        },
        past("tool", "<results>"),
        past("assistant", "Fine."),
    ]);
    let expected = [
        "> Hi",
        "a I look.",
        "c read a Done text",
        "c results  Done <results>",
        "a Fine.",
    ];
    assert_eq!(told(&view), expected);
}

#[test]
fn a_long_conversation_forgets_its_beginning_and_finds_its_calls() {
    let mut view = View::default();
    view.begin_turn(0);
    for at in 0..ENTRIES_MAX - 1 {
        view.notice(&at.to_string());
    }
    view.apply(&call(S, "1", json!({"command": "ls"})), &prices());
    view.notice("one too many");
    assert_eq!(view.forgotten(), ENTRIES_MAX / 2);
    view.apply(&update(S, "1", ToolCallStatus::Completed, None), &prices());
    let told = told(&view);
    assert!(
        told[told.len() - 2].starts_with("c run ls Done"),
        "{told:?}"
    );
}

#[test]
fn a_conversation_has_a_bound_in_bytes() {
    let mut view = View::default();
    let large = "x".repeat(1 << 20);
    for _ in 0..100 {
        view.notice(&large);
    }
    let bytes: usize = view.entries().iter().map(Entry::bytes).sum();
    assert!(bytes <= BYTES_MAX + (1 << 20), "{bytes}");
}
