//! `secret_scan`: where a text holds what looks like a secret, without showing it.

use harn_machine::{Context, Failure, Fault, Registry, Value, argument};
use sha2::{Digest, Sha256};

use super::detectors::{Found, find};
use crate::event_log::{self, Entry};

/// Where scans are noted.
const TOPIC: &str = "audit.secret_scan";

/// How many characters of a secret are shown at each of its ends.
const SHOWN: usize = 4;

pub(super) fn register(registry: &mut Registry) {
    registry.plain(&[("secret_scan", secret_scan)]);
}

/// `secret_scan(text)`
fn secret_scan(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let text = match argument(arguments, 0) {
        Value::Nil => return Err(Fault::runtime("secret_scan: content is required")),
        text => text.to_text(),
    };
    let findings = described(&text, &find(context.state(), &text));
    note(context, &findings);
    Ok(Value::list(findings))
}

/// Notes a scan in the event log. One that cannot be noted was made nevertheless.
fn note(context: &mut Context<'_>, findings: &[Value]) {
    let kind = match findings {
        [] => "scan_clean",
        _ => "scan_detected",
    };
    let payload = Value::dict([
        ("finding_count", findings.len().into()),
        ("findings", Value::list(findings.to_vec())),
    ]);
    let entry = Entry {
        topic: TOPIC.to_owned(),
        kind: kind.to_owned(),
        payload,
        ..Entry::default()
    };
    let _scan_was_made_anyway = event_log::append(context, entry);
}

/// Findings, sorted by where they begin, as programs see them.
fn described(text: &str, findings: &[Found]) -> Vec<Value> {
    let mut place = Place::default();
    let findings = findings.iter().map(|found| {
        place.advance(text, found.start);
        let mut end = place;
        end.advance(text, found.end);
        let secret = &text[found.start..found.end];
        let detector = found.detector;
        Value::dict([
            ("detector", detector.name.into()),
            ("source", detector.source.into()),
            ("title", detector.title.into()),
            ("line", place.line.into()),
            ("column_start", place.column.into()),
            ("column_end", end.column.into()),
            ("start_offset", found.start.into()),
            ("end_offset", found.end.into()),
            ("redacted", redacted(found, secret).into()),
            ("fingerprint", fingerprint(secret).into()),
        ])
    });
    findings.collect()
}

/// A place in a text, which only moves forward.
#[derive(Clone, Copy)]
struct Place {
    offset: usize,
    line: usize,
    column: usize,
}

impl Default for Place {
    fn default() -> Self {
        Self {
            offset: 0,
            line: 1,
            column: 1,
        }
    }
}

impl Place {
    fn advance(&mut self, text: &str, offset: usize) {
        for character in text[self.offset..offset].chars() {
            match character {
                '\n' => (self.line, self.column) = (self.line + 1, 1),
                _ => self.column += 1,
            }
        }
        self.offset = offset;
    }
}

fn redacted(found: &Found, secret: &str) -> String {
    if found.detector.finds_key_blocks() {
        return format!("{secret} …");
    }
    let characters: Vec<char> = secret.chars().collect();
    if characters.len() <= 2 * SHOWN {
        return "*".repeat(characters.len());
    }
    let first: String = characters[..SHOWN].iter().collect();
    let last: String = characters[characters.len() - SHOWN..].iter().collect();
    format!("{first}…{last}")
}

/// What tells two secrets apart without telling them.
fn fingerprint(secret: &str) -> String {
    let digest = Sha256::digest(secret.as_bytes());
    let digits = digest.iter().take(8).map(|octet| format!("{octet:02x}"));
    digits.collect()
}
