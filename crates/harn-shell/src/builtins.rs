//! What commands of the shell itself do, and which of them nobody can judge.

use crate::not_understood::NotUnderstood;
use crate::parser::Sink;
use crate::part::{Assignment, Part};
use crate::reserved::{assigned, is_name};
use crate::word::Word;

/// Commands of the shell that run or change what no text tells.
const UNFATHOMABLE: [&str; 11] = [
    "alias", "bind", "compgen", "complete", "compopt", "enable", "eval", "fc", "let", "shopt",
    "unalias",
];

/// Commands of the shell that set variables by assignments among their words.
const DECLARING: [&str; 5] = ["declare", "export", "local", "readonly", "typeset"];

/// Commands of the shell that take names of variables, which bash evaluates if they have
/// brackets.
const NAMING: [&str; 8] = [
    "[", "getopts", "printf", "read", "test", "unset", "wait", "mapfile",
];

/// The other commands that shells have themselves.
const OTHERS: [&str; 37] = [
    ":",
    ".",
    "source",
    "bg",
    "break",
    "builtin",
    "caller",
    "cd",
    "chdir",
    "command",
    "continue",
    "dirs",
    "disown",
    "echo",
    "exec",
    "exit",
    "false",
    "fg",
    "hash",
    "help",
    "history",
    "jobs",
    "kill",
    "logout",
    "popd",
    "pushd",
    "pwd",
    "readarray",
    "return",
    "set",
    "shift",
    "suspend",
    "times",
    "trap",
    "true",
    "type",
    "ulimit",
];

/// Whether a shell has a command of this name itself.
pub(crate) fn is_builtin(name: &str) -> bool {
    let all: [&[&str]; 4] = [&UNFATHOMABLE, &DECLARING, &NAMING, &OTHERS];
    all.iter().any(|names| names.contains(&name)) || name == "umask"
}

/// Looks at a part whose wrappers are peeled off.
pub(crate) fn examine(sink: &mut Sink, part: &mut Part, depth: usize) -> Result<(), NotUnderstood> {
    let Some(program) = part.program.clone() else {
        return Ok(());
    };
    let position = part.position;
    let wrong = |reason: &str| Err(NotUnderstood::new(reason, position));
    match program.as_str() {
        name if UNFATHOMABLE.contains(&name) => wrong(&format!("`{name}`")),
        "hash" if part.words.iter().any(|word| !is_without(word, 'p')) => wrong("`hash -p`"),
        "jobs" if !part.words.is_empty() => wrong("`jobs` with options"),
        "set" => match part.words.iter().all(is_harmless_setting) {
            true => Ok(()),
            false => wrong("`set` that changes how commands are read"),
        },
        "." | "source" => match part.words.first().and_then(Word::literal) {
            Some(file) if file.contains('/') => Ok(()),
            _ => wrong("a script to read whose file is not told"),
        },
        "trap" => trapped(sink, part, depth),
        "readarray" | "mapfile" if !part.words.iter().all(|word| is_without(word, 'C')) => {
            wrong("`mapfile` with a command")
        }
        name if DECLARING.contains(&name) => {
            for word in &part.words {
                match declared(word) {
                    Some(assignment) => part.assignments.extend(assignment),
                    None => return wrong(&format!("`{name}` of what is not told")),
                }
            }
            Ok(())
        }
        name if NAMING.contains(&name) || name == "readarray" => names(
            sink,
            part,
            if name == "readarray" { "mapfile" } else { name },
        ),
        _ => Ok(()),
    }
}

/// A literal word that is no option with this letter.
fn is_without(word: &Word, letter: char) -> bool {
    let text = word.literal();
    text.is_some_and(|text| !text.starts_with('-') || !text.contains(letter))
}

/// `set -euo pipefail`, or positional parameters.
fn is_harmless_setting(word: &Word) -> bool {
    let Some(text) = word.literal() else {
        return false;
    };
    match text.strip_prefix(['-', '+']) {
        Some(letters) => letters.chars().all(|letter| "eEuxofvCbn-".contains(letter)),
        None => matches!(
            text,
            "errexit" | "nounset" | "xtrace" | "pipefail" | "noglob" | "verbose" | "noclobber"
        ),
    }
}

/// The commands of a trap are parts as well.
fn trapped(sink: &mut Sink, part: &Part, depth: usize) -> Result<(), NotUnderstood> {
    let mut words = part.words.iter();
    let mut first = words.next();
    if first.and_then(Word::literal) == Some("--") {
        first = words.next();
    }
    let Some(action) = first.map(Word::literal) else {
        return Ok(());
    };
    let position = part.position;
    match action {
        None => Err(NotUnderstood::new("a trap that is not told", position)),
        Some("" | "-" | "-l" | "-p") => Ok(()),
        Some(action) => sink.text(action, depth + 1, Some(position)),
    }
}

/// The assignment that a word of `export` is, if it is one; `None`: nobody can tell.
fn declared(word: &Word) -> Option<Option<Assignment>> {
    match assigned(word.literal_prefix()) {
        Some((name, length)) if !word.splits() => Some(Some(Assignment {
            name: name.to_owned(),
            value: word.after(length),
        })),
        _ => {
            let text = word.literal()?;
            let is_option = text.starts_with('-') && !text.contains('n');
            (is_option || is_name(text)).then_some(None)
        }
    }
}

/// Looks at words that may be names of variables.
fn names(sink: &mut Sink, part: &mut Part, program: &str) -> Result<(), NotUnderstood> {
    let position = part.position;
    let wrong = |reason: String| Err(NotUnderstood::new(reason, position));
    let words = part
        .words
        .iter()
        .filter(|word| word.is_dynamic() || word.literal() != Some("]"));
    for word in words {
        if word.has_any(&['[']) && word.has_any(&['$', '`']) {
            return wrong(format!("`{program}` of an element of an array"));
        }
    }
    let takes_names = match program {
        "read" | "getopts" | "unset" | "mapfile" | "wait" => true,
        _ => part.words.iter().any(|word| word.literal_prefix() == "-v"),
    };
    if !takes_names {
        return Ok(());
    }
    if program != "wait" {
        sink.fills_variables = true;
    }
    let mut found = Vec::new();
    for word in &part.words {
        let Some(text) = word.literal() else {
            return wrong(format!("`{program}` of a variable that is not told"));
        };
        if is_name(text) && program != "unset" && program != "test" && program != "[" {
            found.extend(fills(text, position));
        }
    }
    let assignments = found.into_iter().flat_map(|part| part.assignments);
    part.assignments.extend(assignments);
    Ok(())
}

/// A variable that gets a value from elsewhere, as a part; `None` if programs do not care for
/// variables of that name.
pub(crate) fn fills(name: &str, position: usize) -> Option<Part> {
    let is_own = name.chars().any(|character| character.is_ascii_lowercase());
    if is_own && !name.ends_with("proxy") {
        return None;
    }
    let mut value = Word::default();
    value.push_dynamic("…", false);
    let name = name.to_owned();
    Some(Part {
        assignments: vec![Assignment { name, value }],
        position,
        ..Part::default()
    })
}
