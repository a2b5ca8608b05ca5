//! 15.5: attributes.

use crate::support::check;

#[track_caller]
fn on(attributes: &str, declaration: &str, expected: &[&str]) {
    let expected: Vec<_> = expected
        .iter()
        .map(|one| format!("warning: {one}"))
        .collect();
    let expected: Vec<_> = expected.iter().map(String::as_str).collect();
    check(&format!("{attributes}\n{declaration}"), &expected);
}

const FUNCTION: &str = "fn f() { }";
const STRUCT: &str = "struct S { }";
const WITHOUT_MODE: &str =
    "Flow `@invariant` requires exactly one of `@deterministic` (default) or `@semantic`";
const WITHOUT_ARCHIVIST: &str = "Flow `@invariant` is missing `@archivist(...)` provenance \
    (evidence, confidence, source_date, coverage_examples)";

#[test]
fn unknown_attributes() {
    on("@nonsense", FUNCTION, &["unknown attribute `@nonsense`"]);
    on("@deprecated", FUNCTION, &[]);
    on("@complexity(allow)", FUNCTION, &[]);
    on("@acp_tool(name: \"x\")", FUNCTION, &[]);
    on("@acp_skill(name: \"x\")", FUNCTION, &[]);
    on("@invariant(\"named\")", FUNCTION, &[]);
    on("@test", "pipeline p() { }", &[]);
}

#[test]
fn attributes_on_the_wrong_declaration() {
    on(
        "@test",
        FUNCTION,
        &["`@test` only applies to pipeline declarations"],
    );
    for name in [
        "acp_tool",
        "acp_skill",
        "deterministic",
        "semantic",
        "archivist",
        "retroactive",
    ] {
        let message = format!("`@{name}` only applies to function declarations");
        on(&format!("@{name}"), STRUCT, &[&message]);
    }
    on(
        "@invariant(\"x\")",
        STRUCT,
        &["`@invariant` only applies to function, tool, or pipeline declarations"],
    );
    on("@invariant(\"x\")", "tool t() { }", &[]);
    on("@invariant(\"x\")", "pipeline p() { }", &[]);
}

#[test]
fn predicates() {
    let whole = "@archivist(evidence: [\"a\"], confidence: 0.9)";
    on(
        &format!("@invariant\n@deterministic\n{whole}"),
        FUNCTION,
        &[],
    );
    on(
        &format!("@invariant\n@semantic\n@retroactive\n{whole}"),
        FUNCTION,
        &[],
    );
    on("@invariant", FUNCTION, &[WITHOUT_MODE, WITHOUT_ARCHIVIST]);
    on("@invariant\n@semantic", FUNCTION, &[WITHOUT_ARCHIVIST]);
    on(
        "@deterministic\n@semantic",
        FUNCTION,
        &[
            "`@deterministic` and `@semantic` are mutually exclusive; a Flow predicate is one mode \
           or the other",
        ],
    );
    on(
        whole,
        FUNCTION,
        &["`@archivist(...)` only applies to Flow predicates marked with `@invariant`"],
    );
    on(
        "@retroactive\n@invariant(\"x\")",
        FUNCTION,
        &["`@retroactive` only applies to Flow predicates marked with `@invariant`"],
    );
}

#[test]
fn archivist_arguments() {
    let archivist = |arguments: &str, expected: &[&str]| {
        let attributes = format!("@invariant\n@semantic\n@archivist({arguments})");
        on(&attributes, FUNCTION, expected);
    };
    let evidence =
        "`@archivist(...)` should declare `evidence: [...]` so predicates can be audited";
    let confidence = "`@archivist(confidence: ...)` must be a float in [0.0, 1.0]";
    archivist("evidence: []", &[]);
    archivist("confidence: 0.5", &[evidence]);
    archivist("evidence: [], confidence: 1.5", &[confidence]);
    archivist("evidence: [], confidence: -0.5", &[confidence]);
    archivist("evidence: [], confidence: 2", &[confidence]);
    archivist("evidence: [], confidence: \"high\"", &[confidence]);
    archivist("evidence: [], confidence: 1", &[]);
    archivist("evidence: [], confidence: 0", &[]);
    archivist("evidence: [], confidence: HIGH", &[]);
    archivist(
        "evidence: [], source_date: \"x\", coverage_examples: []",
        &[],
    );
    archivist(
        "evidence: [], colour: 1",
        &[
            "unknown `@archivist` argument `colour`; expected one of [\"evidence\", \"confidence\", \
           \"source_date\", \"coverage_examples\"]",
        ],
    );
    archivist(
        "\"x\", evidence: []",
        &["`@archivist(...)` arguments must be named (e.g. `evidence: [...], confidence: 0.9`)"],
    );
}
