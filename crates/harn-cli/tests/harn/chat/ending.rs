//! Stopping the agent, leaving, and giving the terminal back.

use std::process::Command;

use super::Chat;

const RUNNING: &str = r#"
[[turn]]
when = "go"
call = [{ tool = "run", arguments = { command = "echo begun > begun; sleep 1000" } }]
[[turn]]
text = "Still here."
repeat = true
"#;

#[test]
fn ctrl_c_stops_the_agent_and_then_leaves() {
    let chat = Chat::new(RUNNING);
    chat.window.say("go");
    chat.window.shows("May it call run");
    chat.window.press(&["y"]);
    chat.window.shows("» run echo begun");
    chat.window.press(&["C-c"]);
    let screen = chat.window.shows("· stopped");
    assert!(screen.contains("✗ run"), "{screen}");
    chat.window.shows("ready");
    // The session goes on where it was.
    chat.window.say("and now?");
    chat.window.shows("Still here.");
    chat.window.shows("ready");
    chat.window.write("draft");
    chat.window.shows("> draft");
    chat.window.press(&["C-c"]);
    chat.window
        .shows_that("no draft", |screen| !screen.contains("draft"));
    chat.window.press(&["C-c"]);
    let screen = chat.window.shows("left with 0");
    assert!(
        screen.contains("go on with: harn chat --session chat_"),
        "{screen}"
    );
    is_given_back(&screen);
}

#[test]
fn a_question_does_not_keep_anybody_from_stopping() {
    let chat = Chat::new(RUNNING);
    chat.window.say("go");
    chat.window.shows("May it call run");
    chat.window.press(&["C-c"]);
    let screen = chat.window.shows("· stopped");
    assert!(!screen.contains("y yes"), "{screen}");
    assert!(!chat.has("begun"));
    chat.window.say("and now?");
    chat.window.shows("Still here.");
}

#[test]
fn ctrl_d_on_an_empty_prompt_leaves() {
    let chat = Chat::new(RUNNING);
    chat.window.press(&["C-d"]);
    let screen = chat.window.shows("left with 0");
    is_given_back(&screen);
    // Nothing was said, so there is nothing to go on with.
    assert!(!screen.contains("go on with"), "{screen}");
}

#[test]
fn signals_end_the_chat_in_good_order() {
    for (signal, status) in [("TERM", 143), ("HUP", 129), ("INT", 130)] {
        let chat = Chat::new(RUNNING);
        chat.window.say("go");
        chat.window.shows("May it call run");
        chat.window.press(&["y"]);
        chat.window.shows("» run echo begun");
        let pid = chat.text_of("pid");
        let sent = Command::new("kill")
            .args(["-s", signal, pid.trim()])
            .status();
        assert!(sent.expect("there is such a program").success());
        let screen = chat.window.shows(&format!("left with {status}"));
        is_given_back(&screen);
    }
}

/// The screen is the one from before, and the terminal edits lines and echoes again.
#[track_caller]
fn is_given_back(screen: &str) {
    assert!(screen.starts_with("before\n"), "{screen}");
    let settings = screen.lines().find(|line| line.contains("icanon"));
    let words: Vec<_> = settings.unwrap_or_default().split_whitespace().collect();
    assert_eq!(words, ["icanon", "echo"], "{screen}");
}
