//! The standard input, or what a test puts in its place.

use std::task::Poll;

use harn_machine::{Answer, Context, Failure, Registry, Request, Value, Waiting};

use crate::expect::text;

pub(super) fn register(registry: &mut Registry) {
    registry.plain(&[("mock_stdin", mock_stdin), ("unmock_stdin", unmock_stdin)]);
    registry.waiting(&[
        ("prompt_user", prompt_user),
        ("read_line", read_line),
        ("read_stdin", read_stdin),
    ]);
}

/// A text that stands for the standard input, if a test wants that.
#[derive(Default)]
struct Mocked(Option<Pending>);

/// A text of which something is left to read.
#[derive(Debug, Default)]
struct Pending {
    text: String,
    /// How much has been read.
    at: usize,
    is_over: bool,
}

impl Pending {
    fn new(text: String) -> Self {
        Self {
            text,
            ..Self::default()
        }
    }

    /// All that is left.
    fn rest(&mut self) -> Option<String> {
        let is_over = std::mem::replace(&mut self.is_over, true);
        (!is_over).then(|| self.text[self.at..].to_owned())
    }

    /// The next line without its end. What follows the last line break is one only if there is
    /// something.
    fn line(&mut self) -> Option<String> {
        if self.is_over {
            return None;
        }
        let rest = &self.text[self.at..];
        let length = rest.find('\n').map_or(rest.len(), |end| end + 1);
        let line = without_end(&rest[..length]).to_owned();
        self.at += length;
        self.is_over = self.at == self.text.len();
        (length > 0).then_some(line)
    }
}

/// A line without what ends it.
fn without_end(line: &str) -> &str {
    let line = line.strip_suffix('\n').unwrap_or(line);
    line.strip_suffix('\r').unwrap_or(line)
}

fn mock_stdin(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let text = text(arguments, 0).to_string();
    context.state::<Mocked>().0 = Some(Pending::new(text));
    Ok(Value::Nil)
}

fn unmock_stdin(context: &mut Context<'_>, _: &mut [Value]) -> Result<Value, Failure> {
    context.state::<Mocked>().0 = None;
    Ok(Value::Nil)
}

fn read_stdin(
    context: &mut Context<'_>,
    _: &mut [Value],
    waiting: &mut Waiting,
) -> Result<Poll<Value>, Failure> {
    if let Some(pending) = &mut context.state::<Mocked>().0 {
        return Ok(Poll::Ready(pending.rest().into()));
    }
    Ok(
        match waiting.effect(context, || Request::Input { line: false }) {
            Some(Answer::Text(text)) => Poll::Ready(text.into()),
            Some(_) => Poll::Ready(Value::Nil),
            None => Poll::Pending,
        },
    )
}

fn read_line(
    context: &mut Context<'_>,
    _: &mut [Value],
    waiting: &mut Waiting,
) -> Result<Poll<Value>, Failure> {
    if let Some(pending) = &mut context.state::<Mocked>().0 {
        return Ok(Poll::Ready(pending.line().into()));
    }
    Ok(
        match waiting.effect(context, || Request::Input { line: true }) {
            Some(Answer::Text(line)) => {
                Poll::Ready(line.map(|line| without_end(&line).to_owned()).into())
            }
            Some(_) => Poll::Ready(Value::Nil),
            None => Poll::Pending,
        },
    )
}

/// It asks a person, so it reads the real input.
fn prompt_user(
    context: &mut Context<'_>,
    arguments: &mut [Value],
    waiting: &mut Waiting,
) -> Result<Poll<Value>, Failure> {
    if !waiting.is_resumed() {
        context.write(&text(arguments, 0));
    }
    Ok(
        match waiting.effect(context, || Request::Input { line: true }) {
            Some(Answer::Text(line)) => Poll::Ready(line.unwrap_or_default().trim_end().into()),
            Some(_) => Poll::Ready(Value::Nil),
            None => Poll::Pending,
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        let mut pending = Pending::new(text.to_owned());
        std::iter::from_fn(|| pending.line()).collect()
    }

    #[test]
    fn a_mocked_text_is_read_line_by_line() {
        assert_eq!(lines("a\nb\n"), ["a", "b"]);
        assert_eq!(lines("a\r\n\nb"), ["a", "", "b"]);
        assert_eq!(lines("\n"), [""]);
        assert!(lines("").is_empty());
    }

    #[test]
    fn a_mocked_text_is_read_whole_once() {
        let mut pending = Pending::new("a\nb".to_owned());
        assert_eq!(pending.rest().as_deref(), Some("a\nb"));
        assert_eq!(pending.line(), None);
        assert_eq!(pending.rest(), None);
    }
}
