//! Which registers are in use.

use super::unit::Compiler;

/// More than any program needs, and few enough that a window always fits behind.
const REGISTERS_MAX: u16 = 60_000;

impl Compiler<'_> {
    /// A fresh temporary. It is free again when something below it is released.
    pub(super) fn temporary(&mut self) -> u16 {
        self.window(1)
    }

    /// Consecutive temporaries.
    pub(super) fn window(&mut self, count: usize) -> u16 {
        let first = self.body.next;
        let next = u16::try_from(count)
            .ok()
            .and_then(|count| first.checked_add(count));
        match next.filter(|next| *next <= REGISTERS_MAX) {
            Some(next) => {
                self.body.next = next;
                self.body.registers = self.body.registers.max(next);
                first
            }
            None => {
                self.fail("function is too large");
                first
            }
        }
    }

    /// Consecutive temporaries for a result that goes to `d`, beginning with `d` if that is
    /// the uppermost temporary: nothing is in it yet.
    pub(super) fn window_for(&mut self, d: u16, count: usize) -> u16 {
        if self.is_temporary(d) && d.checked_add(1) == Some(self.body.next) {
            self.window(count.saturating_sub(1));
            return d;
        }
        self.window(count)
    }

    pub(super) fn is_temporary(&self, register: u16) -> bool {
        register >= self.body.temporaries
    }

    /// What is in use now, to return to with [`Self::release`].
    pub(super) fn mark(&self) -> u16 {
        self.body.next
    }

    /// Frees all temporaries that came after the mark.
    pub(super) fn release(&mut self, mark: u16) {
        self.body.next = mark;
    }

    /// A register that may be written before the end of an expression whose value goes to
    /// `d`: a variable would be seen by the rest of the expression, unless it is just being
    /// bound.
    pub(super) fn intermediate(&mut self, d: u16) -> u16 {
        match self.is_temporary(d) || self.body.fresh == Some(d) {
            true => d,
            false => self.temporary(),
        }
    }

    /// The register of a slot.
    pub(super) fn slot(&mut self, slot: u32) -> u16 {
        let register = u16::try_from(slot)
            .ok()
            .and_then(|slot| self.body.slot_base.checked_add(slot));
        register.unwrap_or_else(|| {
            self.fail("function is too large");
            0
        })
    }

    /// Sets aside registers that variables need, before there are temporaries.
    pub(super) fn variables(&mut self, count: u32) -> u16 {
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        let first = self.window(count);
        self.body.temporaries = self.body.next;
        first
    }
}
