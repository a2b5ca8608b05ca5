//! Proof that a journal holds what was written by somebody with the key of this machine.
//!
//! ```text
//! record 0   {…,"~mac":m0}     m0 = mac(start of the session ‖ record 0)
//! record 1   {…,"~mac":m1}     m1 = mac(m0 ‖ record 1)
//! accepted   {…,"~mac":m2}     m2 = mac(hash of everything before ‖ the record)
//! ```
//!
//! The hash chain of the log finds what was damaged; who may write the file can compute it anew.
//! These codes need a key that lies elsewhere, so whoever changes, removes or adds a record
//! without it is found when the session is opened or shown. They are in the records and not
//! beside them, so they hold in every backend and on every way into it.
//!
//! What was written before there were codes has none, and is believed as long as nothing with a
//! code comes before it. A person may accept a changed journal: the record that says so proves
//! all that was there at that moment, and from then on that must not change either.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use blake3::Hasher;

/// The field of a record with its code. It sorts behind all others, so it is the last.
pub(super) const FIELD: &str = "~mac";
/// What is before the code in the text of a record, and what is after it.
const BEFORE: &str = ",\"~mac\":\"";
const AFTER: &str = "\"}";
/// 16 bytes in Base64.
const CODE_CHARS: usize = 22;

/// The change that a record of a person's acceptance says it is; see
/// [`Change::Accepted`](super::Change::Accepted).
const ACCEPTED: &[u8] = b"\"change\":\"accepted\"";

/// Proves who has written a journal. Whoever has it can write journals that this machine
/// believes, so it lies outside of projects and no model's tool can read it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct JournalKey([u8; 32]);

impl JournalKey {
    /// A key of 32 octets that nobody can guess.
    pub fn new(octets: [u8; 32]) -> Self {
        Self(octets)
    }

    fn code(&self, before: &Code, text: &[&[u8]]) -> Code {
        let mut hasher = Hasher::new_keyed(&self.0);
        hasher.update(&before.0);
        for part in text {
            hasher.update(part);
        }
        Code::of(&hasher)
    }
}

impl fmt::Debug for JournalKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JournalKey(..)")
    }
}

/// The code of a record, and of all records before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Code([u8; 16]);

impl Code {
    fn of(hasher: &Hasher) -> Self {
        let mut code = [0; 16];
        hasher.finalize_xof().fill(&mut code);
        Self(code)
    }

    fn text(self) -> String {
        URL_SAFE_NO_PAD.encode(self.0)
    }

    fn read(text: &[u8]) -> Option<Self> {
        let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        Some(Self(bytes.try_into().ok()?))
    }
}

/// Makes the codes of a journal, one record after the other.
#[derive(Clone, Debug)]
pub(super) struct Prover {
    key: JournalKey,
    last: Code,
}

impl Prover {
    /// For a journal with nothing in it.
    pub(super) fn beginning(key: JournalKey, session_id: &str) -> Self {
        Self {
            key,
            last: start(&key, session_id),
        }
    }

    /// For a journal whose last record has this code, if it has one.
    pub(super) fn after(key: JournalKey, session_id: &str, code: Option<&str>) -> Self {
        let last = code.and_then(|code| Code::read(code.as_bytes()));
        Self {
            key,
            last: last.unwrap_or_else(|| start(&key, session_id)),
        }
    }

    /// The code of the next record, whose text is this. The records after it follow it once it
    /// was [taken](Self::take).
    pub(super) fn code_of(&self, record: &str) -> String {
        self.key.code(&self.last, &[record.as_bytes()]).text()
    }

    /// The record with this code is in the journal.
    pub(super) fn take(&mut self, code: &str) {
        self.last = Code::read(code.as_bytes()).expect("it was made here");
    }
}

fn start(key: &JournalKey, session_id: &str) -> Code {
    let nothing = Code([0; 16]);
    key.code(&nothing, &[b"harn-journal-v1", session_id.as_bytes()])
}

/// Looks whether the records of a journal are what was written.
#[derive(Clone, Debug)]
pub struct JournalCheck {
    key: JournalKey,
    last: Code,
    /// Everything read so far, for a record that accepts it.
    everything: Hasher,
    records: u64,
    /// Whether a record had a code.
    has_codes: bool,
    /// The first record that is not what was written, counted from 0.
    changed: Option<u64>,
}

impl JournalCheck {
    /// A check of a session's journal, from its first record.
    pub fn new(key: JournalKey, session_id: &str) -> Self {
        Self {
            key,
            last: start(&key, session_id),
            everything: Hasher::new(),
            records: 0,
            has_codes: false,
            changed: None,
        }
    }

    /// Reads the payload of the next record of the session.
    pub fn read(&mut self, payload: &[u8]) {
        match split(payload) {
            Some((body, code)) => self.read_proved(body, code),
            None if self.has_codes => self.note_change(),
            // Older than the codes.
            None => {}
        }
        self.records += 1;
        let length = payload.len() as u64;
        self.everything.update(&length.to_le_bytes());
        self.everything.update(payload);
    }

    fn read_proved(&mut self, body: &[u8], code: Code) {
        let text: [&[u8]; 2] = [body, b"}"];
        let accepts =
            contains(body, ACCEPTED) && self.key.code(&Code::of(&self.everything), &text) == code;
        if accepts {
            self.changed = None;
        } else if self.key.code(&self.last, &text) != code {
            self.note_change();
        }
        self.has_codes = true;
        self.last = code;
    }

