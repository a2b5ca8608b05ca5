//! Rows written as text.

use std::collections::BTreeSet;

use harn_machine::Value;
use harn_machine::value::{Dict, Text};

use super::Layout;

/// How many cells dicts may make. Each row has a cell for every key of all rows, so rows that
/// have nothing in common would fill any memory.
const CELLS_MAX: usize = 1 << 28;

const MIXED: &str = "mixed list/dict rows are not supported";

/// Rows as text. What the first row is, all must be.
pub(super) fn write(rows: &Value, layout: &Layout) -> Result<String, String> {
    let Value::List(rows) = rows else {
        return Err("expected a list of rows".to_owned());
    };
    let mut writer = Writer {
        out: String::new(),
        cell: String::new(),
        delimiter: layout.delimiter,
    };
    match rows.first() {
        Some(Value::Dict(_)) => writer.dicts(rows, layout.headers)?,
        _ => writer.lists(rows)?,
    }
    Ok(writer.out)
}

struct Writer {
    out: String,
    /// Room for showing a cell that is no text.
    cell: String,
    delimiter: char,
}

impl Writer {
    fn lists(&mut self, rows: &[Value]) -> Result<(), String> {
        for row in rows {
            match row {
                Value::List(cells) => self.row(cells.iter()),
                Value::Dict(_) => return Err(MIXED.to_owned()),
                _ => {
                    let problem = "each row must be a list of cells (or use dict rows)";
                    return Err(problem.to_owned());
                }
            }
        }
        Ok(())
    }

    fn dicts<'a>(&mut self, rows: &'a [Value], headers: bool) -> Result<(), String> {
        let dict = |row: &'a Value| match row {
            Value::Dict(dict) => Ok(dict),
            _ => Err(MIXED.to_owned()),
        };
        let rows: Vec<&Dict> = rows.iter().map(dict).collect::<Result<_, _>>()?;
        let columns = columns(&rows);
        if rows.len().saturating_mul(columns.len()) > CELLS_MAX {
            return Err("the rows have too many different keys".to_owned());
        }
        if headers {
            let names: Vec<Value> = columns.iter().map(|name| (*name).clone().into()).collect();
            self.row(names.iter());
        }
        let empty = Value::text("");
        for row in rows {
            // A row has no other keys than the columns, so one with as many has them all.
            match row.len() == columns.len() {
                true => self.row(row.values()),
                false => {
                    let cells = columns.iter();
                    self.row(cells.map(|column| row.get_text(column).unwrap_or(&empty)));
                }
            }
        }
        Ok(())
    }

    fn row<'a>(&mut self, cells: impl Iterator<Item = &'a Value>) {
        let start = self.out.len();
        for (at, cell) in cells.enumerate() {
            if at > 0 {
                self.out.push(self.delimiter);
            }
            self.cell(cell);
        }
        if self.out.len() == start {
            // An empty line would be no row.
            self.out.push_str("\"\"");
        }
        self.out.push('\n');
    }

    fn cell(&mut self, cell: &Value) {
        match cell {
            Value::Text(text) => push(text, self.delimiter, &mut self.out),
            _ => {
                self.cell.clear();
                cell.show_into(&mut self.cell);
                push(&self.cell, self.delimiter, &mut self.out);
            }
        }
    }
}

/// All keys, sorted.
fn columns<'a>(rows: &[&'a Dict]) -> BTreeSet<&'a Text> {
    let mut columns = BTreeSet::new();
    let mut before: Option<&Dict> = None;
    for row in rows {
        // Mostly each row has the keys of the one before.
        let is_new = before.is_none_or(|before| !before.keys().eq(row.keys()));
        if is_new {
            columns.extend(row.keys());
            before = Some(row);
        }
    }
    columns
}

/// Writes a cell, in quotes if it could be read as something else. At the beginning of a text
/// a mark of the byte order would not be read as part of the cell.
fn push(cell: &str, delimiter: char, out: &mut String) {
    let is_special = |octet: u8| matches!(octet, b'"' | b'\n' | b'\r');
    let has_special = match u8::try_from(delimiter) {
        Ok(mark) if mark.is_ascii() => cell.bytes().any(|octet| octet == mark || is_special(octet)),
        _ => cell.bytes().any(is_special) || cell.contains(delimiter),
    };
    let is_marked = out.is_empty() && cell.starts_with('\u{feff}');
    if !has_special && !is_marked {
        return out.push_str(cell);
    }
    out.push('"');
    for (at, piece) in cell.split('"').enumerate() {
        if at > 0 {
            out.push_str("\"\"");
        }
        out.push_str(piece);
    }
    out.push('"');
}
