//! What stands between a pair of braces.

use smol_str::SmolStr;

use super::error::TemplateErrorKind as Kind;
use super::expression::{Reader, is_name, is_name_part, skip_string};
use super::tree::{Binding, Filtered, Include, LoopVariables};

/// What a directive says.
#[derive(Clone, Debug)]
pub(super) enum Directive {
    Name(SmolStr),
    Value(Filtered),
    If(Filtered),
    Elif(Filtered),
    Else,
    For(LoopVariables, Filtered),
    End,
    EndRaw,
    Include(Include),
}

impl Directive {
    /// Reads what is between the braces. Which directive it is depends on its first word.
    pub(super) fn read(content: &str) -> Result<Self, Kind> {
        let word = first_word(content);
        let mut reader = Reader::new(content);
        if is_name(word) && word == content.trim() && !WORDS.contains(&word) {
            return Ok(Self::Name(word.into()));
        }
        if WORDS.contains(&word) {
            reader.eat_word(word);
        }
        let directive = match word {
            "if" => Self::If(reader.filtered()?),
            "elif" => Self::Elif(reader.filtered()?),
            "else" => Self::Else,
            "for" => {
                let (variables, rest) = loop_variables(reader.rest())?;
                reader = Reader::new(rest);
                Self::For(variables, reader.filtered()?)
            }
            "end" => Self::End,
            "endraw" => Self::EndRaw,
            "include" => return include(&mut reader).map(Self::Include),
            _ => Self::Value(reader.filtered()?),
        };
        reader.finish()?;
        Ok(directive)
    }
}

/// The words that make a directive something else than a value. `raw` is dealt with by the
/// scanner, because what follows it is not to be read.
const WORDS: [&str; 7] = ["if", "elif", "else", "for", "end", "endraw", "include"];

/// The word a directive begins with; empty if it begins with something else.
pub(super) fn first_word(content: &str) -> &str {
    let content = content.trim_start();
    let end = content.find(|character| !is_name_part(character));
    &content[..end.unwrap_or(content.len())]
}

/// What stands between `for` and `in`, and what follows.
fn loop_variables(text: &str) -> Result<(LoopVariables, &str), Kind> {
    let (variables, items) = split_at_in(text).ok_or(Kind::ExpectedIn)?;
    let name = |text: &str| is_name(text.trim()).then(|| SmolStr::from(text.trim()));
    let variables = match variables.split_once(',') {
        None => {
            let item = name(variables).ok_or(Kind::InvalidLoopVariable)?;
            LoopVariables::Item(item)
        }
        Some((key, item)) => {
            let (Some(key), Some(item)) = (name(key), name(item)) else {
                return Err(Kind::InvalidLoopVariables);
            };
            LoopVariables::KeyAndItem(key, item)
        }
    };
    Ok((variables, items))
}

/// What is before and after the first word `in`.
fn split_at_in(text: &str) -> Option<(&str, &str)> {
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        let word = match is_name_part(character) {
            true => first_word(rest),
            false => "",
        };
        if word == "in" {
            let before = &text[..text.len() - rest.len()];
            return Some((before, &rest[word.len()..]));
        }
        rest = match character {
            _ if !word.is_empty() => &rest[word.len()..],
            '"' | '\'' => skip_string(rest)?,
            _ => &rest[character.len_utf8()..],
        };
    }
    None
}

/// What stands after `include`.
fn include(reader: &mut Reader<'_>) -> Result<Include, Kind> {
    let path = reader.filtered()?;
    let bindings = match reader.eat_word("with") {
        true => bindings(reader.rest())?,
        false => {
            reader.finish()?;
            Vec::new()
        }
    };
    Ok(Include { path, bindings })
}

/// What stands after `with`.
fn bindings(text: &str) -> Result<Vec<Binding>, Kind> {
    let inside = text.trim().strip_prefix('{');
    let inside = inside.and_then(|text| text.strip_suffix('}'));
    let mut reader = Reader::new(inside.ok_or(Kind::ExpectedBindings)?);
    let mut bindings = Vec::new();
    while !reader.is_at_end() {
        let key = binding_key(&mut reader)?;
        let value = reader.filtered()?;
        bindings.push(Binding { key, value });
        if !reader.eat(",") {
            reader.finish()?;
        }
    }
    Ok(bindings)
}

/// A key and the colon after it.
fn binding_key(reader: &mut Reader<'_>) -> Result<SmolStr, Kind> {
    let text = reader.rest();
    let mut rest = text;
    loop {
        match rest.chars().next() {
            Some(':') => break,
            None | Some(',') => return Err(Kind::ExpectedKeyAndValue),
            Some('"' | '\'') => rest = skip_string(rest).ok_or(Kind::UnterminatedString)?,
            Some(character) => rest = &rest[character.len_utf8()..],
        }
    }
    let key = text[..text.len() - rest.len()].trim();
    if !is_name(key) {
        return Err(Kind::InvalidBindingKey);
    }
    *reader = Reader::new(&rest[1..]);
    Ok(key.into())
}
