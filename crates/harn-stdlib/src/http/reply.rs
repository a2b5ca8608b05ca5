//! What a server answered, as programs see it.

use harn_machine::value::{Dict, Text};
use harn_machine::{HttpHead, Value};

/// An answer.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    pub(crate) head: Head,
    pub(crate) body: Text,
}

/// What stands before a body.
#[derive(Clone, Debug)]
pub(crate) struct Head {
    pub(crate) status: i64,
    pub(crate) headers: Dict,
}

impl Default for Reply {
    fn default() -> Self {
        Self::of(&Value::Nil)
    }
}

impl Reply {
    /// The answer that a mock describes.
    pub(crate) fn of(described: &Value) -> Self {
        let field = |name: &str| match described {
            Value::Dict(fields) => fields.get(name).cloned().unwrap_or_default(),
            _ => Value::Nil,
        };
        let status = match field("status") {
            Value::Int(status) => status,
            Value::Float(status) => status as i64,
            _ => 200,
        };
        let headers = match field("headers") {
            Value::Dict(headers) => headers.iter().map(shown).collect(),
            _ => Dict::default(),
        };
        let body = match field("body") {
            Value::Nil => Text::new(""),
            body => body.to_text(),
        };
        Self {
            head: Head { status, headers },
            body,
        }
    }

    /// The answer of a server. What is no text in it is replaced by marks.
    pub(crate) fn received(head: HttpHead, body: Vec<u8>) -> Self {
        let body = match String::from_utf8(body) {
            Ok(body) => body,
            Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
        };
        Self {
            head: head.into(),
            body: Text::from(body),
        }
    }

    /// `{status, headers, body, ok}`
    pub(crate) fn described(self) -> Value {
        let Self { head, body } = self;
        head.described([("body", body.into())])
    }
}

fn shown((name, value): (&Text, &Value)) -> (Text, Value) {
    (name.clone(), value.to_text().into())
}

impl Head {
    fn is_ok(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// A header, however its name is spelled.
    pub(crate) fn header(&self, name: &str) -> Option<Text> {
        let mut headers = self.headers.iter();
        let found = headers.find(|(one, _)| one.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.to_text())
    }

    /// `{status, headers, ok}` and what else there is.
    pub(crate) fn described<const COUNT: usize>(self, more: [(&str, Value); COUNT]) -> Value {
        let ok = self.is_ok();
        let fields = [
            ("status", Value::Int(self.status)),
            ("headers", Value::Dict(self.headers)),
            ("ok", ok.into()),
        ];
        Value::dict(fields.into_iter().chain(more))
    }
}

/// A header that was sent several times is one whose values are separated by commas.
impl From<HttpHead> for Head {
    fn from(head: HttpHead) -> Self {
        let mut headers = Dict::default();
        for (name, value) in head.headers {
            let name = Text::from(name);
            let value = match headers.get_text(&name) {
                None => value,
                Some(before) => format!("{before}, {value}"),
            };
            headers.insert(name, value.into());
        }
        Self {
            status: i64::from(head.status),
            headers,
        }
    }
}
