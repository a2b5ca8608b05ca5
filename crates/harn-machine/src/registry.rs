//! The bodies of builtins and of methods.
//!
//! What a builtin is called and takes is data in `harn-check`. What it does is registered
//! here by whoever knows: the machine itself for what belongs to fibers, the library for the
//! rest.
//!
//! ```text
//! Body::Plain    runs to its end                            upper, len, json_parse
//! Body::Waiting  is asked again until it has an answer       receive, sleep, exec
//! Body::Harn     is written in Harn, because it calls back   find, sort_by, group_by
//! Body::Each     the same, where it is worth a way of its own  map, filter, reduce
//! ```
//!
//! A body never calls a function of the program: that would be recursion in Rust, and a
//! callback could not wait. What calls back is written in Harn.

use std::cell::Cell;
use std::task::Poll;

use harn_check::builtins::{self, Builtin};
use hashbrown::HashMap;

use crate::context::{Context, Waiting, argument};
use crate::fault::Failure;
use crate::run::undefined;
use crate::value::Value;

/// A builtin, by its position among all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BuiltinId(u16);

impl BuiltinId {
    /// The builtin of that name.
    pub fn find(name: &str) -> Option<Self> {
        let listed = builtins::all();
        let position = |table: &[Builtin]| table.binary_search_by_key(&name, |one| one.name).ok();
        let at = position(listed).or_else(|| {
            let at = position(builtins::unlisted())?;
            Some(at + listed.len())
        })?;
        u16::try_from(at).ok().map(Self)
    }

    /// The builtin at that position.
    pub(crate) fn at(position: u16) -> Option<Self> {
        (usize::from(position) < Self::count()).then_some(Self(position))
    }

    /// How many there are.
    pub(crate) fn count() -> usize {
        builtins::all().len() + builtins::unlisted().len()
    }

    /// Its position.
    pub(crate) fn position(self) -> u16 {
        self.0
    }

    /// Its declaration.
    pub fn declaration(self) -> &'static Builtin {
        let at = usize::from(self.0);
        let listed = builtins::all();
        match listed.get(at) {
            Some(builtin) => builtin,
            None => &builtins::unlisted()[at - listed.len()],
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        self.declaration().name
    }

    /// Whether only the library may call it.
    pub(crate) fn is_intrinsic(self) -> bool {
        self.name().starts_with("__")
    }
}

/// A body that runs to its end. The arguments are its own: it may take them.
pub type Plain = fn(&mut Context<'_>, &mut [Value]) -> Result<Value, Failure>;

/// A body that may have to wait. It is called again with the same arguments after something
/// that it waits for has happened, and must leave them as they are until it is ready.
pub type WaitingBody =
    fn(&mut Context<'_>, &mut [Value], &mut Waiting) -> Result<Poll<Value>, Failure>;

/// What a builtin or a method does.
#[derive(Clone, Copy, Debug)]
pub enum Body {
    /// It runs to its end.
    Plain(Plain),
    /// It may have to wait.
    Waiting(WaitingBody),
    /// It goes through a list with a callback; where the machine cannot do that itself it is a
    /// function of a file of the library.
    Each {
        /// What is done.
        each: Each,
        /// The file, by its name in the registry.
        file: &'static str,
        /// The function.
        function: &'static str,
    },
    /// It is a function of a file of the library.
    Harn {
        /// The file, by its name in the registry.
        file: &'static str,
        /// The function.
        function: &'static str,
    },
}

/// What is done with each item of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Each {
    /// The values of the callback are collected.
    Map,
    /// The items are collected for which the callback gives something truthy.
    Filter,
    /// The callback is given what it gave for the item before.
    Reduce,
}

/// The kinds of value that have methods of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Receiver {
    /// Text.
    Text,
    /// Octets.
    Bytes,
    /// A list.
    List,
    /// A dict.
    Dict,
    /// A set.
    Set,
    /// A range.
    Range,
    /// An iterator.
    Iter,
    /// A generator or a stream.
    Generator,
    /// A channel.
    Channel,
}

