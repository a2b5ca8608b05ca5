//! Texts that are almost something.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

/// Pieces that mean something in one format or another.
const PIECES: &[&str] = &[
    "[",
    "]",
    "{",
    "}",
    "(",
    ")",
    "<",
    ">",
    ",",
    ":",
    ": ",
    "- ",
    "? ",
    "\n",
    "\r\n",
    "  ",
    "\t",
    "\"",
    "'",
    "|",
    ">-",
    "&a ",
    "*a",
    "!!int ",
    "!x ",
    "%TAG ! x\n",
    "---\n",
    "...\n",
    "#",
    "=",
    " = ",
    "[[",
    "]]",
    ".",
    "..",
    "<a",
    "/>",
    "</a>",
    "<![CDATA[",
    "]]>",
    "&lt;",
    "&#x41;",
    "&#",
    "<!--",
    "-->",
    "<testcase",
    "<failure>",
    " name='",
    " time=\"1e9\"",
    "<?xml",
    "--B",
    "--",
    "Content-Disposition: form-data; name=\"",
    "é",
    "\u{feff}",
    "0x",
    "1e9",
    "-",
    "inf",
    "07",
    "a",
    "and ",
    "not ",
    "map(",
    "select(",
    "length",
    "\\",
    "\\u",
    "~1",
    "1979-05-27",
    "T07:32:00Z",
];

/// Reads a text as everything that we read. All that matters is that each reader comes back.
fn read_all(text: &str) {
    let options = harn_machine::Value::dict([("delimiter", "é".into())]);
    let layout = super::csv::layout(&options).expect("it is one character");
    let _ = super::csv::read(text, &layout);
    let _ = super::junit::cases(text);
    let _ = super::multipart::read(text.as_bytes(), "multipart/form-data; boundary=B");
    let _ = super::toml::read(text);
    let _ = super::yaml::read(text);
    let _ = crate::json::parse(text);
    let _ = crate::json::query(text, &harn_machine::Value::Nil);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn no_reader_panics(pieces in vec(select(PIECES), 0..24)) {
        read_all(&pieces.concat());
    }
}
