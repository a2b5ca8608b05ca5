//! Reads JSON that is still being written.
//!
//! The tree is built as bytes arrive and no byte is looked at twice, so arguments of a megabyte
//! that come in pieces of a few bytes cost what they cost in one piece. What is shown of an
//! unfinished value is only what is certain: an open string shows what is there, an unfinished
//! number or word is left out, and so is a key without a value.

use serde_json::{Map, Value};

/// How deep values may nest; beyond it nothing is shown but the raw text.
const DEPTH_MAX: usize = 128;
/// The longest number or word; longer ones are no JSON that we show.
const SCALAR_BYTES_MAX: usize = 1024;

/// Arguments of a call, as far as they have come.
#[derive(Clone, Debug, Default)]
pub struct PartialJson {
    raw: String,
    frames: Vec<Frame>,
    state: State,
    /// The escape that is being read, without its backslash.
    escape: String,
    /// The first half of a character that needs two escapes.
    surrogate: Option<u32>,
    text: String,
}

/// What can be shown.
#[derive(Clone, Debug, PartialEq)]
pub enum Snapshot {
    /// A value, with whatever was open closed.
    Parsed(Value),
    /// What came, because it is no JSON or there is too little of it.
    Partial(String),
}

#[derive(Clone, Debug)]
enum Frame {
    Object(Map<String, Value>, Option<String>),
    Array(Vec<Value>),
}

#[derive(Clone, Debug, Default, PartialEq)]
enum State {
    /// A value must come; in an array that has just opened, `]` may come as well.
    #[default]
    Value,
    FirstElement,
    /// A key or, after `{`, its end.
    FirstKey,
    Key,
    Colon,
    /// A comma or a closing bracket.
    After,
    /// In a string, which may be a key.
    Text {
        is_key: bool,
    },
    Escape {
        is_key: bool,
    },
    /// In a number or a word.
    Scalar,
    Done(Value),
    /// It is no JSON.
    Broken,
}

impl PartialJson {
    /// Takes the next piece.
    pub fn push(&mut self, piece: &str) {
        self.raw.push_str(piece);
        let mut rest = piece;
        while let Some(next) = rest.chars().next() {
            // Most of a long argument is plain text in a string.
            if let State::Text { .. } = self.state {
                let plain = rest
                    .find(|c: char| c == '"' || c == '\\' || c < ' ')
                    .unwrap_or(rest.len());
                if plain > 0 {
                    self.drop_surrogate();
                    self.text.push_str(&rest[..plain]);
                    rest = &rest[plain..];
                    continue;
                }
            }
            self.take(next);
            rest = &rest[next.len_utf8()..];
        }
    }

    /// Everything that came.
    pub fn raw(&self) -> &str {
        &self.raw
    }

    /// What can be shown now.
    pub fn snapshot(&self) -> Snapshot {
        let open = match &self.state {
            State::Broken => None,
            State::Done(value) => return Snapshot::Parsed(value.clone()),
            State::Text { is_key: false } | State::Escape { is_key: false } => {
                Some(Value::String(self.text.clone()))
            }
            // A number may go on, but one that stands alone is a value as it is.
            State::Scalar if self.frames.is_empty() => scalar(&self.text),
            _ => None,
        };
        let is_broken = self.state == State::Broken;
        let closed = self.frames.iter().rev().fold(open, |inner, frame| {
            Some(match frame {
                Frame::Object(map, key) => {
                    let mut map = map.clone();
                    if let (Some(key), Some(inner)) = (key, inner) {
                        map.insert(key.clone(), inner);
                    }
                    Value::Object(map)
                }
                Frame::Array(list) => {
                    let mut list = list.clone();
                    list.extend(inner);
                    Value::Array(list)
                }
            })
        });
        match closed.filter(|_| !is_broken) {
            Some(value) => Snapshot::Parsed(value),
            None => Snapshot::Partial(self.raw.clone()),
        }
    }

    fn take(&mut self, next: char) {
        match self.state {
            State::Text { is_key } => self.in_text(next, is_key),
            State::Escape { is_key } => self.in_escape(next, is_key),
            State::Scalar if !is_delimiter(next) => {
                self.text.push(next);
                if self.text.len() > SCALAR_BYTES_MAX {
                    self.state = State::Broken;
                }
            }
            State::Scalar => {
                match scalar(&std::mem::take(&mut self.text)) {
                    Some(value) => self.place(value),
                    None => self.state = State::Broken,
                }
                self.take(next);
            }
            State::Broken => {}
            _ if matches!(next, ' ' | '\t' | '\n' | '\r') => {}
            _ => self.structure(next),
        }
    }

