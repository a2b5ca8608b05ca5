//! The files that come out of an archive.

use std::io::Read;

use harn_machine::value::Bytes;
use harn_machine::{Context, Failure, Value};

use super::{fail, paths};
use crate::encoding::compression::{OUTPUT_BYTES_MAX, read_bounded};

/// The files so far. All of them together have the bound that one compressed text has.
pub(super) struct Unpacked {
    function: &'static str,
    files: Vec<Value>,
    left_bytes: usize,
}

impl Unpacked {
    pub(super) fn new(function: &'static str) -> Self {
        Self {
            function,
            files: Vec::new(),
            left_bytes: OUTPUT_BYTES_MAX,
        }
    }

    /// Reads a file; gives how many octets it has.
    pub(super) fn add(
        &mut self,
        context: &mut Context<'_>,
        number: usize,
        path: &str,
        content: &mut impl Read,
        mode: Option<u32>,
    ) -> Result<usize, Failure> {
        if let Some(problem) = paths::problem(path) {
            let reason = format!("entry {number} invalid path: {problem}: {path}");
            return fail(self.function, reason);
        }
        let content = match read_bounded(context, content, self.left_bytes)? {
            Ok(content) => content,
            Err(reason) => return fail(self.function, reason),
        };
        let length = content.len();
        self.left_bytes -= length;
        let mut file = vec![
            ("content", Value::Bytes(Bytes::from(content))),
            ("path", path.into()),
        ];
        if let Some(mode) = mode {
            file.push(("mode", Value::Int(i64::from(mode & 0o7777))));
        }
        self.files.push(Value::dict(file));
        Ok(length)
    }

    pub(super) fn finish(self) -> Value {
        Value::list(self.files)
    }
}
