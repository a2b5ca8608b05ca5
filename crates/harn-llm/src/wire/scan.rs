//! Walks over JSON from left to right and builds nothing.
//!
//! For frames that come by the thousand and hold little that matters. Every function gives
//! `None` for what it does not understand, which may still be JSON: whoever gets that asks a
//! real parser. The other way round there is no doubt, as nothing passes here that is not JSON.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::words;

/// Values inside of each other that are followed. Nothing that matters is that deep.
const DEPTH_MAX: usize = 16;

/// A place in a text of JSON.
#[derive(Debug)]
pub(super) struct Scanner<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// Whether nothing follows.
    pub(super) fn is_at_end(&mut self) -> bool {
        self.peek().is_none()
    }

    /// Reads an object. `each` gets the keys, and reads the value of each.
    pub(super) fn object(
        &mut self,
        mut each: impl FnMut(&mut Self, &str) -> Option<()>,
    ) -> Option<()> {
        self.expect(b'{')?;
        if self.take(b'}') {
            return Some(());
        }
        loop {
            let key = self.string()?;
            self.expect(b':')?;
            each(self, &key)?;
            if !self.take(b',') {
                return self.expect(b'}');
            }
        }
    }

    /// Reads a list. `each` reads the values.
    pub(super) fn list(&mut self, mut each: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        self.expect(b'[')?;
        if self.take(b']') {
            return Some(());
        }
        loop {
            each(self)?;
            if !self.take(b',') {
                return self.expect(b']');
            }
        }
    }

    /// Reads a text or null.
    pub(super) fn text(&mut self) -> Option<Option<Cow<'a, str>>> {
        match self.peek()? {
            b'n' => self.null().map(|()| None),
            _ => self.string().map(Some),
        }
    }

    /// Reads null.
    pub(super) fn null(&mut self) -> Option<()> {
        self.peek()?;
        self.word("null")
    }

    /// Reads any value.
    pub(super) fn value(&mut self) -> Option<Value> {
        self.value_within(DEPTH_MAX)
    }

    fn value_within(&mut self, depth_left: usize) -> Option<Value> {
        let depth_left = depth_left.checked_sub(1)?;
        match self.peek()? {
            b'{' => {
                let mut members = Map::new();
                self.object(|scanner, key| {
                    let value = scanner.value_within(depth_left)?;
                    members.insert(key.to_owned(), value);
                    Some(())
                })?;
                Some(Value::Object(members))
            }
            b'0'..=b'9' => {
                let written = self.raw()?;
                let count: Result<u64, _> = written.parse();
                count.map_or_else(
                    |_| serde_json::from_str(written).ok(),
                    |count| Some(count.into()),
                )
            }
            _ => serde_json::from_str(self.raw()?).ok(),
        }
    }

    /// Reads any value and gives it as it is written.
    pub(super) fn raw(&mut self) -> Option<&'a str> {
        self.peek()?;
        let start = self.at;
        self.skip(DEPTH_MAX)?;
        Some(&self.text[start..self.at])
    }

    fn string(&mut self) -> Option<Cow<'a, str>> {
        self.expect(b'"')?;
        let start = self.at;
        let is_plain = self.rest_of_string()?;
        let written = &self.text[start..self.at - 1];
        match is_plain {
            true => Some(Cow::Borrowed(written)),
            false => serde_json::from_str(&self.text[start - 1..self.at]).ok(),
        }
    }

    /// Goes on to the end of a string. Whether it is written as what it is.
    fn rest_of_string(&mut self) -> Option<bool> {
        let mut is_plain = true;
        loop {
            let rest = &self.text.as_bytes()[self.at..];
            let length = words::position(rest, special)?;
            self.at += length + 1;
            match rest[length] {
                b'"' => return Some(is_plain),
                b'\\' => self.escape()?,
                _ => return None,
            }
            is_plain = false;
        }
    }

    fn escape(&mut self) -> Option<()> {
        let rest = &self.text.as_bytes()[self.at..];
        self.at += match rest.first()? {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => 1,
            b'u' if rest.get(1..5)?.iter().all(u8::is_ascii_hexdigit) => 5,
            _ => return None,
        };
        Some(())
    }

    fn skip(&mut self, depth_left: usize) -> Option<()> {
        let depth_left = depth_left.checked_sub(1)?;
        match self.peek()? {
            b'"' => {
                self.at += 1;
                self.rest_of_string().map(drop)
            }
            b'{' => self.object(|scanner, _| scanner.skip(depth_left)),
            b'[' => self.list(|scanner| scanner.skip(depth_left)),
            b'n' => self.word("null"),
            b't' => self.word("true"),
            b'f' => self.word("false"),
            _ => self.number(),
        }
    }

    fn number(&mut self) -> Option<()> {
        self.take_if(|byte| byte == b'-');
        if !self.take_if(|byte| byte == b'0') {
            self.digits()?;
        }
        if self.take_if(|byte| byte == b'.') {
            self.digits()?;
        }
        if self.take_if(|byte| matches!(byte, b'e' | b'E')) {
            self.take_if(|byte| matches!(byte, b'+' | b'-'));
            self.digits()?;
        }
        Some(())
    }

    fn digits(&mut self) -> Option<()> {
        let rest = &self.text.as_bytes()[self.at..];
        let is_digit = |byte: &&u8| byte.is_ascii_digit();
        let count = rest.iter().take_while(is_digit).count();
        self.at += count;
        (count > 0).then_some(())
    }

    fn word(&mut self, word: &str) -> Option<()> {
        let found = self.text.as_bytes()[self.at..].starts_with(word.as_bytes());
        self.at += word.len();
        found.then_some(())
    }

    fn expect(&mut self, byte: u8) -> Option<()> {
        self.take(byte).then_some(())
    }

    /// Takes the next byte that is no space, if it is this one.
    fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    /// Takes the next byte, if it is wanted.
    fn take_if(&mut self, is_wanted: impl Fn(u8) -> bool) -> bool {
        let next = self.text.as_bytes().get(self.at);
        let found = next.is_some_and(|next| is_wanted(*next));
        self.at += usize::from(found);
        found
    }

    /// The next byte that is no space.
    fn peek(&mut self) -> Option<u8> {
        loop {
            match *self.text.as_bytes().get(self.at)? {
                b' ' | b'\n' | b'\r' | b'\t' => self.at += 1,
                byte => return Some(byte),
            }
        }
    }
}

