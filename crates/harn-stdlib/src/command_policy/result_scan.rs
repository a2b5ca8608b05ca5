//! What the output of a command gives away.

use super::risks::Labels;
use crate::safety::{Detectors, has_secret};

/// What the output of a command gives away.
pub(super) fn result_labels(detectors: &Detectors, output: &str, errors: &str) -> Labels {
    let text = format!("{output}\n{errors}");
    let lower = text.to_lowercase();
    let has = |parts: &[&str]| parts.iter().any(|part| lower.contains(part));
    let mut labels = Labels::new();
    if has_secret(detectors, &text) || has(&CREDENTIALS) {
        labels.insert("credential_output");
    }
    if has(&BOUNDARIES) {
        labels.insert("permission_boundary_hit");
    }
    if has(&ERRORS) {
        labels.insert("error_output");
    }
    labels
}

const CREDENTIALS: [&str; 6] = [
    "api_key=",
    "apikey=",
    "secret_key=",
    "access_token=",
    "password=",
    "aws_secret_access_key",
];

const BOUNDARIES: [&str; 4] = [
    "permission denied",
    "operation not permitted",
    "access denied",
    "eacces",
];

const ERRORS: [&str; 6] = [
    "error",
    "failed",
    "fatal",
    "traceback",
    "exception",
    "panicked",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(output: &str, errors: &str, expected: &[&str]) {
        let found = result_labels(&Detectors::default(), output, errors);
        assert_eq!(found.into_iter().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn output_gives_things_away() {
        check("fine", "", &[]);
        check("AKIAIOSFODNN7EXAMPLE", "", &["credential_output"]);
        check("password=x", "", &["credential_output"]);
        check("", "ls: Permission denied", &["permission_boundary_hit"]);
        check("", "error: no", &["error_output"]);
    }
}
