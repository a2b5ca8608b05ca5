//! What programs are compiled to.
//!
//! ```text
//! tree ─► compile ─► Function: instructions, constants, handlers ─► last uses ─► verify ─► run
//!                                                                    └─► disassemble, to read
//! ```

mod coverage;
mod disassemble;
mod function;
mod last_use;
mod op;
mod registers;
mod verify;

pub use coverage::Coverage;
pub use disassemble::disassemble;
pub(crate) use function::{CaptureFrom, Expected, Handler, Keep, ParameterCheck, PathStep, Site};
pub use function::{Function, FunctionKind, Source};
pub(crate) use last_use::mark_last_uses;
pub(crate) use op::{Instruction, OPTIONAL, Op, Raised, TAKE_B, TAKE_C};
pub(crate) use verify::verify;
