//! What a function takes along from the one around it.

use harn_check::resolve::{Capture, FrameId, Place};

use super::body::Held;
use super::unit::Compiler;
use crate::code::{CaptureFrom, Op};

/// What a function takes along, and how it holds it.
#[derive(Default)]
pub(super) struct Taken {
    pub(super) from: Vec<CaptureFrom>,
    pub(super) held: Vec<Held>,
}

impl Compiler<'_> {
    /// What a frame takes along from the function that is being compiled. `own` is where the
    /// function itself will be, if it has a name in a block: it finds itself without taking
    /// itself along, or it would never be freed.
    pub(super) fn taken_by(&mut self, at: u32, frame: FrameId, own: Option<Place>) -> Taken {
        let resolved = self.resolved;
        let frame = resolved.frames.get(frame.0 as usize);
        let mut taken = Taken::default();
        for capture in frame.map_or(&[][..], |frame| &frame.captures) {
            let held = match capture.is_late && own == Some(capture.from) {
                true => Held::Itself,
                false => self.take(at, capture, &mut taken.from),
            };
            taken.held.push(held);
        }
        taken
    }

    fn take(&mut self, at: u32, capture: &Capture, from: &mut Vec<CaptureFrom>) -> Held {
        let (source, is_cell) = match capture.from {
            Place::Local(slot) => {
                let announced = self.body.announced.get(&slot);
                let is_cell = announced.is_some_and(|function| function.is_cell);
                (CaptureFrom::Register(self.slot(slot)), is_cell)
            }
            Place::Captured(outer) => match self.held(outer) {
                Held::Capture(position) => (CaptureFrom::Capture(position), false),
                Held::Cell(position) => (CaptureFrom::Capture(position), true),
                Held::Register(register) => (CaptureFrom::Register(register), false),
                Held::Itself => {
                    let register = self.temporary();
                    self.op(at, Op::GetSelf, register, 0, 0);
                    (CaptureFrom::Register(register), false)
                }
                Held::Global(global) => return Held::Global(global),
            },
            Place::Top(top) => match self.top_register(top) {
                Some(register) => (CaptureFrom::Register(register), false),
                None => return Held::Global(self.top_global(top)),
            },
            Place::Global(_) | Place::Builtin(_) => return Held::Global(0), // Never taken along.
        };
        let position = self.narrow(from.len());
        from.push(source);
        match is_cell {
            true => Held::Cell(position),
            false => Held::Capture(position),
        }
    }

    /// How a capture of the function that is being compiled is held.
    pub(super) fn held(&self, capture: u32) -> Held {
        let held = self.body.held.get(capture as usize);
        held.copied().unwrap_or(Held::Global(0))
    }

    /// The register of a variable at the top level, if that is where it is.
    pub(super) fn top_register(&mut self, top: u32) -> Option<u16> {
        let register = self.tops.register(top)?;
        let register = u16::try_from(register).ok()?;
        self.body.top_base.checked_add(register)
    }

    /// Copies captures that are assigned into registers: every activation has its own.
    pub(super) fn copy_assigned(&mut self, at: u32, frame: FrameId) {
        let resolved = self.resolved;
        let Some(frame) = resolved.frames.get(frame.0 as usize) else {
            return;
        };
        for (position, capture) in frame.captures.iter().enumerate() {
            let Some(Held::Capture(from)) = self.body.held.get(position).copied() else {
                continue;
            };
            if capture.is_assigned {
                let register = self.variables(1);
                self.op(at, Op::GetCapture, register, from, 0);
                self.body.held[position] = Held::Register(register);
            }
        }
    }
}
