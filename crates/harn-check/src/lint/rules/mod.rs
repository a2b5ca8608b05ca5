//! The rules, and which of them care about what.

pub(super) mod assert_outside_test;
pub(super) mod blank_line_between_items;
pub(super) mod break_outside_loop;
pub(super) mod comparison_to_bool;
pub(super) mod connector_effect_policy;
pub(super) mod cyclomatic_complexity;
pub(super) mod dead_code_after_return;
pub(super) mod duplicate_match_arm;
pub(super) mod eager_collection_conversion;
pub(super) mod empty_block;
pub(super) mod import_order;
pub(super) mod invalid_binary_op_literal;
pub(super) mod legacy_doc_comment;
pub(super) mod let_then_return;
pub(super) mod long_running_without_cleanup;
pub(super) mod missing_harndoc;
pub(super) mod mutable_never_reassigned;
pub(super) mod naming_convention;
pub(super) mod pipeline_return_type;
pub(super) mod pointless_comparison;
pub(super) mod pr_open_without_secret_scan;
pub(super) mod prompt_injection_risk;
pub(super) mod redundant_clone;
pub(super) mod redundant_nil_ternary;
pub(super) mod require_file_header;
pub(super) mod require_in_test;
pub(super) mod shadow_variable;
pub(super) mod trailing_comma;
pub(super) mod undefined_function;
pub(super) mod unhandled_approval_result;
pub(super) mod unnecessary_cast;
pub(super) mod unnecessary_else_return;
pub(super) mod untyped_dict_access;
pub(super) mod unused_function;
pub(super) mod unused_import;
pub(super) mod unused_parameter;
pub(super) mod unused_type;

use harn_syntax::tree::{Call, Expression, Function, Item, Statement};
use harn_syntax::{Diagnostic, Span};

use super::Context;
use super::walk::Place;

type Findings = Vec<Diagnostic>;

/// Whether a function is there to open pull requests.
pub(super) fn is_opener(name: &str) -> bool {
    pr_open_without_secret_scan::OPENERS.contains(&name)
}

/// Rules about a file as a whole.
pub(super) fn file(ctx: &Context<'_>, out: &mut Findings) {
    blank_line_between_items::check(ctx, out);
    import_order::check(ctx, out);
    legacy_doc_comment::check(ctx, out);
    long_running_without_cleanup::bindings(ctx, out);
    mutable_never_reassigned::check(ctx, out);
    naming_convention::bindings(ctx, out);
    require_file_header::check(ctx, out);
    shadow_variable::check(ctx, out);
    undefined_function::check(ctx, out);
    unhandled_approval_result::bindings(ctx, out);
    unused_function::check(ctx, out);
    unused_import::check(ctx, out);
    unused_parameter::check(ctx, out);
    unused_type::check(ctx, out);
}

/// Rules about the statements of one scope.
pub(super) fn statements(ctx: &Context<'_>, statements: &[Statement], out: &mut Findings) {
    dead_code_after_return::check(statements, out);
    let_then_return::check(ctx, statements, out);
}

/// Rules about a statement.
pub(super) fn statement(
    ctx: &Context<'_>,
    place: Place,
    statement: &Statement,
    out: &mut Findings,
) {
    break_outside_loop::check(place, statement, out);
    eager_collection_conversion::statement(statement, out);
    empty_block::statement(ctx, statement, out);
    invalid_binary_op_literal::statement(statement, out);
    missing_harndoc::check(ctx, place, statement, out);
    require_in_test::check(ctx, place, statement, out);
    trailing_comma::statement(ctx, statement, out);
    unnecessary_else_return::check(ctx, statement, out);
}

/// Rules about a declaration.
pub(super) fn item(ctx: &Context<'_>, place: Place, item: &Item, out: &mut Findings) {
    cyclomatic_complexity::item(ctx, item, out);
    naming_convention::item(item, out);
    pipeline_return_type::check(place, item, out);
    trailing_comma::item(ctx, item, out);
}

/// Rules about a function, declared or a method.
pub(super) fn function(ctx: &Context<'_>, function: &Function, out: &mut Findings) {
    trailing_comma::after(ctx, function.name.span, out);
}

/// Rules about an expression.
pub(super) fn expression(
    ctx: &Context<'_>,
    place: Place,
    expression: &Expression,
    out: &mut Findings,
) {
    assert_outside_test::check(ctx, place, expression, out);
    comparison_to_bool::check(ctx, expression, out);
    cyclomatic_complexity::expression(ctx, expression, out);
    duplicate_match_arm::check(ctx, expression, out);
    eager_collection_conversion::check(expression, out);
    empty_block::expression(ctx, expression, out);
    invalid_binary_op_literal::check(ctx, expression, out);
    pointless_comparison::check(ctx, expression, out);
    redundant_clone::check(ctx, expression, out);
    redundant_nil_ternary::check(ctx, expression, out);
    trailing_comma::expression(ctx, expression, out);
    unnecessary_cast::check(ctx, expression, out);
}

/// Rules about an expression that nothing stands in for if it is nil.
pub(super) fn undefended(ctx: &Context<'_>, expression: &Expression, out: &mut Findings) {
    untyped_dict_access::check(ctx, expression, out);
}

/// Rules about a call, once its arguments have been looked at.
pub(super) fn call(ctx: &Context<'_>, place: Place, call: &Call, span: Span, out: &mut Findings) {
    connector_effect_policy::check(ctx, place, call, span, out);
    pr_open_without_secret_scan::check(place, call, span, out);
    prompt_injection_risk::check(ctx, call, out);
}

/// Rules about an expression whose value nobody looks at.
pub(super) fn discarded(
    ctx: &Context<'_>,
    place: Place,
    expression: &Expression,
    out: &mut Findings,
) {
    long_running_without_cleanup::discarded(ctx, expression, out);
    unhandled_approval_result::discarded(ctx, place, expression, out);
}