    fn structure(&mut self, next: char) {
        match (&self.state, next) {
            (State::Value | State::FirstElement, '{') => {
                self.open(Frame::Object(Map::new(), None), State::FirstKey);
            }
            (State::Value | State::FirstElement, '[') => {
                self.open(Frame::Array(Vec::new()), State::FirstElement);
            }
            (State::Value | State::FirstElement, '"') => {
                self.state = State::Text { is_key: false };
            }
            (State::FirstElement, ']') | (State::FirstKey, '}') => self.close(next),
            (State::FirstKey | State::Key, '"') => self.state = State::Text { is_key: true },
            (State::Colon, ':') => self.state = State::Value,
            (State::After, ',') => {
                self.state = match self.frames.last() {
                    Some(Frame::Object(..)) => State::Key,
                    Some(Frame::Array(_)) | None => State::Value,
                };
            }
            (State::After, '}' | ']') => self.close(next),
            (State::Value | State::FirstElement, '-' | '0'..='9' | 't' | 'f' | 'n') => {
                self.text.push(next);
                self.state = State::Scalar;
            }
            _ => self.state = State::Broken,
        }
    }

    fn open(&mut self, frame: Frame, state: State) {
        if self.frames.len() == DEPTH_MAX {
            self.state = State::Broken;
            return;
        }
        self.frames.push(frame);
        self.state = state;
    }

    fn close(&mut self, next: char) {
        match (self.frames.pop(), next) {
            (Some(Frame::Object(map, _)), '}') => self.place(Value::Object(map)),
            (Some(Frame::Array(list)), ']') => self.place(Value::Array(list)),
            _ => self.state = State::Broken,
        }
    }

    fn place(&mut self, value: Value) {
        self.state = State::After;
        match self.frames.last_mut() {
            Some(Frame::Object(map, key)) => {
                map.insert(key.take().unwrap_or_default(), value);
            }
            Some(Frame::Array(list)) => list.push(value),
            None => self.state = State::Done(value),
        }
    }

    fn in_text(&mut self, next: char, is_key: bool) {
        match next {
            '"' => {
                self.drop_surrogate();
                let text = std::mem::take(&mut self.text);
                if !is_key {
                    self.place(Value::String(text));
                } else if let Some(Frame::Object(_, key)) = self.frames.last_mut() {
                    *key = Some(text);
                    self.state = State::Colon;
                }
            }
            '\\' => self.state = State::Escape { is_key },
            // Only control characters are left, and those must be escaped.
            _ => self.state = State::Broken,
        }
    }

    fn in_escape(&mut self, next: char, is_key: bool) {
        self.escape.push(next);
        let plain = match self.escape.as_str() {
            "n" => '\n',
            "t" => '\t',
            "r" => '\r',
            "b" => '\u{8}',
            "f" => '\u{c}',
            "\"" | "\\" | "/" => next,
            escape if escape == "u" || next.is_ascii_hexdigit() && escape.starts_with('u') => {
                if escape.len() == 5 {
                    self.unicode();
                    self.state = State::Text { is_key };
                }
                return;
            }
            _ => {
                self.state = State::Broken;
                return;
            }
        };
        self.drop_surrogate();
        self.text.push(plain);
        self.escape.clear();
        self.state = State::Text { is_key };
    }

    fn unicode(&mut self) {
        let escape = std::mem::take(&mut self.escape);
        let unit = u32::from_str_radix(&escape[1..], 16).unwrap_or(0xfffd);
        if let (Some(first), 0xdc00..=0xdfff) = (self.surrogate, unit) {
            let both = 0x1_0000 + ((first - 0xd800) << 10) + (unit - 0xdc00);
            self.text.push(char::from_u32(both).unwrap_or('\u{fffd}'));
            self.surrogate = None;
            return;
        }
        self.drop_surrogate();
        match unit {
            0xd800..=0xdbff => self.surrogate = Some(unit),
            _ => self.text.push(char::from_u32(unit).unwrap_or('\u{fffd}')),
        }
    }

    /// Half a character whose other half did not come.
    fn drop_surrogate(&mut self) {
        if self.surrogate.take().is_some() {
            self.text.push('\u{fffd}');
        }
    }
}

