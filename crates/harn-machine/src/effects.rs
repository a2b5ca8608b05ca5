//! The one door to the world outside.
//!
//! Whatever a program learns that does not follow from itself comes through here: the time,
//! chance, files, processes, the network, models, the environment. A request and its answer
//! are plain data, so a tape can keep the answers and give them again.
//!
//! ```text
//! builtin ─► Context::perform(request) ─► Effects::perform ─► answer at once
//!        └─► Waiting::effect(request)  ─► Effects::begin … Outside::complete(id, answer)
//! ```

use std::path::PathBuf;

use crate::net::{NetAnswer, NetRequest};
use crate::value::Dict;

/// An effect that was begun and has no answer yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EffectId(pub u64);

/// What a program wants of the world.
#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    /// Milliseconds since the epoch.
    Now,
    /// Milliseconds of a clock that only goes forward.
    Elapsed,
    /// So many random octets.
    Random(usize),
    /// A variable of the environment.
    Environment(String),
    /// All variables of the environment.
    AllEnvironment,
    /// Something with files that the program names.
    File(FileRequest),
    /// Something with a file that Harn itself keeps for the program at a place that no argument
    /// names: its store, its checkpoints, its notes, the manifest of its project.
    OwnFile(FileRequest),
    /// A process to run to its end.
    Process(ProcessRequest),
    /// A line, or all, of the standard input.
    Input {
        /// Whether only one line is wanted.
        line: bool,
    },
    /// Whether a standard stream (0, 1 or 2) is a terminal.
    IsTerminal(u8),
    /// Something with the network.
    Net(NetRequest),
    /// Something that a layer above understands, such as a model call.
    Other {
        /// Which layer.
        kind: &'static str,
        /// What it wants, in a form that layer chose.
        payload: String,
    },
}

/// What a program wants of files.
#[derive(Clone, Debug, PartialEq)]
pub enum FileRequest {
    /// The content.
    Read(PathBuf),
    /// Replaces the content.
    Write(PathBuf, Vec<u8>),
    /// Replaces the content in one step: nobody ever finds half of it, not even after a crash.
    /// The answer tells whether what was there before was as expected; if not, nothing is done.
    Replace(PathBuf, Vec<u8>, Before),
    /// Adds to the content.
    Append(PathBuf, Vec<u8>),
    /// Facts about a file or folder.
    Status(PathBuf),
    /// The entries of a folder, each with what it is: `folder`, `file`, `link` or `other`.
    List(PathBuf),
    /// Makes a folder and those around it.
    MakeFolder(PathBuf),
    /// Removes a file, or a folder with all that is in it.
    Delete(PathBuf),
    /// Copies a file.
    Copy(PathBuf, PathBuf),
    /// Moves a file or folder.
    Move(PathBuf, PathBuf),
    /// The path without links and dots.
    Canonical(PathBuf),
}

impl FileRequest {
    /// How many octets are written.
    pub(crate) fn octets(&self) -> usize {
        match self {
            Self::Write(_, content) | Self::Replace(_, content, _) | Self::Append(_, content) => {
                content.len()
            }
            Self::Read(_)
            | Self::Status(_)
            | Self::List(_)
            | Self::MakeFolder(_)
            | Self::Delete(_)
            | Self::Copy(..)
            | Self::Move(..)
            | Self::Canonical(_) => 0,
        }
    }
}

/// What has to be in a file for it to be replaced. Whoever read a file and writes it again
/// learns this way that somebody else was faster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Before {
    /// Whatever there is.
    Anything,
    /// No file at all.
    Nothing,
    /// Exactly these octets.
    Octets(Vec<u8>),
}

/// A process to run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProcessRequest {
    /// The program.
    pub program: String,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Where it runs; `None`: where we do.
    pub folder: Option<PathBuf>,
    /// What is set in its environment.
    pub environment: Vec<(String, String)>,
    /// Whether it gets nothing else of ours.
    pub clear_environment: bool,
    /// Whether it gets no secret of our environment: it is started for an agent. What is set in
    /// its own, it gets.
    pub withholds_secrets: bool,
    /// What it is given to read.
    pub input: Option<Vec<u8>>,
    /// How long it may take, in milliseconds.
    pub timeout: Option<u64>,
}

/// What the world says.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// It is done.
    Done,
    /// A number.
    Number(i64),
    /// Yes or no.
    Truth(bool),
    /// Octets.
    Octets(Vec<u8>),
    /// Text, or nothing.
    Text(Option<String>),
    /// Names with values.
    Pairs(Vec<(String, String)>),
    /// Facts about a file; `None` if there is none.
    Status(Option<FileStatus>),
    /// How a process ended.
    Process(ProcessEnd),
    /// What the network says.
    Net(NetAnswer),
    /// It failed.
    Failed(EffectFailure),
    /// The policy of the run forbids it: what was attempted and against which rule, such as
    /// `attempted to write '/etc/x' against the rule 'deny write'`. The bodies of builtins see
    /// a failure instead, and [`Context`](crate::Context) keeps the reason for their errors.
    Refused(String),
}

/// Facts about a file or folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileStatus {
    /// How many octets it has.
    pub size: u64,
    /// Whether it is a file.
    pub is_file: bool,
    /// Whether it is a folder.
    pub is_folder: bool,
    /// Whether it cannot be written.
    pub is_readonly: bool,
    /// When it was changed, in milliseconds since the epoch.
    pub modified: i64,
}

/// How a process ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProcessEnd {
    /// Its number.
    pub pid: u32,
    /// Its status; `None` if a signal ended it.
    pub status: Option<i32>,
    /// What it wrote.
    pub output: Vec<u8>,
    /// What it wrote as errors.
    pub errors: Vec<u8>,
    /// Whether its time was over.
    pub timed_out: bool,
    /// How long it took, in milliseconds.
    pub took: i64,
}

/// Why an effect failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EffectFailure {
    /// What kind of failure the system says it is.
    pub kind: std::io::ErrorKind,
    /// What the system says.
    pub message: String,
}

/// The world outside, as far as a program may see it.
pub trait Effects {
    /// The task that asks next, by the values that belong to it. What a task may do can depend
    /// on the loop of an agent that it runs in.
    fn enter(&mut self, _values: &Dict) {}

    /// Answers at once.
    fn perform(&mut self, request: &Request) -> Answer;

    /// Begins something that takes time. The answer goes to
    /// [`Outside::complete`](crate::Outside::complete) with the same id.
    fn begin(&mut self, id: EffectId, request: Request);

    /// Nobody waits for that effect any more.
    fn cancel(&mut self, id: EffectId);

    /// Whoever performs the effect has asked to be called again on the thread of the program,
    /// through its [`Outside::waker`](crate::Outside::waker). The effect may be over by then.
    fn resume(&mut self, _id: EffectId) {}

    /// A function that was asked for is there, by its number, to be claimed.
    fn offered(&mut self, _tag: &str, _number: u64) {}

    /// Takes what a program writes.
    fn write(&mut self, stream: Stream, text: &str);

    /// The program waits: a good time to show what it has written.
    fn idle(&mut self) {}
}

/// Where a program writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// The output.
    Output,
    /// The errors.
    Errors,
}
