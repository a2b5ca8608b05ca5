//! Whether there is anything to redact at all.
//!
//! Every stored record is looked through, and nearly none holds a secret, so
//! saying "no" has to be quick. At every second position three bytes are hashed
//! into a table of bits, which says whether a trigger word might start here or
//! one byte before; only then is the word itself compared. There is no chain of
//! loads from one byte to the next, which makes this several times faster than
//! walking an automaton.

use super::names::FieldNames;

/// Beginnings of tokens with a known look, and the characters that may follow.
#[rustfmt::skip]
pub(super) const TOKEN_PREFIXES: &[&str] = &[
    "AKIA", "ASIA", "AGPA", "AIDA", "ANPA", "AROA", "AIPA", "AIza", "GOCSPX-", "1//0",
    "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "npm_", "dckr_pat_", "dckr_oat_",
    "glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glft-", "glsoat-", "pypi-",
    "sk-", "sk_live_", "sk_test_", "rk_live_", "rk_test_", "whsec_", "gsk_", "hf_", "r8_", "xai-",
    "pplx-", "nvapi-", "jina_", "tvly-", "lsv2_", "dapi", "dop_v1_", "doo_v1_", "dor_v1_",
    "xoxa-", "xoxb-", "xoxe-", "xoxp-", "xoxr-", "xoxs-", "xapp-", "lin_api_", "lin_oauth_",
    "shpat_", "shpss_", "shpca_", "shppa_", "ntn_", "sq0atp-", "sq0csp-", "sq0idp-", "EAAA",
    "ya29.", "SG.", "eyJ", "hvs.", "hvb.", "hvr.", "sbp_", "glc_", "glsa_", "pscale_", "tskey-",
    "figd_", "nfp_", "CCIPAT_", "sntrys_", "sntryu_", "xkeysib-", "ATATT3x", "ATBB", "NRAK-",
    "PMAK-", "HRKU-", "CFPAT-", "FLWSECK", "rdme_", "pnu_", "bkua_", "fo1_", "fm2_", "dp.",
    "pat-na", "pat-eu", "key-", "AGE-SECRET-KEY-1",
];

/// Pieces of text of which one has to be there before any rule can apply: parts of
/// the secret names, openings of URLs and headers. Each piece is the part of its
/// name that is rarest in ordinary text.
#[rustfmt::skip]
const STEMS: &[&str] = &[
    "://",
    "-----E",                           // the end of a key whose beginning was not read
    "slack.com/", "discord",            // addresses that are keys
    "atlasv1", ":AA", "-us1", "-us2", "-us3", "-us4", "-us5", "-us6", "-us7", "-us8", "-us9",
    "accountkey", "sharedaccesskey", "secretvalue=", "&sig=", "?sig=", "-signature=",
    "\"auth\"", "auth\\\"",            // logins for registries
    "sshpass", "ogin -", "mongo", "mysql", "mariadb", "redis-cli", "ldap", "curl",
    "_pass=", "_pass:", "_pass =", "_keys=", "_keys:", "_key=", "_key:", "_key =", "_key\"",
    "s key", "s-key", "s_key", "sskey", // access_key
    "i key", "i-key", "i_key", "pikey", // api_key
    "e key", "e-key", "e_key", "tekey", // private_key
    "t key", "t-key", "t_key", "etkey", // secret_key
    "n key", "n-key", "n_key", "onkey", // encryption_key
    "g key", "g-key", "g_key", "ngkey", // signing_key
    "y base", "y-base", "y_base", "eybase", // key_base
    "rization", "asic ", "bearer",      // authorization and what follows it
    "okie",                             // cookie
    "edenti",                           // credential
    "ssphr", "sswd", "sswor", "pwd",    // passphrase, passwd, password
    "ecret",                            // secret
    // `input_tokens` is in every model call, so a token counts only where the
    // word ends and a value can follow.
    "token\t", "token ", "token\"", "token'", "token:", "token=", "token\\",
];

/// All trigger words, ready to be looked for.
#[derive(Debug)]
pub(super) struct Triggers {
    /// One bit per hash of three bytes that begin a word, or follow its first byte.
    probes: Bits,
    /// One bit per hash of three bytes that begin a word.
    starts: Bits,
    /// Words by the first three bytes, folded; sorted for the search.
    words: Vec<(u32, String)>,
    /// Somebody declared a name with too little plain text to look for,
    /// so every text has to be looked at closely.
    always: bool,
}

/// A set of hashes: 65,536 bits in 8 KiB, which stay in the nearest cache.
#[derive(Debug)]
struct Bits(Box<[u64; 1024]>);

impl Bits {
    fn of(bytes: impl IntoIterator<Item = u32>) -> Self {
        let mut bits = Box::new([0; 1024]);
        for bit in bytes.into_iter().map(hash) {
            bits[bit / 64] |= 1 << (bit % 64);
        }
        Self(bits)
    }

    #[inline(always)]
    fn may_contain(&self, bytes: u32) -> bool {
        let bit = hash(bytes);
        self.0[bit / 64] & (1 << (bit % 64)) != 0
    }
}

