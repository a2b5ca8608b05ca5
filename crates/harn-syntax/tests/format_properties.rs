//! Formatting random programs keeps what they mean.

mod format_program;
mod format_support;

use format_program::program;
use format_support::formatted;
use harn_syntax::parse;
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    /// Whatever the program, its layout and its comments, and however narrow the lines.
    #[test]
    fn a_program_means_the_same_formatted(
        choices in prop::collection::vec(any::<u16>(), 0..400),
        width in prop::sample::select(vec![1_usize, 20, 40, 100]),
    ) {
        let source = program(&choices);
        let errors = parse(&source).errors;
        prop_assert!(errors.is_empty(), "{:?}\n{source}", errors[0].message);
        formatted(&source, width);
    }
}
