//! Wrappers with a grammar of their own.

use super::options::joined;
use super::{Inner, Unwrapped};
use crate::word::Word;

/// `find … -exec PROGRAM … ;`, as often as it is there. Its other words are judged as its own.
pub(super) fn find(words: &[Word]) -> Result<Unwrapped, String> {
    let mut own = Vec::new();
    let mut commands = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let is_action = matches!(
            word.literal(),
            Some("-exec" | "-execdir" | "-ok" | "-okdir")
        );
        if !is_action {
            own.push(word.clone());
            continue;
        }
        let mut command: Vec<Word> = Vec::new();
        loop {
            let word = words.next().ok_or("an action without its end")?;
            let ends_with_all = || command.last().is_some_and(|last| is_holder(last, "{}"));
            match word.literal() {
                Some(";") => break,
                Some("+") if ends_with_all() => break,
                _ => command.push(word.clone()),
            }
        }
        if command.is_empty() {
            return Err("an action without a program".into());
        }
        commands.push(filled(&command, "{}"));
    }
    if commands.is_empty() {
        return Ok(Unwrapped {
            inner: Inner::Nothing,
            own: None,
        });
    }
    if own.iter().any(Word::splits) {
        return Err("words that only the shell knows".into());
    }
    Ok(Unwrapped {
        inner: Inner::Several(commands),
        own: Some(own),
    })
}

/// `xargs PROGRAM …`: words of the input come after it, or in the places that an option names.
pub(super) fn xargs(words: &[Word]) -> Result<Unwrapped, String> {
    let mut holder = "{}".to_owned();
    let mut next = 0;
    while let Some(word) = words.get(next) {
        let prefix = word.literal_prefix();
        if !prefix.starts_with('-') {
            break;
        }
        next += 1;
        let text = word
            .literal()
            .ok_or("an option that only the shell knows")?;
        let mut value = |attached: &str| match attached {
            "" => {
                let value = words.get(next).and_then(Word::literal);
                next += 1;
                value.map(str::to_owned)
            }
            attached => Some(attached.to_owned()),
        };
        let is_flag = |letter: char| "0oprtx".contains(letter);
        match text {
            "--" => break,
            "--null" | "--no-run-if-empty" | "--verbose" | "--exit" | "--interactive" => {}
            text if text.starts_with("-I") => {
                holder = value(&text[2..]).ok_or("an option without its value")?;
            }
            text if text.starts_with(['-'])
                && text[1..].starts_with(['d', 'E', 'L', 'n', 'P', 's']) =>
            {
                value(&text[2..]).ok_or("an option without its value")?;
            }
            text if is_long_value(text) => {}
            text if text.len() > 1 && text[1..].chars().all(is_flag) => {}
            text => return Err(format!("the option `{text}`")),
        }
    }
    let rest = words.get(next..).unwrap_or_default();
    if rest.is_empty() {
        return Ok(Unwrapped {
            inner: Inner::Nothing,
            own: None,
        });
    }
    if holder.is_empty() {
        return Err("nothing to replace".into());
    }
    let mut command = filled(rest, &holder);
    command.push(from_input());
    Ok(Unwrapped {
        inner: Inner::Words {
            words: command,
            assignments: Vec::new(),
        },
        own: None,
    })
}

fn is_long_value(text: &str) -> bool {
    let Some((name, _)) = text.split_once('=') else {
        return false;
    };
    matches!(
        name,
        "--delimiter" | "--max-args" | "--max-procs" | "--max-lines" | "--max-chars"
    )
}

/// `parallel COMMAND ::: WORDS`: its words are joined to a text for a shell.
pub(super) fn parallel(words: &[Word]) -> Result<Unwrapped, String> {
    let mut next = 0;
    while let Some(word) = words.get(next) {
        if !word.literal_prefix().starts_with('-') {
            break;
        }
        next += 1;
        match word.literal() {
            Some("-k" | "-0" | "-X" | "-m" | "--null" | "--keep-order" | "--bar") => {}
            Some("-j" | "-n" | "-N" | "--jobs") => next += 1,
            Some(text) if text.starts_with("-j") || text.starts_with("--jobs=") => {}
            _ => return Err("an option that is not known".into()),
        }
    }
    let rest = words.get(next..).unwrap_or_default();
    let is_source = |word: &Word| word.literal_prefix().starts_with(":::");
    let end = rest.iter().position(is_source).unwrap_or(rest.len());
    let command = &rest[..end];
    if command.is_empty() {
        return Err("commands from its input".into());
    }
    let text = joined(command)?;
    if text.contains('{') || text.contains('=') {
        return Err("places for its input".into());
    }
    Ok(Unwrapped {
        inner: Inner::Text(format!("{text} $_from_input")),
        own: Some(words.to_vec()),
    })
}

/// A command in which `holder` stands for what only the input tells.
fn filled(words: &[Word], holder: &str) -> Vec<Word> {
    let filled = words.iter().map(|word| match is_holder(word, holder) {
        true => {
            let mut filled = Word::default();
            filled.push_dynamic(&word.shown(), false);
            filled
        }
        false => word.clone(),
    });
    filled.collect()
}

fn is_holder(word: &Word, holder: &str) -> bool {
    word.shown().contains(holder)
}

fn from_input() -> Word {
    let mut word = Word::default();
    word.push_dynamic("…", true);
    word
}
