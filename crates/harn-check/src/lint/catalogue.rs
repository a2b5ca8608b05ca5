//! All rules.

use super::rule::Rule;

/// Every rule, sorted by name.
pub fn all() -> &'static [Rule] {
    RULES
}

macro_rules! catalogue {
    ($($module:ident)*) => {
        &[$(super::rules::$module::RULE,)*]
    };
}

const RULES: &[Rule] = catalogue! {
    assert_outside_test
    blank_line_between_items
    break_outside_loop
    comparison_to_bool
    connector_effect_policy
    cyclomatic_complexity
    dead_code_after_return
    duplicate_match_arm
    eager_collection_conversion
    empty_block
    import_order
    invalid_binary_op_literal
    legacy_doc_comment
    let_then_return
    long_running_without_cleanup
    missing_harndoc
    mutable_never_reassigned
    naming_convention
    pipeline_return_type
    pointless_comparison
    pr_open_without_secret_scan
    prompt_injection_risk
    redundant_clone
    redundant_nil_ternary
    require_file_header
    require_in_test
    shadow_variable
    trailing_comma
    undefined_function
    unhandled_approval_result
    unnecessary_cast
    unnecessary_else_return
    untyped_dict_access
    unused_function
    unused_import
    unused_parameter
    unused_type
};
