//! What a server writes to its error output: for the operator, in small doses.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use harn_agent::events::{Completeness, RedactionPolicy};
use harn_agent::tool_servers::ServerConfig;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::time::Instant;

/// How much of a line is kept.
const LINE_BYTES_MAX: usize = 2 * 1024;

/// How many lines are passed on in a second. More are counted and not shown.
const LINES_MAX: usize = 50;

/// How many lines are kept to explain an end.
const KEPT_MAX: usize = 8;

/// The last lines that a server wrote to its error output.
#[derive(Clone, Default)]
pub(crate) struct LastWords(Arc<Mutex<VecDeque<String>>>);

impl LastWords {
    /// They, to be put behind a sentence; empty if there were none.
    pub(crate) fn detail(&self) -> String {
        let lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match lines.is_empty() {
            true => String::new(),
            false => format!(
                "; its last words: {}",
                Vec::from_iter(lines.iter().cloned()).join(" | ")
            ),
        }
    }

    fn keep(&self, line: String) {
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() == KEPT_MAX {
            lines.pop_front();
        }
        lines.push_back(line);
    }
}

/// The rules that hide what must not be shown of a server.
pub(crate) fn redaction(config: &ServerConfig) -> RedactionPolicy {
    let secrets = config.secrets().into_iter();
    secrets.fold(RedactionPolicy::new(), |policy, secret| {
        policy.with_secret(secret.expose())
    })
}

/// Reads an error output to its end.
pub(super) async fn read(
    server: String,
    mut output: impl AsyncRead + Unpin,
    policy: RedactionPolicy,
    last_words: LastWords,
) {
    let mut dose = Dose::new();
    let mut line = Vec::new();
    let mut piece = vec![0; 4096];
    while let Ok(count @ 1..) = output.read(&mut piece).await {
        for byte in &piece[..count] {
            match byte {
                b'\n' => say(&server, &mut line, &policy, &last_words, &mut dose),
                byte if line.len() < LINE_BYTES_MAX => line.push(*byte),
                _ => {}
            }
        }
    }
    say(&server, &mut line, &policy, &last_words, &mut dose);
}

fn say(
    server: &str,
    line: &mut Vec<u8>,
    policy: &RedactionPolicy,
    last_words: &LastWords,
    dose: &mut Dose,
) {
    let text = String::from_utf8_lossy(line);
    let text: String = text.chars().filter(|letter| !letter.is_control()).collect();
    line.clear();
    if text.trim().is_empty() {
        return;
    }
    let text = policy.redact_text(&text, Completeness::Whole).into_owned();
    if dose.takes() {
        tracing::info!(target: "mcp.stderr", server, "{text}");
    }
    last_words.keep(text);
}

/// A number of lines for every second.
struct Dose {
    since: Instant,
    taken: usize,
}

impl Dose {
    fn new() -> Self {
        Self {
            since: Instant::now(),
            taken: 0,
        }
    }

    fn takes(&mut self) -> bool {
        if self.since.elapsed() >= Duration::from_secs(1) {
            *self = Self::new();
        }
        self.taken += 1;
        self.taken <= LINES_MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[tokio::test]
    async fn the_last_lines_are_kept_without_secrets() {
        let config = json!({"name": "a", "command": "c", "env": {"K": "marked-value"}});
        let config = ServerConfig::read(&config).unwrap();
        let words = LastWords::default();
        let mut written = String::new();
        for number in 0..100_000 {
            written.push_str(&format!("line {number}\n"));
        }
        written.push_str("the key is marked-value \u{1b}[31m\n");
        written.push_str(&"x".repeat(1_000_000));
        read(
            "a".to_owned(),
            written.as_bytes(),
            redaction(&config),
            words.clone(),
        )
        .await;
        let detail = words.detail();
        assert!(
            detail.contains("line 99999 | the key is [redacted]"),
            "{detail}"
        );
        assert!(!detail.contains("line 99993"), "{detail}");
        assert!(detail.len() < KEPT_MAX * (LINE_BYTES_MAX + 10));
    }
}
