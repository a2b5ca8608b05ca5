//! What `harn explain` tells: a page of the book for each code.

macro_rules! pages {
    ($($code:literal)*) => {
        &[$(($code, include_str!(concat!("../../../docs/src/explain/", $code, ".md"))),)*]
    };
}

/// Every code with its page, sorted by code.
const PAGES: &[(&str, &str)] = pages! {
    "argument-count"
    "argument-type"
    "assert-outside-test"
    "assignment-type"
    "attribute-needs-function"
    "attribute-use"
    "binding-type"
    "blank-line-between-items"
    "break-outside-loop"
    "broken-import"
    "comparison"
    "comparison-to-bool"
    "connector-effect-policy"
    "continue-outside-loop"
    "cyclomatic-complexity"
    "dead-code-after-return"
    "deprecated"
    "duplicate-match-arm"
    "duration-too-large"
    "eager-collection-conversion"
    "emit-outside-stream"
    "emit-type"
    "empty-block"
    "immutable-assignment"
    "import-collision"
    "import-order"
    "invalid-binary-op-literal"
    "legacy-doc-comment"
    "let-then-return"
    "long-running-without-cleanup"
    "match-pattern-type"
    "max-concurrent-type"
    "missing-field"
    "missing-harndoc"
    "mutable-never-reassigned"
    "naming-convention"
    "non-exhaustive-match"
    "operand-type"
    "or-pattern"
    "partly-narrowed"
    "pipeline-return-type"
    "pointless-comparison"
    "pr-open-without-secret-scan"
    "prompt-injection-risk"
    "re-export"
    "re-export-collision"
    "redundant-clone"
    "redundant-nil-ternary"
    "require-file-header"
    "require-in-test"
    "return-type"
    "shadow-variable"
    "stream-result"
    "struct-field-type"
    "trailing-comma"
    "try-star-outside-function"
    "type-arguments"
    "type-parameter-conflict"
    "undefined-call"
    "undefined-function"
    "unexpected-character"
    "unexpected-end"
    "unexpected-token"
    "unhandled-approval-result"
    "unknown-attribute"
    "unknown-field"
    "unknown-import"
    "unknown-interface-method"
    "unknown-option"
    "unknown-struct"
    "unnecessary-cast"
    "unnecessary-else-return"
    "unreachable-argument"
    "unreachable-code"
    "unresolved-import"
    "unsatisfied-bound"
    "unterminated-comment"
    "unterminated-string"
    "untyped-dict-access"
    "unused-function"
    "unused-import"
    "unused-parameter"
    "unused-type"
    "unvalidated-value"
    "variance"
    "yield-in-stream"
};

/// The page about a code, in Markdown; `None` if there is no such code.
pub fn explain(code: &str) -> Option<&'static str> {
    let at = PAGES.binary_search_by_key(&code, |(code, _)| code);
    at.ok().map(|at| PAGES[at].1)
}

/// Every code with its page, sorted by code.
pub fn pages() -> &'static [(&'static str, &'static str)] {
    PAGES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_is_found_by_its_code_and_begins_with_it() {
        assert!(pages().is_sorted_by(|left, right| left.0 < right.0));
        for (code, page) in pages() {
            assert_eq!(explain(code), Some(*page));
            assert!(page.starts_with(&format!("# {code}\n")), "{code}");
        }
        assert_eq!(explain("no-such-code"), None);
    }
}
