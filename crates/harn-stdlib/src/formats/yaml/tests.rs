use super::*;
use harn_machine::value::Bytes;

fn shown(text: &str) -> String {
    match read::read(text) {
        Ok(value) => {
            let mut out = String::new();
            crate::json::write(&value, &mut out);
            out
        }
        Err(problem) => problem,
    }
}

#[test]
fn plain_words_are_values() {
    for (text, expected) in [
        ("", "null"),
        ("~", "null"),
        ("[null, Null, NULL, nUll]", r#"[null,null,null,"nUll"]"#),
        (
            "[true, True, TRUE, false, tRue]",
            r#"[true,true,true,false,"tRue"]"#,
        ),
        ("[yes, no, on, off, y]", r#"["yes","no","on","off","y"]"#),
        (
            "[1, -2, +3, 0x1F, 0o17, 0b101, -0x10]",
            "[1,-2,3,31,15,5,-16]",
        ),
        (
            "[1.5, -.5, 1e3, 5., .inf, -.inf, .nan]",
            "[1.5,-0.5,1000,5,inf,-inf,NaN]",
        ),
        (
            "[007, 1_000, 0x, 0xg, 1.2.3, '1', \"true\", inf, +]",
            r#"["007","1_000","0x","0xg","1.2.3","1","true","inf","+"]"#,
        ),
        (
            "[9223372036854775807, 9223372036854775808, 0xFFFFFFFFFFFFFFFF]",
            "[9223372036854775807,9223372036854776000,18446744073709552000]",
        ),
        ("2001-12-14", "\"2001-12-14\""),
        ("!!str 12", "\"12\""),
        ("!<tag:yaml.org,2002:str> 12", "\"12\""),
        (
            "[!!int \"12\", !!float 1, !!bool true, !!null '', ! 5]",
            r#"[12,1,true,null,"5"]"#,
        ),
        ("|\n  a\n  b\n", r#""a\nb\n""#),
        (">-\n  a\n  b\n", r#""a b""#),
    ] {
        assert_eq!(shown(text), expected, "{text}");
    }
}

#[test]
fn documents_are_read() {
    for (text, expected) in [
        (
            "a: 1\nb:\n  - x\n  - y: null\n",
            r#"{"a":1,"b":["x",{"y":null}]}"#,
        ),
        ("1: a\ntrue: b\n0x10: c", r#"{"1":"a","16":"c","true":"b"}"#),
        (
            "a: &x [1, 2]\nb: *x\nc: *x",
            r#"{"a":[1,2],"b":[1,2],"c":[1,2]}"#,
        ),
        (
            "x: &m {k: 1}\ny:\n  <<: *m\n  z: 2",
            r#"{"x":{"k":1},"y":{"<<":{"k":1},"z":2}}"#,
        ),
        ("--- # one\na: b\n...\n", r#"{"a":"b"}"#),
        ("? k\n: v", r#"{"k":"v"}"#),
    ] {
        assert_eq!(shown(text), expected, "{text}");
    }
}

#[test]
fn problems_are_told_apart() {
    for (text, expected) in [
        (
            "a: 1\n---\nb: 2",
            "YAML parse error: more than one document at line 2 column 1",
        ),
        (
            "a: 1\na: 2",
            "YAML parse error: duplicate key \"a\" at line 2 column 1",
        ),
        (
            "&a [*a]",
            "YAML parse error: an alias stands for what it is in at line 1 column 5",
        ),
        (
            "!!int x",
            "YAML parse error: \"x\" is no int at line 1 column 1",
        ),
        (
            "[1]: 2",
            "yaml_parse: keys must be strings, ints or bools, got list at line 1 column 3",
        ),
        (
            "~: 2",
            "yaml_parse: keys must be strings, ints or bools, got nil at line 1 column 1",
        ),
        (
            "!mine x",
            "yaml_parse: the tag !mine has no form in JSON at line 1 column 1",
        ),
    ] {
        assert_eq!(shown(text), expected);
    }
    for text in ["[1, 2", "a: b: c", "*none", "\"open", "a:\n\t- b", "%FOO"] {
        let problem = shown(text);
        assert!(
            problem.starts_with("YAML parse error: "),
            "{text}: {problem}"
        );
    }
}

#[test]
fn values_are_written() {
    let json = |text: &str| crate::json::parse(text).expect("it is JSON");
    for (given, expected) in [
        ("null", "null\n"),
        ("[]", "[]\n"),
        ("{}", "{}\n"),
        (
            r#"{"b": [1, 2.5, true, null], "a": "x"}"#,
            "a: x\nb:\n- 1\n- 2.5\n- true\n- null\n",
        ),
        (
            r#"{"a": {"b": {"c": []}, "d": {}}}"#,
            "a:\n  b:\n    c: []\n  d: {}\n",
        ),
        (
            r#"[{"a": 1, "b": [2]}, [3, [4]], []]"#,
            "- a: 1\n  b:\n  - 2\n- - 3\n  - - 4\n- []\n",
        ),
        (r#"{"a": [{"b": {"c": 1}}]}"#, "a:\n- b:\n    c: 1\n"),
        (
            r##"["true", "12", "", "~", "007", "1e3", "yes", "-", "- a", "a: b", "a #b", "#", "it's"]"##,
            "- 'true'\n- '12'\n- ''\n- '~'\n- '007'\n- '1e3'\n- yes\n- '-'\n- '- a'\n- 'a: b'\n- 'a #b'\n- '#'\n- it's\n",
        ),
        (
            r#"{"t": "a\nb", "u": "a\n", "v": "a\n\n", "w": "a \nb", "x": "\ta"}"#,
            "t: |-\n  a\n  b\nu: |\n  a\nv: |+\n  a\n\nw: \"a \\nb\"\nx: \"\\ta\"\n",
        ),
        (
            r#"["a\nb", {"k": "c\nd"}]"#,
            "- |-\n  a\n  b\n- k: |-\n    c\n    d\n",
        ),
        (r#""a\nb""#, "|-\n  a\n  b\n"),
        (
            r#"{"1": 2, "a b": 3, "": 4, "x\ny": 5}"#,
            "'': 4\n'1': 2\na b: 3\n\"x\\ny\": 5\n",
        ),
        (
            "[1.0, 1e20, -0.5]",
            "- 1.0\n- 100000000000000000000.0\n- -0.5\n",
        ),
    ] {
        let value = json(given);
        assert_eq!(
            write::write(&value).expect("it is small"),
            expected,
            "{given}"
        );
        assert_eq!(read::read(expected).as_ref(), Ok(&value), "{given}");
    }
}

#[test]
fn what_yaml_does_not_know_is_written_as_it_is_shown() {
    let odd = Value::dict([
        ("d", Value::Duration(90_000)),
        ("p", Value::pair(Value::Int(1), Value::Int(2))),
        ("b", Value::Bytes(Bytes::from(vec![1]))),
        ("f", f64::NEG_INFINITY.into()),
    ]);
    assert_eq!(
        write::write(&odd).expect("it is small"),
        "b: b\"01\"\nd: 90s\nf: -.inf\np: (1, 2)\n"
    );
}

#[test]
fn aliases_cannot_repeat_without_end() {
    let mut bomb = "a: &a [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for (name, before) in ('b'..='j').zip('a'..) {
        let aliases = vec![format!("*{before}"); 10].join(", ");
        bomb.push_str(&format!("{name}: &{name} [{aliases}]\n"));
    }
    let problem = shown(&bomb);
    assert!(
        problem.starts_with("YAML parse error: aliases repeat too much"),
        "{problem}"
    );
}

#[test]
fn depth_and_size_do_no_harm() {
    let problem = shown(&"[".repeat(1_000_000));
    assert!(
        problem.starts_with("YAML parse error: recursion limit exceeded"),
        "{problem}"
    );
    let deep = read::read(&"- ".repeat(20_000)).expect("it is nested deeply");
    assert_eq!(
        write::write(&deep).unwrap_err(),
        "the value is nested more than 1000 levels deep"
    );
    let mut shared = Value::Int(1);
    for _ in 0..60 {
        shared = Value::list(vec![shared.clone(), shared]);
    }
    let problem = write::write_within(&shared, 1000).unwrap_err();
    assert_eq!(problem, "the value is too large");
}
