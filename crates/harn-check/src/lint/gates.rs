//! What ought to come before something with consequences: a look for secrets, a question to a
//! person. A gate counts for everything after it in the same body, and a function of the file
//! that holds one is one itself.

use super::Context;

/// Builtins that look for secrets in a text.
pub(super) const SCANS: &[&str] = &["secret_scan", "self_review"];

/// Builtins that wait for the consent of a person.
pub(super) const ASKS: &[&str] = &[
    "request_approval",
    "dual_control",
    "ask_user",
    "escalate_to",
];

/// What the body that is walked has passed so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Gates {
    pub(super) scanned: bool,
    pub(super) asked: bool,
}

impl Gates {
    /// Notes a call.
    pub(super) fn pass(&mut self, ctx: &Context<'_>, name: &str) {
        self.scanned |= SCANS.contains(&name) || ctx.names.scanners.contains(name);
        self.asked |= ASKS.contains(&name) || ctx.names.askers.contains(name);
    }
}
