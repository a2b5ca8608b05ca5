//! The methods that `impl` blocks define.
//!
//! A method is found by the name of a struct among the methods of the file that calls it.

use std::rc::Rc;

use hashbrown::HashMap;

use crate::closure::Closure;
use crate::code::Site;
use crate::value::{Struct, Text};

/// All methods.
#[derive(Default)]
pub(crate) struct Methods {
    /// By file, struct and method.
    by_name: HashMap<(u32, Text, Text), usize>,
    methods: Vec<Rc<Closure>>,
    /// How often a method was defined again: what call sites remember is only good for one.
    version: usize,
}

/// Where the version begins in what a call site remembers.
const VERSION_SHIFT: u32 = 32;

impl Methods {
    /// Defines a method.
    pub(crate) fn define(&mut self, module: u32, name: Text, method: Text, closure: Rc<Closure>) {
        let key = (module, name, method);
        match self.by_name.get(&key) {
            Some(at) => self.methods[*at] = closure,
            None => {
                self.by_name.insert(key, self.methods.len());
                self.methods.push(closure);
                self.version += 1;
            }
        }
    }

    /// The method that a call site means.
    pub(crate) fn find(&self, module: u32, value: &Struct, site: &Site) -> Option<&Rc<Closure>> {
        let shape = Rc::as_ptr(&value.shape).addr();
        let known = site.found.get();
        if site.seen.get() == shape && known >> VERSION_SHIFT == self.version {
            return self.methods.get(known & u32::MAX as usize);
        }
        let key = (module, value.shape.name.clone(), site.name.clone());
        let at = *self.by_name.get(&key)?;
        site.seen.set(shape);
        site.found.set(self.version << VERSION_SHIFT | at);
        self.methods.get(at)
    }
}
