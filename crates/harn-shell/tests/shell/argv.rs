//! Commands whose words are known.

use harn_shell::{parse, parse_argv};

use crate::corpus::described;

#[track_caller]
fn check(words: &[&str], expected: Option<&str>) {
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    let found = parse_argv(&words).ok();
    assert_eq!(
        found.map(|script| described(&script)).as_deref(),
        expected,
        "{words:?}"
    );
}

#[test]
fn words_are_one_part_unless_the_program_runs_others() {
    check(&["ls", "a; touch x"], Some("ls 'a; touch x'"));
    check(&["ls", "$(touch x)", "*"], Some("ls '$(touch x)' *"));
    check(&["sh", "-c", "touch x"], Some("[sh] touch x"));
    check(&["env", "A=1", "touch"], Some("[env] A=1 touch"));
    check(&["sh", "-c", "$x"], None);
    check(&["eval", "touch x"], None);
    check(&["a\0b"], None);
}

#[test]
fn a_word_that_is_known_is_the_same_as_one_in_quotes() {
    let words = vec!["ls".to_owned(), "it's $x".to_owned()];
    let quoted = parse("ls 'it'\\''s $x'");
    assert_eq!(parse_argv(&words), quoted);
}
