//! Prompts, answers, and what can be typed.

use super::Chat;

const SLOW: &str = r#"
first_pause_ms = 1
[[turn]]
pause_ms = 150
piece_chars = 4
text = "one two three four five six seven eight nine ten"
"#;

#[test]
fn an_answer_is_shown_while_it_arrives() {
    let chat = Chat::with(SLOW, "--scenario-speed realtime", &[]);
    chat.window.say("count");
    let screen = chat.window.shows_that("a part", |screen| {
        screen.contains("one two") && !screen.contains("ten")
    });
    assert!(screen.contains("> count"), "{screen}");
    assert!(screen.contains("asking "), "{screen}");
    chat.window.shows("nine ten");
    chat.window.shows("ready");
}

const THINKING: &str = r#"
[[turn]]
thinking = "Let me see.\nThe second thought."
text = "Fine."
"#;

#[test]
fn thoughts_are_folded_until_a_key_unfolds_them() {
    let chat = Chat::new(THINKING);
    chat.window.say("think");
    let screen = chat.window.shows("Fine.");
    assert!(screen.contains("~ Let me see. (+1)"), "{screen}");
    assert!(!screen.contains("second thought"), "{screen}");
    chat.window.press(&["C-t"]);
    chat.window.shows("The second thought.");
    chat.window.say("/thoughts");
    chat.window
        .shows_that("folded", |screen| !screen.contains("second thought"));
}

const ECHO: &str = r#"
[[turn]]
when = "first line\nsecond line"
text = "Two lines."
[[turn]]
when = "typed\nbelow"
text = "Two typed lines."
[[turn]]
text = "Something else."
"#;

#[test]
fn several_lines_are_pasted_or_typed_and_sent_together() {
    let chat = Chat::new(ECHO);
    chat.window.paste("first line\nsecond line");
    let screen = chat.window.shows("second line");
    assert!(
        !screen.contains("Two lines."),
        "it is not sent yet: {screen}"
    );
    chat.window.press(&["Enter"]);
    chat.window.shows("Two lines.");
    chat.window.write("typed");
    chat.window.press(&["M-Enter"]);
    chat.window.write("below");
    chat.window.press(&["Enter"]);
    chat.window.shows("Two typed lines.");
}

#[test]
fn what_was_sent_can_be_brought_back_and_changed() {
    let chat = Chat::new("[[turn]]\ntext = \"Yes.\"\nrepeat = true\n");
    chat.window.say("hello wrld");
    chat.window.shows("Yes.");
    chat.window.shows("ready");
    chat.window.press(&["Up", "M-b"]);
    chat.window.write("small ");
    chat.window.press(&["C-e", "C-w"]);
    chat.window.write("world");
    chat.window.press(&["Enter"]);
    chat.window.shows("> hello small world");
}

const TWO_TURNS: &str = r#"
first_pause_ms = 1
[[turn]]
when = "start"
pause_ms = 100
piece_chars = 3
text = "I begin to work on it now."
call = [{ tool = "list" }]
[[turn]]
when = "be quick"
text = "Quickly then."
[[turn]]
when = "*"
text = "Not heard."
"#;

#[test]
fn what_is_said_while_the_agent_works_is_heard_next() {
    let chat = Chat::with(TWO_TURNS, "--scenario-speed realtime", &[]);
    chat.window.say("start");
    chat.window.shows("I begin");
    chat.window.say("be quick");
    chat.window.shows("… be quick");
    chat.window.shows("Quickly then.");
    chat.window.shows("> be quick");
}

const ANSWER: &str = "[[turn]]\ntext = \"Copy me, please.\"\nrepeat = true\n";

#[test]
fn commands_answer_for_the_chat_itself() {
    let chat = Chat::new(ANSWER);
    let window = &chat.window;
    window.say("/nonsense");
    window.shows("/nonsense is not known; /help tells what is");
    window.say("/helpp");
    window.shows("did you mean /help?");
    window.say("/help");
    window.shows("/export [FILE]");
    window.shows("Ctrl-Y");
    window.say("/copy");
    window.shows("there is no answer yet");
    window.say("/export notes.md");
    window.shows("nothing was said yet");
    window.say("hello");
    window.shows("Copy me, please.");
    window.shows("ready");
    window.say("/tools");
    window.shows("grep: ");
    window.say("/cost");
    window.shows("tokens in and");
    window.say("/model gpt-4o");
    window.shows("gpt-4o is asked from the next turn on");
    window.say("again");
    window.shows_that("gpt-4o in the status", |screen| {
        let last = screen.trim_end().lines().last().unwrap_or_default();
        last.contains("ready") && last.contains("gpt-4o")
    });
    window.say("/compact");
    window.shows("too short to be shortened");
    window.say("/export notes.md");
    window.shows("written to notes.md");
    assert!(chat.text_of("notes.md").contains("Copy me, please."));
    window.say("/export notes.md");
    window.shows("cannot write notes.md");
    window.say("/quit");
    window.shows("left with 0");
}

#[test]
fn the_last_answer_is_copied_by_the_terminal() {
    let chat = Chat::new(ANSWER);
    chat.window.say("hello");
    chat.window.shows("Copy me, please.");
    chat.window.press(&["C-y"]);
    chat.window.shows("the last answer was copied");
    assert_eq!(chat.window.clipboard().as_deref(), Some("Copy me, please."));
}

#[test]
fn a_long_conversation_can_be_looked_through() {
    let text = (1..=60).map(|at| format!("row {at}.")).collect::<Vec<_>>();
    let text = text.join("\\n");
    let chat = Chat::new(&format!("[[turn]]\ntext = \"{text}\"\n"));
    chat.window.say("go");
    let screen = chat.window.shows("row 60.");
    assert!(!screen.contains("row 30."), "{screen}");
    chat.window.press(&["PageUp"]);
    chat.window.shows("row 30.");
    chat.window.press(&["PageUp", "PageUp"]);
    chat.window.shows("> go");
    chat.window.press(&["End"]);
    chat.window.shows("row 60.");
}

const PROGRAM: &str = r#"
let turns = shared_cell("turns", 0)

pipeline default() {
  println("not this one")
}

pipeline answer(prompt, session_id) {
  shared_set(turns, shared_get(turns) + 1)
  if prompt == "fail" {
    throw "it is broken"
  }
  println("turn ${shared_get(turns)}")
  return "You said ${prompt}."
}
"#;

#[test]
fn a_program_answers_with_its_pipeline_that_takes_a_prompt() {
    let chat = Chat::with(
        "[[turn]]\ntext = \"x\"\n",
        "my.harn",
        &[("my.harn", PROGRAM)],
    );
    chat.window.say("hi");
    let screen = chat.window.shows("You said hi.");
    assert!(screen.contains("| turn 1"), "{screen}");
    chat.window.say("ho");
    chat.window.shows("| turn 2");
    chat.window.say("fail");
    chat.window.shows("it is broken");
    chat.window.say("still there");
    let screen = chat.window.shows("You said still there.");
    assert!(!screen.contains("not this one"), "{screen}");
}
