//! What goes wrong in a program.

use std::fmt;
use std::rc::Rc;

use smol_str::SmolStr;

use crate::code::Source;
use crate::value::{Text, Value};

/// An error on its way to whoever catches it.
pub type Failure = Box<Fault>;

/// An error.
#[derive(Clone, Debug)]
pub struct Fault {
    /// What is wrong.
    pub kind: FaultKind,
    /// Where it arose and through which calls it came, the innermost first.
    pub trace: Vec<TraceStep>,
    /// Where it arose since it last crossed a boundary.
    pub(crate) line: u32,
}

/// What is wrong.
#[derive(Clone, Debug)]
pub enum FaultKind {
    /// A value was thrown.
    Thrown(Value),
    /// An operation does not fit its operands.
    Type(String),
    /// Something failed.
    Runtime(String),
    /// Something failed in a way that programs tell apart.
    Categorised {
        /// Which way.
        category: String,
        /// What failed.
        message: String,
    },
    /// One of the errors whose text stands for itself, such as `Division by zero`.
    Own(String),
    /// The program ends here with a status. It cannot be caught.
    Exit(i32),
    /// The program may not go on: its time or its memory is used up. It cannot be caught.
    Stopped(String),
}

/// A place in a trace.
#[derive(Clone, Debug)]
pub struct TraceStep {
    /// The function; `None` for what has no name.
    pub function: Option<SmolStr>,
    /// The file.
    pub source: Rc<Source>,
    /// The byte offset in it.
    pub offset: u32,
}

impl Fault {
    fn new(kind: FaultKind) -> Failure {
        Box::new(Self {
            kind,
            trace: Vec::new(),
            line: 0,
        })
    }

    /// A value was thrown.
    pub fn thrown(value: impl Into<Value>) -> Failure {
        Self::new(FaultKind::Thrown(value.into()))
    }

    /// A type error.
    pub fn type_error(message: impl Into<String>) -> Failure {
        Self::new(FaultKind::Type(message.into()))
    }

    /// A run-time error.
    pub fn runtime(message: impl Into<String>) -> Failure {
        Self::new(FaultKind::Runtime(message.into()))
    }

    /// An error of a category.
    pub fn categorised(category: impl Into<String>, message: impl Into<String>) -> Failure {
        Self::new(FaultKind::Categorised {
            category: category.into(),
            message: message.into(),
        })
    }

    /// The policy of the run has forbidden what a builtin needed.
    pub fn refused(builtin: &str, reason: &str) -> Failure {
        let message = format!("sandbox violation: builtin '{builtin}' {reason}");
        Self::categorised("tool_rejected", message)
    }

    /// An error whose text stands for itself.
    pub fn own(text: impl Into<String>) -> Failure {
        Self::new(FaultKind::Own(text.into()))
    }

    /// Too many calls are nested.
    pub(crate) fn stack_overflow() -> Failure {
        Self::own("Stack overflow: too many nested calls")
    }

    /// The end of the program with a status.
    pub fn exit(status: i32) -> Failure {
        Self::new(FaultKind::Exit(status))
    }

    /// The end of a program that may not go on.
    pub fn stopped(reason: impl Into<String>) -> Failure {
        Self::new(FaultKind::Stopped(reason.into()))
    }

    /// Whether a program can catch it.
    pub fn is_catchable(&self) -> bool {
        !matches!(self.kind, FaultKind::Exit(_) | FaultKind::Stopped(_))
    }

    /// What `catch` binds: the thrown value, or the text.
    pub fn value(&self) -> Value {
        match &self.kind {
            FaultKind::Thrown(value) => value.clone(),
            _ => Value::Text(Text::from(self.text())),
        }
    }

    /// The text of an error that nobody catches.
    pub fn text(&self) -> String {
        match &self.kind {
            FaultKind::Thrown(value) => format!("Thrown: {value}"),
            FaultKind::Type(message) => format!("Type error: {message}"),
            FaultKind::Runtime(message) => format!("Runtime error: {message}"),
            FaultKind::Categorised { category, message } => {
                format!("Error [{category}]: {message}")
            }
            FaultKind::Own(text) | FaultKind::Stopped(text) => text.clone(),
            FaultKind::Exit(status) => format!("exit {status}"),
        }
    }

    /// It crosses a boundary: the line where it arose becomes part of it, and from here on it
    /// counts as arising at `line`.
    pub(crate) fn annotate(&mut self, line: u32) {
        let arose = std::mem::replace(&mut self.line, line);
        let text = match &mut self.kind {
            FaultKind::Type(message) | FaultKind::Runtime(message) => {
                message.push_str(&format!(" (line {arose})"));
                return;
            }
            FaultKind::Own(text) => std::mem::take(text),
            _ => return,
        };
        self.kind = FaultKind::Runtime(format!("{text} (line {arose})"));
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text())
    }
}

impl std::error::Error for Fault {}
