//! Functions as values.

use std::rc::Rc;

use crate::code::Function;
use crate::value::Value;

/// A function with what it captured.
#[derive(Debug)]
pub struct Closure {
    /// The code.
    pub function: Rc<Function>,
    /// What it took along when it was made.
    pub(crate) captures: Vec<Value>,
}
