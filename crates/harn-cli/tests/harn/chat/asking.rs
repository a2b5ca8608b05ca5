//! What the person is asked.

use super::Chat;

const WRITING: &str = r#"
[[turn]]
when = "write"
call = [{ tool = "write", arguments = { path = "a.txt", content = "one\ntwo\n" } }]
[[turn]]
when = "*created*"
call = [{ tool = "edit", arguments = { path = "a.txt", old_text = "one\ntwo", new_text = "one\n2" } }]
[[turn]]
when = "*does not allow*"
text = "I may not."
[[turn]]
when = "*edited*"
text = "Edited."
"#;

#[test]
fn changes_are_shown_and_made_when_the_person_agrees() {
    let chat = Chat::new(WRITING);
    chat.window.say("write");
    let screen = chat.window.shows("May it call write a.txt?");
    assert!(screen.contains("y yes · n no · a always write"), "{screen}");
    assert!(
        screen.contains("+ one") && screen.contains("+ two"),
        "{screen}"
    );
    assert!(!chat.has("a.txt"));
    // Other keys are no answer.
    chat.window.press(&["x", "Enter"]);
    chat.window.press(&["y"]);
    let screen = chat.window.shows("May it call edit a.txt?");
    assert!(
        screen.contains("- two") && screen.contains("+ 2"),
        "{screen}"
    );
    assert_eq!(chat.text_of("a.txt"), "one\ntwo\n");
    chat.window.press(&["y"]);
    chat.window.shows("Edited.");
    assert_eq!(chat.text_of("a.txt"), "one\n2\n");
}

#[test]
fn nothing_is_changed_when_the_person_does_not_agree() {
    let chat = Chat::new(WRITING);
    chat.window.say("write");
    chat.window.shows("May it call write a.txt?");
    chat.window.press(&["n"]);
    let screen = chat.window.shows("I may not.");
    assert!(screen.contains("✗ write a.txt: "), "{screen}");
    assert!(!chat.has("a.txt"));
}

const TWICE: &str = r#"
[[turn]]
when = "go"
call = [{ tool = "write", arguments = { path = "a.txt", content = "1" } }]
[[turn]]
when = "*created 'a.txt'*"
call = [{ tool = "write", arguments = { path = "b.txt", content = "2" } }]
[[turn]]
when = "*created 'b.txt'*"
call = [{ tool = "run", arguments = { command = "echo one" } }]
[[turn]]
when = "*one*"
call = [{ tool = "run", arguments = { command = "echo two" } }]
[[turn]]
when = "*two*"
text = "All done."
"#;

#[test]
fn always_is_remembered_for_a_tool_and_for_one_command_only() {
    let chat = Chat::new(TWICE);
    chat.window.say("go");
    chat.window.shows("May it call write a.txt?");
    chat.window.press(&["a"]);
    // The second file needs no question, a command does.
    let screen = chat.window.shows("May it call run echo one?");
    assert!(screen.contains("a always this call"), "{screen}");
    assert!(chat.has("b.txt"));
    chat.window.press(&["a"]);
    chat.window.shows("May it call run echo two?");
    chat.window.press(&["y"]);
    chat.window.shows("All done.");
}

const SLOW_WRITE: &str = r#"
first_pause_ms = 1
[[turn]]
pause_ms = 150
piece_chars = 4
text = "I am going to write a file now."
call = [{ tool = "write", arguments = { path = "a.txt", content = "1" } }]
[[turn]]
text = "Written."
"#;

#[test]
fn somebody_who_is_writing_does_not_agree_by_accident() {
    let chat = Chat::with(SLOW_WRITE, "--scenario-speed realtime", &[]);
    chat.window.say("go");
    chat.window.shows("I am going");
    chat.window.write("a");
    chat.window.shows("Tab, then: y yes");
    chat.window.write("yyy");
    chat.window.shows("> ayyy");
    assert!(!chat.has("a.txt"));
    chat.window.press(&["Tab"]);
    chat.window.press(&["y"]);
    chat.window.shows("Written.");
    // What was being written is still there.
    chat.window.shows("> ayyy");
    assert!(chat.has("a.txt"));
}

const ASKING: &str = r#"
[[turn]]
when = "paint"
call = [{ tool = "ask", arguments = { question = "Which colour?" } }]
[[turn]]
when = "*blue*"
text = "Blue it is."
"#;

#[test]
fn a_question_is_answered_in_place() {
    let chat = Chat::new(ASKING);
    chat.window.say("paint");
    chat.window.shows("? Which colour?");
    chat.window.say("blue");
    let screen = chat.window.shows("Blue it is.");
    assert!(screen.contains("→ blue"), "{screen}");
}

#[test]
fn a_question_can_be_answered_where_nothing_can_be_kept() {
    // The log would be in a folder of this name.
    let chat = Chat::with(ASKING, "", &[(".harn", "in the way")]);
    chat.window.shows("this conversation is not kept");
    chat.window.say("paint");
    chat.window.shows("? Which colour?");
    chat.window.say("blue");
    chat.window.shows("Blue it is.");
    chat.window.shows("ready");
    chat.window.press(&["C-d"]);
    let screen = chat.window.shows("left with 0");
    assert!(!screen.contains("go on with"), "{screen}");
}

const APPROVING: &str = r#"
pipeline answer(prompt, session_id) {
  let asked = try { request_approval("ship ${prompt}") }
  return is_ok(asked) ? "approved by ${unwrap(asked).reviewers}" : unwrap_err(asked).message
}
"#;

#[test]
fn a_program_asks_for_approval() {
    let files = [("my.harn", APPROVING)];
    let chat = Chat::with("[[turn]]\ntext = \"x\"\n", "my.harn", &files);
    chat.window.say("it");
    chat.window.shows("Do you approve: ship it");
    chat.window.press(&["y"]);
    chat.window.shows("approved by");
    chat.window.shows("ready");
    chat.window.say("that");
    chat.window.shows("Do you approve: ship that");
    chat.window.press(&["n"]);
    chat.window.shows("approval was denied");
}
