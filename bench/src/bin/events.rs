//! `cargo xtask bench events`: the event stream against what it replaces.
//!
//! On paper, before measuring: an emission is one shard lock, one hash look-up of
//! a session id, two clock readings per sink and the sink itself, so a few
//! hundred nanoseconds and no growth with the number of sessions. A stored record
//! is one `write` like the bare loop's, plus serialising and one pass for secrets.
//! Decoding saves the map that `Value` builds for the event's own keys.

#![expect(clippy::print_stdout, reason = "the table is this program's output")]

use std::fs::{File, OpenOptions};
use std::hint::black_box;
use std::io::Write;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use harn_bench::{CountingHeap, Effort, Goal, Table, time, versus};
use harn_events::{
    AgentEvent, AgentEventSink, BusConfig, CloseSession, EventBus, JsonlEventSink, StoredRecord,
};
use serde_json::{Value, json};

#[global_allocator]
static HEAP: CountingHeap = CountingHeap::new();

#[derive(Default)]
struct Counting(AtomicU64);

impl AgentEventSink for Counting {
    fn handle_event(&self, event: &AgentEvent) {
        black_box(event);
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

fn main() -> ExitCode {
    let effort = Effort::from_args();
    let mut table = Table::new();
    emit_with_many_sessions(effort, &mut table);
    store_as_jsonl(effort, &mut table);
    decode_lines(effort, &mut table);
    open_and_close_sessions(effort, &mut table);
    println!("{}", table.render());
    if table.all_met() || effort == Effort::Smoke {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// The events of one agent turn with a tool call.
fn turn(session_id: &str, number: usize) -> Vec<AgentEvent> {
    let host = |event_type: &str, payload: Value| {
        AgentEvent::from_host_payload(session_id, event_type, &payload).expect("a valid payload")
    };
    let id = format!("tool-iter-{number}-1");
    let output = "pub fn main() {\n    println!(\"hello\");\n}\n".repeat(6);
    vec![
        host(
            "iteration_start",
            json!({"iteration": number, "provider": "mock", "model": "m-1"}),
        ),
        host(
            "loop_checkpoint",
            json!({"iteration": number, "kind": "iteration_start", "delivered": 0}),
        ),
        host(
            "tool_call",
            json!({"tool_call_id": id, "tool_name": "read_file", "kind": "read",
            "raw_input": {"path": "src/main.rs", "limit": 200}}),
        ),
        host(
            "tool_call_update",
            json!({"tool_call_id": id, "tool_name": "read_file",
            "status": "in_progress", "executor": "harn"}),
        ),
        host(
            "tool_call_update",
            json!({"tool_call_id": id, "tool_name": "read_file",
            "status": "completed", "raw_output": output, "duration_ms": 12,
            "execution_duration_ms": 11, "executor": "harn"}),
        ),
        AgentEvent::AgentMessageChunk {
            session_id: session_id.to_owned(),
            content: "The file defines `main` and prints a greeting.".repeat(3),
        },
        host(
            "iteration_end",
            json!({"iteration": number, "iteration_info": {"tool_count": 1,
            "text": "The file defines `main`.", "provider": "mock", "model": "m-1",
            "response_ms": 812, "input_tokens": 1200, "output_tokens": 85, "thinking_chars": 0}}),
        ),
    ]
}

fn emit_with_many_sessions(effort: Effort, table: &mut Table) {
    let sessions = effort.operations(100_000);
    let session_id = |number: usize| format!("agent_session_{number:032x}");
    let one = EventBus::default();
    one.register_sink(session_id(0), Arc::new(Counting::default()));
    let many = EventBus::default();
    for number in 0..sessions {
        many.register_sink(session_id(number), Arc::new(Counting::default()));
    }
    let event = AgentEvent::AgentMessageChunk {
        session_id: session_id(0),
        content: "x".repeat(40),
    };
    let emit = |bus: &EventBus, operations| {
        time(|| (0..operations).for_each(|_| bus.emit(black_box(&event))))
    };
    let samples = versus(
        effort,
        effort.operations(200_000),
        |operations| emit(&many, operations),
        |operations| emit(&one, operations),
    );
    table.times(
        &format!("emit to a counting sink, {sessions} sessions registered"),
        "1 session registered",
        &samples,
        Goal::TimeAtMost(1.25),
    );
}

fn store_as_jsonl(effort: Effort, table: &mut Table) {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let turns = effort.operations(42_000) / 7 + 1;
    let events: Vec<AgentEvent> = (0..turns).flat_map(|number| turn("s", number)).collect();
    let lines = stored_lines(folder.path(), &events);
    let bytes: usize = lines.iter().map(String::len).sum();
    // Every round writes to the same paths, so that no side gets the fresher disk.
    let (ours, bare) = (
        folder.path().join("ours.jsonl"),
        folder.path().join("bare.jsonl"),
    );
    let write_bare = || {
        std::fs::remove_file(&bare).ok();
        let mut file = append_to(&bare);
        time(|| {
            for line in &lines {
                file.write_all(line.as_bytes()).expect("a write");
            }
        })
    };
    let open_ours = || {
        std::fs::remove_file(&ours).ok();
        JsonlEventSink::open(&ours).expect("a log")
    };
    let sink_alone = versus(
        effort,
        events.len(),
        |_| {
            let sink = open_ours();
            let spent = time(|| events.iter().for_each(|event| sink.handle_event(event)));
            assert_eq!(sink.event_count(), events.len() as u64);
            spent
        },
        |_| write_bare(),
    );
    let through_the_bus = versus(
        effort,
        events.len(),
        |_| {
            let bus = EventBus::default();
            let sink = open_ours();
            bus.register_sink("s", sink.clone());
            let spent = time(|| events.iter().for_each(|event| bus.emit(event)));
            assert_eq!(sink.event_count(), events.len() as u64);
            spent
        },
        |_| write_bare(),
    );
    let size = bytes / lines.len();
    let peer = "`write_all` of the same lines";
    let work = format!("store an event with the JSONL sink, {size} B a record");
    table.times(&work, peer, &sink_alone, Goal::SpeedAtLeast(0.5));
    let work = format!("emit to a bus with a JSONL sink, {size} B a record");
    table.times(&work, peer, &through_the_bus, Goal::Shown);
}

fn append_to(path: &std::path::Path) -> File {
    OpenOptions::new()
        .append(true)
        .create(true)
        .open(path)
        .expect("a file")
}

/// The lines the sink writes for these events, each with its newline.
fn stored_lines(folder: &std::path::Path, events: &[AgentEvent]) -> Vec<String> {
    let path = folder.join("lines.jsonl");
    let sink = JsonlEventSink::open(&path).expect("a log");
    events.iter().for_each(|event| sink.handle_event(event));
    let text = std::fs::read_to_string(&path).expect("the log");
    text.split_inclusive('\n').map(str::to_owned).collect()
}

fn decode_lines(effort: Effort, table: &mut Table) {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let turns = effort.operations(4000) / 7 + 1;
    let events: Vec<AgentEvent> = (0..turns).flat_map(|number| turn("s", number)).collect();
    let lines = stored_lines(folder.path(), &events);
    let samples = versus(
        effort,
        lines.len(),
        |_| {
            time(|| {
                for line in &lines {
                    black_box(StoredRecord::decode(line.trim_end()).expect("a record"));
                }
            })
        },
        |_| {
            time(|| {
                for line in &lines {
                    black_box(serde_json::from_str::<Value>(line.trim_end()).expect("JSON"));
                }
            })
        },
    );
    table.times(
        "decode a stored record into a typed event",
        "`serde_json::from_str::<Value>` of the same lines",
        &samples,
        Goal::SpeedAtLeast(1.0),
    );
}

/// Opens, uses and closes sessions. Everything they had must be given back.
fn open_and_close_sessions(effort: Effort, table: &mut Table) {
    let sessions = effort.operations(100_000);
    let bus = EventBus::new(BusConfig {
        sessions_max: usize::MAX,
        ..BusConfig::default()
    });
    let session_id = |number: usize| format!("agent_session_{number:032x}");
    let chunk = |number: usize| AgentEvent::AgentMessageChunk {
        session_id: session_id(number),
        content: "x".into(),
    };
    // What the bus makes once, on first use, is not the sessions' doing.
    bus.open_session("first").expect("room");
    bus.emit(&chunk(0));
    bus.close_session("first", CloseSession::default());
    let before = HEAP.live_bytes();
    for number in 0..sessions {
        bus.open_session(&session_id(number)).expect("room for all");
        bus.register_sink(session_id(number), Arc::new(Counting::default()));
        bus.emit(&chunk(number));
    }
    let peak = HEAP.live_bytes();
    for number in 0..sessions {
        bus.close_session(&session_id(number), CloseSession::default());
    }
    let kept = HEAP.live_bytes().saturating_sub(before);
    let health = bus.health();
    assert_eq!(
        (health.sessions, health.sinks, health.open_sessions),
        (0, 0, 0)
    );
    let grown = peak - before;
    let share = kept as f64 / grown as f64;
    table.row(
        &format!("heap after {sessions} sessions were opened and closed"),
        &format!("its peak, {} B a session", grown / sessions),
        &kibibytes(kept),
        &kibibytes(grown),
        &format!("{:.1} % of the peak", share * 100.0),
        "≤ 1 %",
        share <= 0.01 || effort == Effort::Smoke,
    );
}

fn kibibytes(bytes: usize) -> String {
    format!("{:.1} KiB", bytes as f64 / 1024.0)
}