#[inline(always)]
fn hash(bytes: u32) -> usize {
    (bytes.wrapping_mul(0x9e37_79b1) >> 16) as usize
}

impl Triggers {
    pub(super) fn new(names: &FieldNames) -> Self {
        let known = STEMS
            .iter()
            .chain(TOKEN_PREFIXES)
            .map(|&word| word.to_owned());
        let added = names.added().map(longest_piece);
        let words = known.chain(added);
        let (words, short): (Vec<String>, Vec<String>) = words.partition(|word| word.len() >= 3);
        let mut words: Vec<(u32, String)> = words
            .into_iter()
            .map(|word| (three_bytes(word.as_bytes()), word))
            .collect();
        words.sort_unstable();
        words.dedup();
        Self {
            probes: Bits::of(words.iter().flat_map(|(start, word)| probes(*start, word))),
            starts: Bits::of(words.iter().map(|(start, _)| *start)),
            words,
            always: !short.is_empty(),
        }
    }

    pub(super) fn found_in(&self, text: &[u8]) -> bool {
        if self.always {
            return true;
        }
        // Four bytes are loaded at once and the fourth is ignored, so what starts
        // in the last three bytes has to be looked at apart.
        let mut at = 0;
        while let Some(window) = text.get(at..at + 4) {
            let bytes = u32::from_le_bytes(window.try_into().expect("a window of four"));
            if self.probes.may_contain(bytes & 0x00ff_ffff | FOLD) && self.starts_around(text, at) {
                return true;
            }
            at += 2;
        }
        self.starts_around(text, text.len().saturating_sub(3))
    }

    /// Whether a word starts at this position or at the one before.
    #[cold]
    fn starts_around(&self, text: &[u8], at: usize) -> bool {
        self.starts_at(&text[at..]) || at > 0 && self.starts_at(&text[at - 1..])
    }

    fn starts_at(&self, text: &[u8]) -> bool {
        if text.len() < 3 {
            return false;
        }
        let start = three_bytes(text);
        if !self.starts.may_contain(start) {
            return false;
        }
        let first = self.words.partition_point(|(other, _)| *other < start);
        let mut same_start = self.words[first..]
            .iter()
            .take_while(|(other, _)| *other == start);
        same_start.any(|(_, word)| {
            text.get(..word.len())
                .is_some_and(|text| text.eq_ignore_ascii_case(word.as_bytes()))
        })
    }
}

/// The bytes by which a word is seen. At an odd position it is seen one byte
/// late; of a word of three bytes two are left by then, and any byte may follow.
fn probes(start: u32, word: &str) -> Vec<u32> {
    let mut probes = vec![start];
    match word.as_bytes() {
        [_, second, third] => {
            probes.extend((0..=u8::MAX).map(|any| three_bytes(&[*second, *third, any])));
        }
        word => probes.push(three_bytes(&word[1..])),
    }
    probes
}

/// Sets the bit by which ASCII letters differ in case. It merges a few other
/// characters too, which costs a comparison now and then and misses nothing.
const FOLD: u32 = 0x0020_2020;

/// The first three bytes, folded. There have to be three.
fn three_bytes(text: &[u8]) -> u32 {
    u32::from_le_bytes([text[0], text[1], text[2], 0]) | FOLD
}

/// The longest piece of a name that all its spellings have: where one has an underscore, others
/// have a dash, a space or a capital.
fn longest_piece(name: &str) -> String {
    let is_between = |character| matches!(character, '_' | '"' | '\\') || character < ' ';
    let pieces = name.split(is_between);
    pieces
        .max_by_key(|piece| piece.len())
        .unwrap_or_default()
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> bool {
        Triggers::new(&FieldNames::default()).found_in(text.as_bytes())
    }

    #[test]
    fn every_secret_name_holds_a_stem() {
        let names = FieldNames::default();
        for name in names.iter() {
            for between in ["_", "-", " ", ""] {
                let spelling = name.replace('_', between);
                assert!(found(&format!("\"{spelling}\":1")), "{spelling}");
            }
        }
    }

    #[test]
    fn every_word_is_found_at_both_ends_and_in_any_case() {
        for word in STEMS.iter().chain(TOKEN_PREFIXES) {
            let texts = ["", "x", "xx", "xxx"].map(|front| format!("{front}{word}"));
            let longer = texts.clone().map(|text| text + "xx");
            for text in texts.into_iter().chain(longer) {
                assert!(found(&text), "{text}");
                assert!(found(&text.to_ascii_uppercase()), "{text}");
            }
        }
    }

    #[test]
    fn ordinary_records_hold_no_word() {
        assert!(!found(
            r#"{"index":7,"emitted_at_ms":1731628800000,"frame_depth":null,"execution_id":null,
               "type":"iteration_end","session_id":"agent_session_1","iteration":3,
               "iteration_info":{"input_tokens":1200,"output_tokens":85,"text":"done, see src/main.rs"}}"#
        ));
    }

    #[test]
    fn short_texts_are_no_trouble() {
        for text in ["", "s", "sk", "to"] {
            assert!(!found(text));
        }
    }
}
