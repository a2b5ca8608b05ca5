//! An agent that only writes: the most that a client library can take in.
//!
//! This program is that agent itself when it is started with `--flood COUNT`.

use std::io::{self, BufRead, BufWriter, Write};
use std::process::ExitCode;

use serde_json::{Value, json};

const FLAG: &str = "--flood";

/// How many updates it is to write, if it is started for that.
pub(crate) fn asked_for() -> Option<usize> {
    let mut arguments = std::env::args().skip_while(|argument| argument != FLAG);
    arguments.nth(1)?.parse().ok()
}

/// The arguments that start it.
pub(crate) fn arguments(count: usize) -> [String; 2] {
    [FLAG.to_owned(), count.to_string()]
}

pub(crate) fn run(count: usize) -> ExitCode {
    match answer(count) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

fn answer(count: usize) -> io::Result<()> {
    let mut output = BufWriter::new(io::stdout().lock());
    for line in io::stdin().lock().lines() {
        let asked: Value = serde_json::from_str(&line?)?;
        let result = match asked["method"].as_str() {
            Some("initialize") => json!({"protocolVersion": 1, "agentCapabilities": {}}),
            Some("session/new") => json!({"sessionId": "s"}),
            Some("session/prompt") => {
                write_updates(&mut output, count)?;
                json!({"stopReason": "end_turn"})
            }
            _ => continue,
        };
        let answer = json!({"jsonrpc": "2.0", "id": asked["id"], "result": result});
        writeln!(output, "{answer}")?;
        output.flush()?;
    }
    Ok(())
}

/// The same frames as ours would be.
fn write_updates(output: &mut impl Write, count: usize) -> io::Result<()> {
    for index in 0..count {
        let update = json!({
            "sessionUpdate": "agent_thought_chunk",
            "content": {"type": "text", "text": "x"},
            "messageId": "message-1",
            "_meta": {"harn": {"index": index}},
        });
        let parameters = json!({"sessionId": "session-1", "update": update});
        let frame = json!({"jsonrpc": "2.0", "method": "session/update", "params": parameters});
        writeln!(output, "{frame}")?;
    }
    Ok(())
}
