//! Every kind of thing the checker can say.
//!
//! The names are stable: `harn explain` tells more about each of them, and people silence
//! or search for them by name.

use harn_syntax::Code;

use crate::codes::code_list;

code_list! {
    /// Every code of the type checker with one line about it, in the order of the table.
    TYPE_CODES:
    BINDING_TYPE "binding-type" "a value does not fit the type its binding declares"
    ASSIGNMENT_TYPE "assignment-type" "a value does not fit the variable it is assigned to"
    RETURN_TYPE "return-type" "a returned value does not fit the declared result"
    EMIT_TYPE "emit-type" "an emitted value does not fit the declared stream"
    STREAM_RESULT "stream-result" "a `gen fn` declares a result that is not a stream"
    EMIT_OUTSIDE_STREAM "emit-outside-stream" "`emit` stands outside a `gen fn`"
    YIELD_IN_STREAM "yield-in-stream" "`yield` stands inside a `gen fn`"
    TRY_STAR_OUTSIDE_FUNCTION "try-star-outside-function" "`try*` has no function to leave"
    MAX_CONCURRENT_TYPE "max-concurrent-type" "`max_concurrent` is not an int"
    ARGUMENT_TYPE "argument-type" "an argument does not fit its parameter"
    ARGUMENT_COUNT "argument-count" "a call has too few or too many arguments"
    TYPE_PARAMETER_CONFLICT "type-parameter-conflict" "a type parameter would have to be two types"
    TYPE_ARGUMENTS "type-arguments" "a call has type arguments its function does not declare"
    UNSATISFIED_BOUND "unsatisfied-bound" "a type lacks what a `where` clause asks for"
    OPERAND_TYPE "operand-type" "an operator does not work on these types"
    COMPARISON "comparison" "a comparison of these types tells nothing"
    UNDEFINED_CALL "undefined-call" "what is called is not defined or imported"
    UNKNOWN_STRUCT "unknown-struct" "a struct literal names an undeclared struct"
    STRUCT_FIELD_TYPE "struct-field-type" "a value does not fit the field of a struct"
    UNKNOWN_FIELD "unknown-field" "a struct literal has a field the struct does not declare"
    MISSING_FIELD "missing-field" "a struct literal lacks a declared field"
    NON_EXHAUSTIVE_MATCH "non-exhaustive-match" "a `match` forgets some of the possible values"
    OR_PATTERN "or-pattern" "an alternative of an or-pattern is not a literal"
    MATCH_PATTERN_TYPE "match-pattern-type" "a pattern can never equal the matched value"
    UNREACHABLE_ARGUMENT "unreachable-argument" "`unreachable` is given something that can still exist"
    PARTLY_NARROWED "partly-narrowed" "an `unknown` value was not tested for every kind"
    UNREACHABLE_CODE "unreachable-code" "nothing can reach this statement"
    IMMUTABLE_ASSIGNMENT "immutable-assignment" "a binding that is no `var` is assigned to"
    UNKNOWN_INTERFACE_METHOD "unknown-interface-method" "a bound does not offer the method that is called"
    VARIANCE "variance" "a type parameter stands where its variance does not allow it"
    DEPRECATED "deprecated" "a deprecated function is called"
    UNKNOWN_OPTION "unknown-option" "an option that the builtin does not have"
    UNKNOWN_ATTRIBUTE "unknown-attribute" "an attribute nobody knows"
    ATTRIBUTE_USE "attribute-use" "an attribute is used in a way that has no effect"
    UNVALIDATED_VALUE "unvalidated-value" "a value from outside is used before it was validated"
}
