//! Blocks that show data: they must parse.

use crate::verdict::{Verdict, complain};

/// One JSON document.
pub(super) fn json(text: &str) -> Verdict {
    match serde_json::from_str::<serde_json::Value>(text) {
        Ok(_) => Ok(()),
        Err(why) => complain(format!("not JSON: {why}")),
    }
}

/// One JSON document per line.
pub(super) fn json_lines(text: &str) -> Verdict {
    for (index, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        if let Err(why) = json(line) {
            return complain(format!("line {} of the block is {why}", index + 1));
        }
    }
    Ok(())
}

/// One TOML document.
pub(super) fn toml(text: &str) -> Verdict {
    match toml::from_str::<toml::Table>(text) {
        Ok(_) => Ok(()),
        Err(why) => complain(format!("not TOML: {}", why.message())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_may_span_lines_but_must_be_one_document() {
        assert!(json("{\n  \"a\": 1\n}\n").is_ok());
        assert!(json("{}\n{}\n").is_err());
        assert!(json("{ a: 1 }").is_err());
    }

    #[test]
    fn each_line_of_jsonl_stands_alone() {
        assert!(json_lines("{}\n\n[1]\n").is_ok());
        let why = json_lines("{}\n{\n").unwrap_err().to_string();
        assert!(why.starts_with("line 2 of the block is not JSON"), "{why}");
    }

    #[test]
    fn toml_must_parse() {
        assert!(toml("[a]\nb = 1\n").is_ok());
        assert!(toml("[a\n").is_err());
    }
}
