use harn_events::{AgentEvent, ToolKind};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::style::Color;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::super::asked::{Permission, Request, RequestKind, Scope};
use super::super::past::Past;
use super::*;
use crate::commands::run::live::prices::Prices;

struct Stage {
    state: State,
    draft: Draft,
    picker: Option<Picker>,
    memory: Memory,
    is_asked: bool,
    shows: bool,
    is_coloured: bool,
}

impl Stage {
    fn new() -> Self {
        Self {
            state: State::default(),
            draft: Draft::default(),
            picker: None,
            memory: Memory::default(),
            is_asked: false,
            shows: false,
            is_coloured: false,
        }
    }

    fn apply(&mut self, event: &AgentEvent) {
        self.state.view.apply(event, &Prices::none());
    }

    fn answer(&mut self, text: &str) {
        self.apply(&AgentEvent::AgentMessageChunk {
            session_id: "s".to_owned(),
            content: text.to_owned(),
        });
    }

    fn call(&mut self, name: &str, kind: ToolKind, arguments: Value) {
        self.apply(&AgentEvent::ToolCall {
            session_id: "s".to_owned(),
            tool_call_id: name.to_owned(),
            tool_name: name.to_owned(),
            kind: Some(kind),
            status: harn_events::ToolCallStatus::Pending,
            raw_input: arguments,
            parsing: None,
            audit: None,
        });
    }

    fn ask(&mut self) {
        let (reply, _) = oneshot::channel();
        self.state.asked.push_back(Asked::Permission(Permission {
            tool: "write".to_owned(),
            told: "a.txt".to_owned(),
            caution: None,
            scope: Scope::Tool("write".to_owned()),
            reply,
        }));
        self.is_asked = true;
    }

    fn draw(&mut self, columns: u16, rows: u16) -> Terminal<TestBackend> {
        let backend = TestBackend::new(columns, rows);
        let mut terminal = Terminal::new(backend).expect("it is only memory");
        let scene = Scene {
            state: &self.state,
            draft: &self.draft,
            picker: self.picker.as_ref(),
            is_asked: self.is_asked,
            shows_thoughts: self.shows,
            shows_results: self.shows,
            looks: Looks {
                is_coloured: self.is_coloured,
            },
            now_ms: 3000,
            date_ms: 60_000,
        };
        let memory = &mut self.memory;
        let drawn = terminal.draw(|frame| draw(frame, &scene, memory));
        drawn.expect("it is only memory");
        terminal
    }

    /// The rows of the screen, without what is empty at their ends.
    fn shown(&mut self, columns: u16, rows: u16) -> Vec<String> {
        let terminal = self.draw(columns, rows);
        let buffer = terminal.backend().buffer();
        let rows = buffer.content.chunks(usize::from(columns));
        let rows = rows.map(|row| row.iter().map(ratatui::buffer::Cell::symbol).collect());
        let rows = rows.map(|row: String| row.trim_end().to_owned());
        rows.collect()
    }
}

#[test]
fn a_conversation_is_at_the_top_and_the_prompt_at_the_bottom() {
    let mut stage = Stage::new();
    stage.state.view.prompt("Hello");
    stage.answer("Hi there.\n# Title\nmore");
    stage.draft.insert("next");
    let expected = [
        "",
        "> Hello",
        "",
        "Hi there.",
        "# Title",
        "more",
        "",
        "────────────────────────────────────────",
        "> next",
        "ready · /help                         $0",
    ];
    assert_eq!(stage.shown(40, 10), expected);
    let mut terminal = stage.draw(40, 10);
    terminal.backend_mut().assert_cursor_position((6, 8));
}

#[test]
fn thoughts_and_results_are_folded_until_somebody_wants_them() {
    let mut stage = Stage::new();
    stage.apply(&AgentEvent::AgentThoughtChunk {
        session_id: "s".to_owned(),
        content: "First\nsecond".to_owned(),
    });
    stage.call(
        "edit",
        ToolKind::Edit,
        json!({"path": "a.rs", "old_text": "x\ny", "new_text": "x\nz"}),
    );
    let rows = stage.shown(40, 12);
    assert_eq!(
        rows[..5],
        ["~ First (+1)", "· edit a.rs", "    x", "  - y", "  + z"]
    );
    stage.shows = true;
    let rows = stage.shown(40, 12);
    assert_eq!(rows[..3], ["~ First", "  second", "· edit a.rs"]);
}

#[test]
fn a_long_difference_is_cut() {
    let mut stage = Stage::new();
    let content = "line\n".repeat(100);
    stage.call(
        "write",
        ToolKind::Edit,
        json!({"path": "a", "content": content}),
    );
    let rows = stage.shown(60, 30);
    assert!(rows[13].contains("88 lines more (Ctrl-O)"), "{rows:?}");
}

#[test]
fn a_question_stands_above_the_prompt_with_its_answers() {
    let mut stage = Stage::new();
    stage.ask();
    let rows = stage.shown(60, 10);
    assert_eq!(rows[5], "? May it call write a.txt?");
    assert_eq!(rows[6], "  y yes · n no · a always write");
    stage.is_asked = false;
    let rows = stage.shown(60, 10);
    assert_eq!(rows[6], "  Tab, then: y yes · n no · a always write");
}

