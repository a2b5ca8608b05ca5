//! UUIDs (RFC 9562).

use harn_machine::{Context, Failure, Fault, Registry, Value};
use sha1::{Digest, Sha1};

use super::hex;
use crate::expect::text;
use crate::random::octets;

pub(super) fn register(registry: &mut Registry) {
    registry.plain(&[
        ("uuid", |context, _| {
            Ok(shown(marked(octets(context), 4)).into())
        }),
        ("uuid_nil", |_, _| Ok(shown([0; 16]).into())),
        ("uuid_parse", |_, arguments| {
            Ok(parse(&text(arguments, 0)).map(shown).into())
        }),
        ("uuid_v5", uuid_v5),
        ("uuid_v7", |context, _| {
            let (now, random) = (context.now(), octets(context));
            let last = &mut context.state::<Last>().0;
            *last = after(*last, of_time(now, random));
            Ok(shown(*last).into())
        }),
    ]);
}

/// A UUID of a time in milliseconds, for whoever makes ids outside of programs.
pub fn uuid_of_time(milliseconds: i64, random: [u8; 16]) -> String {
    shown(of_time(milliseconds, random))
}

fn uuid_v5(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    if arguments.len() < 2 {
        let message = "uuid_v5(namespace, name): requires namespace and name";
        return Err(Fault::runtime(message));
    }
    let namespace = text(arguments, 0);
    let Some(namespace) = known_namespace(&namespace).or_else(|| parse(&namespace)) else {
        let message = "uuid_v5: namespace must be a UUID or one of dns/url/oid/x500";
        return Err(Fault::runtime(message));
    };
    Ok(shown(of_name(namespace, &text(arguments, 1))).into())
}

type Uuid = [u8; 16];

/// A UUID of a version.
fn marked(mut uuid: Uuid, version: u8) -> Uuid {
    uuid[6] = uuid[6] & 0x0f | version << 4;
    uuid[8] = uuid[8] & 0x3f | 0x80;
    uuid
}

/// A UUID that sorts by time.
fn of_time(milliseconds: i64, random: Uuid) -> Uuid {
    let mut uuid = random;
    uuid[..6].copy_from_slice(&milliseconds.to_be_bytes()[2..]);
    marked(uuid, 7)
}

/// The last UUID that a run made of the time.
#[derive(Default)]
struct Last(Uuid);

/// A UUID of the time, or the one that follows the last if it would come before that: many are
/// made within a millisecond, and clocks are set back.
fn after(last: Uuid, uuid: Uuid) -> Uuid {
    if uuid > last {
        return uuid;
    }
    // The bits that say version and variant stand between three parts of one number.
    let bits = u128::from_be_bytes(last);
    let (time, middle, low) = (bits >> 80, bits >> 64 & 0xfff, bits & LOW);
    let next = (time << 74 | middle << 62 | low) + 1;
    let bits = next >> 74 << 80 | (next >> 62 & 0xfff) << 64 | next & LOW;
    marked(bits.to_be_bytes(), 7)
}

/// The bits of a UUID after those that say its variant.
const LOW: u128 = u128::MAX >> 66;

/// The UUID of a name.
fn of_name(namespace: Uuid, name: &str) -> Uuid {
    let digest = Sha1::new()
        .chain_update(namespace)
        .chain_update(name)
        .finalize();
    let mut uuid = [0; 16];
    uuid.copy_from_slice(&digest[..16]);
    marked(uuid, 5)
}

fn known_namespace(name: &str) -> Option<Uuid> {
    let name = name.to_ascii_lowercase();
    let fourth = match name.strip_prefix("namespace_").unwrap_or(&name) {
        "dns" => 0x10,
        "url" => 0x11,
        "oid" => 0x12,
        "x500" => 0x14,
        _ => return None,
    };
    let mut uuid = parse("6ba7b800-9dad-11d1-80b4-00c04fd430c8")?;
    uuid[3] = fourth;
    Some(uuid)
}

/// A UUID with or without hyphens, in braces, or as a URN.
fn parse(text: &str) -> Option<Uuid> {
    let text = text.strip_prefix("urn:uuid:").unwrap_or(text);
    let inside = text
        .strip_prefix('{')
        .and_then(|text| text.strip_suffix('}'));
    let text = inside.unwrap_or(text);
    let digits = match text.len() {
        32 => text.to_owned(),
        36 => {
            let hyphens = text.bytes().enumerate().filter(|(_, octet)| *octet == b'-');
            let at_their_places = hyphens.map(|(at, _)| at).eq([8, 13, 18, 23]);
            at_their_places.then(|| text.replace('-', ""))?
        }
        _ => return None,
    };
    hex::decode(&digits).ok()?.try_into().ok()
}

fn shown(uuid: Uuid) -> String {
    let digits = hex::encode(&uuid);
    let parts = [0..8, 8..12, 12..16, 16..20, 20..32];
    parts.map(|part| &digits[part]).join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_the_uuids_that_everybody_gives_them() {
        // The example of RFC 9562, appendix A.4.
        let dns = known_namespace("DNS").expect("it is known");
        assert_eq!(
            shown(of_name(dns, "www.example.com")),
            "2ed6657d-e927-568b-95e1-2665a8aea6a2"
        );
        assert_eq!(
            known_namespace("namespace_x500"),
            parse("6ba7b814-9dad-11d1-80b4-00c04fd430c8")
        );
    }

    #[test]
    fn uuids_say_their_version() {
        assert_eq!(
            shown(marked([0xff; 16], 4)),
            "ffffffff-ffff-4fff-bfff-ffffffffffff"
        );
        let uuid = of_time(0x017f_22e2_79b0, [0; 16]);
        assert_eq!(shown(uuid), "017f22e2-79b0-7000-8000-000000000000");
    }

    #[test]
    fn uuids_of_one_millisecond_are_in_order() {
        let mut last = of_time(7, [0xff; 16]);
        let mut made = vec![last];
        for _ in 0..3 {
            last = after(last, of_time(7, [0; 16]));
            made.push(last);
        }
        assert!(made.is_sorted_by(|one, other| one < other));
        assert!(made.iter().all(|uuid| *uuid == marked(*uuid, 7)));
        assert!(after(of_time(9, [0; 16]), of_time(8, [0xff; 16])) > of_time(9, [0; 16]));
    }

    #[test]
    fn every_spelling_has_one_canonical_form() {
        let canonical = "67e55044-10b1-426f-9247-bb680e5fe0c8";
        for text in [
            "67E55044-10B1-426F-9247-BB680E5FE0C8",
            "67e5504410b1426f9247bb680e5fe0c8",
            "{67e55044-10b1-426f-9247-bb680e5fe0c8}",
            "urn:uuid:67e55044-10b1-426f-9247-bb680e5fe0c8",
        ] {
            assert_eq!(parse(text).map(shown).as_deref(), Some(canonical), "{text}");
        }
        for text in [
            "",
            "x",
            "67e55044-10b1-426f-9247-bb680e5fe0c",
            "é".repeat(16).as_str(),
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
