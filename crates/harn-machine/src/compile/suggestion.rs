//! Names that lead nowhere.
//!
//! Whether a name is found may depend on what runs, but what could be meant instead does not.

use harn_check::builtins;
use harn_check::suggest_at_run_time;
use harn_syntax::tree::Name;
use hashbrown::HashMap;
use smol_str::SmolStr;

use super::PREDEFINED;
use super::unit::Compiler;
use crate::code::Raised;

/// The builtins that resemble names.
#[derive(Default)]
pub(super) struct Suggestions {
    builtins: HashMap<SmolStr, Option<&'static str>>,
}

impl Suggestions {
    /// The builtin that resembles a name most. Looking is slow, and names repeat.
    fn builtin(&mut self, name: &SmolStr) -> Option<&'static str> {
        *self.builtins.entry(name.clone()).or_insert_with(|| {
            let names = builtins::all().iter().map(|builtin| builtin.name);
            suggest_at_run_time(name, names.filter(|name| !name.contains('.')))
        })
    }
}

impl Compiler<'_> {
    /// Fails because a variable is not there.
    pub(super) fn raise_undefined_variable(&mut self, name: &Name) {
        let builtin = self.suggestions.builtin(&name.text);
        let visible = self.visible.iter().map(SmolStr::as_str);
        let candidates = visible.chain(PREDEFINED).chain(builtin);
        let others = candidates.filter(|candidate| *candidate != name.text);
        let meant = suggest_at_run_time(&name.text, others).map(SmolStr::new);
        self.raise_undefined(name, "variable", meant);
    }

    /// Fails because a function is not there.
    pub(super) fn raise_undefined_builtin(&mut self, name: &Name) {
        let meant = self.suggestions.builtin(&name.text);
        self.raise_undefined(name, "builtin", meant.map(SmolStr::new_static));
    }

    fn raise_undefined(&mut self, name: &Name, what: &str, meant: Option<SmolStr>) {
        let at = name.span.start;
        let text = format!("Undefined {what}: {}", name.text);
        match meant {
            None => self.raise(at, Raised::Own, &text),
            Some(meant) => {
                let text = format!("{text} (did you mean `{meant}`?)");
                self.raise(at, Raised::Runtime, &text);
            }
        }
    }
}
