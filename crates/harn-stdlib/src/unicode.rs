//! Normal forms, and what people see as characters.

use harn_machine::{Context, Failure, Fault, Registry, Value};
use unicode_normalization::UnicodeNormalization;
use unicode_segmentation::UnicodeSegmentation;

use crate::expect::{text, text_or};
use crate::growing::texts;

pub(crate) fn register(registry: &mut Registry) {
    registry.plain(&[
        ("unicode_graphemes", graphemes),
        ("unicode_normalize", normalize),
    ]);
}

fn graphemes(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let text = text(arguments, 0);
    texts(context, text.graphemes(true))
}

fn normalize(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let form = text_or(arguments, 1, "NFC");
    let text = text(arguments, 0);
    context.reserve(text.len())?;
    match normalized(&text, &form) {
        Some(text) => Ok(text.into()),
        None => Err(Fault::runtime(
            "unicode_normalize: form must be NFC, NFD, NFKC, or NFKD",
        )),
    }
}

fn normalized(text: &str, form: &str) -> Option<String> {
    Some(match form.to_ascii_uppercase().as_str() {
        "NFC" => text.nfc().collect(),
        "NFD" => text.nfd().collect(),
        "NFKC" => text.nfkc().collect(),
        "NFKD" => text.nfkd().collect(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::normalized;

    #[test]
    fn forms_compose_and_decompose() {
        for (text, form, expected) in [
            ("e\u{301}", "NFC", Some("é")),
            ("é", "nfd", Some("e\u{301}")),
            ("ﬁ", "NFKC", Some("fi")),
            ("ﬁ", "NFC", Some("ﬁ")),
            ("é", "NFX", None),
        ] {
            assert_eq!(normalized(text, form).as_deref(), expected);
        }
    }
}
