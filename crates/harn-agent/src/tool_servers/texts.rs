//! Texts of servers, as models and people may see them.
//!
//! What nobody sees a model reads all the same: characters without a shape carry orders past
//! whoever looks at a description. They are taken out, and counted.

use serde_json::Value;

/// How much of one text a model reads.
const TEXT_BYTES_MAX: usize = 4 * 1024;

/// The keys of a schema whose values are texts for people.
const SCHEMA_TEXTS: [&str; 3] = ["description", "title", "$comment"];

/// A text without characters that nobody sees, and of bounded length; adds those taken out to
/// `hidden`.
pub(crate) fn clean(text: &str, hidden: &mut usize) -> String {
    let mut clean = String::with_capacity(text.len().min(TEXT_BYTES_MAX));
    for letter in text.chars() {
        if is_hidden(letter) {
            *hidden += 1;
        } else if clean.len() + letter.len_utf8() > TEXT_BYTES_MAX {
            clean.push('…');
            break;
        } else {
            clean.push(letter);
        }
    }
    clean
}

/// A schema whose texts are clean.
pub(crate) fn clean_schema(schema: &Value, hidden: &mut usize) -> Value {
    match schema {
        Value::Object(fields) => {
            let fields = fields.iter().map(|(key, value)| {
                let value = match value {
                    Value::String(text) if SCHEMA_TEXTS.contains(&&**key) => {
                        Value::String(clean(text, hidden))
                    }
                    value => clean_schema(value, hidden),
                };
                (key.clone(), value)
            });
            Value::Object(fields.collect())
        }
        Value::Array(items) => {
            let items = items.iter().map(|item| clean_schema(item, hidden));
            Value::Array(items.collect())
        }
        plain => plain.clone(),
    }
}

/// What two names have in common that a reader takes for each other.
pub(crate) fn skeleton(name: &str) -> String {
    let letters = name
        .chars()
        .map(|letter| match letter.to_ascii_lowercase() {
            '0' => 'o',
            '1' | 'i' | '|' => 'l',
            '-' | '.' => '_',
            other => other,
        });
    letters.collect()
}

/// Whether a character has no shape, or changes the order of others.
fn is_hidden(letter: char) -> bool {
    let is_layout = letter == '\n' || letter == '\t';
    letter.is_control() && !is_layout
        || matches!(
            letter,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
            | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
        )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_nobody_sees_is_taken_out_and_counted() {
        let mut hidden = 0;
        let text = "a\u{0}b\u{202e}c\u{200b}d\u{e0041}\u{e007f}e\u{9b}\nf\tg ö";
        assert_eq!(clean(text, &mut hidden), "abcde\nf\tg ö");
        assert_eq!(hidden, 6);
    }

    #[test]
    fn a_text_has_four_kibibytes_at_most() {
        let long = clean(&"x".repeat(5000), &mut 0);
        assert_eq!((long.len(), long.ends_with("x…")), (4096 + 3, true));
    }

    #[test]
    fn texts_of_schemas_are_cleaned_wherever_they_stand() {
        let mut hidden = 0;
        let schema =
            json!({"properties": {"a": {"description": "b\u{200b}", "enum": ["\u{200b}"]}}});
        let expected = json!({"properties": {"a": {"description": "b", "enum": ["\u{200b}"]}}});
        assert_eq!(clean_schema(&schema, &mut hidden), expected);
        assert_eq!(hidden, 1);
    }

    #[test]
    fn names_that_look_alike_have_one_skeleton() {
        for (one, other) in [
            ("Read", "read"),
            ("l1st", "list"),
            ("a-b", "a.b"),
            ("g0", "go"),
        ] {
            assert_eq!(skeleton(one), skeleton(other));
        }
        assert_ne!(skeleton("read"), skeleton("write"));
    }
}
