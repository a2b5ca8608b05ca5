//! What a shell command would do, part by part.
//!
//! ```text
//! text ──► parse ──► Script: parts {program, words, assignments, redirections, via, …}
//!    │                   │
//!    │                   ├─► allows(rules)   every part matches a rule
//!    └─► NotUnderstood   ├─► denies(rules)   one part matches, or may match
//!                        └─► judge(rules)    the strictest verdict of all parts
//! ```
//!
//! A rule about commands must hold for what the shell runs, not for the text that it is given:
//! `cargo x; CMD` is two commands, and `env touch`, `\touch` and `sh -c 'touch x'` all run
//! `touch`. So a command is taken apart first, and what runs a command for another one is peeled
//! off.
//!
//! Nobody knows which shell will read the text: `/bin/sh` is dash here and bash there. Where the
//! two would run different commands the text is *not understood*, as is everything outside the
//! grammar; no rule allows that. This parser therefore refuses a lot that a shell accepts, and
//! never the other way round.
//!
//! No file is opened here and nothing is run. What a name means on this machine is asked of
//! [`Surroundings`].

mod builtins;
mod cursor;
mod glob;
mod invisible;
mod judge;
mod not_understood;
mod parser;
mod part;
mod print;
mod programs;
mod reserved;
mod rule;
mod surroundings;
mod word;
mod wrappers;

pub use glob::{Glob, Unreadable};
pub use judge::{Denial, Judgement, RuleSet, Verdict, allows, denies, judge};
pub use not_understood::NotUnderstood;
pub use parser::{DEPTH_MAX, PARTS_MAX, TEXT_BYTES_MAX, parse, parse_argv};
pub use part::{Assignment, Layer, Operator, Part, Redirection, Script};
pub use print::printed;
pub use programs::{reads_programs, reads_sh};
pub use rule::{Purpose, Rule, RuleError};
pub use surroundings::{Nowhere, Surroundings};
pub use word::{Piece, Word};
