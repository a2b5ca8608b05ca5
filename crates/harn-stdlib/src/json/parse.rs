//! Text read as JSON.
//!
//! What is wrong is said in the words of serde_json, with line and column, because programs and
//! people know them; a test compares both. Unlike serde_json we read any depth.

use harn_machine::value::Text;
use harn_machine::{Budget, Failure, Value};

use super::building::{Building, Outer};
use super::scan::plain_length;

/// The value of a text, or what is wrong with it and where.
pub(crate) fn parse(text: &str) -> Result<Value, String> {
    read(text, &mut |_| Ok(()))
}

/// The same, as far as the program may have it: what is read takes many times the memory of the
/// text.
pub(super) fn parse_within(
    text: &str,
    budget: &mut Budget,
) -> Result<Result<Value, String>, Failure> {
    budget.reserve(text.len())?;
    let mut failed = None;
    let value = read(text, &mut |bytes| {
        budget.make(bytes).map_err(|failure| {
            failed = Some(failure);
            String::new()
        })
    });
    match failed {
        Some(failure) => Err(failure),
        None => Ok(value),
    }
}

/// Reads a text. Each value is told with about how many bytes it takes beside what it has of the
/// text.
fn read(text: &str, made: &mut impl FnMut(usize) -> Result<(), String>) -> Result<Value, String> {
    let mut reader = Reader {
        text,
        at: 0,
        building: Building::default(),
        unescaped: String::new(),
    };
    let value = reader.whole(made)?;
    match reader.skip_space() {
        Some(_) => reader.fail_ahead("trailing characters"),
        None => Ok(value),
    }
}

/// About what a text, a list or a dict takes without what is in it.
const COUNTED_BYTES: usize = 72;

/// The value of each digit; 255 for what is none.
const HEX: [u8; 256] = {
    let mut values = [255; 256];
    let mut digit = 0;
    while digit < 16 {
        values[b"0123456789abcdef"[digit] as usize] = digit as u8;
        values[b"0123456789ABCDEF"[digit] as usize] = digit as u8;
        digit += 1;
    }
    values
};

struct Reader<'a> {
    text: &'a str,
    at: usize,
    building: Building,
    /// Room for strings with escapes.
    unescaped: String,
}

