//! What a folder looks like, as a number: it changes when an entry comes, goes or changes.

use std::path::PathBuf;

use harn_machine::{Answer, Context, Failure, FileRequest, Value};

use super::super::place::noted_folder;
use crate::expect::text;
use crate::files::{allowed, perform, status};

/// What counts about an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Aspect {
    /// Its name and size.
    Structure,
    /// Also when it was changed.
    Content,
}

/// `compute_content_hash(dir)`
pub(super) fn compute_content_hash(
    context: &mut Context<'_>,
    arguments: &mut [Value],
) -> Result<Value, Failure> {
    let folder = noted_folder(context, &text(arguments, 0));
    status(context, folder.clone());
    allowed(context, "compute_content_hash")?;
    Ok(hash(context, folder, Aspect::Content).into())
}

/// The hash of a folder. One that cannot be listed has no entries.
pub(super) fn hash(context: &mut Context<'_>, folder: PathBuf, aspect: Aspect) -> String {
    let names = match perform(context, FileRequest::List(folder.clone())) {
        Ok(Answer::Pairs(names)) => names,
        _ => Vec::new(),
    };
    let mut entries = Vec::with_capacity(names.len());
    for (name, _) in names {
        let Some(facts) = status(context, folder.join(&name)) else {
            continue;
        };
        let size = facts.size;
        entries.push(match aspect {
            Aspect::Structure => format!("{name}:{size}"),
            Aspect::Content => format!("{name}:{size}:{}", facts.modified.div_euclid(1000)),
        });
    }
    entries.sort();
    format!("{:016x}", fnv1a(entries.join("|").as_bytes()))
}

/// The hash of Fowler, Noll and Vo, in its variant 1a of 64 bits.
fn fnv1a(octets: &[u8]) -> u64 {
    octets.iter().fold(0xcbf2_9ce4_8422_2325, |hash, octet| {
        (hash ^ u64::from(*octet)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_the_published_one() {
        for (text, expected) in [
            ("", 0xcbf2_9ce4_8422_2325),
            ("a", 0xaf63_dc4c_8601_ec8c),
            ("foobar", 0x8594_4171_f739_67e8),
        ] {
            assert_eq!(fnv1a(text.as_bytes()), expected, "{text}");
        }
    }
}
