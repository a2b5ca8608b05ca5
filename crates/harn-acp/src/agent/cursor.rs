//! Where a page of a list has ended. Clients pass it back and know nothing of it.

use crate::error::Refusal;
use crate::session::Past;

/// A place in a list of sessions, the latest first.
pub(super) struct Cursor {
    active_at_ms: i64,
    id: String,
}

impl Cursor {
    /// Whether a session comes after it. Sessions that were active in the meantime have moved
    /// to the front, where they were or will be seen.
    pub(super) fn is_before(&self, past: &Past) -> bool {
        (past.active_at_ms, &past.id) < (self.active_at_ms, &self.id)
    }
}

/// The cursor after a session.
pub(super) fn after(past: &Past) -> String {
    let text = format!("{} {}", past.active_at_ms, past.id);
    text.bytes().map(|byte| format!("{byte:02x}")).collect()
}

/// Reads a cursor.
///
/// # Errors
/// It is none of ours.
pub(super) fn read(text: &str) -> Result<Cursor, Refusal> {
    let unknown = || Refusal::bad_parameters("`cursor` is none that we have given");
    let digits: Vec<char> = text.chars().collect();
    let pairs = digits.chunks(2).map(|pair| {
        let pair: String = pair.iter().collect();
        u8::from_str_radix(&pair, 16)
            .ok()
            .filter(|_| pair.len() == 2)
    });
    let bytes = pairs.collect::<Option<Vec<u8>>>().ok_or_else(unknown)?;
    let text = String::from_utf8(bytes).map_err(|_| unknown())?;
    let (time, id) = text.split_once(' ').ok_or_else(unknown)?;
    Ok(Cursor {
        active_at_ms: time.parse().map_err(|_| unknown())?,
        id: id.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::Settings;

    fn past(active_at_ms: i64, id: &str) -> Past {
        Past {
            id: id.to_owned(),
            settings: Settings::default(),
            title: None,
            active_at_ms,
        }
    }

    #[test]
    fn a_cursor_is_read_as_it_was_written() {
        let cursor = read(&after(&past(5, "b c"))).unwrap();
        assert!(cursor.is_before(&past(5, "b a")) && cursor.is_before(&past(4, "z")));
        assert!(!cursor.is_before(&past(5, "b c")) && !cursor.is_before(&past(6, "a")));
    }

    #[test]
    fn what_is_none_of_ours_is_refused() {
        for text in ["", "x", "zz", "é", "61", "612", "6120"] {
            assert!(read(text).is_err_and(|one| one.code == -32602), "{text}");
        }
    }
}
