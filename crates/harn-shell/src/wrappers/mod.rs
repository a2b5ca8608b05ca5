//! Programs that run another program: what they run is what counts.
//!
//! ```text
//! sudo env A=1 timeout 5 sh -c 'touch x'
//!   │    │        │        └─ text ─► parsed, its parts are `via` all before
//!   │    │        └─ transparent: adds nothing that a rule would ask about
//!   │    └─ assignments go to the part
//!   └─ acts itself, so it is a part of its own as well
//! ```
//!
//! What a wrapper is given is read by a table. An option that the table does not have could mean
//! anything, so the whole command is not understood then.

mod options;
mod shells;
mod special;
mod table;

use std::sync::Arc;

pub(crate) use table::is_wrapper;

use crate::builtins::examine;
use crate::not_understood::NotUnderstood;
use crate::parser::{DEPTH_MAX, Read, Sink};
use crate::part::{Assignment, Layer, Part};
use crate::programs::{base_name, is_shell};
use crate::reserved::is_reserved;
use crate::word::Word;

/// What a wrapper runs.
enum Inner {
    /// Nothing: it is judged by its own words.
    Nothing,
    /// A program with its words.
    Words {
        words: Vec<Word>,
        assignments: Vec<Assignment>,
    },
    /// Several programs, each with its words.
    Several(Vec<Vec<Word>>),
    /// A text that a shell reads.
    Text(String),
}

/// What was found out about the words of a wrapper.
struct Unwrapped {
    inner: Inner,
    /// The words by which the wrapper itself is judged, if it does something itself.
    own: Option<Vec<Word>>,
}

/// Peels wrappers off a command until something is left that runs nothing else.
pub(crate) fn peel(
    sink: &mut Sink,
    read: Read,
    depth: usize,
    position: usize,
) -> Result<(), NotUnderstood> {
    let mut part = Part {
        assignments: read.assignments,
        redirections: read.redirections,
        position,
        ..Part::default()
    };
    let mut words = read.words;
    let mut layers = 0;
    let done = loop {
        let Some(program) = words.first() else {
            break sink.push(part);
        };
        let program = known_program(program, layers, position)?;
        let rest = words.split_off(1);
        let Some(unwrapped) = unwrap(&program, &rest, position)? else {
            break finish(sink, part, program, rest, depth);
        };
        if let Inner::Nothing = unwrapped.inner {
            break finish(sink, part, program, rest, depth);
        }
        if depth + layers >= DEPTH_MAX {
            let reason = format!("more than {DEPTH_MAX} levels");
            return Err(NotUnderstood::new(reason, position));
        }
        if let Some(own) = unwrapped.own {
            let acting = std::mem::replace(&mut part, Part::at(position));
            finish(sink, acting, program.clone(), own, depth)?;
        }
        let layer = Layer {
            program,
            words: rest,
        };
        sink.via.push(Arc::new(layer));
        layers += 1;
        match unwrapped.inner {
            Inner::Nothing => {}
            Inner::Words {
                words: inner,
                assignments,
            } => {
                part.assignments.extend(assignments);
                words = inner;
            }
            Inner::Several(commands) => {
                break several(sink, part, commands, depth + layers, position);
            }
            Inner::Text(text) => {
                if !part.assignments.is_empty() || !part.redirections.is_empty() {
                    sink.push(part)?;
                }
                break sink.text(&text, depth + layers, Some(position));
            }
        }
    };
    let outside = sink.via.len() - layers;
    sink.via.truncate(outside);
    done
}

/// The program of a command. The shell must not be the only one who knows it.
fn known_program(word: &Word, layers: usize, position: usize) -> Result<String, NotUnderstood> {
    let wrong = |reason: &str| Err(NotUnderstood::new(reason, position));
    match word.literal() {
        None => wrong("a program that only the shell knows"),
        // zsh replaces `=name` by the file of a program.
        Some(program) if program.starts_with('=') => wrong("a program that begins with `=`"),
        // `time` is a word of the grammar in bash, after which others may follow.
        Some(program) if layers > 0 && is_reserved(program) => {
            wrong("a word of the grammar after a program that runs others")
        }
        Some(program) => Ok(program.to_owned()),
    }
}

fn finish(
    sink: &mut Sink,
    mut part: Part,
    program: String,
    words: Vec<Word>,
    depth: usize,
) -> Result<(), NotUnderstood> {
    part.program = Some(program);
    part.dynamic = words.iter().any(Word::is_dynamic);
    part.words = words;
    let start = sink.len();
    examine(sink, &mut part, depth)?;
    let middle = sink.len();
    sink.push(part)?;
    sink.bring_forward(start, middle);
    Ok(())
}

fn several(
    sink: &mut Sink,
    part: Part,
    commands: Vec<Vec<Word>>,
    depth: usize,
    position: usize,
) -> Result<(), NotUnderstood> {
    if !part.assignments.is_empty() || !part.redirections.is_empty() {
        sink.push(part)?;
    }
    for words in commands {
        let read = Read {
            words,
            ..Read::default()
        };
        peel(sink, read, depth, position)?;
    }
    Ok(())
}

/// What a program runs for others; `None`: it is no wrapper.
fn unwrap(
    program: &str,
    words: &[Word],
    position: usize,
) -> Result<Option<Unwrapped>, NotUnderstood> {
    let name = base_name(program);
    let found = match name {
        name if is_shell(name) => shells::unwrap(words),
        "find" => special::find(words),
        "parallel" => special::parallel(words),
        "xargs" => special::xargs(words),
        name => match table::row(name) {
            Some(row) => options::unwrap(row, words),
            None => return Ok(None),
        },
    };
    let at = |reason: String| NotUnderstood::new(format!("`{name}` with {reason}"), position);
    found.map(Some).map_err(at)
}

impl Part {
    fn at(position: usize) -> Self {
        Self {
            position,
            ..Self::default()
        }
    }
}
