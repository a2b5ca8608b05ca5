//! Templates with places for values.

use harn_machine::value::Dict;
use harn_machine::{Context, Failure, Value};

use crate::expect::text;
use crate::growing::Growing;

/// Puts the entries of a dict, or values one after another, into a template.
pub(super) fn format(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let template = text(arguments, 0);
    let mut out = Growing::default();
    match arguments {
        [_, Value::Dict(entries)] => {
            for piece in named(&template) {
                match piece {
                    Piece::Text(text) => out.push(context, text)?,
                    Piece::Place(place) => push_entry(context, &mut out, entries, place)?,
                }
            }
        }
        _ => {
            let mut values = arguments.iter().skip(1);
            let mut left = template.as_str();
            while let Some((before, after)) = left.split_once("{}") {
                let Some(value) = values.next() else {
                    break;
                };
                out.push(context, before)?;
                out.push_shown(context, value)?;
                left = after;
            }
            out.push(context, left)?;
        }
    }
    Ok(out.finish().into())
}

fn push_entry(
    context: &mut Context<'_>,
    out: &mut Growing,
    entries: &Dict,
    place: &str,
) -> Result<(), Failure> {
    match entries.get(&place[1..place.len() - 1]) {
        Some(value) => out.push_shown(context, value),
        None => out.push(context, place),
    }
}

/// A piece of a template.
#[derive(Debug, PartialEq)]
enum Piece<'a> {
    Text(&'a str),
    /// `{name}`, braces included.
    Place(&'a str),
}

/// The pieces of a template with named places. A brace that another opening brace follows
/// before it is closed opens no place.
fn named(template: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut left = template;
    std::iter::from_fn(move || {
        if left.is_empty() {
            return None;
        }
        let length = match left.strip_prefix('{') {
            Some(inside) => match inside.find(['{', '}']) {
                Some(end) if inside[end..].starts_with('}') => {
                    let (place, rest) = left.split_at(end + 2);
                    left = rest;
                    return Some(Piece::Place(place));
                }
                Some(end) => end + 1,
                None => left.len(),
            },
            None => left.find('{').unwrap_or(left.len()),
        };
        let (text, rest) = left.split_at(length);
        left = rest;
        Some(Piece::Text(text))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use Piece::{Place, Text};

    #[test]
    fn named_places_are_found_from_left_to_right() {
        for (template, expected) in [
            ("", vec![]),
            ("a {b} c", vec![Text("a "), Place("{b}"), Text(" c")]),
            ("{a}{b}", vec![Place("{a}"), Place("{b}")]),
            ("{a {b}", vec![Text("{a "), Place("{b}")]),
            ("{{a}}", vec![Text("{"), Place("{a}"), Text("}")]),
            ("x{y", vec![Text("x"), Text("{y")]),
            ("{}", vec![Place("{}")]),
            ("é{ü}", vec![Text("é"), Place("{ü}")]),
        ] {
            assert_eq!(named(template).collect::<Vec<_>>(), expected, "{template}");
        }
    }
}
