//! Everything that can go wrong and has a name.

use harn_check::code_groups;
use harn_vm::llm::Category;
use serde_json::{Value, json};

use crate::arguments::EXIT_CODES;

/// What the process gives back, and what that means.
pub(super) fn exit_codes() -> Vec<Value> {
    let codes = EXIT_CODES.iter();
    codes
        .map(|(code, meaning)| json!({"code": code, "meaning": meaning}))
        .collect()
}

/// The codes of diagnostics by phase, each with a line about it.
pub(super) fn diagnostics() -> Vec<Value> {
    let groups = code_groups().into_iter().map(|group| {
        let codes = group.codes.iter();
        let codes = codes.map(|(code, summary)| json!({"code": code.0, "summary": summary}));
        json!({"title": group.title, "codes": codes.collect::<Vec<_>>()})
    });
    groups.collect()
}

/// The categories that programs tell errors apart by.
pub(super) fn categories() -> Vec<Value> {
    let categories = Category::all();
    categories
        .map(|category| json!({"category": category.word(), "meaning": category.meaning()}))
        .collect()
}
