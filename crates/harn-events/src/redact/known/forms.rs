//! The ways in which a secret may be written.
//!
//! A key that a program prints as it is, a tool encodes for a URL and a server wraps in JSON is
//! the same key. Each form is looked for as it stands, so nothing has to be decoded to be found.

use std::collections::BTreeSet;
use std::fmt::Write;

/// Values longer than this are looked for in parts, so that no form of a part is longer than what
/// a stream holds back.
const PART_BYTES_MAX: usize = 510;

/// Encoded forms shorter than this would be found in innocent text.
const ENCODED_BYTES_MIN: usize = 6;

/// Lines of keys in PEM and OpenSSH files count on their own from this length on.
pub(super) const KEY_LINE_BYTES_MIN: usize = 32;

/// How wide the lines are in which programs write base64.
const LINE_WIDTHS: [usize; 2] = [64, 76];

/// What stands between such lines, also inside JSON.
const LINE_ENDS: [&str; 4] = ["\n", "\r\n", "\\n", "\\r\\n"];

/// Every form of a value. None is empty.
pub(super) fn forms(value: &str) -> BTreeSet<Vec<u8>> {
    let mut forms = BTreeSet::new();
    for part in parts(value.trim()) {
        add_forms(part, &mut forms);
    }
    forms
}

fn add_forms(value: &str, forms: &mut BTreeSet<Vec<u8>>) {
    let mut add = |form: String| {
        if !form.is_empty() {
            forms.insert(form.into_bytes());
        }
    };
    add(value.to_owned());
    add(value.replace('/', "\\/"));
    let escaped = in_json(value);
    add(in_json(&escaped));
    add(escaped);
    for keep in ["", "/"] {
        let upper = in_url(value, keep);
        add(lower_digits(&upper));
        add(upper.replace("%20", "+"));
        add(upper);
    }
    for quote in ["'", "&#39;", "&#x27;", "&apos;"] {
        add(in_html(value, "&quot;", quote));
    }
    add(in_html(value, "\"", "'"));
    let mut encoded = |form: String| {
        if form.len() >= ENCODED_BYTES_MIN {
            add(form);
        }
    };
    encoded(in_hex(value));
    encoded(in_hex(value).to_uppercase());
    let mut lines = vec![value.to_owned()];
    for before in 0..3 {
        let form = in_base64(value, before);
        encoded(form.replace('+', "-").replace('/', "_"));
        lines.push(form.clone());
        encoded(form);
    }
    for line in lines {
        for width in LINE_WIDTHS.into_iter().filter(|width| line.len() > *width) {
            for end in LINE_ENDS {
                add(wrapped(&line, width, end));
            }
        }
    }
}

/// The value, or pieces of it if it is long, and the lines of keys in it.
fn parts(value: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let lines = value.lines().map(str::trim);
    if value.contains('\n') {
        parts.extend(lines.filter(|line| line.len() >= KEY_LINE_BYTES_MIN && is_base64(line)));
    }
    let mut rest = value;
    while rest.len() > PART_BYTES_MAX {
        let (part, after) = rest.split_at(rest.floor_char_boundary(PART_BYTES_MAX));
        parts.push(part);
        rest = after;
    }
    if rest.len() >= ENCODED_BYTES_MIN || parts.is_empty() {
        parts.push(rest);
    }
    parts
}

pub(super) fn is_base64(text: &str) -> bool {
    let is_digit = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    text.bytes().all(is_digit)
}

fn in_json(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

fn in_url(text: &str, keep: &str) -> String {
    let mut url = String::new();
    for byte in text.bytes() {
        let character = char::from(byte);
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) || keep.contains(character) {
            url.push(character);
        } else {
            let _a_string_takes_all = write!(url, "%{byte:02X}");
        }
    }
    url
}

/// `%2F` as `%2f`.
fn lower_digits(url: &str) -> String {
    let mut pieces = url.split('%');
    let mut lower = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let (digits, rest) = piece.split_at(2);
        lower.push('%');
        lower.push_str(&digits.to_lowercase());
        lower.push_str(rest);
    }
    lower
}

