//! `cargo xtask bench llm`: how models are asked, against the official SDKs and against a bare
//! HTTP client.
//!
//! On paper, before measuring: a frame of a stream has some 200 bytes of which 10 are new text.
//! Cutting it out costs one look at each byte, and reading its JSON some 500 ns, so 10 MB should
//! take a tenth of a second; an SDK in Python makes objects of everything, 20 µs a frame or
//! more. A request to a server on the same machine takes 100 µs, most of it in the kernel;
//! writing its body and reading a short answer takes a tenth of that. A stream that waits needs
//! a connection with its buffers, some 20 KB, and what was said so far.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "the table is this program's output"
)]

mod crowd;
mod requests;
mod sdk;
mod server;
mod streams;

use std::hint::black_box;
use std::process::ExitCode;
use std::time::Duration;

use harn_bench::{Effort, Goal, Table, is_wanted, time, versus};
use harn_llm::partial_json::PartialJson;
use mimalloc::MiMalloc;
use sdk::Sdk;
use streams::{Stream, WIRES};

/// What the `harn` program uses as well.
#[global_allocator]
static HEAP: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    // A server and a crowd of clients are processes of their own: what they need must not be
    // counted here, and what is needed here must not be counted there.
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["serve"] => return server::run(),
        ["crowd", url, count] => return crowd::run(url, count),
        _ => {}
    }
    let effort = Effort::from_args();
    match measure(effort) {
        Ok(table) => {
            println!("{}", table.render());
            match table.all_met() || effort == Effort::Smoke {
                true => ExitCode::SUCCESS,
                false => ExitCode::FAILURE,
            }
        }
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

fn measure(effort: Effort) -> Result<Table, String> {
    let mut table = Table::new();
    if is_wanted("decode") {
        decode(effort, &mut table)?;
    }
    if is_wanted("arguments") {
        arguments(effort, &mut table);
    }
    if is_wanted("requests") {
        requests::measure(effort, &mut table)?;
    }
    if is_wanted("crowd") {
        crowd::measure(effort, &mut table)?;
    }
    Ok(table)
}

/// A long stream of each wire, from bytes to a whole answer.
fn decode(effort: Effort, table: &mut Table) -> Result<(), String> {
    let bytes = match effort {
        Effort::Full => 10_000_000,
        Effort::Smoke => 100_000,
    };
    for wire in WIRES {
        let stream = Stream::of_at_least(wire, bytes);
        let mut sdk = Sdk::start(&stream)?;
        let samples = versus(
            effort,
            stream.frames,
            |_| {
                time(|| {
                    black_box(stream.decode());
                })
            },
            |_| sdk.decode(),
        );
        table.times(
            &format!(
                "decode a frame of a stream of {:.1} MB on the wire {}",
                stream.bytes.len() as f64 / 1e6,
                wire.name()
            ),
            &format!("the SDK for Python, `{}`", sdk::package(wire)),
            &samples,
            Goal::SpeedAtLeast(5.0),
        );
    }
    Ok(())
}

const LONG_BYTES: usize = 1 << 20;
const SHORT_BYTES: usize = 64 << 10;
/// About what a token of arguments is.
const PIECE_BYTES: usize = 4;

/// The arguments of a call that come in small pieces, in one long call and in short ones.
fn arguments(effort: Effort, table: &mut Table) {
    let long = argument(LONG_BYTES);
    let short = argument(SHORT_BYTES);
    let samples = versus(
        effort,
        LONG_BYTES,
        |_| read(&long),
        |_| {
            let times = (0..LONG_BYTES / SHORT_BYTES).map(|_| read(&short));
            times.sum::<Duration>()
        },
    );
    table.times(
        "read a byte of arguments of 1 MiB that come in pieces of 4 B",
        "arguments of 64 KiB",
        &samples,
        Goal::TimeAtMost(1.5),
    );
}

/// What a model writes when it edits a file: a path, some numbers and a long text.
fn argument(bytes: usize) -> String {
    let line = r#"    let value = \"a \\\"quoted\\\" word\"; // größer\n"#;
    let head = r#"{"path": "src/main.rs", "ranges": [[1, 20], [40, 77]], "text": ""#;
    let mut text = head.to_owned();
    while text.len() + line.len() + 2 < bytes {
        text.push_str(line);
    }
    text + "\"}"
}

fn read(text: &str) -> Duration {
    time(|| {
        let mut reader = PartialJson::default();
        let mut rest = text;
        while !rest.is_empty() {
            let end = rest.ceil_char_boundary(PIECE_BYTES);
            reader.push(&rest[..end]);
            rest = &rest[end..];
        }
        black_box(reader.snapshot());
    })
}
