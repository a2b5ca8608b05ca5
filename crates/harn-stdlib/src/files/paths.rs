//! Functions of paths that look at nothing but their text.

use std::path::PathBuf;

use harn_machine::{Context, Failure, Registry, Value};

use super::path_text::{
    Parts, basename, normalize, parent, posix, relative_to, stem_and_extension, with_name,
};
use crate::expect::text;

pub(super) fn register(registry: &mut Registry) {
    registry.plain(&[
        ("path_basename", |_, arguments| {
            Ok(basename(&text(arguments, 0)).into())
        }),
        ("path_extension", |_, arguments| {
            Ok(stem_and_extension(&text(arguments, 0)).1.into())
        }),
        ("path_is_absolute", |_, arguments| {
            Ok(Parts::of(&text(arguments, 0)).is_absolute.into())
        }),
        ("path_is_relative", |_, arguments| {
            Ok((!Parts::of(&text(arguments, 0)).is_absolute).into())
        }),
        ("path_join", path_join),
        ("path_normalize", |_, arguments| {
            Ok(normalize(&text(arguments, 0)).into())
        }),
        ("path_parent", |_, arguments| {
            Ok(parent(&text(arguments, 0)).into())
        }),
        ("path_parts", path_parts),
        ("path_relative_to", |_, arguments| {
            Ok(relative_to(&text(arguments, 0), &text(arguments, 1)).into())
        }),
        ("path_segments", |_, arguments| {
            Ok(segments(&text(arguments, 0)))
        }),
        ("path_stem", |_, arguments| {
            Ok(stem_and_extension(&text(arguments, 0)).0.into())
        }),
        ("path_to_native", |_, arguments| {
            Ok(posix(&text(arguments, 0)).into())
        }),
        ("path_to_posix", |_, arguments| {
            Ok(posix(&text(arguments, 0)).into())
        }),
        ("path_with_extension", path_with_extension),
        ("path_with_stem", path_with_stem),
    ]);
}

fn path_join(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let parts = arguments.iter().map(|part| part.to_text().to_string());
    let joined: PathBuf = parts.collect();
    Ok(joined.display().to_string().into())
}

fn segments(path: &str) -> Value {
    Parts::of(path)
        .segments
        .into_iter()
        .map(Value::from)
        .collect()
}

fn path_parts(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let path = text(arguments, 0);
    let (stem, extension) = stem_and_extension(&path);
    Ok(Value::dict([
        ("dir", parent(&path).into()),
        ("ext", extension.into()),
        ("file", basename(&path).into()),
        ("segments", segments(&path)),
        ("stem", stem.into()),
    ]))
}

fn path_with_extension(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let (path, extension) = (text(arguments, 0), text(arguments, 1));
    let (stem, _) = stem_and_extension(&path);
    let extension = match extension.as_str() {
        "" => String::new(),
        extension => format!(".{}", extension.strip_prefix('.').unwrap_or(extension)),
    };
    Ok(with_name(&path, &format!("{stem}{extension}")).into())
}

fn path_with_stem(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let (path, stem) = (text(arguments, 0), text(arguments, 1));
    let (_, extension) = stem_and_extension(&path);
    Ok(with_name(&path, &format!("{stem}{extension}")).into())
}
