//! Puts the pieces of calls together.
//!
//! A well-behaved server numbers its calls, gives id and name once, and sends the arguments
//! in pieces. Others repeat the id, invent a new one for every piece, leave out the number,
//! give every call the number 0, or send whole calls. What says that a piece begins a call:
//!
//! | the piece has | it begins a call if |
//! |---|---|
//! | a number | nothing has that number, or it names a function and has another id |
//! | an id, no number | nothing has that id |
//! | a name, no id | the call it would continue has another name, or has all its arguments |
//! | only arguments | there is no call yet |
//!
//! A call ends when the next one begins, if its arguments are complete by then; servers that
//! send calls interleaved still write on it otherwise. The rest end with the answer.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::json;

use crate::{Category, Error, StreamEvent};

/// The calls of one answer.
#[derive(Debug, Default)]
pub(super) struct Calls {
    calls: Vec<Call>,
    by_number: BTreeMap<u64, usize>,
    by_id: BTreeMap<String, usize>,
    /// How many have a name, and so an index that others see.
    begun: usize,
}

/// What a server sent of one call in one go.
#[derive(Debug, Default)]
pub(super) struct Piece<'a> {
    /// The server's number for the call.
    pub(super) number: Option<u64>,
    /// Its id.
    pub(super) id: Option<&'a str>,
    /// Which function.
    pub(super) name: Option<&'a str>,
    /// More of the arguments.
    pub(super) arguments: Cow<'a, str>,
}

#[derive(Debug, Default)]
struct Call {
    id: Option<String>,
    name: Option<String>,
    /// Its index among those that have begun.
    index: Option<usize>,
    /// Arguments that came before the name.
    held: String,
    balance: Balance,
    has_ended: bool,
}

impl Calls {
    /// Whether there are any.
    pub(super) fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// Takes the next piece.
    ///
    /// # Errors
    /// The piece continues a call that was complete. Dropping it could mean that a call is
    /// made with other arguments than the model wrote.
    pub(super) fn push(
        &mut self,
        piece: &Piece<'_>,
        events: &mut Vec<StreamEvent>,
    ) -> Result<(), Error> {
        let place = match self.continued(piece) {
            Some(place) => place,
            None => self.add(piece, events),
        };
        let call = &mut self.calls[place];
        if call.has_ended {
            if piece.arguments.trim().is_empty() {
                return Ok(());
            }
            let message = "the provider went on writing a tool call that was complete";
            return Err(Error::new(Category::ServerError, message));
        }
        if let (None, Some(name)) = (call.index, piece.name) {
            call.begin(self.begun, name, piece.id, events);
            self.begun += 1;
        }
        call.write(&piece.arguments, events);
        Ok(())
    }

    /// Ends the calls that are still open. If the answer was `cut`, only those whose
    /// arguments are complete: the others are halves.
    pub(super) fn end(&mut self, cut: bool, events: &mut Vec<StreamEvent>) {
        for call in &mut self.calls {
            if !cut || call.balance.is_complete() {
                call.end(events);
            }
        }
    }

    /// Whether a call has begun whose arguments are not complete.
    pub(super) fn has_half(&self) -> bool {
        let mut calls = self.calls.iter();
        calls.any(|call| !call.has_ended && !call.balance.is_complete())
    }

    /// The call that `piece` continues.
    fn continued(&self, piece: &Piece<'_>) -> Option<usize> {
        let place = match (piece.number, piece.id) {
            (Some(number), _) => *self.by_number.get(&number)?,
            (None, Some(id)) => *self.by_id.get(id)?,
            (None, None) => self.calls.len().checked_sub(1)?,
        };
        let call = &self.calls[place];
        let begins = match (piece.id, &call.id) {
            (Some(id), Some(known)) => id != known && piece.name.is_some(),
            (None, _) | (_, None) => call.is_followed_by(piece),
        };
        (!begins).then_some(place)
    }

