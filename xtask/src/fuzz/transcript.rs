//! Reads libFuzzer's transcript and decides whether the run was worth something.
//!
//! An exit code of zero is not enough: a target built without instrumentation
//! also exits happily after its runs, having explored nothing.

use std::fmt;

/// Why a run does not count as a success.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Trouble {
    /// A crash, a hang or too much memory; the text is libFuzzer's summary, or
    /// where it has put the input.
    Found(String),
    /// The counters did not count.
    Blind,
}

impl fmt::Display for Trouble {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Found(what) => out.write_str(what),
            Self::Blind => out.write_str("no coverage was seen: the target is not instrumented"),
        }
    }
}

/// The line that ends a complete run, or what is wrong with it.
pub(super) fn judge(success: bool, transcript: &[String]) -> Result<String, Trouble> {
    if !success {
        return Err(Trouble::Found(what_was_found(transcript)));
    }
    let done = transcript
        .iter()
        .rfind(|line| line.starts_with('#') && line.contains("DONE"));
    match done {
        Some(line) if coverage(line).is_some_and(|edges| edges > 0) => Ok(line.clone()),
        _ => Err(Trouble::Blind),
    }
}

/// The number after `cov:`; absent when nothing is instrumented.
fn coverage(line: &str) -> Option<u64> {
    let mut words = line.split_whitespace();
    words.find(|word| *word == "cov:")?;
    words.next()?.parse().ok()
}

fn what_was_found(transcript: &[String]) -> String {
    let summary = transcript
        .iter()
        .find_map(|line| line.strip_prefix("SUMMARY: "));
    let artifact = transcript
        .iter()
        .find_map(|line| line.split_once("Test unit written to "));
    match (summary, artifact) {
        (Some(summary), Some((_, path))) => format!("{summary}, input kept in {path}"),
        (Some(summary), None) => summary.to_string(),
        (None, _) => "the target stopped without a summary".to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        text.lines().map(ToString::to_string).collect()
    }

    #[test]
    fn a_complete_run_with_coverage_is_fine() {
        let transcript = lines(
            "#2\tINITED cov: 9 ft: 9 corp: 1/1b\n\
             #20000\tDONE   cov: 18 ft: 56 corp: 44/582b lim: 74 exec/s: 0 rss: 27Mb\n\
             Done 20000 runs in 0 second(s)",
        );
        assert_eq!(judge(true, &transcript), Ok(transcript[1].clone()));
    }

    #[test]
    fn a_run_without_instrumentation_is_blind() {
        let transcript = lines(
            "#2\tINITED exec/s: 0 rss: 26Mb\n\
             WARNING: no interesting inputs were found so far.\n\
             #2000\tDONE   corp: 1/1b lim: 21 exec/s: 0 rss: 27Mb",
        );
        assert_eq!(judge(true, &transcript), Err(Trouble::Blind));
    }

    #[test]
    fn a_crash_is_reported_with_the_input_that_caused_it() {
        let transcript = lines(
            "SUMMARY: libFuzzer: deadly signal\n\
             artifact_prefix='artifacts/'; Test unit written to artifacts/crash-b3f2",
        );
        let trouble = judge(false, &transcript).unwrap_err();
        assert_eq!(
            trouble.to_string(),
            "libFuzzer: deadly signal, input kept in artifacts/crash-b3f2"
        );
    }
}
