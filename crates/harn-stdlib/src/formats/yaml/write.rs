//! Values written as YAML, in block style.
//!
//! ```text
//! a:              keys sorted
//! - 1             items of a list as deep as its key
//! - b: text       the first entry behind the dash
//!   c: 'true'     quotes where the text would be read as something else
//! ```

use harn_machine::Value;
use harn_machine::value::{Text, show_float};

use super::scalar;

/// How deeply lists and dicts may be nested. Each line is indented by its depth, so what is
/// nested very deeply fills more memory than it is worth.
const DEPTH_MAX: usize = 1000;

/// How many values one text may hold. Parts of a value can be shared, so that written out
/// they would fill any memory.
const SIZE_MAX: usize = 10_000_000;

/// A value as a document that ends with a newline.
pub(super) fn write(value: &Value) -> Result<String, String> {
    write_within(value, SIZE_MAX)
}

pub(super) fn write_within(value: &Value, size_max: usize) -> Result<String, String> {
    let mut writer = Writer {
        out: String::new(),
        left: Vec::new(),
        room: size_max,
    };
    writer.value(value, Spot::ROOT)?;
    while let Some(step) = writer.left.pop() {
        match step {
            Step::Item(item, spot) => {
                writer.dash(spot);
                writer.value(item, spot.behind_dash())?;
            }
            Step::Entry(key, value, spot) => {
                writer.indent(spot);
                writer.text(key, spot, Place::Key);
                writer.out.push(':');
                writer.value(value, spot.behind_key())?;
            }
        }
    }
    Ok(writer.out)
}

/// Where something is written.
#[derive(Clone, Copy)]
struct Spot {
    /// How many levels lists and dicts are indented here.
    depth: usize,
    /// What is on the line before it.
    before: Before,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    Nothing,
    Dash,
    Key,
}

impl Spot {
    const ROOT: Spot = Spot {
        depth: 0,
        before: Before::Nothing,
    };

    fn behind_dash(self) -> Spot {
        Spot {
            depth: self.depth + 1,
            before: Before::Dash,
        }
    }

    fn behind_key(self) -> Spot {
        Spot {
            depth: self.depth + 1,
            before: Before::Key,
        }
    }

    /// Where the items of a list begin: behind a dash, or as deep as their key.
    fn items(self) -> Spot {
        match self.before {
            Before::Key => Spot {
                depth: self.depth - 1,
                before: Before::Nothing,
            },
            Before::Nothing | Before::Dash => self,
        }
    }

    /// Where the entries of a dict begin: behind a dash, or deeper than their key.
    fn entries(self) -> Spot {
        match self.before {
            Before::Key => Spot {
                before: Before::Nothing,
                ..self
            },
            Before::Nothing | Before::Dash => self,
        }
    }

    /// Where the next item or entry begins.
    fn next_line(self) -> Spot {
        Spot {
            before: Before::Nothing,
            ..self
        }
    }
}

/// What is left to write.
enum Step<'a> {
    Item(&'a Value, Spot),
    Entry(&'a Text, &'a Value, Spot),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Key,
    Value,
}

struct Writer<'a> {
    out: String,
    left: Vec<Step<'a>>,
    /// How many more values may be written.
    room: usize,
}

impl<'a> Writer<'a> {
    /// Writes a value, or puts down what it consists of. Whoever wrote a dash has written the
    /// space behind it; behind a key there is none yet.
    fn value(&mut self, value: &'a Value, spot: Spot) -> Result<(), String> {
        let Some(room) = self.room.checked_sub(1) else {
            return Err("the value is too large".to_owned());
        };
        self.room = room;
        if spot.depth > DEPTH_MAX {
            return Err(format!(
                "the value is nested more than {DEPTH_MAX} levels deep"
            ));
        }
        match value {
            Value::List(items) => self.items(items, spot),
            Value::Set(set) => self.items(set.items(), spot),
            Value::Dict(dict) => self.entries(dict.iter(), spot),
            Value::Struct(value) => self.entries(value.fields(), spot),
            value => self.word(value, spot),
        }
        Ok(())
    }

    fn items(&mut self, items: &'a [Value], spot: Spot) {
        if items.is_empty() {
            return self.short("[]", spot);
        }
        if spot.before == Before::Key {
            self.out.push('\n');
        }
        let first = spot.items();
        let steps = items.iter().enumerate().rev();
        self.left.extend(steps.map(|(at, item)| match at {
            0 => Step::Item(item, first),
            _ => Step::Item(item, first.next_line()),
        }));
    }

    fn entries(&mut self, fields: impl Iterator<Item = (&'a Text, &'a Value)>, spot: Spot) {
        let first = spot.entries();
        let from = self.left.len();
        for (at, (key, value)) in fields.enumerate() {
            self.left.push(match at {
                0 => Step::Entry(key, value, first),
                _ => Step::Entry(key, value, first.next_line()),
            });
        }
        if self.left.len() == from {
            return self.short("{}", spot);
        }
        if spot.before == Before::Key {
            self.out.push('\n');
        }
        // What was put down last is written first.
        self.left[from..].reverse();
    }

