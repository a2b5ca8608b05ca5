//! One call expression: `name({ … })`.

use serde_json::Value;

use super::value::{Reader, Root, Step};
use super::{Repair, texts};

/// Reads what follows `name(`.
#[derive(Debug)]
pub(super) struct CallReader {
    name: String,
    reader: Reader,
}

/// How far a call was read.
#[derive(Debug)]
pub(super) enum CallStep {
    /// It needs more text.
    More,
    /// The call is whole.
    Done {
        arguments: Value,
        /// The first byte after the closing parenthesis.
        end: usize,
        repairs: Vec<Repair>,
    },
    /// It is no call.
    Failed(Broken),
}

/// A call that cannot be made.
#[derive(Debug)]
pub(super) struct Broken {
    /// What the model is told.
    pub(super) error: String,
    /// Nothing up to here is worth another look.
    pub(super) resume: usize,
    /// Whether it breaks off inside a text, which may have hidden its end.
    pub(super) is_inside_text: bool,
}

impl CallReader {
    /// Begins with the first byte after the opening parenthesis.
    pub(super) fn new(name: &str, after_parenthesis: usize) -> Self {
        Self {
            name: name.to_owned(),
            reader: Reader::new(Root::Call, after_parenthesis),
        }
    }

    /// The tool that is called.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Reads on; see [`Reader::advance`].
    pub(super) fn advance(&mut self, text: &str, ended: bool) -> CallStep {
        let name = &self.name;
        let (error, resume) = match self.reader.advance(text, ended) {
            Step::More => return CallStep::More,
            Step::Done(arguments @ Value::Object(_)) => {
                return CallStep::Done {
                    arguments,
                    end: self.reader.at(),
                    repairs: self.reader.take_repairs(),
                };
            }
            Step::Done(value) => (texts::no_object(name, &value), self.reader.at()),
            Step::Unclosed { value, fault } if !value.is_object() && !fault.is_unfinished => {
                (texts::no_object(name, &value), fault.at)
            }
            // What follows the argument may be the next call, on a line of its own.
            Step::Unclosed { fault, .. } => {
                let blank = text[..fault.at].trim_end().len();
                (texts::unclosed_call(name), blank)
            }
            Step::Failed(fault) => (texts::bad_value(name, &fault.message), fault.at),
        };
        CallStep::Failed(Broken {
            error,
            resume,
            is_inside_text: self.reader.is_inside_text(),
        })
    }
}
