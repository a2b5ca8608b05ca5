//! Tar.

use harn_machine::value::Bytes;
use harn_machine::{Context, Failure, Value};
use tar::{Archive, Builder, EntryType, Header};

use super::entries::{Entry, listed};
use super::fail;
use super::unpacked::Unpacked;
use crate::encoding::arguments::bytes;

/// The permissions of a file that says none: all may read it, its owner may write it.
const MODE: u32 = 0o644;

pub(super) fn create(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let mut archive = Builder::new(Vec::new());
    for (number, entry) in listed("tar_create", arguments)?.iter().enumerate() {
        if let Err(error) = append(&mut archive, entry) {
            let reason = format!("entry {number} invalid path: {error}");
            return fail("tar_create", reason);
        }
    }
    match archive.into_inner() {
        Ok(octets) => Ok(Value::Bytes(Bytes::from(octets))),
        Err(error) => fail("tar_create", error),
    }
}

fn append(archive: &mut Builder<Vec<u8>>, entry: &Entry) -> std::io::Result<()> {
    let mut header = Header::new_gnu();
    header.set_entry_type(EntryType::Regular);
    header.set_size(entry.content.len() as u64);
    header.set_mode(entry.mode.unwrap_or(MODE));
    archive.append_data(&mut header, entry.path.as_str(), &*entry.content)
}

/// Gives the files; folders, links and devices are left out.
pub(super) fn extract(
    context: &mut Context<'_>,
    arguments: &mut [Value],
) -> Result<Value, Failure> {
    let octets = bytes("tar_extract", arguments, 1)?;
    let mut archive = Archive::new(&*octets);
    let entries = match archive.entries() {
        Ok(entries) => entries,
        Err(error) => return fail("tar_extract", error),
    };
    let mut unpacked = Unpacked::new("tar_extract");
    for (number, entry) in entries.enumerate() {
        let mut entry = match entry {
            Ok(entry) => entry,
            Err(error) => return fail("tar_extract", error),
        };
        let kind = entry.header().entry_type();
        if !kind.is_file() && !kind.is_contiguous() && !kind.is_gnu_sparse() {
            continue;
        }
        let path = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let (mode, size) = (entry.header().mode().unwrap_or(MODE), entry.size());
        let length = unpacked.add(context, number, &path, &mut entry, Some(mode))?;
        if (length as u64) < size {
            return fail("tar_extract", format!("entry {number} is cut off"));
        }
    }
    Ok(unpacked.finish())
}
