use super::*;

const PLAIN: Layout = Layout {
    headers: false,
    delimiter: ',',
};

const NAMED: Layout = Layout {
    headers: true,
    delimiter: ',',
};

fn rows(text: &str, layout: &Layout) -> String {
    match read::read(text, layout) {
        Ok(rows) => {
            let mut out = String::new();
            crate::json::write(&rows, &mut out);
            out
        }
        Err(problem) => problem,
    }
}

#[test]
fn rows_are_read() {
    for (text, expected) in [
        ("", "[]"),
        ("\n\r\n", "[]"),
        ("a,b\n1,2\n", r#"[["a","b"],["1","2"]]"#),
        ("a,b\r\n1", r#"[["a","b"],["1"]]"#),
        ("a\rb", r#"[["a"],["b"]]"#),
        ("a,\n,b", r#"[["a",""],["","b"]]"#),
        (",", r#"[["",""]]"#),
        ("\"a,\"\"b\"\"\nc\",d", r#"[["a,\"b\"\nc","d"]]"#),
        ("\"\",x", r#"[["","x"]]"#),
        ("\"\"", r#"[[""]]"#),
        ("a\"b\",c", r#"[["a\"b\"","c"]]"#),
        ("\"a\"b,c", r#"[["ab","c"]]"#),
        ("\u{feff}a,b", r#"[["a","b"]]"#),
        ("é,\"ü\"", r#"[["é","ü"]]"#),
        ("a,\"b", "a quote is not closed at line 1 column 3"),
        ("x\na,\"\"\"", "a quote is not closed at line 2 column 3"),
    ] {
        assert_eq!(rows(text, &PLAIN), expected, "{text:?}");
    }
}

#[test]
fn the_first_row_can_name_the_columns() {
    for (text, expected) in [
        (
            "b,a\n1,2\n3\n4,5,6\n",
            r#"[{"a":"2","b":"1"},{"a":"","b":"3"},{"a":"5","b":"4"}]"#,
        ),
        ("a,a\n1,2", r#"[{"a":"2"}]"#),
        ("a,b", "[]"),
        ("", "[]"),
    ] {
        assert_eq!(rows(text, &NAMED), expected, "{text:?}");
    }
}

#[test]
fn any_character_can_be_between_cells() {
    for (delimiter, text, expected) in [
        (';', "a;b,c", r#"[["a","b,c"]]"#),
        ('\t', "a\tb", r#"[["a","b"]]"#),
        // Both begin with the same octet.
        ('é', "aébüc", r#"[["a","büc"]]"#),
    ] {
        let layout = Layout {
            headers: false,
            delimiter,
        };
        assert_eq!(rows(text, &layout), expected);
        let again = read::read(text, &layout).unwrap();
        assert_eq!(write::write(&again, &layout).unwrap(), format!("{text}\n"));
    }
}

#[test]
fn rows_are_written() {
    let json = |text: &str| crate::json::parse(text).expect("it is JSON");
    for (given, layout, expected) in [
        (
            r#"[["a", 1, null], [2.5, true]]"#,
            PLAIN,
            "a,1,nil\n2.5,true\n",
        ),
        (
            r#"[["a,b", "c\"d", "e\nf", " g"]]"#,
            PLAIN,
            "\"a,b\",\"c\"\"d\",\"e\nf\", g\n",
        ),
        (r#"[[""], []]"#, PLAIN, "\"\"\n\"\"\n"),
        (r#"[{"b": 1}, {"a": 2}]"#, PLAIN, ",1\n2,\n"),
        (r#"[{"b": 1}, {"a": 2}]"#, NAMED, "a,b\n,1\n2,\n"),
        ("[]", NAMED, ""),
        ("1", PLAIN, "expected a list of rows"),
        ("[[1], {}]", PLAIN, "mixed list/dict rows are not supported"),
        ("[{}, [1]]", PLAIN, "mixed list/dict rows are not supported"),
        (
            "[1]",
            PLAIN,
            "each row must be a list of cells (or use dict rows)",
        ),
    ] {
        let written = write::write(&json(given), &layout);
        let written = written.unwrap_or_else(|problem| problem);
        assert_eq!(written, expected, "{given}");
    }
}

#[test]
fn layouts_are_checked() {
    for (delimiter, problem) in [
        ("", "delimiter must be a single character"),
        ("::", "delimiter must be a single character"),
        ("\"", "delimiter must not be a quote or a line break"),
    ] {
        let options = Value::dict([("delimiter", delimiter.into())]);
        assert_eq!(layout(&options).err().as_deref(), Some(problem));
    }
}
