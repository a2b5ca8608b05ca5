//! What the language brings along: the declaration of every builtin, as data.
//!
//! ```text
//! text.rs, files.rs, llm.rs, … ──► one sorted slice, made by the compiler ──► find(name)
//! ```
//!
//! One line of a table is one builtin. The checker, the machine, the journal, the editor and
//! the book read the same line, so they cannot disagree about it:
//!
//! ```text
//! "env(name: string) -> string | nil" [string nil] Io "Gives an environment variable.";
//!  └ signature, in Harn            ┘ └ result  ┘ └ effect  └ documentation
//! ```
//!
//! The result is what the checker infers for a call, by appendix B of the language. It says
//! less than the signature, and now and then something else, because programs must be
//! accepted or refused by the former.
//!
//! Calls of a builtin are accepted if its name is in that appendix. What other documents
//! describe beyond it is [`unlisted`]: the machine may know such a function, but a call of
//! it is refused unless section 9.9 exempts the name. Those whose names begin with `__` are
//! parts of the library itself, and exist only for its own files.

mod methods;
mod signature;
mod table;

mod agents;
mod collections;
mod concurrency;
mod data;
mod encoding;
mod files;
mod http;
mod intrinsics;
mod llm;
mod mcp;
mod numbers;
mod observability;
mod output;
mod people;
mod process;
mod state;
mod text;
mod time;
mod tools;
mod transcripts;
mod transport;
mod triggers;
mod unlisted;
mod values;
mod workflows;

pub use methods::{Method, methods};

/// A function, or now and then a value, that needs no declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Builtin {
    /// Its name; members of a namespace are written with a dot, as in `stream.map`.
    pub name: &'static str,
    /// Its declaration in Harn: `name<T>(a: int, b: string = "") -> T`, or `name: type` if it
    /// is no function. A parameter that may be left out has a default.
    pub signature: &'static str,
    /// How many type arguments it takes, if any are given.
    pub type_parameters: usize,
    /// The names of the types its result can have; none if nothing is known about it.
    pub result: &'static [&'static str],
    /// What it needs besides its arguments.
    pub effect: Effect,
    /// What it does, in a sentence.
    pub doc: &'static str,
    /// Whether the checker knows it, so that calls of it are accepted.
    pub known: bool,
}

/// What a builtin needs besides its arguments. A journal has to keep the answers of all but
/// the first kind, or a run could not be repeated.
///
/// What changes how others work has their kind: a mocked clock is a clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    /// Nothing but the state of its own run, such as channels and registries.
    Pure,
    /// The time.
    Clock,
    /// Chance, also for new ids.
    Random,
    /// Files, processes, the network, the terminal, the host or people.
    Io,
    /// Models, or what is configured about them.
    Model,
}

/// What belongs together.
#[derive(Clone, Copy, Debug)]
pub struct Area {
    /// A word for it.
    pub name: &'static str,
    /// What it is about.
    pub title: &'static str,
    /// Its builtins, sorted by name.
    pub builtins: &'static [Builtin],
}

/// Every builtin that the checker knows, by what it is about. Areas are sorted by name.
pub fn areas() -> &'static [Area] {
    table::AREAS
}

/// Every builtin that the checker knows, sorted by name.
pub fn all() -> &'static [Builtin] {
    &table::BUILTINS
}

/// Every builtin that the checker does not know, sorted by name.
pub fn unlisted() -> &'static [Builtin] {
    &table::UNLISTED
}

/// The builtin of that name, if the checker knows it.
pub fn find(name: &str) -> Option<&'static Builtin> {
    search(all(), name)
}

/// The builtin of that name, whether the checker knows it or not.
pub fn find_any(name: &str) -> Option<&'static Builtin> {
    find(name).or_else(|| search(unlisted(), name))
}

fn search(sorted: &'static [Builtin], name: &str) -> Option<&'static Builtin> {
    let at = sorted.binary_search_by_key(&name, |builtin| builtin.name);
    at.ok().map(|at| &sorted[at])
}

#[cfg(test)]
mod tests;
