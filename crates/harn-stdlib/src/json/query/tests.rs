use super::*;
use crate::json;

fn find(query: &str, document: &str) -> String {
    let document = json::parse(document).expect("it is JSON");
    match super::query(query, &document) {
        Ok(found) => {
            let mut out = String::new();
            json::write(&Value::list(found), &mut out);
            out
        }
        Err(problem) => problem,
    }
}

#[track_caller]
fn check(document: &str, cases: &[(&str, &str)]) {
    for (query, expected) in cases {
        assert_eq!(find(query, document), *expected, "{query}");
    }
}

#[test]
fn paths_lead_into_documents() {
    check(
        r#"{"a": {"b": [10, 20, 30]}, "x y": 1, "and": {"b": 5}}"#,
        &[
            (".a.b[1]", "[20]"),
            (".a.b[-1]", "[30]"),
            (".a.b[-4]", "[null]"),
            (".a.b[3]", "[null]"),
            (".a.b[1:]", "[[20,30]]"),
            (".a.b[:-1]", "[[10,20]]"),
            (".a.b[2:1]", "[[]]"),
            (".a.b[:][0]", "[10]"),
            (".a.b[]", "[10,20,30]"),
            (".a[]", "[[10,20,30]]"),
            (".a[][]", "[10,20,30]"),
            (".a[][1:][]", "[20,30]"),
            (r#".["x y"]"#, "[1]"),
            (r#".a["b"] [ 0 ]"#, "[10]"),
            (".nothing.b[0]", "[null]"),
            (".nothing[0:1]", "[[]]"),
            (".nothing[]", "[]"),
            (" . ", r#"[{"a":{"b":[10,20,30]},"and":{"b":5},"x y":1}]"#),
            ("(.a).b[0]", "[10]"),
            (".and.b", "[5]"),
            (". and .b", "[5]"),
        ],
    );
}

#[test]
fn queries_are_joined() {
    check(
        r#"[{"n": 1, "t": "a"}, {"n": 2, "t": "b"}]"#,
        &[
            (".[] | .n", "[1,2]"),
            (".[0].n, .[1].t", r#"[1,"b"]"#),
            (".[] | .n, .t", r#"[1,"a",2,"b"]"#),
            ("map(.n)", "[[1,2]]"),
            ("map(.n, .t)", r#"[[1,"a",2,"b"]]"#),
            ("map(select(.n > 1) | .t)", r#"[["b"]]"#),
            (
                ".[] | {k: .t | length, \"l\": .n}",
                r#"[{"k":1,"l":1},{"k":1,"l":2}]"#,
            ),
            ("{}", "[{}]"),
            (
                "{a: .[], b: select(false)}",
                r#"[{"a":{"n":1,"t":"a"},"b":null}]"#,
            ),
            (".[] | not .n == false", "[true,true]"),
            (".[] | (.n) and .t == \"b\" or .n == 1", "[true,true]"),
            ("(.[].n) == (1, 2)", "[true,false,false,true]"),
            (
                "1 < 2.5, \"a\" < \"b\", \"a\" < 2, null > 1",
                "[true,true,false,false]",
            ),
            (
                "-1.5e1, \"\\u00e9\", null, nil, true",
                r#"[-15,"é",null,null,true]"#,
            ),
            (
                ".[0] | keys, values, length, type",
                r#"[["n","t"],[1,"a"],2,"object"]"#,
            ),
            ("keys, values == ., 5 | length", "[2,1,1]"),
            (
                "\"héé\", null | length, keys, type",
                r#"[3,[],"string",0,[],"null"]"#,
            ),
            ("[.[0] | ..]", "expected array index or slice bound"),
            (".[1] | ..", r#"[{"n":2,"t":"b"},2,"b"]"#),
        ],
    );
}

#[test]
fn what_follows_at_once_finds_the_same() {
    let document = r#"{"items": [{"a": true, "n": 5, "s": {"k": [1, 2]}}, {"n": 7, "a": true},
        {"a": false, "n": 9}, {"b": 1}, 3, null]}"#;
    check(
        document,
        &[
            (".items[] | select(.a == true) | select(.n > 5) | .n", "[7]"),
            (".items[] | select(.a) | .n", "[5,7]"),
            (".items[] | .s.k[1:] | .[0]", "[2,null,null,null,null,null]"),
            (".items[0:2][] | .n", "[5,7]"),
            (
                ".items | .[] | select(.n == 9), .b",
                "[null,null,{\"a\":false,\"n\":9},null,1,null,null]",
            ),
            (".items[].n | select(. != null)", "[5,7,9]"),
            (".nothing[] | .n", "[]"),
            ("(.items[], 4) | select(. == 4)", "[4]"),
            (".items[] | select(.s.k[] == 2) | .n", "[]"),
            (".items[] | select(.s.k[1] == 2) | .n", "[5]"),
        ],
    );
}

#[test]
fn bad_queries_say_where() {
    check(
        "null",
        &[
            ("", "expected expression near ''"),
            (".a | ", "expected expression near ''"),
            (".a )", "unexpected input near ')'"),
            (".a.", "expected field name near ''"),
            (".a.1", "expected field name near '1'"),
            ("{1: 2}", "expected object key near '1: 2}'"),
            ("{a: 1,}", "expected object key near '}'"),
            ("{a}", "expected ':' near '}'"),
            ("{a: 1", "expected '}' near ''"),
            ("map .a", "expected '(' near '.a'"),
            ("(.a", "expected ')' near ''"),
            (".[1", "expected ']' near ''"),
            ("foo", "unknown identifier 'foo'"),
            (".[x]", "expected array index or slice bound"),
            ("\"a", "unterminated string literal"),
            (
                r#""\q""#,
                "invalid string literal: invalid escape at line 1 column 3",
            ),
            ("- 1", "invalid number near '- 1'"),
            ("1.2.3", "invalid number near '1.2.3'"),
            (
                ".[99999999999999999999]",
                "invalid number near '99999999999999999999]'",
            ),
            ("1 < 2 < 3", "unexpected input near '< 3'"),
        ],
    );
}

#[test]
fn queries_are_bounded() {
    let deep = "(".repeat(100_000);
    assert_eq!(find(&deep, "1"), "the query is nested too deeply");
    let deep = "not ".repeat(100_000);
    assert_eq!(find(&deep, "1"), "the query is nested too deeply");
    let many = [".,."; 60].join("|");
    assert_eq!(find(&many, "1"), "the query finds too much");
    let long = format!(".{}", "[]".repeat(100_000));
    assert_eq!(find(&long, "1"), "[]");
}

#[test]
fn long_lists_of_unlike_items_are_filtered_item_by_item() {
    let item = |at: usize| match at % 4 {
        0 => format!(r#"{{"n": {at}, "ok": true, "in": [{{"x": {at}}}]}}"#),
        1 => format!(r#"{{"ok": false, "a": 1, "n": {at}}}"#),
        2 => format!(r#"{{"zz": 1, "n": "{at}", "ok": true}}"#),
        _ => at.to_string(),
    };
    let items: Vec<String> = (0..200).map(item).collect();
    let document = format!(r#"{{"items": [{}]}}"#, items.join(","));
    let list = |step: usize, from: usize| {
        let numbers: Vec<String> = (from..200).step_by(step).map(|n| n.to_string()).collect();
        format!("[{}]", numbers.join(","))
    };
    let (of_four, of_last) = (list(4, 0), list(4, 128));
    check(
        &document,
        &[
            (
                ".items[] | select(.ok == true) | select(.n > -1) | .n",
                &of_four,
            ),
            (
                ".items[] | select(.ok) | .in[0].x | select(. > 127)",
                &of_last,
            ),
            (
                ".items[] | select(.in[0].x == .n) | select(.in) | .n",
                &of_four,
            ),
            (".items[] | select(.n == \"6\") | .zz", "[1]"),
            (
                ".items[] | select(true) | .in[0:1] | .[0].x | select(. == 4)",
                "[4]",
            ),
            (".items[] | select(.none)", "[]"),
        ],
    );
}
