//! What `harn explain` tells: a page of the book for each code.

macro_rules! pages {
    ($($code:literal)*) => {
        &[$(($code, include_str!(concat!("../../../docs/src/explain/", $code, ".md"))),)*]
    };
}

/// Every code with its page, sorted by code.
const PAGES: &[(&str, &str)] = pages! {
    "assert-outside-test"
    "blank-line-between-items"
    "break-outside-loop"
    "comparison-to-bool"
    "connector-effect-policy"
    "cyclomatic-complexity"
    "dead-code-after-return"
    "duplicate-match-arm"
    "eager-collection-conversion"
    "empty-block"
    "import-order"
    "invalid-binary-op-literal"
    "legacy-doc-comment"
    "let-then-return"
    "long-running-without-cleanup"
    "missing-harndoc"
    "mutable-never-reassigned"
    "naming-convention"
    "pipeline-return-type"
    "pointless-comparison"
    "pr-open-without-secret-scan"
    "prompt-injection-risk"
    "redundant-clone"
    "redundant-nil-ternary"
    "require-file-header"
    "require-in-test"
    "shadow-variable"
    "trailing-comma"
    "undefined-function"
    "unhandled-approval-result"
    "unnecessary-cast"
    "unnecessary-else-return"
    "untyped-dict-access"
    "unused-function"
    "unused-import"
    "unused-parameter"
    "unused-type"
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
