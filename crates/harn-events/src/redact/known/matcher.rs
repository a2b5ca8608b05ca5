//! Finds many values in a text at once.
//!
//! ```text
//! text, four bytes at every fourth place ─► bits: may a form have them? ─► the form itself
//! ```
//!
//! Of each form the last seven bytes are entered by the four groups of four bytes in them, one
//! per way in which the places that are looked at can fall on them. The table of bits says "no" for
//! nearly every place, without the chain of loads from byte to byte that an automaton walks, and
//! it is filled in less time than the states of one. The end of a form is entered and not its
//! beginning, because keys of one provider begin alike.

use std::ops::Range;

use hashbrown::HashMap;

use super::forms::forms;

/// How many bytes are compared with the table.
const GROUP: usize = 4;

/// Forms of fewer bytes have no room for a group at each place and are looked for at every byte.
const SPARSE_BYTES_MIN: usize = 2 * GROUP - 1;

/// The longest form. A text can hold at most this much less a byte of one that goes on.
pub(in crate::redact) const FORM_BYTES_MAX: usize = 4096;

/// Many values, ready to be looked for.
#[derive(Debug, Default)]
pub(super) struct Matcher {
    /// In order, so that those that begin with a text are beside each other.
    forms: Vec<Form>,
    sparse: Groups,
    dense: Groups,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Form {
    bytes: Vec<u8>,
    /// Which value it is a form of.
    value: usize,
}

/// Where a value was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) range: Range<usize>,
    pub(super) value: usize,
}

impl Matcher {
    pub(super) fn new<'a>(values: impl Iterator<Item = &'a str>) -> Self {
        let mut all: Vec<Form> = values
            .enumerate()
            .flat_map(|(value, text)| {
                let forms = forms(text).into_iter();
                let forms = forms.filter(|form| (GROUP..=FORM_BYTES_MAX).contains(&form.len()));
                forms.map(move |bytes| Form { bytes, value })
            })
            .collect();
        all.sort_unstable();
        all.dedup_by(|one, other| one.bytes == other.bytes);
        let is_sparse = |form: &Form| form.bytes.len() >= SPARSE_BYTES_MIN;
        Self {
            sparse: Groups::of(&all, is_sparse, GROUP),
            dense: Groups::of(&all, |form| !is_sparse(form), 1),
            forms: all,
        }
    }

    /// Whether any value is in the text.
    pub(super) fn is_in(&self, text: &[u8]) -> bool {
        self.sparse.visit(&self.forms, text, &mut |_| true)
            || self.dense.visit(&self.forms, text, &mut |_| true)
    }

    /// Every place of every value, in order.
    pub(super) fn find(&self, text: &[u8]) -> Vec<Found> {
        let mut found = Vec::new();
        let mut add = |one| {
            found.push(one);
            false
        };
        self.sparse.visit(&self.forms, text, &mut add);
        self.dense.visit(&self.forms, text, &mut add);
        found.sort_by_key(|found: &Found| (found.range.start, found.range.end));
        found.dedup();
        found
    }

    /// Where the longest end of the text begins that a form may go on from.
    pub(super) fn open_at(&self, text: &[u8]) -> Option<usize> {
        let first = text.len().saturating_sub(FORM_BYTES_MAX - 1);
        (first..text.len()).find(|&start| self.begins_with(&text[start..]))
    }

    /// Whether a form begins with this and is longer.
    fn begins_with(&self, start: &[u8]) -> bool {
        let at = self
            .forms
            .partition_point(|form| form.bytes.as_slice() <= start);
        self.forms
            .get(at)
            .is_some_and(|form| form.bytes.starts_with(start))
    }
}

/// Which forms have which groups of bytes.
#[derive(Debug, Default)]
struct Groups {
    /// One bit per hash of a group.
    bits: Vec<u64>,
    /// How far a hash is shifted to be the number of a bit.
    shift: u32,
    /// Which forms have a group, and where.
    places: HashMap<u32, Vec<(u32, u32)>>,
    /// At how many bytes from each other groups are looked at.
    step: usize,
}

