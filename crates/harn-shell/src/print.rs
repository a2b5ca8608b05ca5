//! Writes parts as a command again.

use crate::part::{Operator, Part, Script};
use crate::word::{Piece, Word};

/// A command with the same parts, one on each line, without the programs that run them. What
/// only the shell knows is written as `$_`.
pub fn printed(script: &Script) -> String {
    let lines = script.parts.iter().map(line);
    lines.collect::<Vec<String>>().join("\n")
}

fn line(part: &Part) -> String {
    let assignments = part.assignments.iter();
    let assignments = assignments.map(|one| format!("{}={}", one.name, written(&one.value)));
    let program = part.program.iter().map(|program| quoted(program));
    let words = part.words.iter().map(written);
    let redirections = part.redirections.iter().map(|one| {
        let descriptor = one.descriptor.map(|number| number.to_string());
        let operator = match one.operator {
            Operator::Read => "<",
            Operator::Write => ">",
            Operator::Append => ">>",
            Operator::ReadWrite => "<>",
            Operator::Both | Operator::Duplicate => ">&",
        };
        let target = match one.operator {
            Operator::Duplicate => one.target.shown(),
            _ => written(&one.target),
        };
        format!("{}{operator}{target}", descriptor.unwrap_or_default())
    });
    let all = assignments.chain(program).chain(words).chain(redirections);
    all.collect::<Vec<String>>().join(" ")
}

fn written(word: &Word) -> String {
    if word.pieces().is_empty() {
        return "''".to_owned();
    }
    let pieces = word.pieces().iter().map(|piece| match piece {
        Piece::Literal(text) => quoted(text),
        Piece::Dynamic { splits: true, .. } => "$_".to_owned(),
        Piece::Dynamic { splits: false, .. } => "\"$_\"".to_owned(),
    });
    pieces.collect()
}

/// A text in quotes.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}
