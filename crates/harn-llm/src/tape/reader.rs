//! Reads the file of a tape.

use std::path::Path;

use super::Error;
use super::exchange::{RecordedExchange, VERSION};

/// What is on a tape.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tape {
    /// The exchanges in the order they ended.
    pub exchanges: Vec<RecordedExchange>,
    /// The last line, if it was never finished. Nothing of it is used.
    pub torn: Option<Torn>,
}

/// A last line that was never finished: whoever wrote it was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Torn {
    /// Which line, from 1.
    pub line: usize,
    /// How much of it there is.
    pub bytes: usize,
}

impl Tape {
    /// Reads a tape; `name` is what errors show.
    ///
    /// # Errors
    /// A line that is no exchange, unless it is the last and has no end.
    pub fn read(name: &str, bytes: &[u8]) -> Result<Self, Error> {
        let mut tape = Self::default();
        let lines = bytes.split_inclusive(|byte| *byte == b'\n');
        for (number, line) in (1..).zip(lines) {
            if line.trim_ascii().is_empty() {
                continue;
            }
            match exchange(line) {
                Ok(exchange) => tape.exchanges.push(exchange),
                // A person's editor may have left out the last line break, so that alone
                // does not make a line torn.
                Err(Fault::NoJson(_)) if !line.ends_with(b"\n") => {
                    let bytes = line.len();
                    tape.torn = Some(Torn {
                        line: number,
                        bytes,
                    });
                }
                Err(Fault::NoJson(reason) | Fault::NoExchange(reason)) => {
                    return Err(Error::Line {
                        file: name.to_owned(),
                        line: number,
                        reason,
                    });
                }
            }
        }
        Ok(tape)
    }

    /// Reads the tape at `path`.
    ///
    /// # Errors
    /// It cannot be read, or as [`Tape::read`].
    pub fn open(path: &Path) -> Result<Self, Error> {
        let name = path.display().to_string();
        let bytes = std::fs::read(path).map_err(|source| Error::File {
            file: name.clone(),
            source,
        })?;
        Self::read(&name, &bytes)
    }
}

/// What is wrong with a line.
enum Fault {
    /// It is not even JSON, as half a line is.
    NoJson(String),
    NoExchange(String),
}

fn exchange(line: &[u8]) -> Result<RecordedExchange, Fault> {
    let value: serde_json::Value =
        serde_json::from_slice(line).map_err(|error| Fault::NoJson(error.to_string()))?;
    match value["tape"].as_u64() {
        None => {
            let reason = "this is no exchange of a tape: it has no version under `tape`";
            Err(Fault::NoExchange(reason.to_owned()))
        }
        Some(version) if version != u64::from(VERSION) => Err(Fault::NoExchange(format!(
            "the exchange has version {version}; this program reads version {VERSION}"
        ))),
        Some(_) => {
            serde_json::from_value(value).map_err(|error| Fault::NoExchange(error.to_string()))
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LINE: &str = r#"{"tape":1,"wire":"chat","request":{"url":"u","headers":[],"body":{}}}"#;

    #[track_caller]
    fn check(text: &str, exchanges: usize, torn: Option<Torn>) {
        let tape = Tape::read("t.tape", text.as_bytes()).unwrap();
        assert_eq!((tape.exchanges.len(), tape.torn), (exchanges, torn));
    }

    #[test]
    fn a_tape_is_read_line_by_line() {
        check("", 0, None);
        check(&format!("{LINE}\n\n{LINE}\n"), 2, None);
        check(&format!("{LINE}\n{LINE}"), 2, None);
    }

    #[test]
    fn a_torn_last_line_is_reported_and_ignored() {
        let torn = Torn { line: 2, bytes: 20 };
        check(&format!("{LINE}\n{}", &LINE[..20]), 1, Some(torn));
        let bytes = [LINE.as_bytes(), b"\n{\"a\":\"\xc3"].concat();
        let tape = Tape::read("t", &bytes).unwrap();
        assert_eq!(tape.torn, Some(Torn { line: 2, bytes: 7 }));
    }

    #[test]
    fn any_other_bad_line_is_an_error_with_its_place() {
        let rows = [
            (format!("{LINE}\n{{\n{LINE}\n"), "t.tape line 2: EOF"),
            (
                "{}\n".to_owned(),
                "t.tape line 1: this is no exchange of a tape: it has no version under `tape`",
            ),
            (
                "{\"tape\": 2}\n".to_owned(),
                "t.tape line 1: the exchange has version 2; this program reads version 1",
            ),
            (
                "{\"tape\": 1}\n".to_owned(),
                "t.tape line 1: missing field `wire`",
            ),
        ];
        for (text, expected) in rows {
            let error = Tape::read("t.tape", text.as_bytes()).unwrap_err();
            assert!(error.to_string().starts_with(expected), "{error}");
        }
    }

    proptest! {
        #[test]
        fn every_cut_of_a_tape_is_read(at in 0_usize..LINE.len() * 2 + 2) {
            let text = format!("{LINE}\n{LINE}\n");
            let tape = Tape::read("t", &text.as_bytes()[..at]).unwrap();
            prop_assert_eq!(tape.exchanges.len(), (at + 1) / (LINE.len() + 1));
        }
    }
}
