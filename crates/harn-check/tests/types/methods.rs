//! 9.2: what methods give.

use crate::support::infers_in;

#[track_caller]
fn method(receiver: &str, call: &str, expected: &str) {
    infers_in(
        &format!("fn f(x: {receiver}) {{ let probe: never = x.{call} }}"),
        expected,
    );
}

#[test]
fn by_name() {
    for name in [
        "contains",
        "starts_with",
        "ends_with",
        "empty",
        "has",
        "any",
        "all",
    ] {
        method("any", &format!("{name}(1)"), "bool");
    }
    for name in ["count", "index_of", "to_int"] {
        method("any", &format!("{name}(1)"), "int");
    }
    for name in [
        "trim",
        "lowercase",
        "uppercase",
        "reverse",
        "replace",
        "substring",
        "pad_left",
        "pad_right",
        "repeat",
        "join",
        "to_string",
    ] {
        method("string", &format!("{name}()"), "string");
    }
    for name in [
        "split", "chars", "map", "flat_map", "sort", "keys", "values", "entries",
    ] {
        method("any", &format!("{name}()"), "list");
    }
    method("any", "to_float()", "float");
    method("any", "push(1)", "");
    method("any", "reduce(0, nil)", "");
    method("string", "iter()", "iter");
    method("any", "iter()", "");
}

#[test]
fn by_receiver() {
    method("list<int>", "filter(nil)", "list");
    method("dict", "filter(nil)", "dict");
    method("dict<string, int>", "filter(nil)", "dict");
    method("{a: int}", "filter(nil)", "dict");
    for name in ["window", "each_cons", "sliding_window"] {
        method("list<int>", &format!("{name}(2)"), "list<list<int>>");
        method("list", &format!("{name}(2)"), "list");
    }
    for name in ["merge", "map_values", "rekey", "map_keys"] {
        method(
            "dict<string, int>",
            &format!("{name}(nil)"),
            "dict<string, int>",
        );
        method("dict", &format!("{name}(nil)"), "dict");
    }
    method("list<int>", "iter()", "iter<int>");
    method("Generator<int>", "iter()", "iter<int>");
    method("Stream<int>", "iter()", "iter<int>");
    method("dict<string, int>", "iter()", "iter<Pair<string, int>>");
    method("list", "iter()", "iter");
    method("dict", "iter()", "iter");
    method("set", "iter()", "iter");
}

#[test]
fn of_iterators() {
    for name in [
        "iter",
        "filter",
        "take",
        "skip",
        "take_while",
        "skip_while",
        "chain",
    ] {
        method("iter<int>", &format!("{name}(1)"), "iter<int>");
    }
    method("iter<int>", "map(nil)", "iter");
    method("iter<int>", "flat_map(nil)", "iter");
    method("iter<int>", "zip(nil)", "iter<Pair<int, any>>");
    method("iter<string>", "enumerate()", "iter<Pair<int, string>>");
    method("iter<int>", "chunks(2)", "iter<list<int>>");
    method("iter<int>", "windows(2)", "iter<list<int>>");
    method("iter<int>", "to_list()", "list<int>");
    method("iter<int>", "to_set()", "set<int>");
    method("iter<int>", "to_dict()", "dict");
    method("iter<int>", "count()", "int");
    method("iter<int>", "sum()", "int | float");
    for name in ["min", "max", "first", "last", "find"] {
        method("iter<int>", &format!("{name}()"), "int | nil");
    }
    method("iter<int>", "any(nil)", "bool");
    method("iter<int>", "all(nil)", "bool");
    method("iter<int>", "for_each(nil)", "nil");
    method("iter<int>", "reduce(0, nil)", "");
    method("iter<int>", "join(nil)", "");
}

#[test]
fn of_optional_access() {
    method("list<int>", "count()", "int");
    infers_in("fn f(x: list<int>) { let probe: never = x?.count() }", "");
}

#[test]
fn the_receiver_hardly_matters() {
    method("list<int>", "reverse()", "string");
    method("set", "map(nil)", "list");
    method("range", "filter(nil)", "list");
}

/// The table goes by names alone; where the file declares the method, we claim nothing.
#[test]
fn of_structs_that_declare_the_method() {
    infers_in(
        "struct S {}\nimpl S { fn count(self) -> string { return \"\" } }\n\
         fn f(x: S) { let probe: never = x.count() }",
        "",
    );
}