    fn word(&mut self, value: &Value, spot: Spot) {
        match value {
            Value::Nil => self.short("null", spot),
            Value::Bool(_) | Value::Int(_) => self.short(&value.show(), spot),
            Value::Float(number) => self.short(&float(*number), spot),
            Value::Text(text) => self.line(text, spot),
            other => self.line(&other.show(), spot),
        }
    }

    /// Writes what needs no quotes.
    fn short(&mut self, word: &str, spot: Spot) {
        self.space(spot);
        self.out.push_str(word);
        self.out.push('\n');
    }

    fn line(&mut self, text: &str, spot: Spot) {
        self.space(spot);
        self.text(text, spot, Place::Value);
        self.out.push('\n');
    }

    fn space(&mut self, spot: Spot) {
        if spot.before == Before::Key {
            self.out.push(' ');
        }
    }

    fn dash(&mut self, spot: Spot) {
        self.indent(spot);
        self.out.push_str("- ");
    }

    fn indent(&mut self, spot: Spot) {
        if spot.before == Before::Nothing {
            self.out.extend(std::iter::repeat_n("  ", spot.depth));
        }
    }

    fn text(&mut self, text: &str, spot: Spot, place: Place) {
        if text.contains('\n') && place == Place::Value && is_block(text) {
            return self.block(text, spot);
        }
        if !text.chars().all(is_printable) || text.contains('\n') {
            return self.escaped(text);
        }
        if is_plain(text) {
            return self.out.push_str(text);
        }
        self.out.push('\'');
        self.out.push_str(&text.replace('\'', "''"));
        self.out.push('\'');
    }

    /// Writes lines as they are, below the line of their key or dash.
    fn block(&mut self, text: &str, spot: Spot) {
        self.out.push_str(match text.strip_suffix('\n') {
            None => "|-",
            Some(rest) if rest.ends_with('\n') => "|+",
            Some(_) => "|",
        });
        let depth = spot.depth.max(1);
        let lines = text.strip_suffix('\n').unwrap_or(text);
        for line in lines.split('\n') {
            self.out.push('\n');
            if !line.is_empty() {
                self.out.extend(std::iter::repeat_n("  ", depth));
                self.out.push_str(line);
            }
        }
    }

    fn escaped(&mut self, text: &str) {
        self.out.push('"');
        for letter in text.chars() {
            match letter {
                '"' => self.out.push_str("\\\""),
                '\\' => self.out.push_str("\\\\"),
                '\n' => self.out.push_str("\\n"),
                '\r' => self.out.push_str("\\r"),
                '\t' => self.out.push_str("\\t"),
                '\0' => self.out.push_str("\\0"),
                letter if is_printable(letter) => self.out.push(letter),
                letter => {
                    let code = u32::from(letter);
                    self.out.push_str(&match code {
                        0..=0xff => format!("\\x{code:02X}"),
                        0x100..=0xffff => format!("\\u{code:04X}"),
                        _ => format!("\\U{code:08X}"),
                    });
                }
            }
        }
        self.out.push('"');
    }
}

/// A number so that it is read as a float again.
fn float(number: f64) -> String {
    if number.is_nan() {
        return ".nan".to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 { ".inf" } else { "-.inf" }.to_owned();
    }
    let mut out = String::new();
    show_float(number, &mut out);
    if !out.contains('.') {
        out.push_str(".0");
    }
    out
}

/// Whether a text can be written as lines: none may begin or end in a way that is lost.
fn is_block(text: &str) -> bool {
    !text.starts_with([' ', '\n', '\t'])
        && !text.ends_with([' ', '\t'])
        && !text.contains(" \n")
        && !text.contains("\t\n")
        && text
            .chars()
            .all(|letter| letter == '\n' || is_printable(letter))
}

/// Whether a text without line breaks is read as itself without quotes.
fn is_plain(text: &str) -> bool {
    let Some(first) = text.chars().next() else {
        return false;
    };
    let is_mark = matches!(
        first,
        '#' | ','
            | '['
            | ']'
            | '{'
            | '}'
            | '&'
            | '*'
            | '!'
            | '|'
            | '>'
            | '\''
            | '"'
            | '%'
            | '@'
            | '`'
    );
    let second = text[first.len_utf8()..].chars().next();
    let is_indicator = matches!(first, '-' | '?' | ':') && second.is_none_or(|next| next == ' ');
    !is_mark
        && !is_indicator
        && !text.starts_with("---")
        && !text.starts_with("...")
        && !text.starts_with([' ', '\t'])
        && !text.ends_with([' ', '\t', ':'])
        && !text.contains(": ")
        && !text.contains(":\t")
        && !text.contains(" #")
        && !text.contains("\t#")
        && !scalar::has_leading_zero(text)
        && matches!(scalar::resolve(text), Value::Text(_))
}

/// Whether a character can stand in a text as it is.
fn is_printable(letter: char) -> bool {
    matches!(letter,
        ' '..='~' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fefe}' | '\u{ff00}'..='\u{fffd}'
        | '\u{10000}'..='\u{10ffff}')
        && !matches!(letter, '\u{2028}' | '\u{2029}')
}
