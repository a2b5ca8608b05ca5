//! What it looks like: sizes, colours, and text that wants to be obeyed.

use super::Chat;

const TEXT: &str = r#"
[[turn]]
when = "go"
text = "This is a sentence of quite some length that needs more than one row of a narrow terminal."
call = [{ tool = "write", arguments = { path = "a.txt", content = "x" } }]
[[turn]]
text = "Bye."
"#;

#[test]
fn it_fits_into_any_size() {
    let chat = Chat::new(TEXT);
    chat.window.say("go");
    let screen = chat.window.shows("May it call write a.txt?");
    check_layout(&screen, 80, 24);
    chat.window.resize(40, 12);
    let screen = chat
        .window
        .shows_that("40 columns", |screen| is_whole(screen, 40));
    check_layout(&screen, 40, 12);
    assert!(screen.contains("May it call write a.txt?"), "{screen}");
    chat.window.press(&["y"]);
    chat.window.shows("Bye.");
    chat.window.resize(80, 24);
    let screen = chat
        .window
        .shows_that("80 columns", |screen| is_whole(screen, 80));
    check_layout(&screen, 80, 24);
    chat.window.resize(9, 4);
    chat.window
        .shows_that("9 columns", |screen| screen.lines().any(|line| line == ">"));
    chat.window.resize(80, 24);
    chat.window.shows("This is a sentence of quite some length");
}

/// Whether the last row is drawn as well.
fn is_whole(screen: &str, columns: usize) -> bool {
    let mut lines = screen.lines();
    lines.any(|line| line == "─".repeat(columns)) && lines.any(|line| line.contains("$0"))
}

#[track_caller]
fn check_layout(screen: &str, columns: usize, rows: usize) {
    let lines: Vec<&str> = screen.lines().collect();
    assert_eq!(lines.len(), rows, "{screen}");
    assert!(lines.iter().all(|line| line.chars().count() <= columns));
    let last = lines[rows - 1];
    assert!(last.contains("$0"), "the status is the last row: {screen}");
    assert!(
        lines.iter().any(|line| *line == "─".repeat(columns)),
        "{screen}"
    );
}

#[test]
fn there_are_colours_only_for_those_who_want_them() {
    let has_colours = |screen: &str| {
        let mut sequences = screen.split("\u{1b}[").skip(1);
        sequences.any(|rest| {
            let codes = rest.split('m').next().unwrap_or_default();
            let is_colour = |code: &str| matches!(code.parse(), Ok(30..=38 | 40..=48 | 90..=97));
            codes.split(';').any(is_colour)
        })
    };
    let chat = Chat::new(TEXT);
    chat.window.say("go");
    chat.window.shows("May it call");
    assert!(has_colours(&chat.window.coloured_screen()));
    let without = [
        Chat::with(TEXT, "--color never", &[]),
        Chat::in_environment("NO_COLOR=1", TEXT),
    ];
    for chat in without {
        chat.window.say("go");
        chat.window.shows("May it call");
        assert!(!has_colours(&chat.window.coloured_screen()));
    }
}

const HOSTILE: &str = r#"
[[turn]]
when = "go"
thinking = "\u001b]0;stolen\u0007"
text = "a\u001b]0;stolen\u0007b\u001b]52;c;c3RvbGVu\u0007c\u001b[2J\u009b2Jd\u001b[?1049l"
call = [{ tool = "run", arguments = { command = "printf '\\033]0;stolen\\007\\033[2Jend'; echo" } }]
[[turn]]
text = "Over."
"#;

#[test]
fn what_a_model_or_a_tool_writes_is_never_obeyed() {
    let chat = Chat::new(HOSTILE);
    let title = chat.window.ask("#{pane_title}");
    chat.window.say("go");
    let screen = chat.window.shows("May it call run");
    assert!(screen.contains(r"a\u{1b}]0;stolen\u{7}b"), "{screen}");
    chat.window.press(&["y"]);
    let screen = chat.window.shows("Over.");
    assert!(screen.contains(r"\u{1b}[2Jend"), "{screen}");
    assert!(screen.contains("> go"), "nothing was erased: {screen}");
    assert_eq!(chat.window.ask("#{pane_title}"), title);
    assert_eq!(chat.window.clipboard(), None);
    assert_eq!(chat.window.ask("#{alternate_on}").trim(), "1");
}
