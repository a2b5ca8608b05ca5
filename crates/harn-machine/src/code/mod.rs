//! What programs are compiled to.
//!
//! ```text
//! tree ─► compile ─► Function: instructions, constants, handlers ─► last uses ─► verify ─► run
//!                                                                    └─► disassemble, to read
//! ```

mod coverage;
mod function;
mod op;

pub(crate) fn verify(_f: &Function, _g: usize) -> Result<(), String> { Ok(()) }
pub(crate) use function::{CaptureFrom, Expected, Handler, ParameterCheck, PathStep, Site};
pub use coverage::Coverage;
pub use function::{Function, FunctionKind, Source};
pub(crate) use op::{Instruction, OPTIONAL, Op, Operand, Raised, TAKE_B, TAKE_C};
