//! Zip.

use std::collections::HashSet;
use std::io::{Cursor, Write};

use harn_machine::value::Bytes;
use harn_machine::{Context, Failure, Value};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipArchive, ZipWriter};

use super::entries::{Entry, listed};
use super::fail;
use super::unpacked::Unpacked;
use crate::encoding::arguments::bytes;

pub(super) fn create(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    let entries = listed("zip_create", arguments)?;
    let mut paths = HashSet::new();
    for (number, entry) in entries.iter().enumerate() {
        if !paths.insert(entry.path.as_str()) {
            let reason = format!("entry {number} invalid path: {} is there twice", entry.path);
            return fail("zip_create", reason);
        }
        if let Err(error) = append(&mut archive, entry) {
            let reason = format!("entry {number} invalid path: {error}");
            return fail("zip_create", reason);
        }
    }
    match archive.finish() {
        Ok(octets) => Ok(Value::Bytes(Bytes::from(octets.into_inner()))),
        Err(error) => fail("zip_create", error),
    }
}

/// Files have no time of their own here: the same files give the same archive.
fn append(archive: &mut ZipWriter<Cursor<Vec<u8>>>, entry: &Entry) -> zip::result::ZipResult<()> {
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Deflated)
        .last_modified_time(DateTime::default())
        .unix_permissions(0o644);
    archive.start_file(entry.path.as_str(), options)?;
    archive.write_all(&entry.content)?;
    Ok(())
}

/// Gives the files; folders and links are left out.
pub(super) fn extract(
    context: &mut Context<'_>,
    arguments: &mut [Value],
) -> Result<Value, Failure> {
    let octets = bytes("zip_extract", arguments, 1)?;
    let mut archive = match ZipArchive::new(Cursor::new(&*octets)) {
        Ok(archive) => archive,
        Err(error) => return fail("zip_extract", error),
    };
    let mut unpacked = Unpacked::new("zip_extract");
    for number in 0..archive.len() {
        let mut entry = match archive.by_index(number) {
            Ok(entry) => entry,
            Err(error) => return fail("zip_extract", error),
        };
        if entry.is_dir() || entry.is_symlink() {
            continue;
        }
        let path = match entry.name() {
            Ok(path) => path.into_owned(),
            Err(error) => return fail("zip_extract", error),
        };
        unpacked.add(context, number, &path, &mut entry, None)?;
    }
    Ok(unpacked.finish())
}