    fn add(&mut self, piece: &Piece<'_>, events: &mut Vec<StreamEvent>) -> usize {
        let last = self.calls.last_mut();
        if let Some(last) = last.filter(|last| last.balance.is_complete()) {
            last.end(events);
        }
        let place = self.calls.len();
        self.calls.push(Call {
            id: piece.id.map(str::to_owned),
            ..Call::default()
        });
        if let Some(number) = piece.number {
            self.by_number.insert(number, place);
        }
        if let Some(id) = piece.id {
            self.by_id.insert(id.to_owned(), place);
        }
        place
    }
}

impl Call {
    /// Whether `piece`, which has no id that would tell, belongs to another call.
    fn is_followed_by(&self, piece: &Piece<'_>) -> bool {
        let (Some(name), Some(known)) = (piece.name, &self.name) else {
            return false;
        };
        let has_arguments = !piece.arguments.trim().is_empty();
        name != known || (self.balance.is_complete() && has_arguments)
    }

    fn begin(&mut self, index: usize, name: &str, id: Option<&str>, events: &mut Vec<StreamEvent>) {
        self.index = Some(index);
        self.name = Some(name.to_owned());
        self.id = self.id.take().or_else(|| id.map(str::to_owned));
        events.push(StreamEvent::ToolCallStart {
            index,
            id: self.id.clone(),
            name: name.to_owned(),
        });
    }

    fn write(&mut self, arguments: &str, events: &mut Vec<StreamEvent>) {
        self.balance.push(arguments);
        self.held.push_str(arguments);
        if let (Some(index), false) = (self.index, self.held.is_empty()) {
            let text = std::mem::take(&mut self.held);
            events.push(StreamEvent::ToolArgsDelta { index, text });
        }
    }

    fn end(&mut self, events: &mut Vec<StreamEvent>) {
        if std::mem::replace(&mut self.has_ended, true) {
            return;
        }
        events.push(match self.index {
            Some(index) => StreamEvent::ToolCallEnd { index },
            // Nobody can make a call of nothing; we only do not hide that it came.
            None => StreamEvent::Raw {
                value: json!({"tool_call": {"id": self.id, "arguments": self.held}}),
            },
        });
    }
}

/// Whether the text of a JSON object is complete, told byte by byte, so that nothing is read
/// twice.
#[derive(Debug, Default)]
struct Balance {
    depth: usize,
    in_string: bool,
    is_escaped: bool,
    has_closed: bool,
}

impl Balance {
    fn push(&mut self, text: &str) {
        for byte in text.bytes() {
            match byte {
                _ if self.is_escaped => self.is_escaped = false,
                b'\\' if self.in_string => self.is_escaped = true,
                b'"' => self.in_string = !self.in_string,
                _ if self.in_string => {}
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => {
                    self.depth = self.depth.saturating_sub(1);
                    self.has_closed = true;
                }
                _ => {}
            }
        }
    }

    fn is_complete(&self) -> bool {
        self.has_closed && self.depth == 0 && !self.in_string
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Row<'a> = (Option<u64>, &'a str, &'a str, &'a str);

