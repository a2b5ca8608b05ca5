//! Formatting random programs keeps what they mean.

use harn_syntax::parse;
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
