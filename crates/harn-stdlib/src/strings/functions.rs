//! Functions of text.

use std::path::Path;

use harn_machine::value::Text;
use harn_machine::{Context, Failure, Fault, Registry, Value, argument};
use unicode_segmentation::UnicodeSegmentation;

use super::{pieces, remade, replaced};
use crate::expect::{count, int, int_or, text, text_or};
use crate::growing::{Growing, repeat};

pub(super) fn register(registry: &mut Registry) {
    registry.plain(&[
        ("basename", basename),
        ("contains", contains),
        ("dirname", dirname),
        ("ends_with", ends_with),
        ("extname", extname),
        ("join", join),
        ("lowercase", lowercase),
        ("replace", replace),
        ("split", split),
        ("starts_with", starts_with),
        ("str_pad", str_pad),
        ("substring", substring),
        ("trim", trim),
        ("uppercase", uppercase),
    ]);
}

fn trim(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    Ok(text(arguments, 0).trim().into())
}

fn lowercase(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    remade(context, &text(arguments, 0), str::to_lowercase)
}

fn uppercase(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    remade(context, &text(arguments, 0), str::to_uppercase)
}

fn split(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    pieces(context, &text(arguments, 0), &text_or(arguments, 1, " "))
}

fn join(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let Value::List(items) = argument(arguments, 0) else {
        return Ok("".into());
    };
    let separator = text(arguments, 1);
    let mut out = Growing::default();
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            out.push(context, &separator)?;
        }
        out.push_shown(context, item)?;
    }
    Ok(out.finish().into())
}

fn replace(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let (old, new) = (text(arguments, 1), text(arguments, 2));
    replaced(context, &text(arguments, 0), &old, &new)
}

fn contains(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let part = argument(arguments, 1);
    Ok(match argument(arguments, 0) {
        Value::Text(whole) => whole.contains(text(arguments, 1).as_str()),
        Value::List(items) => items.contains(part),
        _ => false,
    }
    .into())
}

fn starts_with(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    Ok(text(arguments, 0)
        .starts_with(text(arguments, 1).as_str())
        .into())
}

fn ends_with(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    Ok(text(arguments, 0)
        .ends_with(text(arguments, 1).as_str())
        .into())
}

/// By start and length, unlike the method.
fn substring(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let whole = text(arguments, 0);
    let start = count(int_or(arguments, 1, 0)).min(whole.char_count());
    let end = match int(arguments, 2) {
        Some(length) => start.saturating_add(count(length)),
        None => whole.char_count(),
    };
    Ok(whole.slice(start, end).into())
}

fn str_pad(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let whole = text(arguments, 0);
    let width = count(int_or(arguments, 1, 0));
    let fill = text_or(arguments, 2, " ");
    let fill = fill.graphemes(true).next().unwrap_or(" ");
    let missing = width.saturating_sub(whole.graphemes(true).count());
    if missing == 0 {
        return Ok(whole.into());
    }
    let before = match text_or(arguments, 3, "right").as_str() {
        "left" => missing,
        "right" => 0,
        "both" => missing / 2,
        _ => {
            let message = "str_pad: side must be left, right, or both";
            return Err(Fault::runtime(message));
        }
    };
    padded(context, &whole, fill, before, missing - before)
}

/// A text with so many fills before and after it.
pub(super) fn padded(
    context: &mut Context<'_>,
    whole: &Text,
    fill: &str,
    before: usize,
    after: usize,
) -> Result<Value, Failure> {
    let mut out = repeat(context, fill, before)?;
    let after = repeat(context, fill, after)?;
    out.push_str(whole);
    out.push_str(&after);
    Ok(out.into())
}

fn dirname(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let path = text(arguments, 0);
    let parent = Path::new(path.as_str()).parent().and_then(Path::to_str);
    Ok(parent.unwrap_or_default().into())
}

fn basename(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let path = text(arguments, 0);
    let name = Path::new(path.as_str()).file_name();
    let name = name.and_then(|name| name.to_str());
    Ok(name.unwrap_or_default().into())
}

fn extname(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let path = text(arguments, 0);
    let extension = Path::new(path.as_str()).extension();
    let extension = extension.and_then(|extension| extension.to_str());
    Ok(match extension {
        Some(extension) => format!(".{extension}").into(),
        None => "".into(),
    })
}
