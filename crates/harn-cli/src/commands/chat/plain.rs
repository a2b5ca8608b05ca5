//! A chat without a terminal: every line of the input is a prompt, and the answers are printed.
//!
//! Nobody is there to be asked, so what would have to be approved is refused.

use std::io::{self, BufRead, Write};
use std::sync::Arc;
use std::sync::mpsc::Receiver;

use harn_vm::agent::{BoxFuture, HostBridge, HostError, Seam};
use harn_vm::{Partner, Turn, TurnRunner};
use serde_json::Value;

use super::Message;
use super::host::refused;
use super::shared::Shared;
use super::view::{CallState, Ended, Entry, Kind};
use crate::commands::Outcome;
use crate::failure_line::failure_line;
use crate::output::Output;

/// A host with nobody in front of it.
pub(super) struct NobodyThere;

impl HostBridge for NobodyThere {
    fn request<'a>(
        &'a self,
        method: &'a str,
        _parameters: Value,
    ) -> BoxFuture<'a, Result<Value, HostError>> {
        let answer = match method {
            "session/request_permission" => Ok(refused("nobody is there to be asked")),
            other => Err(format!("a chat does not know '{other}'").into()),
        };
        Box::pin(std::future::ready(answer))
    }

    fn notify(&self, _method: &str, _parameters: Value) {}

    fn take_messages(&self, _session_id: &str, _seam: Seam) -> Vec<String> {
        Vec::new()
    }

    fn take_resume(&self, _session_id: &str) -> bool {
        false
    }
}

/// Such a host.
pub(super) fn host() -> Arc<dyn HostBridge> {
    Arc::new(NobodyThere)
}

/// Answers line by line, until the input ends or a turn fails.
///
/// # Errors
/// An answer cannot be written.
pub(super) fn talk(
    shared: &Shared,
    runner: &TurnRunner,
    messages: &Receiver<Message>,
    partner: &Partner,
    output: &mut Output,
) -> io::Result<Outcome> {
    let mut outcome = Outcome::Done;
    for line in io::stdin().lock().lines() {
        let Some(prompt) = line.ok() else {
            output.error(format_args!("the input is not UTF-8"));
            return Ok(Outcome::Problems);
        };
        if prompt.trim().is_empty() {
            continue;
        }
        let before = shared.state().view.entries().len();
        let now_ms = shared.now_ms();
        shared.state().view.begin_turn(now_ms);
        runner.turn(Turn {
            partner: partner.clone(),
            prompt,
            ..Turn::default()
        });
        let ended = wait(messages);
        shared.state().view.end_turn(&ended);
        let entries = shared.state().view.entries()[before..].to_vec();
        entries.iter().try_for_each(|entry| tell(entry, output))?;
        output.flush()?;
        if matches!(ended, Ended::Failed(_)) {
            outcome = Outcome::Problems;
            break;
        }
    }
    Ok(outcome)
}

fn wait(messages: &Receiver<Message>) -> Ended {
    loop {
        match messages.recv() {
            Ok(Message::Ended(ended)) => return ended,
            Ok(_) => {}
            Err(_) => return Ended::Failed("the program has crashed".to_owned()),
        }
    }
}

/// Answers are data; everything else is talk.
fn tell(entry: &Entry, output: &mut Output) -> io::Result<()> {
    match &entry.kind {
        Kind::Answer(text) => writeln!(output, "{}", text.trim())?,
        Kind::Printed(text) => write!(output, "{text}")?,
        Kind::Call(call) => {
            let mark = if call.state == CallState::Done {
                "✓"
            } else {
                "✗"
            };
            let told = format!("{mark} {} {}", call.name, call.told);
            match call.state {
                CallState::Failed => {
                    let told = failure_line(&told, &call.result, usize::MAX);
                    output.note(format_args!("{told}"));
                }
                _ => output.note(format_args!("{}", told.trim_end())),
            }
        }
        Kind::Notice(text) => output.note(format_args!("{text}")),
        Kind::Problem(text) => output.error(format_args!("{text}")),
        Kind::Prompt(_) | Kind::Thought(_) => {}
    }
    Ok(())
}
