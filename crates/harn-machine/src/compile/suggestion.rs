//! Names that lead nowhere.
//!
//! What could be meant instead is looked for when the name is used. The machine knows all
//! builtins, but not which variables were visible.

use harn_syntax::tree::Name;
use smol_str::SmolStr;

use super::body::ConstantKey;
use super::unit::Compiler;
use crate::code::Raised;
use crate::suggest::suggest;
use crate::value::Value;

/// How many of the variables that are visible are compared with a name, the innermost first.
const COMPARED_MAX: usize = 500;

impl Compiler<'_> {
    /// Fails because a variable is not there.
    pub(super) fn raise_undefined_variable(&mut self, name: &Name) {
        let visible = self.visible.iter().rev().take(COMPARED_MAX);
        let others = visible.filter(|other| **other != name.text);
        let meant = suggest(&name.text, others.map(SmolStr::as_str));
        let constant = match meant.map(Value::text) {
            Some(meant) => {
                self.constant_value([Value::text(&name.text), meant].into_iter().collect())
            }
            None => self.constant(ConstantKey::Text(name.text.clone())),
        };
        self.raise_constant(name.span.start, Raised::UndefinedVariable, constant);
    }

    /// Fails because a function is not there.
    pub(super) fn raise_undefined_builtin(&mut self, name: &Name) {
        let constant = self.constant(ConstantKey::Text(name.text.clone()));
        self.raise_constant(name.span.start, Raised::UndefinedBuiltin, constant);
    }
}
