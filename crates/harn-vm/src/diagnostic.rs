//! Errors that nobody caught, for people.

use harn_machine::{Fault, TraceStep};

/// An error that nobody caught, with where it arose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuntimeError {
    /// What is wrong.
    pub message: String,
    /// Where: path, line, column, both counted from 1. `None` if it arose nowhere.
    pub place: Option<Place>,
    /// The calls it came through, from the inner to the outer.
    pub calls: Vec<(String, Place)>,
}

/// A place in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file.
    pub path: String,
    /// The line.
    pub line: u32,
    /// The character in the line.
    pub column: u32,
    /// The text of the line.
    pub text: String,
    /// How many characters are meant.
    pub width: usize,
}

/// What an error that nobody caught says.
pub fn runtime_error(fault: &Fault) -> RuntimeError {
    let mut steps = fault.trace.iter();
    let place = steps.next().map(place);
    let calls = steps.map(|step| {
        let name = step.function.as_deref().unwrap_or("closure");
        (name.to_owned(), self::place(step))
    });
    RuntimeError {
        message: fault.text(),
        place,
        calls: calls.collect(),
    }
}

fn place(step: &TraceStep) -> Place {
    let source = &step.source;
    let position = source.lines.position(&source.text, step.offset);
    let rest = source.text.get(step.offset as usize..).unwrap_or("");
    let is_part = |char: &char| char.is_alphanumeric() || *char == '_';
    let width = rest.chars().take_while(is_part).count().max(1);
    Place {
        path: source.path.clone(),
        line: position.line,
        column: position.column,
        text: source.lines.line(&source.text, position.line).to_owned(),
        width,
    }
}

impl std::fmt::Display for RuntimeError {
    /// The layout of the specification.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "error: {}", self.message)?;
        let Some(place) = &self.place else {
            return Ok(());
        };
        let margin = " ".repeat(place.line.to_string().len());
        writeln!(
            f,
            " {margin}--> {}:{}:{}",
            place.path, place.line, place.column
        )?;
        writeln!(f, " {margin} |")?;
        writeln!(f, " {} | {}", place.line, place.text)?;
        let indent = " ".repeat(place.column.saturating_sub(1) as usize);
        writeln!(f, " {margin} | {indent}{}", "^".repeat(place.width))?;
        for (name, call) in &self.calls {
            writeln!(
                f,
                " {margin}= note: called from {name} at {}:{}",
                call.path, call.line
            )?;
        }
        Ok(())
    }
}