fn is_delimiter(next: char) -> bool {
    matches!(next, ',' | ']' | '}' | ' ' | '\t' | '\n' | '\r')
}

/// A whole number or word.
fn scalar(text: &str) -> Option<Value> {
    serde_json::from_str(text).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn read(pieces: &[&str]) -> Snapshot {
        let mut json = PartialJson::default();
        for piece in pieces {
            json.push(piece);
        }
        json.snapshot()
    }

    #[track_caller]
    fn check(text: &str, expected: Option<Value>) {
        let expected =
            expected.map_or_else(|| Snapshot::Partial(text.to_owned()), Snapshot::Parsed);
        assert_eq!(read(&[text]), expected, "{text}");
        let pieces: Vec<String> = text.chars().map(String::from).collect();
        let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
        assert_eq!(read(&pieces), expected, "{text} in pieces");
    }

    #[test]
    fn what_is_open_is_closed() {
        for (text, expected) in [
            ("{\"a\": \"b", json!({"a": "b"})),
            (
                "{\"a\": [1, {\"b\": \"c\\n",
                json!({"a": [1, {"b": "c\n"}]}),
            ),
            ("{", json!({})),
            ("[", json!([])),
            ("{\"a\": 1,", json!({"a": 1})),
            ("{\"a\": 1, \"b", json!({"a": 1})),
            ("{\"a\": 1, \"b\":", json!({"a": 1})),
            ("{\"a\": \"x\\u00", json!({"a": "x"})),
            ("{\"a\": \"x\\ud83d", json!({"a": "x"})),
            ("{\"a\": \"x\\", json!({"a": "x"})),
            ("\"open", json!("open")),
        ] {
            check(text, Some(expected));
        }
    }

    #[test]
    fn an_unfinished_scalar_is_left_out() {
        for (text, expected) in [
            ("{\"a\": 1", json!({})),
            ("{\"a\": 1.", json!({})),
            ("{\"a\": -", json!({})),
            ("{\"a\": tru", json!({})),
            ("[1, 2", json!([1])),
            ("[1, 2 ", json!([1, 2])),
            ("12", json!(12)),
        ] {
            check(text, Some(expected));
        }
    }

    #[test]
    fn whole_values_are_read_strictly() {
        for text in [
            "{}",
            "[]",
            "{\"a\": [1, -2.5e3, true, false, null, \"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\ud83d\\ude00\"]}",
            "{\"a\": 1, \"a\": 2}",
            " \n[ 1 , 2 ] ",
        ] {
            check(text, Some(serde_json::from_str(text).unwrap()));
        }
    }

    #[test]
    fn what_is_no_json_is_shown_raw() {
        for text in [
            "",
            " ",
            "nope",
            "{a: 1",
            "{\"a\": 1}}",
            "[1 2]",
            "[1,]",
            "{\"a\"]",
            "\"a\nb\"",
            "-",
            "tru",
            "{\"a\": \"\\q",
            "{\"a\": 01,",
        ] {
            check(text, None);
        }
        check(&"[".repeat(DEPTH_MAX + 1), None);
        check(&"[".repeat(1 << 16), None);
    }

    #[test]
    fn a_megabyte_in_small_pieces_is_read_like_any_other() {
        let line = "fn main() { println!(\"hi\"); }\n";
        let text = json!({"content": line.repeat(1 << 15), "done": true}).to_string();
        let mut json = PartialJson::default();
        for (at, _) in text.char_indices() {
            json.push(&text[at..=at]);
        }
        assert_eq!(json.raw(), text);
        assert_eq!(
            json.snapshot(),
            Snapshot::Parsed(serde_json::from_str(&text).unwrap())
        );
    }

    proptest! {
        #[test]
        fn every_beginning_can_be_shown(text in "[\\[\\]{}\",:\\\\a-fu0-9 .\\-😀\n]{0,60}", cut in 0_usize..60) {
            let cut = text.char_indices().nth(cut).map_or(text.len(), |(at, _)| at);
            let whole = read(&[&text]);
            prop_assert_eq!(read(&[&text[..cut], &text[cut..]]), whole.clone());
            if let Ok(value) = serde_json::from_str::<Value>(&text) {
                prop_assert_eq!(whole, Snapshot::Parsed(value));
            }
        }
    }
}