impl Receiver {
    /// As what a value receives methods.
    pub fn of(value: &Value) -> Option<Self> {
        Some(match value {
            Value::Text(_) => Self::Text,
            Value::Bytes(_) => Self::Bytes,
            Value::List(_) => Self::List,
            Value::Dict(_) => Self::Dict,
            Value::Set(_) => Self::Set,
            Value::Range(_) => Self::Range,
            Value::Iter(_) => Self::Iter,
            Value::Generator(_) => Self::Generator,
            Value::Channel(_) => Self::Channel,
            _ => return None,
        })
    }
}

/// A method, by its position in the registry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MethodId(pub(crate) u32);

/// All bodies.
#[derive(Debug)]
pub struct Registry {
    builtins: Vec<Option<Body>>,
    methods: Vec<Body>,
    by_name: HashMap<(Receiver, &'static str), MethodId>,
    files: HashMap<&'static str, &'static str>,
    guard: Option<Guard>,
    /// Which builtins write out whatever they are given, so that all of it is gone through first.
    written_out: Vec<bool>,
    writes_out: bool,
    /// Which parameters of each builtin are texts, once that was asked for.
    texts: Vec<Cell<Option<TextParameters>>>,
}

/// Which parameters of a builtin are declared as texts: a bit for each of the first ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TextParameters(u16);

impl TextParameters {
    fn of(signature: &str) -> Self {
        let mut found = Self::default();
        let Some((_, parameters)) = signature.split_once('(') else {
            return found;
        };
        let (mut depth, mut at, mut start) = (0_u32, 0, 0);
        for (offset, character) in parameters.char_indices() {
            let is_end = matches!(character, ',' | ')') && depth == 0;
            match character {
                '(' | '[' | '{' | '<' => depth += 1,
                ')' | ']' | '}' if depth > 0 => depth -= 1,
                '>' if depth > 0 && !parameters[..offset].ends_with('-') => depth -= 1,
                _ => {}
            }
            if is_end {
                let declared = parameters[start..offset].split_once(':');
                let is_text = declared.is_some_and(|(_, ty)| ty.trim_start().starts_with("string"));
                found.0 |= u16::from(is_text).checked_shl(at).unwrap_or(0);
                (at, start) = (at + 1, offset + 1);
            }
            if character == ')' && is_end {
                break;
            }
        }
        found
    }

