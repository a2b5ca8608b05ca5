//! What the language brings along: the signature of every builtin, as data.

mod table;

/// A function that needs no declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Builtin {
    /// Its name; members of a namespace are written with a dot, as in `stream.map`.
    pub name: &'static str,
    /// The names of the types its result can have; none if nothing is known about it.
    pub result: &'static [&'static str],
}

/// Every builtin, sorted by name.
pub fn all() -> &'static [Builtin] {
    table::BUILTINS
}

/// The builtin of that name.
pub fn find(name: &str) -> Option<&'static Builtin> {
    let at = all().binary_search_by_key(&name, |builtin| builtin.name);
    at.ok().map(|at| &all()[at])
}
