//! Going on with what was said before.

use super::Chat;

const TALK: &str = r#"
[[turn]]
when = "My name is Ada."
text = "Hello, Ada."
[[turn]]
when = "another thing"
text = "Yes?"
[[turn]]
text = "You are Ada."
"#;

/// What a session knows, as the log has it.
fn messages(chat: &Chat) -> Vec<Vec<String>> {
    let harn = env!("CARGO_BIN_EXE_harn");
    let run = |words: &[&str]| {
        let told = std::process::Command::new(harn)
            .args(words)
            .current_dir(chat.folder.path())
            .output()
            .expect("it was built with the tests");
        let text = String::from_utf8(told.stdout).expect("it is JSON");
        serde_json::from_str::<serde_json::Value>(&text).expect("it is JSON")
    };
    let sessions = run(&["sessions", "list", "--json"]);
    let ids = sessions["sessions"].as_array().expect("a list").iter();
    let of = |id: &serde_json::Value| {
        let id = id["id"].as_str().expect("a text");
        let transcript = run(&["sessions", "export", id]);
        let messages = transcript["messages"].as_array().expect("a list").iter();
        messages
            .filter_map(|one| one["content"].as_str().map(str::to_owned))
            .collect()
    };
    ids.map(of).collect()
}

#[test]
fn a_session_is_chosen_after_a_restart_and_goes_on() {
    let chat = Chat::new(TALK);
    chat.window.say("My name is Ada.");
    chat.window.shows("Hello, Ada.");
    chat.window.shows("ready");
    chat.window.say("/new");
    chat.window
        .shows_that("nothing", |screen| !screen.contains("Hello, Ada."));
    chat.window.say("another thing");
    chat.window.shows("Yes?");
    chat.window.shows("ready");
    chat.window.press(&["C-c"]);
    chat.window.shows("left with 0");

    let chat = chat.again("");
    chat.window.say("/sessions");
    let screen = chat.window.shows("My name is Ada.");
    assert!(screen.contains("another thing"), "{screen}");
    chat.window.press(&["Escape"]);
    chat.window
        .shows_that("closed", |screen| !screen.contains("My name is Ada."));
    chat.window.say("/sessions");
    chat.window.shows("My name is Ada.");
    chat.window.write("ada");
    chat.window
        .shows_that("one of them", |screen| !screen.contains("another thing"));
    chat.window.press(&["Enter"]);
    let screen = chat.window.shows("Hello, Ada.");
    assert!(screen.contains("> My name is Ada."), "{screen}");
    chat.window.say("Who am I?");
    chat.window.shows("You are Ada.");
    chat.window.shows("ready");
    chat.window.say("/quit");
    chat.window.shows("left with 0");
    let mut all = messages(&chat);
    all.sort();
    let expected = [
        vec![
            "My name is Ada.",
            "Hello, Ada.",
            "Who am I?",
            "You are Ada.",
        ],
        vec!["another thing", "Yes?"],
    ];
    assert_eq!(all, expected);
}

#[test]
fn the_last_session_goes_on_without_a_question() {
    let chat = Chat::new(TALK);
    chat.window.say("My name is Ada.");
    chat.window.shows("Hello, Ada.");
    chat.window.shows("ready");
    chat.window.press(&["C-d"]);
    let screen = chat.window.shows("left with 0");
    let (_, id) = screen.split_once("--session ").expect("it is told");
    let id = id.lines().next().expect("it is told").trim();
    let id = id[..20].to_owned();

    let chat = chat.again("--continue");
    chat.window.shows("> My name is Ada.");
    chat.window.press(&["C-d"]);
    chat.window.shows("left with 0");

    let chat = chat.again(&format!("--session {id}"));
    chat.window.shows("Hello, Ada.");
}