impl Reader<'_> {
    /// One value with all that is in it.
    fn whole(
        &mut self,
        made: &mut impl FnMut(usize) -> Result<(), String>,
    ) -> Result<Value, String> {
        loop {
            let Some(mut value) = self.begin()? else {
                continue;
            };
            made(match value {
                Value::Text(_) | Value::List(_) | Value::Dict(_) => COUNTED_BYTES,
                _ => 2 * size_of::<Value>(),
            })?;
            // The value may be the last of what it is in, and that of what that is in.
            loop {
                let follows = match self.building.add(value) {
                    Outer::None(value) => return Ok(value),
                    Outer::List => self.item_follows()?,
                    Outer::Dict => self.entry_follows()?,
                };
                if follows {
                    break;
                }
                value = self.building.close();
            }
        }
    }

    /// All of a value, or nothing if it is a list or dict that has only begun.
    fn begin(&mut self) -> Result<Option<Value>, String> {
        let Some(next) = self.skip_space() else {
            return self.fail_ahead("EOF while parsing a value");
        };
        Ok(Some(match next {
            b'"' => {
                self.at += 1;
                Value::Text(self.string()?)
            }
            b'-' | b'0'..=b'9' => self.number()?,
            b'{' => {
                self.at += 1;
                return self.begin_dict();
            }
            b'[' => {
                self.at += 1;
                return self.begin_list();
            }
            b'n' => self.word("null", Value::Nil)?,
            b't' => self.word("true", Value::Bool(true))?,
            b'f' => self.word("false", Value::Bool(false))?,
            _ => return self.fail_ahead("expected value"),
        }))
    }

    fn begin_list(&mut self) -> Result<Option<Value>, String> {
        match self.skip_space() {
            None => self.fail_ahead("EOF while parsing a list"),
            Some(b']') => {
                self.at += 1;
                Ok(Some(Value::list(Vec::new())))
            }
            Some(_) => {
                self.building.begin_list();
                Ok(None)
            }
        }
    }

    fn begin_dict(&mut self) -> Result<Option<Value>, String> {
        match self.skip_space() {
            None => self.fail_ahead("EOF while parsing an object"),
            Some(b'}') => {
                self.at += 1;
                Ok(Some(Value::dict([])))
            }
            Some(b'"') => {
                self.building.begin_dict();
                self.key()?;
                Ok(None)
            }
            Some(_) => self.fail_ahead("key must be a string"),
        }
    }

    /// Whether another item follows in a list.
    fn item_follows(&mut self) -> Result<bool, String> {
        self.follows(b']', "EOF while parsing a list", "expected `,` or `]`")
    }

    /// Whether another entry follows in a dict, whose key then is read.
    fn entry_follows(&mut self) -> Result<bool, String> {
        let eof = "EOF while parsing an object";
        let follows = self.follows(b'}', eof, "expected `,` or `}`")?;
        if follows {
            if self.peek() != Some(b'"') {
                return self.fail_ahead("key must be a string");
            }
            self.key()?;
        }
        Ok(follows)
    }

    /// Whether another member follows, which then is next; else what ends them is passed.
    fn follows(&mut self, end: u8, eof: &str, neither: &str) -> Result<bool, String> {
        match self.skip_space() {
            None => self.fail_ahead(eof),
            Some(next) if next == end => {
                self.at += 1;
                Ok(false)
            }
            Some(b',') => {
                self.at += 1;
                match self.skip_space() {
                    None => self.fail_ahead("EOF while parsing a value"),
                    Some(next) if next == end => self.fail_ahead("trailing comma"),
                    Some(_) => Ok(true),
                }
            }
            Some(_) => self.fail_ahead(neither),
        }
    }

    /// A key and its colon; the next character is a quote.
    fn key(&mut self) -> Result<(), String> {
        let start = self.at + 1;
        let rest = &self.text.as_bytes()[start..];
        let end = start + plain_length(rest);
        if self.text.as_bytes().get(end) == Some(&b'"') {
            self.at = end + 1;
            self.building.key(&self.text[start..end]);
        } else {
            self.at = start;
            let key = self.string()?;
            self.building.key(&key);
        }
        match self.skip_space() {
            Some(b':') => {
                self.at += 1;
                Ok(())
            }
            Some(_) => self.fail_ahead("expected `:`"),
            None => self.fail_ahead("EOF while parsing an object"),
        }
    }

    fn word(&mut self, word: &str, value: Value) -> Result<Value, String> {
        self.at += 1;
        for expected in word.bytes().skip(1) {
            match self.next() {
                None => return self.fail("EOF while parsing a value"),
                Some(next) if next != expected => return self.fail("expected ident"),
                Some(_) => {}
            }
        }
        Ok(value)
    }

    /// Most numbers are whole and short; the others are read with more care.
    fn number(&mut self) -> Result<Value, String> {
        let octets = self.text.as_bytes();
        let is_negative = octets[self.at] == b'-';
        let first = self.at + usize::from(is_negative);
        let mut at = first;
        let mut number = 0_i64;
        while let Some(digit) = octets.get(at).map(|octet| octet.wrapping_sub(b'0'))
            && digit < 10
        {
            number = number.wrapping_mul(10).wrapping_add(i64::from(digit));
            at += 1;
        }
        let is_short = (1..19).contains(&(at - first));
        let has_leading_zero = octets.get(first) == Some(&b'0') && at > first + 1;
        if is_short && !has_leading_zero && !matches!(octets.get(at), Some(b'.' | b'e' | b'E')) {
            self.at = at;
            return Ok(Value::Int(if is_negative { -number } else { number }));
        }
        self.uncommon_number()
    }

    fn uncommon_number(&mut self) -> Result<Value, String> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        match self.next() {
            None => return self.fail("EOF while parsing a value"),
            Some(b'0') => {
                if self.peek().is_some_and(|next| next.is_ascii_digit()) {
                    return self.fail_ahead("invalid number");
                }
            }
            Some(b'1'..=b'9') => self.digits(),
            Some(_) => return self.fail("invalid number"),
        }
        if !matches!(self.peek(), Some(b'.' | b'e' | b'E')) {
            return match self.text[start..self.at].parse() {
                Ok(number) => Ok(Value::Int(number)),
                Err(_) => self.float(start),
            };
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            let fraction = self.at;
            self.digits();
            if self.at == fraction {
                return self.fail_ahead(match self.peek() {
                    Some(_) => "invalid number",
                    None => "EOF while parsing a value",
                });
            }
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.exponent()?;
        }
        self.float(start)
    }

    fn float(&self, start: usize) -> Result<Value, String> {
        match self.text[start..self.at].parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(Value::Float(number)),
            _ => self.fail("number out of range"),
        }
    }

    fn digits(&mut self) {
        while self.peek().is_some_and(|next| next.is_ascii_digit()) {
            self.at += 1;
        }
    }

    fn exponent(&mut self) -> Result<(), String> {
        self.at += 1;
        if matches!(self.peek(), Some(b'+' | b'-')) {
            self.at += 1;
        }
        match self.next() {
            None => self.fail("EOF while parsing a value"),
            Some(b'0'..=b'9') => {
                self.digits();
                Ok(())
            }
            Some(_) => self.fail("invalid number"),
        }
    }

    /// A string whose opening quote is passed.
    fn string(&mut self) -> Result<Text, String> {
        let start = self.at;
        let end = start + plain_length(&self.text.as_bytes()[start..]);
        if self.text.as_bytes().get(end) == Some(&b'"') {
            self.at = end + 1;
            return Ok(Text::new(&self.text[start..end]));
        }
        let mut unescaped = std::mem::take(&mut self.unescaped);
        let read = self.unescape(&mut unescaped);
        let text = read.map(|()| Text::new(&unescaped));
        unescaped.clear();
        self.unescaped = unescaped;
        text
    }

    /// The rest of a string that has escapes.
    fn unescape(&mut self, out: &mut String) -> Result<(), String> {
        loop {
            let start = self.at;
            self.at += plain_length(&self.text.as_bytes()[start..]);
            out.push_str(&self.text[start..self.at]);
            match self.next() {
                None => return self.fail("EOF while parsing a string"),
                Some(b'"') => return Ok(()),
                Some(b'\\') => out.push(self.escape()?),
                Some(_) => {
                    let problem =
                        "control character (\\u0000-\\u001F) found while parsing a string";
                    return self.fail(problem);
                }
            }
        }
    }

    fn escape(&mut self) -> Result<char, String> {
        Ok(match self.next() {
            None => return self.fail("EOF while parsing a string"),
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.code_point(),
            Some(_) => return self.fail("invalid escape"),
        })
    }

    /// The character of one `\u` escape, or of two that belong together.
    fn code_point(&mut self) -> Result<char, String> {
        let first = self.hex()?;
        if let Some(letter) = char::from_u32(first) {
            return Ok(letter);
        }
        if first >= 0xdc00 {
            return self.fail("lone leading surrogate in hex escape");
        }
        for expected in [b'\\', b'u'] {
            match self.next() {
                None => return self.fail("EOF while parsing a string"),
                Some(next) if next != expected => {
                    return self.fail("unexpected end of hex escape");
                }
                Some(_) => {}
            }
        }
        let second = self.hex()?;
        if !(0xdc00..0xe000).contains(&second) {
            return self.fail("lone leading surrogate in hex escape");
        }
        let code = 0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00);
        Ok(char::from_u32(code).expect("a pair of surrogates is a character"))
    }

    fn hex(&mut self) -> Result<u32, String> {
        let rest = &self.text.as_bytes()[self.at..];
        let Some(digits) = rest.first_chunk::<4>() else {
            self.at = self.text.len();
            return self.fail("EOF while parsing a string");
        };
        self.at += 4;
        let [first, second, third, fourth] = digits.map(|digit| HEX[usize::from(digit)]);
        match first | second | third | fourth {
            0..16 => Ok(u32::from(first) << 12
                | u32::from(second) << 8
                | u32::from(third) << 4
                | u32::from(fourth)),
            _ => self.fail("invalid escape"),
        }
    }

    #[inline]
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn next(&mut self) -> Option<u8> {
        let next = self.peek()?;
        self.at += 1;
        Some(next)
    }

    /// Passes white space and tells what comes next.
    #[inline]
    fn skip_space(&mut self) -> Option<u8> {
        while matches!(self.peek(), Some(b' ' | b'\n' | b'\t' | b'\r')) {
            self.at += 1;
        }
        self.peek()
    }

    /// Something is wrong with what was passed last.
    fn fail<T>(&self, problem: &str) -> Result<T, String> {
        self.fail_at(problem, self.at)
    }

    /// Something is wrong with what comes next.
    fn fail_ahead<T>(&self, problem: &str) -> Result<T, String> {
        self.fail_at(problem, (self.at + 1).min(self.text.len()))
    }

    /// Columns count bytes.
    fn fail_at<T>(&self, problem: &str, end: usize) -> Result<T, String> {
        let before = &self.text.as_bytes()[..end];
        let breaks = before.iter().filter(|octet| **octet == b'\n').count();
        let last = before.iter().rposition(|octet| *octet == b'\n');
        let column = last.map_or(end, |last| end - last - 1);
        Err(format!("{problem} at line {} column {column}", breaks + 1))
    }
}

#[cfg(test)]
mod tests;
