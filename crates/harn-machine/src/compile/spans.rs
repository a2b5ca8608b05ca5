//! Spans: who wants to see what a program spends its time on finds them here.
//!
//! Only programs that speak of `enable_tracing` have them, in all files of their own; nobody else
//! pays for them. A span is a pair of calls around some code, the second of which is made however
//! the code is left.

use super::exits::GuardKind;
use super::unit::Compiler;
use crate::code::Op;

/// What a program calls that wants to see spans.
const SWITCH: &str = "enable_tracing";

/// Whether a file may be the one that wants to see spans.
pub(crate) fn speaks_of_tracing(text: &str) -> bool {
    text.contains(SWITCH)
}

impl Compiler<'_> {
    /// Whether code of this file is traced.
    pub(super) fn traces(&self) -> bool {
        self.unit.is_traced
    }

    /// Code that is a span of some kind, or no span if there is no kind.
    pub(super) fn with_span(
        &mut self,
        at: u32,
        kind: Option<&str>,
        name: &str,
        code: impl FnOnce(&mut Self),
    ) {
        let Some(kind) = kind.filter(|_| self.traces()) else {
            return code(self);
        };
        let error = self.temporary();
        let span = self.open_span(at, kind, name);
        self.guard(error, GuardKind::Span(span));
        code(self);
        let Some(guarded) = self.end_guard() else {
            return;
        };
        self.close_span(at, span);
        let end = self.jump(at, Op::Jump, 0);
        self.handle(&guarded);
        self.close_span(at, span);
        self.op(at, Op::Rethrow, error, 0, 0);
        self.land(end);
    }

    fn open_span(&mut self, at: u32, kind: &str, name: &str) -> u16 {
        let span = self.temporary();
        let mark = self.mark();
        let window = self.window(2);
        self.load_text(at, window, kind);
        self.load_text(at, window.saturating_add(1), name);
        let open = self.known_builtin("__span_open");
        self.op_n(at, Op::CallBuiltin, 2, span, window, open);
        self.release(mark);
        span
    }

    /// Closes the span whose number is in a register.
    pub(super) fn close_span(&mut self, at: u32, span: u16) {
        let mark = self.mark();
        let window = self.temporary();
        self.copy(at, window, span);
        let close = self.known_builtin("__span_close");
        self.op_n(at, Op::CallBuiltin, 1, window, window, close);
        self.release(mark);
    }
}
