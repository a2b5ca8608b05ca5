//! Rows under headings.

use std::io::{self, Write};

use crate::columns::{fit, width};
use crate::output::{Output, Untrusted};

/// Rows under headings. The first cell of a row is its name.
pub(crate) struct Table<const N: usize> {
    headings: [&'static str; N],
    rows: Vec<[String; N]>,
}

impl<const N: usize> Table<N> {
    pub(crate) fn new(headings: [&'static str; N]) -> Self {
        Self {
            headings,
            rows: Vec::new(),
        }
    }

    /// Adds a row. Its cells may hold anything.
    pub(crate) fn add(&mut self, cells: [String; N]) {
        self.rows
            .push(cells.map(|cell| Untrusted(cell).to_string()));
    }

    /// Writes it. The last column is cut where lines would be too long for the terminal.
    pub(crate) fn write(&self, output: &mut Output) -> io::Result<()> {
        let palette = output.palette();
        let headings = self.headings.map(str::to_owned);
        let widths: [usize; N] = std::array::from_fn(|at| {
            let cells = self.rows.iter().map(|row| width(&row[at]));
            cells.chain([width(&headings[at])]).max().unwrap_or(0)
        });
        let room = output.columns();
        let line = |cells: &[String; N]| line(cells, &widths, room);
        let (name, rest) = line(&headings);
        writeln!(output, "{}", palette.heading((name + &rest).trim_end()))?;
        for row in &self.rows {
            let (name, rest) = line(row);
            writeln!(output, "{}{}", palette.name(name), rest.trim_end())?;
        }
        Ok(())
    }
}

/// The first cell and the others, side by side.
fn line<const N: usize>(
    cells: &[String; N],
    widths: &[usize; N],
    room: Option<usize>,
) -> (String, String) {
    let mut parts = cells.iter().zip(widths).map(|(cell, column)| {
        let missing = column.saturating_sub(width(cell));
        format!("{cell}{}  ", " ".repeat(missing))
    });
    let name = parts.next().unwrap_or_default();
    let rest: String = parts.collect();
    let rest = rest.trim_end();
    let room = room.map(|room| room.saturating_sub(width(&name)));
    let rest = room.map_or_else(|| rest.to_owned(), |room| fit(rest, room));
    (name, rest)
}