    fn note_change(&mut self) {
        self.changed.get_or_insert(self.records);
    }

    /// The first record that somebody without the key has changed, written or come before,
    /// counted from 0.
    pub fn changed_at(&self) -> Option<u64> {
        self.changed
    }

    /// Goes on with a journal that was read to its end. What was changed in it and is accepted
    /// is proved by the next record.
    pub(super) fn into_prover(self) -> Prover {
        let last = match self.changed {
            Some(_) => Code::of(&self.everything),
            None => self.last,
        };
        Prover {
            key: self.key,
            last,
        }
    }
}

/// The text of a record up to its code, without the brace that ends it, and the code.
fn split(payload: &[u8]) -> Option<(&[u8], Code)> {
    let code_start = payload.len().checked_sub(AFTER.len() + CODE_CHARS)?;
    let (before, rest) = payload.split_at(code_start);
    let body = before.strip_suffix(BEFORE.as_bytes())?;
    let code = rest.strip_suffix(AFTER.as_bytes())?;
    Some((body, Code::read(code)?))
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const KEY: JournalKey = JournalKey([7; 32]);

    fn with_code(record: &str, code: &str) -> String {
        let body = record.strip_suffix('}').unwrap();
        format!("{body}{BEFORE}{code}{AFTER}")
    }

    fn journal(prover: &mut Prover, records: &[&str]) -> Vec<String> {
        let prove = |record: &&str| {
            let code = prover.code_of(record);
            prover.take(&code);
            with_code(record, &code)
        };
        records.iter().map(prove).collect()
    }

    fn three() -> Vec<String> {
        let mut prover = Prover::beginning(KEY, "s");
        journal(&mut prover, &[r#"{"n":0}"#, r#"{"n":1}"#, r#"{"n":2}"#])
    }

    fn checked(records: &[String]) -> JournalCheck {
        let mut check = JournalCheck::new(KEY, "s");
        records
            .iter()
            .for_each(|record| check.read(record.as_bytes()));
        check
    }

    fn changed_at(records: &[String]) -> Option<u64> {
        checked(records).changed_at()
    }

    #[test]
    fn what_was_written_is_believed() {
        assert_eq!(changed_at(&three()), None);
        assert_eq!(changed_at(&[]), None);
    }

    #[test]
    fn a_changed_record_is_found() {
        let mut records = three();
        records[1] = records[1].replace("\"n\":1", "\"n\":9");
        assert_eq!(changed_at(&records), Some(1));
    }

    #[test]
    fn a_removed_an_added_and_a_moved_record_is_found() {
        let whole = three();
        let mut removed = whole.clone();
        removed.remove(1);
        assert_eq!(changed_at(&removed), Some(1));
        let mut repeated = whole.clone();
        repeated.insert(2, whole[1].clone());
        assert_eq!(changed_at(&repeated), Some(2));
        let mut moved = whole.clone();
        moved.swap(0, 1);
        assert_eq!(changed_at(&moved), Some(0));
    }

    #[test]
    fn a_record_without_a_code_is_believed_only_before_those_with_one() {
        let plain = r#"{"n":-1}"#.to_owned();
        let mut after = three();
        after.push(plain.clone());
        assert_eq!(changed_at(&after), Some(3));
        let mut before = three();
        before.insert(0, plain);
        assert_eq!(changed_at(&before), None);
    }

    #[test]
    fn codes_of_another_key_or_session_prove_nothing() {
        let record = [r#"{"n":0}"#];
        let other_key = journal(&mut Prover::beginning(JournalKey([8; 32]), "s"), &record);
        assert_eq!(changed_at(&other_key), Some(0));
        let other_session = journal(&mut Prover::beginning(KEY, "t"), &record);
        assert_eq!(changed_at(&other_session), Some(0));
    }

    #[test]
    fn what_a_person_has_accepted_is_believed_and_must_not_change_again() {
        let mut records = three();
        records[1] = records[1].replace("\"n\":1", "\"n\":9");
        let mut prover = checked(&records).into_prover();
        let accepted = [r#"{"change":"accepted"}"#, r#"{"n":3}"#];
        records.extend(journal(&mut prover, &accepted));
        assert_eq!(changed_at(&records), None);
        records[1] = records[1].replace("\"n\":9", "\"n\":8");
        assert_eq!(changed_at(&records), Some(1));
    }

    #[test]
    fn a_journal_goes_on_after_the_code_of_its_last_record() {
        let mut records = three();
        let (_, last) = split(records[2].as_bytes()).unwrap();
        let mut prover = Prover::after(KEY, "s", Some(&last.text()));
        records.extend(journal(&mut prover, &[r#"{"n":3}"#]));
        assert_eq!(changed_at(&records), None);
    }

    proptest! {
        /// Whatever is done to one byte of a journal is found, at that record or the next.
        #[test]
        fn no_byte_can_be_changed(record in 0_usize..3, at in 0_usize..40, byte in 0_u8..=255) {
            let records: Vec<Vec<u8>> = three().into_iter().map(String::into_bytes).collect();
            let mut changed = records.clone();
            let at = at % changed[record].len();
            prop_assume!(changed[record][at] != byte);
            changed[record][at] = byte;
            let mut check = JournalCheck::new(KEY, "s");
            changed.iter().for_each(|record| check.read(record));
            let found = check.changed_at();
            // Of a record whose code cannot be read any more, the next one tells.
            prop_assert!(found.is_some_and(|found| found <= record as u64 + 1), "{found:?}");
        }
    }
}