impl Groups {
    fn of(forms: &[Form], is_taken: impl Fn(&Form) -> bool, step: usize) -> Self {
        let mut places: HashMap<u32, Vec<(u32, u32)>> = HashMap::new();
        let taken = (0..).zip(forms).filter(|(_, form)| is_taken(form));
        for (number, form) in taken {
            let last = form.bytes.len() - GROUP;
            for at in last + 1 - step..=last {
                let offset = u32::try_from(at).expect("forms are bounded");
                places
                    .entry(group(&form.bytes, at))
                    .or_default()
                    .push((number, offset));
            }
        }
        let bits = (places.len() * 32)
            .next_power_of_two()
            .clamp(1 << 12, 1 << 22);
        let mut groups = Self {
            bits: vec![0; bits / 64],
            shift: 32 - bits.trailing_zeros(),
            places: HashMap::new(),
            step,
        };
        for group in places.keys() {
            let bit = groups.bit(*group);
            groups.bits[bit / 64] |= 1 << (bit % 64);
        }
        groups.places = places;
        groups
    }

    fn bit(&self, group: u32) -> usize {
        (group.wrapping_mul(0x9e37_79b1) >> self.shift) as usize
    }

    /// Calls `take` with what is found until it has enough; says whether it has.
    fn visit(&self, forms: &[Form], text: &[u8], take: &mut dyn FnMut(Found) -> bool) -> bool {
        if self.places.is_empty() {
            return false;
        }
        let mut at = 0;
        while let Some(window) = text.get(at..at + GROUP) {
            let group = u32::from_le_bytes(window.try_into().expect("a window of a group"));
            let bit = self.bit(group);
            if self.bits[bit / 64] & (1 << (bit % 64)) != 0
                && self.visit_group(forms, text, at, group, take)
            {
                return true;
            }
            at += self.step;
        }
        false
    }

    #[cold]
    fn visit_group(
        &self,
        forms: &[Form],
        text: &[u8],
        at: usize,
        group: u32,
        take: &mut dyn FnMut(Found) -> bool,
    ) -> bool {
        let places = self.places.get(&group).into_iter().flatten();
        for &(number, offset) in places {
            let form = &forms[number as usize];
            let Some(start) = at.checked_sub(offset as usize) else {
                continue;
            };
            let end = start + form.bytes.len();
            let is_found = text.get(start..end) == Some(&form.bytes);
            let found = || Found {
                range: start..end,
                value: form.value,
            };
            if is_found && take(found()) {
                return true;
            }
        }
        false
    }
}

fn group(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ranges(values: &[&str], text: &str) -> Vec<Range<usize>> {
        let found = Matcher::new(values.iter().copied()).find(text.as_bytes());
        found.into_iter().map(|found| found.range).collect()
    }

    #[test]
    fn values_are_found_at_every_place_and_of_every_length() {
        for value in [
            "abcd",
            "abcdef",
            "q7Zr2PL",
            "q7Zr2PLm9XwK4tVb",
            "12345678901234567",
        ] {
            for before in 0..9 {
                let text = format!("{}{value}x", ".".repeat(before));
                let found = ranges(&[value], &text);
                let expected = before..before + value.len();
                assert_eq!((found.len(), &found[0]), (1, &expected), "{text}");
            }
        }
    }

    #[test]
    fn nothing_known_is_found_nowhere() {
        assert!(!Matcher::new([].into_iter()).is_in(b"anything"));
        assert!(ranges(&["q7Zr2PLm"], "q7Zr2PL").is_empty());
    }

    #[test]
    fn the_open_end_of_a_text_is_the_longest_beginning_of_a_form() {
        let matcher = Matcher::new(["secret-one", "one-more"].into_iter());
        assert_eq!(matcher.open_at(b"a secret-on"), Some(2));
        assert_eq!(matcher.open_at(b"a secret-one"), Some(9));
        assert_eq!(matcher.open_at(b"nothing"), None);
        assert_eq!(matcher.open_at(b""), None);
    }

    proptest! {
        #[test]
        fn all_is_found_that_a_plain_search_finds(text in "[ab]{0,60}", values in proptest::collection::vec("[ab]{4,12}", 1..5)) {
            let matcher = Matcher::new(values.iter().map(String::as_str));
            for value in &values {
                let mut at = 0;
                while let Some(found) = text[at..].find(value.as_str()) {
                    let range = at + found..at + found + value.len();
                    prop_assert!(matcher.find(text.as_bytes()).iter().any(|found| found.range == range));
                    at += found + 1;
                }
            }
        }
    }
}