    /// Whether the parameter at that position is one.
    pub(crate) fn has(self, at: usize) -> bool {
        u32::try_from(at).is_ok_and(|at| self.0.checked_shr(at).unwrap_or(0) & 1 != 0)
    }
}

/// Looks at calls of builtins in tasks that have values of their own, before they are made.
/// An error is that of the call, and a value is what the call gives without being made.
pub type Guard = fn(&mut Context<'_>, BuiltinId, &[Value]) -> Result<Option<Value>, Failure>;

/// Calls what nobody here has defined.
pub(crate) const HOST_BUILTIN: &str = "__host_builtin";

impl Default for Registry {
    fn default() -> Self {
        let mut registry = Self {
            builtins: vec![None; BuiltinId::count()],
            methods: Vec::new(),
            by_name: HashMap::new(),
            files: HashMap::new(),
            guard: None,
            written_out: vec![false; BuiltinId::count()],
            writes_out: false,
            texts: vec![Cell::new(None); BuiltinId::count()],
        };
        registry.plain(&[(HOST_BUILTIN, without_host)]);
        registry
    }
}

/// What is said of a builtin, or of a function of the library, that is declared and has no body.
pub(crate) fn not_built(name: &str) -> String {
    format!("{name} is specified and not built in this version of Harn")
}

/// Without a host there is nobody else who could know a function.
fn without_host(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    Err(undefined::builtin(&argument(arguments, 0).show()))
}

impl Registry {
    /// The body of a builtin.
    ///
    /// # Panics
    ///
    /// If there is no such builtin: what is not declared cannot be registered.
    pub fn builtin(&mut self, name: &'static str, body: Body) {
        let id = BuiltinId::find(name);
        let id = id.unwrap_or_else(|| panic!("`{name}` is not declared in harn-check"));
        self.builtins[usize::from(id.0)] = Some(body);
        self.written_out[usize::from(id.0)] = self.writes_out;
    }

    /// The builtins that are registered from here on hand their arguments to a layer that is not
    /// the machine, as JSON.
    pub fn begin_writing_out(&mut self) {
        self.writes_out = true;
    }

    /// Whether a builtin writes out whatever it is given.
    pub(crate) fn is_written_out(&self, id: BuiltinId) -> bool {
        self.written_out[usize::from(id.0)]
    }

    /// Bodies that run to their end.
    pub fn plain(&mut self, bodies: &[(&'static str, Plain)]) {
        for (name, body) in bodies {
            self.builtin(name, Body::Plain(*body));
        }
    }

    /// Bodies that may have to wait.
    pub fn waiting(&mut self, bodies: &[(&'static str, WaitingBody)]) {
        for (name, body) in bodies {
            self.builtin(name, Body::Waiting(*body));
        }
    }

    /// Bodies that are functions of a file of the library, with the same names.
    pub fn harn(&mut self, file: &'static str, builtins: &[(&'static str, &'static str)]) {
        for (name, function) in builtins {
            self.builtin(name, Body::Harn { file, function });
        }
    }

    /// A method. The receiver is the first argument.
    pub fn method(&mut self, receiver: Receiver, names: &[&'static str], body: Body) {
        let id = MethodId(u32::try_from(self.methods.len()).expect("there are few methods"));
        self.methods.push(body);
        for name in names {
            self.by_name.insert((receiver, name), id);
        }
    }

    /// Who looks at calls of builtins before they are made. Tasks without values of their own
    /// are not looked at.
    pub fn set_guard(&mut self, guard: Guard) {
        self.guard = Some(guard);
    }

    pub(crate) fn guard(&self) -> Option<Guard> {
        self.guard
    }

    /// A file of the library.
    pub fn file(&mut self, name: &'static str, text: &'static str) {
        self.files.insert(name, text);
    }

    /// The text of a file of the library.
    pub fn file_text(&self, name: &str) -> Option<&'static str> {
        self.files.get(name).copied()
    }

    /// A function of a file of the library, by the name it was registered with.
    pub(crate) fn function_name(&self, file: &str, name: &str) -> Option<&'static str> {
        let bodies = self.builtins.iter().flatten().chain(&self.methods);
        let mut functions = bodies.filter_map(|body| match body {
            Body::Harn {
                file: one,
                function,
            }
            | Body::Each {
                file: one,
                function,
                ..
            } if *one == file => Some(*function),
            _ => None,
        });
        functions.find(|function| *function == name)
    }

    /// Which parameters of a builtin are texts.
    pub(crate) fn text_parameters(&self, id: BuiltinId) -> TextParameters {
        let known = &self.texts[usize::from(id.0)];
        known.get().unwrap_or_else(|| {
            let found = TextParameters::of(id.declaration().signature);
            known.set(Some(found));
            found
        })
    }

    /// What a builtin does; `None` if nobody knows.
    pub fn body(&self, id: BuiltinId) -> Option<Body> {
        self.builtins[usize::from(id.0)]
    }

    /// What a method does; `None` if values of that kind do not have it.
    pub fn method_of(&self, receiver: Receiver, name: &str) -> Option<Body> {
        let id = self.find_method(receiver, name)?;
        Some(self.method_body(id))
    }

    pub(crate) fn find_method(&self, receiver: Receiver, name: &str) -> Option<MethodId> {
        self.by_name.get(&(receiver, name)).copied()
    }

    pub(crate) fn method_body(&self, id: MethodId) -> Body {
        self.methods[id.0 as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::TextParameters;

    #[test]
    fn parameters_that_are_texts_are_known_by_their_declaration() {
        for (signature, expected) in [
            ("argv: list", vec![]),
            ("now() -> int", vec![]),
            (
                "join(items: list, separator: string = \",\") -> string",
                vec![1],
            ),
            (
                "f<T>(a: string | nil, b: fn(string, int) -> T, c: {x: string}, d: string)",
                vec![0, 3],
            ),
            ("g(a: list<string>, ...rest: string)", vec![1]),
        ] {
            let texts = TextParameters::of(signature);
            let found: Vec<usize> = (0..8).filter(|at| texts.has(*at)).collect();
            assert_eq!(found, expected, "{signature}");
        }
    }
}
