//! Strings in all the quotes that models use.

use super::super::Repair;
use super::Fault;

/// What a string stands between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quotes {
    /// `"`, `'` or a back-quote.
    Plain(char),
    /// Three of them, as in Python.
    Triple(char),
    /// “…” or ‘…’; holds the closing one.
    Smart(char),
}

/// A string whose end has not been seen.
#[derive(Debug)]
pub(super) struct Text {
    quotes: Quotes,
    is_key: bool,
    read: String,
    has_line_break: bool,
}

/// What became of a string.
pub(super) enum Ending {
    /// Its content, and whether it is the key of an object.
    Found(String, bool),
    /// Not within this text.
    NotYet,
    /// It contains something that cannot be meant.
    Failed(Fault),
}

/// What an escape stands for.
enum Escape {
    /// So many bytes stand for that.
    Char(char, usize),
    /// A line that goes on.
    Nothing(usize),
    /// None that we know; the backslash is meant.
    Unknown,
    NotYet,
    Bad(&'static str),
}

impl Text {
    pub(super) fn new(quotes: Quotes, is_key: bool) -> Self {
        Self {
            quotes,
            is_key,
            read: String::new(),
            has_line_break: false,
        }
    }

    /// Reads on from `at`, which it moves.
    pub(super) fn advance(
        &mut self,
        text: &str,
        at: &mut usize,
        ended: bool,
        repairs: &mut Vec<Repair>,
    ) -> Ending {
        while let Some(next) = text[*at..].chars().next() {
            match next {
                '\\' => match escape(&text[*at + 1..], ended) {
                    Escape::Char(read, length) => {
                        self.read.push(read);
                        *at += 1 + length;
                    }
                    Escape::Nothing(length) => *at += 1 + length,
                    Escape::Unknown => {
                        repairs.push(Repair::new("unknown escape kept", *at));
                        self.read.push('\\');
                        *at += 1;
                    }
                    Escape::NotYet => return Ending::NotYet,
                    Escape::Bad(message) => {
                        return Ending::Failed(Fault {
                            message: message.to_owned(),
                            at: *at,
                            is_unfinished: false,
                        });
                    }
                },
                _ => match self.closes(next, &text[*at..], ended) {
                    Some(Some(length)) => {
                        *at += length;
                        return Ending::Found(std::mem::take(&mut self.read), self.is_key);
                    }
                    Some(None) => return Ending::NotYet,
                    None => {
                        if next == '\n' && !self.has_line_break && self.is_one_line() {
                            self.has_line_break = true;
                            repairs.push(Repair::new("line break inside a string", *at));
                        }
                        self.read.push(next);
                        *at += next.len_utf8();
                    }
                },
            }
        }
        Ending::NotYet
    }

    /// Back-quoted and triple-quoted strings may span lines.
    fn is_one_line(&self) -> bool {
        !matches!(self.quotes, Quotes::Plain('`') | Quotes::Triple(_))
    }

    /// `Some(Some(length))` if the string ends here, `Some(None)` if only more text can tell.
    fn closes(&self, next: char, rest: &str, ended: bool) -> Option<Option<usize>> {
        match self.quotes {
            Quotes::Plain(quote) => (next == quote).then_some(Some(1)),
            Quotes::Smart(close) => {
                let plain = if close == '”' { '"' } else { '\'' };
                (next == close || next == plain).then_some(Some(next.len_utf8()))
            }
            Quotes::Triple(quote) => {
                let run = rest.chars().take(3).take_while(|c| *c == quote).count();
                match run {
                    3 => Some(Some(3)),
                    0 => None,
                    run if run == rest.len() && !ended => Some(None),
                    _ => None,
                }
            }
        }
    }
}

/// What the text after a backslash stands for.
fn escape(rest: &str, ended: bool) -> Escape {
    let Some(next) = rest.chars().next() else {
        return Escape::NotYet;
    };
    let plain = |read| Escape::Char(read, 1);
    match next {
        'n' => plain('\n'),
        't' => plain('\t'),
        'r' => plain('\r'),
        '0' => plain('\0'),
        'b' => plain('\u{8}'),
        'f' => plain('\u{c}'),
        '\\' | '\'' | '"' | '`' | '/' | '$' => plain(next),
        '\n' => Escape::Nothing(1),
        '\r' => match rest.as_bytes().get(1) {
            Some(b'\n') => Escape::Nothing(2),
            None if !ended => Escape::NotYet,
            _ => Escape::Nothing(1),
        },
        'x' => match hexadecimal(rest, 1, 2, ended) {
            Hexadecimal::Number(number) => {
                Escape::Char(char::from(u8::try_from(number).expect("two digits")), 3)
            }
            Hexadecimal::NotYet => Escape::NotYet,
            Hexadecimal::No => Escape::Bad("`\\x` must be followed by two hexadecimal digits"),
        },
        'u' => unicode(rest, ended),
        _ => Escape::Unknown,
    }
}

/// `uXXXX`, two of them for characters beyond the first plane, or `u{X…}`.
fn unicode(rest: &str, ended: bool) -> Escape {
    const BAD: Escape = Escape::Bad("`\\u` must be followed by four hexadecimal digits");
    if let Some(braced) = rest.strip_prefix("u{") {
        let Some(close) = braced.bytes().take(7).position(|octet| octet == b'}') else {
            let may_close = braced.len() < 7 && !ended;
            return if may_close { Escape::NotYet } else { BAD };
        };
        let read = u32::from_str_radix(&braced[..close], 16).ok();
        return match read.and_then(char::from_u32) {
            Some(read) => Escape::Char(read, close + 3),
            None => BAD,
        };
    }
    let first = match hexadecimal(rest, 1, 4, ended) {
        Hexadecimal::Number(number) => number,
        Hexadecimal::NotYet => return Escape::NotYet,
        Hexadecimal::No => return BAD,
    };
    if !(0xd800..0xdc00).contains(&first) {
        return Escape::Char(char::from_u32(first).unwrap_or('\u{fffd}'), 5);
    }
    let follows = &rest[5..];
    if !follows.starts_with("\\u") {
        let may_follow = "\\u".starts_with(follows) && !ended;
        return if may_follow {
            Escape::NotYet
        } else {
            Escape::Char('\u{fffd}', 5)
        };
    }
    match hexadecimal(rest, 7, 4, ended) {
        Hexadecimal::NotYet => Escape::NotYet,
        Hexadecimal::Number(second) if (0xdc00..0xe000).contains(&second) => {
            let both = 0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00);
            Escape::Char(char::from_u32(both).unwrap_or('\u{fffd}'), 11)
        }
        _ => Escape::Char('\u{fffd}', 5),
    }
}

enum Hexadecimal {
    Number(u32),
    NotYet,
    No,
}

fn hexadecimal(rest: &str, from: usize, count: usize, ended: bool) -> Hexadecimal {
    let digits = &rest.as_bytes()[from.min(rest.len())..];
    let digits = &digits[..count.min(digits.len())];
    if !digits.iter().all(u8::is_ascii_hexdigit) || (ended && digits.len() < count) {
        return Hexadecimal::No;
    }
    if digits.len() < count {
        return Hexadecimal::NotYet;
    }
    let number = digits.iter().fold(0, |number, digit| {
        number * 16 + char::from(*digit).to_digit(16).expect("checked above")
    });
    Hexadecimal::Number(number)
}
