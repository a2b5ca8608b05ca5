//! Reads the words of a wrapper by its row in the table.

use super::table::{Form, Row};
use super::{Inner, Unwrapped};
use crate::part::Assignment;
use crate::reserved::assigned;
use crate::word::Word;

/// What stands before the program.
#[derive(Default)]
struct Found {
    /// The index of the first word that is no option.
    next: usize,
    /// The text for a shell.
    text: Option<String>,
    /// Whether nothing is run.
    informs: bool,
    /// Whether an option says that words follow: `runuser -u`.
    names_user: bool,
}

pub(super) fn unwrap(row: &Row, words: &[Word]) -> Result<Unwrapped, String> {
    let mut found = options(row, words)?;
    let own = row.acts.then(|| words.to_vec());
    let nothing = Ok(Unwrapped {
        inner: Inner::Nothing,
        own: None,
    });
    if found.informs {
        return nothing;
    }
    if let Some(text) = found.text {
        let inner = Inner::Text(text);
        return Ok(Unwrapped { inner, own });
    }
    let has_text_only = matches!(row.form, Form::Text(_));
    if has_text_only || (row.name == "runuser" && !found.names_user) {
        found = text_after_operands(row, words, found.next)?;
        let inner = found.text.map_or(Inner::Nothing, Inner::Text);
        return Ok(Unwrapped { inner, own });
    }
    let mut next = found.next;
    for _ in 0..row.operands {
        match words.get(next) {
            None => return nothing,
            Some(word) if word.splits() => return Err("words that only the shell knows".into()),
            Some(_) => next += 1,
        }
    }
    if let (Form::WordsOrText(letter), Some(word)) = (row.form, words.get(next))
        && word.literal() == Some(&format!("-{letter}"))
    {
        let text = words.get(next + 1).and_then(Word::literal);
        let text = text.ok_or("a command that only the shell knows")?;
        let inner = Inner::Text(text.to_owned());
        return Ok(Unwrapped { inner, own });
    }
    let (assignments, next) = assignments(row, words, next)?;
    let rest = &words[next..];
    if rest.is_empty() {
        return nothing;
    }
    let inner = match row.form {
        Form::Joined => Inner::Text(joined(rest)?),
        Form::Words | Form::WordsOrText(_) | Form::Text(_) => Inner::Words {
            words: rest.to_vec(),
            assignments,
        },
    };
    Ok(Unwrapped { inner, own })
}

/// `su USER -c TEXT`: options may come after the user.
fn text_after_operands(row: &Row, words: &[Word], from: usize) -> Result<Found, String> {
    let mut next = from;
    let mut all = Found::default();
    while let Some(word) = words.get(next) {
        if word.splits() {
            return Err("words that only the shell knows".into());
        }
        if !word.literal_prefix().starts_with('-') {
            next += 1;
            continue;
        }
        let found = options(row, &words[next..])?;
        if found.text.is_some() {
            all.text = found.text;
        }
        next += found.next.max(1);
    }
    Ok(all)
}

/// Words as `watch` hands them to a shell.
pub(super) fn joined(words: &[Word]) -> Result<String, String> {
    let texts: Option<Vec<&str>> = words.iter().map(Word::literal).collect();
    let texts = texts.ok_or("a command that only the shell knows")?;
    Ok(texts.join(" "))
}

fn assignments(row: &Row, words: &[Word], from: usize) -> Result<(Vec<Assignment>, usize), String> {
    let mut found = Vec::new();
    let mut next = from;
    while let Some(word) = words.get(next).filter(|_| row.takes_assignments) {
        let Some((name, length)) = assigned(word.literal_prefix()) else {
            // `env` also takes names that no shell has.
            if word.literal_prefix().contains('=') {
                return Err("an assignment that is not understood".into());
            }
            break;
        };
        if word.splits() {
            return Err("words that only the shell knows".into());
        }
        found.push(Assignment {
            name: name.to_owned(),
            value: word.after(length),
        });
        next += 1;
    }
    Ok((found, next))
}

fn options(row: &Row, words: &[Word]) -> Result<Found, String> {
    let mut found = Found::default();
    while let Some(word) = words.get(found.next) {
        let prefix = word.literal_prefix();
        if !prefix.starts_with('-') {
            if word.is_dynamic() && prefix.is_empty() {
                return Err("words that only the shell knows".into());
            }
            break;
        }
        found.next += 1;
        let text = match word.literal() {
            Some("--") => break,
            Some(text) => text,
            None if !word.splits() && prefix.contains('=') => prefix,
            None => return Err("an option that only the shell knows".into()),
        };
        match (text, text.strip_prefix("--")) {
            ("-", _) if row.flags.contains('-') => {}
            ("-", _) => {
                found.next -= 1;
                break;
            }
            (_, Some(long)) => long_option(row, words, long, &mut found)?,
            (_, None) => short_options(row, words, &text[1..], &mut found)?,
        }
    }
    Ok(found)
}

fn long_option(row: &Row, words: &[Word], long: &str, found: &mut Found) -> Result<(), String> {
    let (name, value) = match long.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (long, None),
    };
    if name == "command" && matches!(row.form, Form::Text(_) | Form::WordsOrText(_)) {
        let text = match value {
            Some(value) => Some(value.to_owned()),
            None => taken(words, found)?.literal().map(str::to_owned),
        };
        found.text = Some(text.ok_or("a command that only the shell knows")?);
        return Ok(());
    }
    if row.long_values.contains(&name) {
        found.names_user |= name == "user";
        if value.is_none() {
            taken(words, found)?;
        }
        return Ok(());
    }
    match row.long_flags.contains(&name) && value.is_none() {
        true => Ok(()),
        false => Err(format!("the option `--{name}`")),
    }
}

fn short_options(
    row: &Row,
    words: &[Word],
    letters: &str,
    found: &mut Found,
) -> Result<(), String> {
    let text_letter = match row.form {
        Form::Text(letter) | Form::WordsOrText(letter) => Some(letter),
        Form::Words | Form::Joined => None,
    };
    for (at, letter) in letters.char_indices() {
        let rest = &letters[at + letter.len_utf8()..];
        if row.informing.contains(letter) {
            found.informs = true;
        } else if Some(letter) == text_letter {
            let text = match rest {
                "" => taken(words, found)?.literal().map(str::to_owned),
                rest => Some(rest.to_owned()),
            };
            found.text = Some(text.ok_or("a command that only the shell knows")?);
            return Ok(());
        } else if row.values.contains(letter) {
            found.names_user |= letter == 'u';
            if rest.is_empty() {
                taken(words, found)?;
            }
            return Ok(());
        } else if !row.flags.contains(letter) {
            return Err(format!("the option `-{letter}`"));
        }
    }
    Ok(())
}

/// The word that is the value of an option.
fn taken<'a>(words: &'a [Word], found: &mut Found) -> Result<&'a Word, String> {
    let word = words.get(found.next).ok_or("an option without its value")?;
    found.next += 1;
    match word.splits() {
        true => Err("words that only the shell knows".into()),
        false => Ok(word),
    }
}