#[test]
fn a_question_of_any_length_leaves_room_to_answer() {
    let mut stage = Stage::new();
    stage.state.asked.push_back(Asked::Request(Request {
        id: "r".to_owned(),
        kind: RequestKind::Question,
        prompt: "why ".repeat(1000),
    }));
    stage.is_asked = true;
    let rows = stage.shown(40, 12);
    assert_eq!(rows[10], "?");
    assert!(rows[8].contains("type the answer"), "{rows:?}");
}

#[test]
fn what_the_agent_has_not_heard_yet_is_shown() {
    let mut stage = Stage::new();
    stage
        .state
        .unheard
        .push_back("stop\u{1b}[2J\nthat".to_owned());
    let rows = stage.shown(60, 10);
    assert_eq!(rows[6], "… stop\\u{1b}[2J that");
}

#[test]
fn narrow_and_tiny_terminals_get_what_fits() {
    let mut stage = Stage::new();
    stage.state.view.begin_turn(0);
    stage.state.view.meter.model = "a-model-with-a-long-name".to_owned();
    stage.state.view.meter.context_tokens = 12_000;
    stage.state.view.meter.context_window = Some(200_000);
    stage.answer("word ".repeat(30).trim());
    let rows = stage.shown(40, 12);
    assert_eq!(rows[11], "3s · asking a-model-wi…  6% of 200k · $0");
    stage.ask();
    for (columns, rows) in [(1, 1), (3, 1), (10, 2), (20, 3), (5, 40), (200, 60)] {
        stage.shown(columns, rows);
    }
}

#[test]
fn the_end_is_followed_unless_somebody_looks_elsewhere() {
    let mut stage = Stage::new();
    for at in 0..50 {
        stage.state.view.notice(&format!("row {at}"));
    }
    assert_eq!(stage.shown(40, 10)[6], "· row 49");
    stage.memory.scroll.up(10);
    assert_eq!(stage.shown(40, 10)[6], "· row 39");
    stage.state.view.notice("more");
    assert_eq!(stage.shown(40, 10)[6], "· row 39");
    stage.memory.scroll.up(-100);
    assert_eq!(stage.memory.scroll.top, None);
    assert_eq!(stage.shown(40, 10)[6], "· more");
    stage.memory.scroll.up(1000);
    assert_eq!(stage.shown(40, 10)[0], "· row 0");
}

#[test]
fn earlier_sessions_can_be_chosen() {
    let mut stage = Stage::new();
    let mut picker = Picker::default();
    picker.set(vec![Past {
        id: "chat_1".to_owned(),
        title: "Fix the tests".to_owned(),
        active_at_ms: 0,
        turns: 3,
        cost_usd: 0.5,
    }]);
    stage.picker = Some(picker);
    let rows = stage.shown(80, 10);
    assert!(rows[0].starts_with("Sessions: "), "{rows:?}");
    assert_eq!(rows[1], ">   1m ago     3 turns    $0.50  Fix the tests");
}

#[test]
fn hostile_text_never_reaches_a_cell() {
    let hostile = "a\u{1b}]0;x\u{7}\u{9b}31mb\u{202e}c\r\u{8}";
    let mut stage = Stage::new();
    stage.shows = true;
    stage.state.view.prompt(hostile);
    stage.state.view.notice(hostile);
    stage.state.view.problem(hostile);
    stage.state.view.printed(hostile);
    stage.answer(hostile);
    stage.apply(&AgentEvent::AgentThoughtChunk {
        session_id: "s".to_owned(),
        content: hostile.to_owned(),
    });
    stage.call(
        hostile,
        ToolKind::Edit,
        json!({"path": hostile, "old_text": hostile, "new_text": "x"}),
    );
    stage
        .state
        .view
        .end_turn(&super::super::view::Ended::Failed(hostile.to_owned()));
    let rows = stage.shown(100, 40);
    let shown = rows.iter().filter(|row| row.contains(r"a\u{1b}]0;x\u{7}"));
    assert!(shown.count() >= 8, "it is told and not left out: {rows:?}");
    let terminal = stage.draw(100, 40);
    let cells = terminal.backend().buffer().content.iter();
    for cell in cells {
        let is_fine = |character: char| !character.is_control() && character != '\u{202e}';
        assert!(cell.symbol().chars().all(is_fine), "{cell:?}");
    }
}

#[test]
fn there_are_no_colours_where_nobody_wants_them() {
    let mut stage = Stage::new();
    stage.state.view.prompt("Hello");
    stage.call(
        "edit",
        ToolKind::Edit,
        json!({"path": "a", "old_text": "x", "new_text": "z"}),
    );
    stage.ask();
    let has_colour = |stage: &mut Stage| {
        let terminal = stage.draw(60, 20);
        let mut cells = terminal.backend().buffer().content.iter();
        cells.any(|cell| cell.fg != Color::Reset || cell.bg != Color::Reset)
    };
    assert!(!has_colour(&mut stage));
    stage.is_coloured = true;
    stage.memory.cache.forget();
    assert!(has_colour(&mut stage));
}
