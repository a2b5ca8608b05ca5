//! Reading variables.

use harn_check::resolve::{Declared, Place};
use harn_syntax::tree::Name;

use super::PREDEFINED;
use super::body::{ConstantKey, Held};
use super::unit::Compiler;
use crate::code::Op;
use crate::registry::BuiltinId;

/// Where a value is while a function runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spot {
    Register(u16),
    /// In a cell, which is in a register.
    Cell(u16),
    Capture(u16),
    /// In a cell, which is a capture.
    CapturedCell(u16),
    /// It is the function that runs.
    Itself,
    Global(u32),
    Builtin(BuiltinId),
}

/// A place to look for a value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    pub(super) spot: Spot,
    /// Whether something is certainly there.
    pub(super) is_certain: bool,
    /// Whether that is certainly a function, so that a call need not look any further.
    pub(super) is_function: bool,
}

/// Where the value of a binding goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    Register(u16),
    Global(u32),
    /// Nowhere.
    Dropped,
    /// Binding it fails.
    Again,
}

impl Compiler<'_> {
    /// The places where a name may be, in order, up to the first that is certain.
    pub(super) fn places(&mut self, name: &Name) -> Vec<Found> {
        let resolved = self.resolved;
        let places = resolved.use_of(name).map_or(&[][..], |used| &used.places);
        let found = places.iter().filter_map(|place| self.find(*place));
        found.collect()
    }

    pub(super) fn find(&mut self, place: Place) -> Option<Found> {
        let is_function = match place {
            Place::Local(slot) => self.body.announced.contains_key(&slot),
            Place::Captured(capture) => self.held(capture) == Held::Itself,
            Place::Top(top) => self.tops.is_function(top),
            Place::Global(_) => false,
            Place::Builtin(_) => true,
        };
        let (spot, is_certain) = match place {
            Place::Local(slot) => {
                let announced = self.body.announced.get(&slot).copied();
                let register = self.slot(slot);
                let is_cell = announced.is_some_and(|function| function.is_cell);
                let is_passed = announced.is_none_or(|function| function.is_passed);
                match is_cell {
                    true => (Spot::Cell(register), is_passed),
                    false => (Spot::Register(register), is_passed),
                }
            }
            Place::Captured(capture) => match self.held(capture) {
                Held::Capture(position) => (Spot::Capture(position), true),
                Held::Cell(position) => (Spot::CapturedCell(position), false),
                Held::Register(register) => (Spot::Register(register), true),
                Held::Itself => (Spot::Itself, true),
                Held::Global(global) => (Spot::Global(global), false),
            },
            Place::Top(top) => match self.top_register(top) {
                Some(register) => (Spot::Register(register), true),
                None => (Spot::Global(self.top_global(top)), self.tops.is_ready(top)),
            },
            Place::Global(name) => {
                let at = PREDEFINED.iter().position(|one| *one == name)?;
                (Spot::Global(u32::try_from(at).ok()?), true)
            }
            Place::Builtin(builtin) => {
                let id = BuiltinId::find(builtin.name)?;
                if id.is_intrinsic() && !self.unit.source.is_ours() {
                    return None;
                }
                (Spot::Builtin(id), true)
            }
        };
        Some(Found {
            spot,
            is_certain,
            is_function: is_certain && is_function,
        })
    }

    /// The register a variable is in, if it is certainly there.
    pub(super) fn register_of(&mut self, name: &Name) -> Option<u16> {
        let resolved = self.resolved;
        let first = *resolved.use_of(name)?.places.first()?;
        match self.find(first)? {
            Found {
                spot: Spot::Register(register),
                is_certain: true,
                ..
            } => Some(register),
            _ => None,
        }
    }

    /// Reads what is in a place.
    pub(super) fn load(&mut self, at: u32, d: u16, spot: Spot) {
        match spot {
            Spot::Register(register) => self.copy(at, d, register),
            Spot::Cell(register) => self.op(at, Op::GetLate, d, register, 0),
            Spot::Capture(capture) => self.op(at, Op::GetCapture, d, capture, 0),
            Spot::CapturedCell(capture) => {
                self.op(at, Op::GetCapture, d, capture, 0);
                self.op(at, Op::GetLate, d, d, 0);
            }
            Spot::Itself => self.op(at, Op::GetSelf, d, 0, 0),
            Spot::Global(global) => self.wide(at, Op::GetGlobal, d, global),
            Spot::Builtin(id) => {
                self.load_constant(at, d, ConstantKey::Builtin(id.position()));
            }
        }
    }

    /// Reads a variable.
    pub(super) fn read(&mut self, name: &Name, d: u16) {
        let at = name.span.start;
        let places = self.places(name);
        if let Some(first) = places.first()
            && first.is_certain
        {
            self.load(at, d, first.spot);
            return;
        }
        let mark = self.mark();
        let value = self.intermediate(d);
        let mut ends = Vec::new();
        let mut is_certain = false;
        for place in places {
            self.load(at, value, place.spot);
            if place.is_certain {
                is_certain = true;
                break;
            }
            let next = self.jump(at, Op::JumpIfAbsent, value);
            ends.push(self.jump(at, Op::Jump, 0));
            self.land(next);
        }
        if !is_certain {
            self.raise_undefined_variable(name);
        }
        self.land_all(ends);
        self.copy(at, d, value);
        self.release(mark);
    }

    /// Where the value of a name goes that is bound.
    pub(super) fn target(&mut self, name: &Name) -> Target {
        let declared = self.declared_name(name);
        self.target_of(declared)
    }

    pub(super) fn target_of(&mut self, declared: Declared) -> Target {
        match declared {
            Declared::In(Place::Local(slot)) => {
                let register = self.slot(slot);
                self.note_bound(register);
                Target::Register(register)
            }
            Declared::In(Place::Top(top)) => match self.top_register(top) {
                Some(register) => Target::Register(register),
                None => Target::Global(self.top_global(top)),
            },
            Declared::In(_) | Declared::Nowhere => Target::Dropped,
            Declared::Again => Target::Again,
        }
    }

    /// Binds a name to a value that `evaluate` puts into the register it is given.
    pub(super) fn bind(&mut self, name: &Name, evaluate: impl FnOnce(&mut Self, u16)) {
        let at = name.span.start;
        match self.target(name) {
            Target::Register(register) => {
                let outer = self.body.fresh.replace(register);
                evaluate(self, register);
                self.body.fresh = outer;
            }
            target => {
                let mark = self.mark();
                let value = self.temporary();
                evaluate(self, value);
                match target {
                    Target::Global(global) => self.wide(at, Op::SetGlobal, value, global),
                    Target::Again => self.raise_again(name),
                    Target::Register(_) | Target::Dropped => {}
                }
                self.release(mark);
            }
        }
        if !name.is_discard() {
            self.visible.push(name.text.clone());
        }
    }

    /// Binds a name to what is in a register.
    pub(super) fn bind_register(&mut self, name: &Name, value: u16) {
        match self.target(name) {
            Target::Dropped => {}
            _ => self.bind(name, |compiler, d| {
                compiler.copy(name.span.start, d, value);
            }),
        }
    }
}
