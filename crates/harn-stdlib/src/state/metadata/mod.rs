//! What is noted about the folders of a project.
//!
//! ```text
//! notes    namespace ─► folder ─► fields, in memory until they are saved
//! status   which folders are noted, and which have changed since
//! hashes   what a folder looks like
//! ```
//!
//! A folder has the fields of those around it, unless it has its own.

mod hashes;
mod notes;
mod status;

use harn_machine::value::{Dict, Text};
use harn_machine::{Context, Failure, Registry, Value, argument};

use crate::expect::text;
use notes::Notes;

pub(super) fn register(registry: &mut Registry) {
    registry.plain(&[
        ("compute_content_hash", hashes::compute_content_hash),
        ("invalidate_facts", |_, _| Ok(Value::Nil)),
        ("metadata_entries", entries),
        ("metadata_get", get),
        ("metadata_refresh_hashes", status::refresh_hashes),
        ("metadata_resolve", resolve),
        ("metadata_save", save),
        ("metadata_set", set),
        ("metadata_stale", status::stale),
        ("metadata_status", status::status),
        ("__metadata_folder", |context, arguments| {
            let folder = notes::folder(context, &text(arguments, 0));
            Ok(shown(&folder))
        }),
        ("__metadata_root", |context, _| {
            let root = super::place::base(context);
            Ok(root.display().to_string().into())
        }),
    ]);
}

/// A namespace that was passed, if one was.
fn namespace(arguments: &[Value], at: usize) -> Option<Text> {
    match argument(arguments, at) {
        Value::Nil => None,
        name => Some(name.to_text()),
    }
}

/// How a folder is shown.
fn shown(folder: &Text) -> Value {
    match folder.as_str() {
        "" => ".".into(),
        _ => folder.clone().into(),
    }
}

/// `metadata_set(dir, ns, fields)`
fn set(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let namespace = text(arguments, 1);
    let fields = match argument(arguments, 2) {
        Value::Dict(fields) if !fields.is_empty() => fields.clone(),
        _ => return Ok(Value::Nil),
    };
    notes::check_name(&namespace)?;
    let folder = notes::folder(context, &text(arguments, 0));
    Notes::of(context)?.set(folder, namespace, &fields);
    Ok(Value::Nil)
}

/// `metadata_get(dir, ns?)`: fields, those of all namespaces together unless one is named.
fn get(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let folder = notes::folder(context, &text(arguments, 0));
    let notes = Notes::of(context)?;
    let fields = match namespace(arguments, 1) {
        Some(namespace) => notes.resolved(&folder, &namespace),
        None => {
            let mut all = Dict::default();
            for (_, fields) in notes.all_resolved(&folder) {
                let fields = fields.iter();
                fields.for_each(|(name, value)| {
                    all.insert(name.clone(), value.clone());
                });
            }
            all
        }
    };
    Ok(or_nil(fields))
}

/// `metadata_resolve(dir, ns?)`: fields, by namespace unless one is named.
fn resolve(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let folder = notes::folder(context, &text(arguments, 0));
    let notes = Notes::of(context)?;
    Ok(or_nil(match namespace(arguments, 1) {
        Some(namespace) => notes.resolved(&folder, &namespace),
        None => by_namespace(notes.all_resolved(&folder)),
    }))
}

fn by_namespace(all: impl Iterator<Item = (Text, Dict)>) -> Dict {
    all.map(|(name, fields)| (name, fields.into())).collect()
}

fn or_nil(fields: Dict) -> Value {
    match fields.is_empty() {
        true => Value::Nil,
        false => fields.into(),
    }
}

/// `metadata_entries(ns?)`
fn entries(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let notes = Notes::of(context)?;
    let namespace = namespace(arguments, 0);
    let folders = notes.folders(namespace.as_ref());
    let entries = folders.into_iter().map(|folder| {
        let (local, resolved) = match &namespace {
            Some(namespace) => (
                notes.local(&folder, namespace),
                notes.resolved(&folder, namespace),
            ),
            None => (
                by_namespace(notes.all_local(&folder)),
                by_namespace(notes.all_resolved(&folder)),
            ),
        };
        Value::dict([
            ("dir", shown(&folder)),
            ("local", local.into()),
            ("resolved", resolved.into()),
        ])
    });
    Ok(entries.collect())
}

/// `metadata_save()`
fn save(context: &mut Context<'_>, _: &mut [Value]) -> Result<Value, Failure> {
    notes::save(context)?;
    Ok(Value::Nil)
}
