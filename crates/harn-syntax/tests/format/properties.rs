//! Formatting random programs keeps what they mean.

use harn_syntax::{NESTING_MAX, parse};
use proptest::prelude::*;

use super::placement::check_placement;
use super::program::program;
use super::promises::formatted;

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 512,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// Whatever the program, its layout and its comments, and however narrow the lines.
    #[test]
    fn a_program_means_the_same_formatted(
        choices in prop::collection::vec(any::<u16>(), 0..400),
        width in prop::sample::select(vec![1_usize, 20, 40, 100]),
    ) {
        let source = program(&choices);
        let errors = parse(&source).errors;
        prop_assert!(errors.is_empty(), "{:?}\n{source}", errors[0].message);
        let formatted = formatted(&source, width);
        if !source.contains("import") {
            check_placement(&source, &formatted);
        }
    }
}

/// As deep as the parser allows, on the stack of a test.
#[test]
fn deep_programs_are_formatted() {
    let constructs = [
        ("[", "1", "]"),
        ("f(", "1", ")"),
        ("{a: ", "1", "}"),
        ("{ x -> ", "1", " }"),
        ("fn(x) { ", "1", " }"),
        ("if a { ", "b", " }"),
        ("match a { _ -> { ", "b", " } }"),
        ("a ? (", "b", ") : c"),
        ("a - (", "b", ")"),
        ("a[", "b", "]"),
        ("-", "1", ""),
        ("try* ", "1", ""),
        ("retry 1 { ", "1", " }"),
    ];
    for (open, middle, close) in constructs {
        let program = |levels: usize| {
            let (open, close) = (open.repeat(levels), close.repeat(levels));
            format!("let value = {open}{middle}{close}")
        };
        let levels = (1..=NESTING_MAX).rev();
        let mut accepted = levels.filter(|levels| parse(&program(*levels)).errors.is_empty());
        let deepest = accepted.next().expect("one level is accepted");
        formatted(&program(deepest), 100);
    }
}
