//! The parts of a command.

use std::sync::Arc;

use crate::word::Word;

/// A command that was taken apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Script {
    /// The parts, in the order in which they are written. There is at least one.
    pub parts: Vec<Part>,
    /// The names of the functions that it defines. Their bodies are among the parts.
    pub functions: Vec<String>,
}

/// One program that would be started, or one command of the shell itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// The program, as a literal word. `None`: nothing but assignments or redirections.
    pub program: Option<String>,
    /// What the program is given.
    pub words: Vec<Word>,
    /// Variables that are set for it, or for what comes after it.
    pub assignments: Vec<Assignment>,
    /// Files that are connected to it. Texts given in place are not among them.
    pub redirections: Vec<Redirection>,
    /// The programs that run it for others, the outermost first.
    pub via: Vec<Arc<Layer>>,
    /// Whether it gets words that only the shell or its input knows.
    pub dynamic: bool,
    /// Where it is written, in bytes.
    pub position: usize,
}

/// A variable that is set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// Its name.
    pub name: String,
    /// What it becomes.
    pub value: Word,
}

/// A file that is connected to a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redirection {
    /// Which of the program's descriptors; `None`: the usual one.
    pub descriptor: Option<u8>,
    /// How.
    pub operator: Operator,
    /// The file, or for [`Operator::Duplicate`] the descriptor.
    pub target: Word,
}

/// How a file is connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// `<`
    Read,
    /// `>` and `>|`
    Write,
    /// `>>`
    Append,
    /// `<>`
    ReadWrite,
    /// `&>`, `&>>` and `>&` with a file
    Both,
    /// `>&` and `<&` with a descriptor or `-`
    Duplicate,
}

/// A program that was peeled off: it runs the part for what is around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layer {
    /// The program, as it was written.
    pub program: String,
    /// What it is given, the inner command included.
    pub words: Vec<Word>,
}

impl Part {
    /// The program and its words on one line, for people.
    pub fn shown(&self) -> String {
        let assignments = self.assignments.iter();
        let assignments = assignments.map(|one| format!("{}={}", one.name, one.value.shown()));
        let program = self.program.clone().into_iter();
        let words = self.words.iter().map(Word::shown);
        let all: Vec<String> = assignments.chain(program).chain(words).collect();
        all.join(" ")
    }
}
