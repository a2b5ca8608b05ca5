//! The methods that `impl` blocks define.
//!
//! A method is found by the name of a struct where it is called: among the methods that the
//! functions around the call define, then among those of the file. Each of these places has a
//! table, known by its number.

use std::rc::Rc;

use hashbrown::HashMap;

use crate::closure::Closure;
use crate::code::Site;
use crate::value::{Struct, Text};

/// All methods.
#[derive(Default)]
pub(crate) struct Methods {
    /// By table, struct and method.
    by_name: HashMap<(u32, Text, Text), usize>,
    methods: Vec<Rc<Closure>>,
    /// How often a method was defined again: what call sites remember is only good for one.
    version: usize,
}

/// Where the version begins in what a call site remembers.
const VERSION_SHIFT: u32 = 32;

impl Methods {
    /// Defines a method.
    pub(crate) fn define(&mut self, table: u32, name: Text, method: Text, closure: Rc<Closure>) {
        let key = (table, name, method);
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
    pub(crate) fn find(&self, tables: &[u32], value: &Struct, site: &Site) -> Option<&Rc<Closure>> {
        let shape = Rc::as_ptr(&value.shape).addr();
        let known = site.found.get();
        if site.seen.get() == shape && known >> VERSION_SHIFT == self.version {
            return self.methods.get(known & u32::MAX as usize);
        }
        let at = tables.iter().find_map(|table| {
            let key = (*table, value.shape.name.clone(), site.name.clone());
            self.by_name.get(&key).copied()
        })?;
        site.seen.set(shape);
        site.found.set(self.version << VERSION_SHIFT | at);
        self.methods.get(at)
    }
}
