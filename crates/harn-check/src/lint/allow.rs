//! Comments that silence a finding: `// lint: allow(rule, other-rule)`.
//!
//! They count for the line they are on, and if nothing else is on it, for the next one.

use std::collections::HashSet;

use harn_syntax::Diagnostic;

use super::source::Source;

/// Drops the findings that a comment silences.
pub(super) fn retain(source: &Source<'_>, findings: &mut Vec<Diagnostic>) {
    let allowed = allowed(source);
    if allowed.is_empty() {
        return;
    }
    findings.retain(|finding| {
        let line = source.line(finding.span.start);
        !allowed.contains(&(line, finding.code.0))
    });
}

/// The lines with the rules that are silent there.
fn allowed<'a>(source: &Source<'a>) -> HashSet<(usize, &'a str)> {
    let mut allowed = HashSet::new();
    for comment in source.comments {
        let line = source.line(comment.span.start);
        let start = source.line_start(comment.span.start) as usize;
        let alone = source.text[start..comment.span.start as usize]
            .trim()
            .is_empty();
        for rule in rules(comment.span.of(source.text)) {
            allowed.insert((line, rule));
            if alone {
                allowed.insert((line + 1, rule));
            }
        }
    }
    allowed
}

/// The rules a comment names.
fn rules(comment: &str) -> impl Iterator<Item = &str> {
    let body = comment.trim_start_matches(['/', '*']).trim();
    let list = body.strip_prefix("lint: allow(");
    let list = list.and_then(|list| list.split(')').next());
    list.unwrap_or("").split(',').map(str::trim)
}