/// Marks the bytes that end a string or are not what they mean.
fn special(word: u64) -> u64 {
    words::equal(word, b'"') | words::equal(word, b'\\') | words::below(word, b' ')
}

/// Whether a string is written as what it is.
pub(super) fn means_itself(text: &str) -> bool {
    words::position(text.as_bytes(), special).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn accepts(text: &str) -> bool {
        let mut scanner = Scanner::new(text);
        scanner.raw().is_some() && scanner.is_at_end()
    }

    #[test]
    fn json_passes() {
        for text in [
            r#"{"a": [1, -0.5e+3, 0, 10E2], "b\n": {"c": null, "d": [true, false]}}"#,
            r#" "\u00e4\"\\\/ ö 🦀" "#,
            "[ ]",
            "{ }",
            "7",
        ] {
            assert!(accepts(text), "{text}");
        }
    }

    #[test]
    fn what_is_no_json_does_not() {
        for text in [
            "",
            "{",
            "[1,]",
            "{\"a\":1,}",
            "{\"a\"}",
            "{a:1}",
            "01",
            "1.",
            "-",
            "1e",
            "+1",
            ".5",
            "nul",
            "nulll",
            "\"",
            "\"\\x\"",
            "\"\\u00g0\"",
            "\"\u{1}\"",
            "\"a\nb\"",
            "1 2",
            "]",
            "'a'",
        ] {
            assert!(!accepts(text), "{text}");
        }
    }

    #[test]
    fn what_is_too_deep_is_left_to_others() {
        let nested = |depth| "[".repeat(depth) + &"]".repeat(depth);
        assert!(accepts(&nested(DEPTH_MAX)));
        assert!(!accepts(&nested(DEPTH_MAX + 1)));
        assert!(!accepts(&"[".repeat(1_000_000)));
    }

    proptest! {
        #[test]
        fn nothing_passes_that_is_not_json(
            text in "(\\{|\\}|\\[|\\]|,|:| |null|true|-?0|[1-9.]{1,3}|e|\"[a\\\\nu0-9]{0,3}\"){0,12}",
        ) {
            if accepts(&text) {
                prop_assert!(serde_json::from_str::<serde::de::IgnoredAny>(&text).is_ok(), "{}", text);
            }
        }

        #[test]
        fn all_shallow_json_passes(text in "[a\"\\\\\\n\u{1}ä🦀]{0,8}", number in any::<f64>()) {
            let value = serde_json::json!({&*text: [text, number, {"x": null}]});
            prop_assert!(accepts(&value.to_string()));
            prop_assert_eq!(Scanner::new(&value.to_string()).value(), Some(value.clone()));
        }
    }
}
