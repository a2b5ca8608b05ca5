//! Names of log files.
//!
//! A session id may hold anything, a file name may not. Characters outside a
//! plain set are written as `%` and two hex digits, which can be undone, and so
//! is what would otherwise be misread: a leading dot, and the dash of an ending
//! that looks like a segment number. `x-000001` is thus never taken for the
//! first segment of `x`.

use std::path::{Path, PathBuf};

/// Start of every log file's name.
const PREFIX: &str = "event_log-";
/// End of every log file's name.
const SUFFIX: &str = ".jsonl";

/// The name of the file that holds a session's oldest events.
pub fn session_file_name(session_id: &str) -> String {
    let segment_dash = segment_dash(session_id);
    let mut name = String::from(PREFIX);
    for (at, byte) in session_id.bytes().enumerate() {
        let is_plain = byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
        let is_misread = (at == 0 && byte == b'.') || Some(at) == segment_dash;
        if is_plain && !is_misread {
            name.push(char::from(byte));
        } else {
            name.push_str(&format!("%{byte:02X}"));
        }
    }
    name + SUFFIX
}

/// The session whose oldest events are in a file of this name.
pub fn session_id_of_file_name(name: &str) -> Option<String> {
    let encoded = name.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)?;
    let mut bytes = Vec::with_capacity(encoded.len());
    let mut rest = encoded.as_bytes();
    while let [first, tail @ ..] = rest {
        rest = tail;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let (digits, tail) = rest.split_at_checked(2)?;
        let digits = std::str::from_utf8(digits).ok()?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = tail;
    }
    String::from_utf8(bytes).ok()
}

/// Where an id ends in a dash and digits only, the position of that dash.
fn segment_dash(session_id: &str) -> Option<usize> {
    let (head, digits) = session_id.rsplit_once('-')?;
    let is_number = digits.len() >= 6 && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then_some(head.len())
}

/// The names of a log's files: the base and its numbered segments.
#[derive(Clone, Debug)]
pub(super) struct SegmentNames {
    base: PathBuf,
    stem: String,
    extension: String,
}

impl SegmentNames {
    pub(super) fn new(base: PathBuf) -> Self {
        let text = |part: Option<&std::ffi::OsStr>, default: &str| {
            part.map_or_else(
                || default.to_owned(),
                |part| part.to_string_lossy().into_owned(),
            )
        };
        let stem = text(base.file_stem(), "event_log");
        let extension = text(base.extension(), "jsonl");
        Self {
            base,
            stem,
            extension,
        }
    }

    pub(super) fn directory(&self) -> &Path {
        match self.base.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        }
    }

    /// Number 0 is the base file.
    pub(super) fn path(&self, number: u32) -> PathBuf {
        match number {
            0 => self.base.clone(),
            _ => self
                .directory()
                .join(format!("{}-{number:06}.{}", self.stem, self.extension)),
        }
    }

    /// The number of a file of this log; `None` for any other file.
    pub(super) fn number(&self, file_name: &str) -> Option<u32> {
        if self
            .base
            .file_name()
            .is_some_and(|base| base.to_string_lossy() == file_name)
        {
            return Some(0);
        }
        let numbered = file_name.strip_suffix(&format!(".{}", self.extension))?;
        let digits = numbered.strip_prefix(&format!("{}-", self.stem))?;
        let number: u32 = digits.parse().ok().filter(|number| *number > 0)?;
        // Only the spelling we write: `+1` and `0000001` are numbers too.
        (self.path(number).file_name()? == file_name).then_some(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn plain_ids_are_their_own_names() {
        assert_eq!(
            session_file_name("agent_session_1-a.b"),
            "event_log-agent_session_1-a.b.jsonl"
        );
    }

    #[test]
    fn separators_and_segment_numbers_are_escaped() {
        assert_eq!(session_file_name("../x"), "event_log-%2E.%2Fx.jsonl");
        assert_eq!(session_file_name("x-000001"), "event_log-x%2D000001.jsonl");
        assert_eq!(session_file_name("ä%"), "event_log-%C3%A4%25.jsonl");
    }

    #[test]
    fn segments_are_numbered_with_six_digits() {
        let names = SegmentNames::new(PathBuf::from("dir/event_log-x.jsonl"));
        assert_eq!(names.path(0), Path::new("dir/event_log-x.jsonl"));
        assert_eq!(names.path(12), Path::new("dir/event_log-x-000012.jsonl"));
        assert_eq!(names.number("event_log-x.jsonl"), Some(0));
        assert_eq!(names.number("event_log-x-000012.jsonl"), Some(12));
        assert_eq!(names.number("event_log-x%2D000012.jsonl"), None);
        for stray in ["-12", "-0000012", "-+00012", "-000000", "-99999999999"] {
            assert_eq!(names.number(&format!("event_log-x{stray}.jsonl")), None);
        }
    }

    #[test]
    fn a_base_name_without_extension_gets_the_usual_one() {
        let names = SegmentNames::new(PathBuf::from("log"));
        assert_eq!(names.path(1), Path::new("./log-000001.jsonl"));
    }

    proptest! {
        #[test]
        fn every_id_comes_back_from_its_name(id in any::<String>()) {
            let name = session_file_name(&id);
            prop_assert!(!name.contains(['/', '\0']));
            prop_assert_eq!(session_id_of_file_name(&name), Some(id));
        }
    }
}
