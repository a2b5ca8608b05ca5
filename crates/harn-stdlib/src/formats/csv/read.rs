//! Text read as rows.
//!
//! Lines end with a line feed, a carriage return or both; empty ones are no rows. A quote
//! means something only where a cell begins.

use harn_machine::Value;
use harn_machine::value::{Dict, Text};

use super::Layout;
use crate::formats::place;

/// The rows of a text: lists of cells, or dicts if the first row names the columns.
pub(in crate::formats) fn read(text: &str, layout: &Layout) -> Result<Value, String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut buffer = [0; 4];
    let delimiter = layout.delimiter.encode_utf8(&mut buffer).as_bytes();
    let mut reader = Reader::new(text, delimiter);
    let mut cells = Vec::new();
    let columns = match layout.headers {
        true => match reader.row(&mut cells)? {
            true => Some(Columns::new(&cells)),
            false => return Ok(Value::list(Vec::new())),
        },
        false => None,
    };
    let mut rows = Vec::new();
    loop {
        cells.clear();
        if !reader.row(&mut cells)? {
            return Ok(Value::list(rows));
        }
        rows.push(match &columns {
            Some(columns) => columns.row(&mut cells).into(),
            None => {
                // The next row is probably as long.
                let room = Vec::with_capacity(cells.len());
                Value::list(std::mem::replace(&mut cells, room))
            }
        });
    }
}

/// The names of columns in the order of dicts, each with its position in a row.
struct Columns(Vec<(Text, usize)>);

impl Columns {
    /// Of columns with the same name the last one counts.
    fn new(names: &[Value]) -> Self {
        let mut columns: Vec<(Text, usize)> = Vec::with_capacity(names.len());
        for (at, name) in names.iter().enumerate() {
            columns.push((name.to_text(), at));
        }
        columns.sort_unstable_by(|(one, at), (other, after)| one.cmp(other).then(after.cmp(at)));
        columns.dedup_by(|(next, _), (name, _)| next == name);
        Self(columns)
    }

    /// Cells beyond the last column have no name and are left out.
    fn row(&self, cells: &mut [Value]) -> Dict {
        let entries = self.0.iter().map(|(name, at)| {
            let cell = cells.get_mut(*at).map(std::mem::take);
            (name.clone(), cell.unwrap_or_else(|| "".into()))
        });
        Dict::from_sorted(entries.collect())
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    delimiter: &'a [u8],
    /// Which octets may end a cell.
    ends: [bool; 256],
}

impl<'a> Reader<'a> {
    fn new(text: &'a str, delimiter: &'a [u8]) -> Self {
        let mut ends = [false; 256];
        for octet in [b'\n', b'\r', delimiter[0]] {
            ends[usize::from(octet)] = true;
        }
        Self {
            text,
            at: 0,
            delimiter,
            ends,
        }
    }

    /// Reads the cells of the next row. Gives whether there is one.
    fn row(&mut self, cells: &mut Vec<Value>) -> Result<bool, String> {
        let octets = self.text.as_bytes();
        while matches!(octets.get(self.at), Some(b'\n' | b'\r')) {
            self.at += 1;
        }
        if self.at == octets.len() {
            return Ok(false);
        }
        loop {
            let cell = match octets.get(self.at) {
                Some(b'"') => self.quoted()?,
                _ => Text::new(self.plain()),
            };
            cells.push(Value::Text(cell));
            match octets.get(self.at) {
                Some(b'\n' | b'\r') | None => return Ok(true),
                Some(_) => self.at += self.delimiter.len(),
            }
        }
    }

    /// What comes before the end of a cell.
    fn plain(&mut self) -> &'a str {
        let octets = self.text.as_bytes();
        let start = self.at;
        while let Some(octet) = octets.get(self.at) {
            let may_end = self.ends[usize::from(*octet)];
            if may_end
                && (matches!(octet, b'\n' | b'\r')
                    || self.delimiter.len() == 1
                    || octets[self.at..].starts_with(self.delimiter))
            {
                break;
            }
            self.at += 1;
        }
        &self.text[start..self.at]
    }

    /// A cell that begins with a quote. What follows the closing one belongs to the cell.
    fn quoted(&mut self) -> Result<Text, String> {
        let opened = self.at;
        let octets = self.text.as_bytes();
        let mut doubled = String::new();
        let inside = loop {
            let start = self.at + 1;
            let length = octets[start..].iter().position(|octet| *octet == b'"');
            let Some(length) = length else {
                let (line, column) = place(self.text, opened);
                return Err(format!(
                    "a quote is not closed at line {line} column {column}"
                ));
            };
            self.at = start + length + 1;
            if octets.get(self.at) != Some(&b'"') {
                break &self.text[start..self.at - 1];
            }
            doubled.push_str(&self.text[start..self.at]);
        };
        let after = self.plain();
        if doubled.is_empty() && after.is_empty() {
            return Ok(Text::new(inside));
        }
        doubled.push_str(inside);
        doubled.push_str(after);
        Ok(Text::from(doubled))
    }
}