fn in_html(text: &str, double: &str, single: &str) -> String {
    let escaped = text.replace('&', "&amp;").replace('<', "&lt;");
    let escaped = escaped.replace('>', "&gt;");
    escaped.replace('"', double).replace('\'', single)
}

fn in_hex(text: &str) -> String {
    text.bytes().fold(String::new(), |mut hex, byte| {
        let _a_string_takes_all = write!(hex, "{byte:02x}");
        hex
    })
}

/// The digits of base64 that depend on the value alone if so many bytes are `before` it. What
/// follows it is not known either, so the last digit may be left out.
fn in_base64(text: &str, before: usize) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let bytes: Vec<u8> = std::iter::repeat_n(0, before).chain(text.bytes()).collect();
    let whole = bytes.len() * 8 / 6;
    let bit = |at: usize| bytes[at / 8] >> (7 - at % 8) & 1;
    let digits = (0..whole).map(|digit| {
        let number = (digit * 6..digit * 6 + 6).fold(0, |number, at| number << 1 | bit(at));
        char::from(DIGITS[usize::from(number)])
    });
    digits.skip((before * 8).div_ceil(6)).collect()
}

fn wrapped(text: &str, width: usize, end: &str) -> String {
    let mut lines = String::new();
    let mut rest = text;
    while rest.len() > width {
        let (line, after) = rest.split_at(rest.floor_char_boundary(width));
        lines.push_str(line);
        lines.push_str(end);
        rest = after;
    }
    lines + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(value: &str, form: &str) {
        let forms = forms(value);
        let shown: Vec<_> = forms
            .iter()
            .map(|form| String::from_utf8_lossy(form))
            .collect();
        assert!(forms.contains(form.as_bytes()), "{form} in {shown:?}");
    }

    #[test]
    fn a_value_has_a_form_per_way_of_writing_it() {
        check(" p4ss w/rd\" ", "p4ss w/rd\"");
        check("p4ss w/rd\"", "p4ss w/rd\\\"");
        check("p4ss w/rd\"", "p4ss w/rd\\\\\\\"");
        check("p4ss w/rd\"", "p4ss%20w%2Frd%22");
        check("p4ss w/rd\"", "p4ss%20w%2frd%22");
        check("p4ss w/rd\"", "p4ss+w%2Frd%22");
        check("p4ss w/rd\"", "p4ss%20w/rd%22");
        check("p4ss w/rd\"", "p4ss w\\/rd\"");
        check("a<b>&'c'd", "a&lt;b&gt;&amp;&#39;c&#39;d");
        check("p4ssword", "7034737377 6f7264".replace(' ', "").as_str());
        check("Zz-k9_1+", "5A7A2D6B395F312B");
    }

    #[test]
    fn base64_is_known_at_each_alignment() {
        // `echo -n p4ssword | base64`, then with one and two letters in front of it.
        check("p4ssword", "cDRzc3dvcm");
        check("p4ssword", "A0c3N3b3Jk"); // YXA0c3N3b3Jk…: ap4ssword
        check("p4ssword", "wNHNzd29yZ"); // eHhwNHNzd29yZA: xxp4ssword
        check("~~~???", "fn5-Pz8_");
        check("~~~???", "fn5+Pz8/");
    }

    #[test]
    fn long_values_are_known_wrapped_and_in_parts() {
        let value = "k".repeat(70);
        check(&value, &format!("{}\n{}", "k".repeat(64), "k".repeat(6)));
        check(
            &value,
            &format!("{}\\r\\n{}", "k".repeat(64), "k".repeat(6)),
        );
        let long: String = (0..2000)
            .map(|n| char::from(b'a' + (n % 26) as u8))
            .collect();
        assert!(forms(&long).iter().all(|form| form.len() <= 4096));
        check(&long, &long[510..1020]);
    }

    #[test]
    fn lines_of_a_key_count_on_their_own() {
        let line = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7";
        let pem = format!("-----BEGIN PRIVATE KEY-----\n{line}\nshort\n-----END PRIVATE KEY-----");
        check(&pem, line);
    }
}
