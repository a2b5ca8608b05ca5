//! Rows of cells, as RFC 4180 has them.
//!
//! ```text
//! text ─► read ─► rows ─► write ─► text
//! ```

mod read;
mod write;

#[cfg(test)]
pub(super) use read::read;

use harn_machine::{Context, Failure, Fault, Registry, Value, argument};

use crate::expect::text;

pub(super) fn register(registry: &mut Registry) {
    registry.plain(&[("csv_parse", csv_parse), ("csv_stringify", csv_stringify)]);
}

/// How a text is laid out.
pub(super) struct Layout {
    /// Whether the first row names the columns.
    headers: bool,
    /// What is between two cells.
    delimiter: char,
}

fn csv_parse(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let text = text(arguments, 0);
    let rows = layout(argument(arguments, 1)).and_then(|layout| read::read(&text, &layout));
    rows.map_err(|problem| Fault::thrown(format!("csv_parse: {problem}")))
}

fn csv_stringify(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let layout = layout(argument(arguments, 1));
    let written = layout.and_then(|layout| write::write(argument(arguments, 0), &layout));
    match written {
        Ok(text) => Ok(text.into()),
        Err(problem) => Err(Fault::thrown(format!("csv_stringify: {problem}"))),
    }
}

pub(super) fn layout(options: &Value) -> Result<Layout, String> {
    let mut layout = Layout {
        headers: false,
        delimiter: ',',
    };
    let Value::Dict(options) = options else {
        return Ok(layout);
    };
    layout.headers = options.get("headers").is_some_and(Value::is_truthy);
    let given = options.get("delimiter").filter(|given| !given.is_nil());
    if let Some(given) = given {
        let given = given.to_text();
        let mut letters = given.chars();
        layout.delimiter = match (letters.next(), letters.next()) {
            (Some('"' | '\r' | '\n'), None) => {
                return Err("delimiter must not be a quote or a line break".to_owned());
            }
            (Some(letter), None) => letter,
            _ => return Err("delimiter must be a single character".to_owned()),
        };
    }
    Ok(layout)
}

#[cfg(test)]
mod tests;
