//! Types as they are written in messages.

use std::fmt;

use super::ty::{ShapeField, Ty};

impl fmt::Display for Ty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dynamic | Self::Wildcard => f.write_str("_"),
            Self::Never => f.write_str("never"),
            Self::Named(name) => f.write_str(name),
            Self::String(text) => write_quoted(f, text),
            Self::Int(number) => write!(f, "{number}"),
            Self::Applied(applied) => {
                write!(f, "{}<", applied.name)?;
                write_list(f, &applied.arguments, ", ")?;
                f.write_str(">")
            }
            Self::Shape(shape) => {
                f.write_str("{")?;
                for (at, field) in shape.fields.iter().enumerate() {
                    write_field(f, at, field)?;
                }
                f.write_str("}")
            }
            Self::Union(union) => write_list(f, &union.members, " | "),
            Self::Function(function) => {
                f.write_str("fn(")?;
                write_list(f, &function.parameters, ", ")?;
                write!(f, ") -> {}", function.result)
            }
        }
    }
}

fn write_list(f: &mut fmt::Formatter<'_>, types: &[Ty], between: &str) -> fmt::Result {
    for (at, ty) in types.iter().enumerate() {
        if at > 0 {
            f.write_str(between)?;
        }
        write!(f, "{ty}")?;
    }
    Ok(())
}

fn write_field(f: &mut fmt::Formatter<'_>, at: usize, field: &ShapeField) -> fmt::Result {
    let between = if at > 0 { ", " } else { "" };
    let mark = if field.optional { "?" } else { "" };
    write!(f, "{between}{}{mark}: {}", field.name, field.ty)
}

/// Text in double quotes, with `\` and `"` escaped.
fn write_quoted(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    f.write_str("\"")?;
    for part in text.split_inclusive(['\\', '"']) {
        match part.strip_suffix(['\\', '"']) {
            Some(before) => {
                let last = &part[before.len()..];
                write!(f, "{before}\\{last}")?;
            }
            None => f.write_str(part)?,
        }
    }
    f.write_str("\"")
}