    /// The calls that `rows` of number, id, name and arguments make, as `name(id): arguments`,
    /// and `…` for those that did not end.
    #[track_caller]
    fn check(rows: &[Row<'_>], cut: bool, expected: &[&str]) {
        let mut calls = Calls::default();
        let mut events = Vec::new();
        for (number, id, name, arguments) in rows {
            let piece = Piece {
                number: *number,
                id: (!id.is_empty()).then_some(id),
                name: (!name.is_empty()).then_some(name),
                arguments: Cow::Borrowed(arguments),
            };
            calls.push(&piece, &mut events).unwrap();
        }
        calls.end(cut, &mut events);
        calls.end(cut, &mut events);
        assert_eq!(render(&events), expected, "{rows:?}");
    }

    fn render(events: &[StreamEvent]) -> Vec<String> {
        let mut calls: Vec<(String, bool)> = Vec::new();
        for event in events {
            match event {
                StreamEvent::ToolCallStart { index, id, name } => {
                    assert_eq!(*index, calls.len());
                    let id = id.as_deref().unwrap_or("-");
                    calls.push((format!("{name}({id}): "), false));
                }
                StreamEvent::ToolArgsDelta { index, text } => {
                    assert!(!calls[*index].1, "text after the end");
                    calls[*index].0.push_str(text);
                }
                StreamEvent::ToolCallEnd { index } => {
                    assert!(!calls[*index].1, "ended twice");
                    calls[*index].1 = true;
                }
                other => calls.push((serde_json::to_string(other).unwrap(), true)),
            }
        }
        let render = |(text, has_ended)| match has_ended {
            true => text,
            false => format!("{text}…"),
        };
        calls.into_iter().map(render).collect()
    }

    #[test]
    fn pieces_belong_together_by_number() {
        check(
            &[
                (Some(0), "a", "f", ""),
                (Some(0), "", "", "{\"x\":"),
                (Some(1), "b", "g", "{\"y\""),
                (Some(0), "", "", "1}"),
                (Some(1), "", "", ":2}"),
            ],
            false,
            &["f(a): {\"x\":1}", "g(b): {\"y\":2}"],
        );
    }

    #[test]
    fn an_id_that_is_repeated_or_changes_with_every_piece_begins_nothing() {
        check(
            &[(Some(0), "a", "f", "{"), (Some(0), "a", "f", "}")],
            false,
            &["f(a): {}"],
        );
        check(
            &[(Some(0), "a", "f", "{"), (Some(0), "b", "", "}")],
            false,
            &["f(a): {}"],
        );
    }

    #[test]
    fn without_numbers_a_new_id_or_a_new_name_begins_a_call() {
        check(
            &[
                (None, "a", "f", "{"),
                (None, "", "", "}"),
                (None, "b", "f", "{"),
                (None, "b", "", "}"),
            ],
            false,
            &["f(a): {}", "f(b): {}"],
        );
        check(
            &[(None, "", "f", "{}"), (None, "", "g", "{}")],
            false,
            &["f(-): {}", "g(-): {}"],
        );
    }

    #[test]
    fn whole_calls_are_told_apart_even_with_one_name_or_one_number() {
        check(
            &[(None, "", "f", "{\"a\":1}"), (None, "", "f", "{\"a\":2}")],
            false,
            &["f(-): {\"a\":1}", "f(-): {\"a\":2}"],
        );
        check(
            &[(Some(0), "a", "f", "{}"), (Some(0), "b", "f", "{}")],
            false,
            &["f(a): {}", "f(b): {}"],
        );
    }

    #[test]
    fn arguments_wait_for_the_name() {
        check(
            &[(Some(0), "a", "", "{"), (Some(0), "", "f", "}")],
            false,
            &["f(a): {}"],
        );
        check(
            &[(Some(0), "a", "", "{}")],
            false,
            &["{\"type\":\"raw\",\"value\":{\"tool_call\":{\"id\":\"a\",\"arguments\":\"{}\"}}}"],
        );
    }

    #[test]
    fn of_an_answer_that_was_cut_only_complete_calls_end() {
        check(
            &[
                (Some(0), "a", "f", "{\"s\":\"\\\"}\"}"),
                (Some(1), "b", "g", "{\"s\":\"}"),
                (Some(2), "c", "h", ""),
            ],
            true,
            &["f(a): {\"s\":\"\\\"}\"}", "g(b): {\"s\":\"}…", "h(c): …"],
        );
    }

    #[test]
    fn going_on_with_a_complete_call_is_an_error() {
        let mut calls = Calls::default();
        let mut events = Vec::new();
        let piece = |number, name, arguments| Piece {
            number: Some(number),
            id: None,
            name,
            arguments: Cow::Borrowed(arguments),
        };
        for (number, name) in [(0, "f"), (1, "g")] {
            let piece = piece(number, Some(name), "{}");
            calls.push(&piece, &mut events).unwrap();
        }
        assert_eq!(calls.push(&piece(0, None, " "), &mut events), Ok(()));
        let error = calls.push(&piece(0, None, "{\"a\":1}"), &mut events);
        assert_eq!(error.unwrap_err().category, Category::ServerError);
    }
}
