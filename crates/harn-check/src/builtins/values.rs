//! Values whatever their kind: conversion, inspection, results, errors and assertions.

use super::table::builtins;

builtins! {
    "addr_of(value: any) -> string" [string] Pure "Gives a key that stays the same for a value during a run.";
    r#"assert(condition: any, message: string = "Assertion failed") -> nil"# [nil] Pure "Throws a message unless a condition holds.";
    "assert_eq(actual: any, expected: any, message: string | nil = nil) -> nil" [nil] Pure "Throws unless two values are equal.";
    "assert_ne(a: any, b: any, message: string | nil = nil) -> nil" [nil] Pure "Throws if two values are equal.";
    "error_category(error: any) -> string" [string] Pure "Names the category of a caught error.";
    "hash_value(value: any) -> int" [int] Pure "Gives a hash that is equal for equal structures.";
    "is_err(result: any) -> bool" [bool] Pure "Tells whether a value is a `Result.Err`.";
    "is_ok(result: any) -> bool" [bool] Pure "Tells whether a value is a `Result.Ok`.";
    "is_rate_limited(error: any) -> bool" [bool] Pure "Tells whether a caught error is of the category `rate_limit`.";
    "is_same(a: any, b: any) -> bool" [bool] Pure "Tells whether two values are the same one, not just equal.";
    "is_timeout(error: any) -> bool" [bool] Pure "Tells whether a caught error is of the category `timeout`.";
    "len(value: any) -> int" [] Pure "Counts characters, octets, elements or entries.";
    r#"throw_error(message: string, category: string = "generic") -> never"# [] Pure "Throws an error of a category.";
    "to_float(value: any) -> float | nil" [float] Pure "Makes a float of a number or a text.";
    "to_int(value: any) -> int | nil" [int] Pure "Makes an int of a number or a text.";
    "to_list(value: any) -> list" [list] Pure "Makes a list of a set, or of a single value.";
    "to_string(value: any) -> string" [string] Pure "Shows a value as text.";
    "type_of(value: any) -> string" [string] Pure "Names the type of a value.";
    "unreachable(value: any = nil) -> never" [never] Pure "Fails, because it was thought that nothing gets here.";
    "unwrap(result: any) -> any" [] Pure "Gives what is in a `Result.Ok`, and fails for a `Result.Err`.";
    "unwrap_err(result: any) -> any" [] Pure "Gives what is in a `Result.Err`, and fails for anything else.";
    "unwrap_or(result: any, fallback: any) -> any" [] Pure "Gives what is in a `Result.Ok`, or the fallback.";
}
