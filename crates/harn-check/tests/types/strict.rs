//! 9.16: strict types.

use harn_check::{CheckOptions, Imported};

use crate::support::{check_body, inspect};

/// What strict types add to the body of a function: messages and helps.
#[track_caller]
fn strict(statements: &str, expected: &[&str]) {
    check_body(statements, &[]);
    let source = format!("type P = {{a: int}}\nfn body(c) {{\n{statements}\n}}");
    let options = CheckOptions {
        strict_types: true,
        before_a_run: false,
    };
    let checked = inspect(&source, &Imported::default(), options);
    let said: Vec<_> = checked.diagnostics.iter().map(|one| &one.message).collect();
    assert_eq!(said, expected, "{statements}");
}

#[test]
fn direct_access() {
    strict(
        "json_parse(\"\").a\nhttp_get(\"u\")[\"a\"]",
        &[
            "Direct property access on unvalidated `json_parse()` result",
            "Direct subscript access on unvalidated `http_get()` result",
        ],
    );
    strict("trim(\"\").a\njson_parse(\"\")", &[]);
}

#[test]
fn access_through_a_variable() {
    strict(
        "let v = yaml_parse(\"\")\nv.a\nv[\"b\"]",
        &[
            "Accessing property on unvalidated value 'v' from `yaml_parse`",
            "Subscript access on unvalidated value 'v' from `yaml_parse`",
        ],
    );
    strict(
        "let v: dict = json_parse(\"\")\nv.a",
        &["Accessing property on unvalidated value 'v' from `json_parse`"],
    );
    strict(
        "let v: any = json_parse(\"\")\nv.a",
        &["Accessing property on unvalidated value 'v' from `json_parse`"],
    );
}

#[test]
fn what_clears_the_mark() {
    strict("let v: {a: int} = json_parse(\"\")\nv.a", &[]);
    strict(
        "let v = llm_call(\"\", \"\", {output_schema: P})\nv.text",
        &[],
    );
    strict("let v = json_parse(\"\")\nschema_expect(v, P)\nv.a", &[]);
    strict("let v = json_parse(\"\")\nif schema_is(v, P) { v.a }", &[]);
    strict(
        "let v = json_parse(\"\")\nif is_type(v, P) { v.a } else { v.b }",
        &["Accessing property on unvalidated value 'v' from `json_parse`"],
    );
}

#[test]
fn helps() {
    let options = CheckOptions {
        strict_types: true,
        before_a_run: false,
    };
    let source = "fn f() { json_parse(\"\").a\n let v = mcp_call()\n v.a }";
    let checked = inspect(source, &Imported::default(), options);
    let helps: Vec<_> = checked
        .diagnostics
        .iter()
        .map(|one| one.help.as_deref())
        .collect();
    assert_eq!(
        helps,
        [
            Some(
                "assign to a variable and validate with schema_expect() or a type annotation first"
            ),
            Some(
                "validate with schema_expect(), schema_is() in an if-condition, or add a shape \
                 type annotation"
            ),
        ],
    );
}
