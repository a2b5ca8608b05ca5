//! The machine that runs Harn programs.
//!
//! ```text
//!            harn-check                       this crate
//! text ─► tree, names, types ─► compile ─► functions ─► fibers ─► Step
//!                                                         ▲  │
//!                                        Isolate::complete │  ▼ Effects
//!                                                        the world
//! ```
//!
//! An [`Isolate`] owns a heap of values and runs on one thread. It does not block: it runs
//! fibers until there is nothing to run, says what it waits for, and goes on when it is told.

mod async_call;
mod budget;
mod closure;
mod code;
mod compile;
mod context;
mod data;
mod effects;
mod entrance;
mod exports;
mod fault;
mod fiber;
mod handle;
mod inbox;
mod isolate;
mod iterate;
mod load;
mod machine;
mod measure;
mod methods;
mod net;
mod parameters;
mod registry;
mod run;
mod scheduler;
mod session;
mod suggest;
mod sync;
pub mod value;

pub use async_call::AsyncCall;
pub use budget::{Brake, Budget};
pub use closure::Closure;
pub use code::{Coverage, Function, FunctionKind, Source, disassemble};
pub use context::{Context, Holds, LibraryState, Waiting, argument, take, thrown};
pub use data::Data;
pub use effects::{
    Answer, Before, EffectFailure, EffectId, Effects, FileRequest, FileStatus, ProcessEnd,
    ProcessRequest, Request, Stream,
};
pub use entrance::Entrance;
pub use fault::{Failure, Fault, FaultKind, TraceStep};
pub use fiber::{Facts, Strand};
pub use handle::{ClosureHandle, PendingCall, Reply};
pub use inbox::{Inbox, Outside, inbox};
pub use isolate::{Isolate, Limits, Step};
pub use iterate::{Generator, GeneratorKind, Iter};
pub use load::{Entry, LoadError, Offer};
pub use net::{
    HttpHead, HttpProxy, HttpRequest, NetAnswer, NetFailure, NetFailureKind, NetRequest, Route,
    SocketMessage, SocketRequest, TlsOptions,
};
pub use registry::{Body, BuiltinId, Each, Guard, Plain, Receiver, Registry, WaitingBody};
pub use run::undefined::builtin as undefined_builtin;
pub use scheduler::{Scheduler, Start};
pub use sync::{Bell, Channel, FiberId, Task, TaskState, Waiters};
pub use value::Value;
