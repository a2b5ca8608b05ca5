//! Functions as values.

use std::rc::Rc;

use crate::code::Function;
use crate::value::{Value, bury};

/// A function with what it captured.
#[derive(Debug)]
pub struct Closure {
    /// The code.
    pub function: Rc<Function>,
    /// What it took along when it was made.
    pub(crate) captures: Vec<Value>,
}

impl Drop for Closure {
    /// A function captures one that captures another: a chain of them is as deep as one likes.
    fn drop(&mut self) {
        if self.captures.iter().any(Value::is_container) {
            bury(std::mem::take(&mut self.captures));
        }
    }
}
