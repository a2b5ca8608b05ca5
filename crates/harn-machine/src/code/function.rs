//! A compiled function: instructions and everything they refer to.

use std::cell::Cell;
use std::ops::Range;
use std::rc::Rc;

use harn_check::Schema;
use harn_syntax::LineIndex;
use smol_str::SmolStr;

use super::coverage::Coverage;
use super::op::Instruction;
use crate::value::{Shape, Text, Value};

/// A file that functions come from.
#[derive(Debug)]
pub struct Source {
    /// The path as it is shown.
    pub path: String,
    /// The folder that assets are relative to; `None` for what is not a file.
    pub folder: Option<std::path::PathBuf>,
    /// The text.
    pub text: Rc<str>,
    /// Where its lines begin.
    pub lines: LineIndex,
    /// Whether it belongs to the library. Its functions do not show in traces, and whatever
    /// they call counts as called by a builtin.
    pub is_library: bool,
    /// Which of its lines have run, if they are counted.
    pub coverage: Option<Coverage>,
}

impl Source {
    /// Whether it comes with the language: a file of the library or a module of `std/`. Only
    /// those may call what programs cannot.
    pub(crate) fn is_ours(&self) -> bool {
        self.is_library || self.path.starts_with("<stdlib>/")
    }
}

/// What calling a function does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FunctionKind {
    /// It runs.
    Plain,
    /// It gives a generator.
    Generator,
    /// It gives a stream.
    Stream,
}

/// A compiled function.
#[derive(Debug)]
pub struct Function {
    /// Its name; `None` for a closure.
    pub name: Option<SmolStr>,
    /// What calling it does.
    pub kind: FunctionKind,
    /// The names of its parameters; the rest parameter is the last.
    pub parameters: Vec<SmolStr>,
    /// Whether the last parameter takes all that remain.
    pub has_rest: bool,
    /// Whether entering it is nothing but making a frame: it runs at once, takes no rest, and
    /// belongs to the program.
    pub(crate) is_simple: bool,
    /// Whether it is what a `tool` declaration runs: it takes what a model gives by name.
    pub is_tool: bool,
    /// Whether it belongs to the library, as its file says.
    pub(crate) is_library: bool,
    /// How many registers a frame of it needs.
    pub registers: u16,
    /// Where it comes from.
    pub source: Rc<Source>,
    /// The file it belongs to, by its number in the isolate.
    pub(crate) module: u32,
    /// The tables of methods that it sees, the innermost first: those of functions around it
    /// that define some, and that of its file.
    pub(crate) method_tables: Rc<[u32]>,
    pub(crate) code: Vec<Instruction>,
    /// Where in the source each instruction comes from: byte offsets.
    pub(crate) offsets: Vec<u32>,
    pub(crate) constants: Vec<Value>,
    pub(crate) sites: Vec<Site>,
    /// Keys of dicts, sorted, none twice.
    pub(crate) keys: Vec<Vec<Text>>,
    pub(crate) shapes: Vec<Rc<Shape>>,
    pub(crate) paths: Vec<Vec<PathStep>>,
    pub(crate) functions: Vec<Rc<Function>>,
    pub(crate) captures: Vec<CaptureFrom>,
    pub(crate) checks: Vec<ParameterCheck>,
    /// What happens to errors, the innermost first.
    pub(crate) handlers: Vec<Handler>,
    /// Where the blocks begin that run at the end, by number.
    pub(crate) defers: Vec<u32>,
    /// What such blocks need of a round that is over, of inner loops first.
    pub(crate) keeps: Vec<Keep>,
}

impl Function {
    /// The names of the parameters as they are shown.
    pub fn parameter_names(&self) -> String {
        self.parameters.join(", ")
    }
}

/// Where the closure of a function finds what it takes along.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CaptureFrom {
    /// In a register of the frame that makes it.
    Register(u16),
    /// Among the captures of that frame.
    Capture(u16),
}

/// A part of the code whose errors go somewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Handler {
    /// The first instruction.
    pub(crate) start: u32,
    /// The one after the last.
    pub(crate) end: u32,
    /// Where they go.
    pub(crate) target: u32,
    /// The register that gets the error.
    pub(crate) register: u16,
}

/// What blocks that run at the end need of a round of the loop they are in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Keep {
    /// The numbers of those blocks.
    pub(crate) blocks: Range<u32>,
    /// The variables of a round that they read.
    pub(crate) registers: Vec<u16>,
}

/// A step of a path that is assigned to.
#[derive(Clone, Debug)]
pub(crate) enum PathStep {
    /// `.name`
    Field(Text),
    /// `[index]`, in a register.
    Index(u16),
}

/// What a parameter is checked for.
#[derive(Clone, Debug)]
pub(crate) struct ParameterCheck {
    /// The parameter.
    pub(crate) parameter: SmolStr,
    /// What it must be.
    pub(crate) expected: Expected,
}

/// What a parameter must be.
#[derive(Clone, Debug)]
pub(crate) enum Expected {
    /// As a schema says.
    Schema(Schema),
    /// Something that can satisfy an interface.
    Interface(SmolStr),
}

/// A place in the code that names a field or a method, and remembers what it saw.
#[derive(Debug)]
pub(crate) struct Site {
    /// The name.
    pub(crate) name: Text,
    /// Whether it is `push`, by which lists are built.
    pub(crate) is_push: bool,
    /// The address of the shape that was seen last, or the number of a kind.
    pub(crate) seen: Cell<usize>,
    /// What was found there.
    pub(crate) found: Cell<usize>,
}

impl Site {
    /// A place that has seen nothing.
    pub(crate) fn new(name: Text) -> Self {
        Self {
            is_push: name.as_str() == "push",
            name,
            seen: Cell::new(usize::MAX),
            found: Cell::new(0),
        }
    }
}
