//! Calls.

use harn_syntax::tree::{Argument, Call, Expression, ExpressionKind, Name};

use super::body::ConstantKey;
use super::name::{Found, Spot};
use super::unit::Compiler;
use crate::code::Op;
use crate::registry::{BuiltinId, HOST_BUILTIN};

/// The arguments of a call, evaluated.
#[derive(Clone, Copy)]
enum Arguments {
    /// So many, in consecutive registers.
    Window { first: u16, count: u8 },
    /// In a list.
    List(u16),
}

/// What becomes of the result of a call.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Result {
    /// It goes to a register.
    To(u16),
    /// It is what the function returns. The register is for what cannot be called that way.
    Returned(u16),
}

/// The builtins whose second argument may be the name of a type.
const SCHEMA_SECOND: [&str; 6] = [
    "schema_is",
    "schema_expect",
    "schema_parse",
    "schema_check",
    "is_type",
    "json_validate",
];

impl Compiler<'_> {
    /// `name(a, ...b)`
    pub(super) fn call(&mut self, at: u32, call: &Call, d: u16) {
        self.call_to(at, call, Result::To(d));
    }

    /// `return name(a)`: the frame is given up. Afterwards control does not go on.
    pub(super) fn tail_call(&mut self, at: u32, call: &Call) {
        let mark = self.mark();
        let d = self.temporary();
        self.call_to(at, call, Result::Returned(d));
        self.release(mark);
    }

    fn call_to(&mut self, at: u32, call: &Call, result: Result) {
        let (Result::To(d) | Result::Returned(d)) = result;
        let arguments = self.arguments(at, call, d);
        self.call_places(&call.name, arguments, result);
    }

    /// Evaluates the arguments of a call whose result goes to `d`.
    fn arguments(&mut self, at: u32, call: &Call, d: u16) -> Arguments {
        let arguments = &call.arguments;
        let is_one = |argument: &Argument| matches!(argument, Argument::One(_));
        match u8::try_from(arguments.len()) {
            Ok(count) if arguments.iter().all(is_one) => {
                let first = self.window_for(d, arguments.len());
                for (position, argument) in arguments.iter().enumerate() {
                    let register = first.saturating_add(self.narrow(position));
                    self.argument(&call.name, position, argument.expression(), register);
                }
                Arguments::Window { first, count }
            }
            _ => {
                let list = self.temporary();
                self.list(at, arguments, list);
                Arguments::List(list)
            }
        }
    }

    /// An argument. Some builtins take the name of a type.
    fn argument(&mut self, callee: &Name, position: usize, value: &Expression, d: u16) {
        let takes_type = match position {
            0 => callee.text == "schema_of",
            1 => SCHEMA_SECOND.contains(&callee.text.as_str()),
            _ => false,
        };
        if takes_type
            && let ExpressionKind::Name(name) = &value.kind
            && self.declared.aliases.contains(&name.text)
        {
            return self.load_schema(value.span.start, &name.text, d);
        }
        self.evaluate(value, d);
    }

    /// Calls the first of the places of a name that holds something callable.
    fn call_places(&mut self, name: &Name, arguments: Arguments, result: Result) {
        let at = name.span.start;
        let places = self.places(name);
        let mut ends = Vec::new();
        let last = places.len().saturating_sub(1);
        for (position, place) in places.iter().enumerate() {
            if position == last || place.is_function {
                self.call_last(name, *place, arguments, result);
                self.land_all(ends);
                return;
            }
            let mark = self.mark();
            let callee = self.callee(at, place.spot);
            let next = self.jump(at, Op::JumpUnlessCallable, callee);
            self.call_spot(at, Spot::Register(callee), arguments, result);
            if let Result::To(_) = result {
                ends.push(self.jump(at, Op::Jump, 0));
            }
            self.land(next);
            self.release(mark);
        }
        self.call_host(name, arguments, result);
    }

    /// Calls what nobody here has defined. The host of the run may know it; if it does not, the
    /// name is undefined.
    fn call_host(&mut self, name: &Name, arguments: Arguments, result: Result) {
        let at = name.span.start;
        let Some(id) = BuiltinId::find(HOST_BUILTIN) else {
            return self.raise_undefined_builtin(name);
        };
        let mark = self.mark();
        let first = self.window(2);
        let list = first.saturating_add(1);
        self.load_constant(at, first, ConstantKey::Text(name.text.clone()));
        match arguments {
            Arguments::Window { first, count } => {
                self.op(at, Op::NewList, list, first, u16::from(count));
            }
            Arguments::List(given) => self.copy(at, list, given),
        }
        let both = Arguments::Window { first, count: 2 };
        self.call_spot(at, Spot::Builtin(id), both, result);
        self.release(mark);
    }

    /// Calls what is in the last place of a name. If nothing is there, the name is undefined.
    fn call_last(&mut self, name: &Name, place: Found, arguments: Arguments, result: Result) {
        let at = name.span.start;
        let is_found_by_name = match (place.spot, arguments) {
            // The machine knows what a global is called that is empty.
            (Spot::Global(global), Arguments::Window { .. }) => {
                u16::try_from(global).is_ok() && self.is_called(global, &name.text)
            }
            _ => false,
        };
        if place.is_certain || is_found_by_name {
            return self.call_spot(at, place.spot, arguments, result);
        }
        let mark = self.mark();
        let callee = self.callee(at, place.spot);
        let nothing = self.jump(at, Op::JumpIfAbsent, callee);
        self.call_spot(at, Spot::Register(callee), arguments, result);
        let end = match result {
            Result::To(_) => Some(self.jump(at, Op::Jump, 0)),
            Result::Returned(_) => None,
        };
        self.land(nothing);
        self.raise_undefined_builtin(name);
        if let Some(end) = end {
            self.land(end);
        }
        self.release(mark);
    }

    /// The register of what is called.
    fn callee(&mut self, at: u32, spot: Spot) -> u16 {
        match spot {
            Spot::Register(register) => register,
            _ => {
                let register = self.temporary();
                self.load(at, register, spot);
                register
            }
        }
    }

    fn call_spot(&mut self, at: u32, spot: Spot, arguments: Arguments, result: Result) {
        let (Result::To(d) | Result::Returned(d)) = result;
        let is_returned = matches!(result, Result::Returned(_));
        match (spot, arguments) {
            (Spot::Builtin(id), _) => {
                self.call_builtin(at, id, arguments, d);
                if is_returned {
                    self.op(at, Op::Return, d, 0, 0);
                }
            }
            (Spot::Global(global), Arguments::Window { first, count })
                if u16::try_from(global).is_ok() =>
            {
                let global = self.narrow(global as usize);
                match is_returned {
                    true => self.op_n(at, Op::TailCallGlobal, count, 0, first, global),
                    false => self.op_n(at, Op::CallGlobal, count, d, first, global),
                }
            }
            (_, Arguments::Window { first, count }) => {
                let mark = self.mark();
                let callee = self.callee(at, spot);
                match is_returned {
                    true => self.op_n(at, Op::TailCall, count, 0, first, callee),
                    false => self.op_n(at, Op::Call, count, d, first, callee),
                }
                self.release(mark);
            }
            (_, Arguments::List(list)) => {
                let mark = self.mark();
                let callee = self.callee(at, spot);
                self.op(at, Op::CallSpread, d, list, callee);
                self.release(mark);
                if is_returned {
                    self.op(at, Op::Return, d, 0, 0);
                }
            }
        }
    }

    fn call_builtin(&mut self, at: u32, id: BuiltinId, arguments: Arguments, d: u16) {
        let builtin = id.position();
        match arguments {
            Arguments::Window { first, count } => {
                self.op_n(at, Op::CallBuiltin, count, d, first, builtin);
            }
            Arguments::List(list) => self.op(at, Op::CallBuiltinSpread, d, list, builtin),
        }
    }
}
