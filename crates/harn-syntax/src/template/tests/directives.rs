//! 14.1, the syntax of directives.

use super::*;

#[track_caller]
fn check_all(cases: &[(&str, &str)]) {
    for (text, expected) in cases {
        check(text, expected);
    }
}

#[test]
fn text_outside_directives_is_copied() {
    check_all(&[
        ("", ""),
        ("plain", r#""plain""#),
        (" a\n\tb \r\n", r#"" a\n\tb \r\n""#),
        ("{a} } }} #}} -}}", r#""{a} } }} #}} -}}""#),
        ("{ {x} }", r#""{ {x} }""#),
        ("é😀{{ x }}ü", r#""é😀" x "ü""#),
    ]);
}

#[test]
fn a_directive_ends_at_the_first_braces_outside_quotes() {
    check_all(&[
        (r#"{{ "}}" }}"#, r#"(value "}}")"#),
        (r#"{{ '}}' }}}}"#, r#"(value "}}") "}}""#),
        (r#"{{ "a\"}}" }}"#, r#"(value "a\"}}")"#),
        (r#"{{ '"' }}}"#, r#"(value "\"") "}""#),
        (r#"{{ "it's" }}'}}"#, r#"(value "it's") "'}}""#),
        (r#"{{ "\é}}" }}"#, r#"(value "é}}")"#),
    ]);
}

#[test]
fn a_single_name_is_remembered_as_one() {
    check_all(&[
        ("{{ name }}", "name"),
        ("{{name}}", "name"),
        ("{{-name-}}", "name"),
        ("{{\n name\t}}", "name"),
        ("{{ größe_2 }}", "größe_2"),
        ("{{ loop }}", "loop"),
        ("{{ in }}{{ with }}", "in with"),
        ("{{ (name) }}", "(value name)"),
        ("{{ name.x }}", "(value name.x)"),
        ("{{ name | upper }}", "(value (upper name))"),
        (
            "{{ nil }}{{ true }}{{ false }}",
            "(value nil) (value true) (value false)",
        ),
    ]);
}

#[test]
fn conditionals() {
    check_all(&[
        ("{{ if a }}x{{ end }}", r#"(if (a "x") (else))"#),
        ("{{ if a }}{{ end }}", "(if (a) (else))"),
        ("{{if a}}x{{else}}y{{end}}", r#"(if (a "x") (else "y"))"#),
        (
            "{{ if a }}x{{ elif b == 1 }}y{{ elif c | length }}{{ d }}{{ else }}z{{ end }}!",
            r#"(if (a "x") ((== b 1) "y") ((length c) d) (else "z")) "!""#,
        ),
        (
            "{{ if a }}{{ if b }}x{{ end }}{{ else }}{{ if c }}y{{ else }}z{{ end }}{{ end }}",
            r#"(if (a (if (b "x") (else))) (else (if (c "y") (else "z"))))"#,
        ),
    ]);
}

#[test]
fn loops() {
    check_all(&[
        ("{{ for x in xs }}a{{ end }}", r#"(for x xs "a" (else))"#),
        (
            "{{for x in xs}}a{{else}}b{{end}}",
            r#"(for x xs "a" (else "b"))"#,
        ),
        (
            "{{ for k, v in d.e }}{{ k }}{{ end }}",
            "(for k v d.e k (else))",
        ),
        ("{{ for k,v in d }}{{ end }}", "(for k v d (else))"),
        ("{{ for\nk ,\n v\nin\nd }}{{ end }}", "(for k v d (else))"),
        (
            "{{ for x in xs | reverse }}{{ end }}",
            "(for x (reverse xs) (else))",
        ),
        ("{{ for inner in in }}{{ end }}", "(for inner in (else))"),
        ("{{ for x in(xs) }}{{ end }}", "(for x xs (else))"),
        (
            "{{ for x in a }}{{ for y in x }}{{ y }}{{ else }}1{{ end }}{{ else }}2{{ end }}",
            r#"(for x a (for y x y (else "1")) (else "2"))"#,
        ),
    ]);
}

#[test]
fn includes() {
    check_all(&[
        (r#"{{ include "a.prompt" }}"#, r#"(include "a.prompt")"#),
        (r#"{{include'a'}}"#, r#"(include "a")"#),
        (r#"{{ include path.of[0] }}"#, "(include path.of[0])"),
        (
            r#"{{ include p | default: "q" }}"#,
            r#"(include (default p "q"))"#,
        ),
        (
            r#"{{ include "a" with { x: 1, y: b.c, } }}"#,
            r#"(include "a" (x 1) (y b.c))"#,
        ),
        (r#"{{ include "a" with {} }}"#, r#"(include "a")"#),
        (
            r#"{{ include p with{x:"}, y: 2"} }}"#,
            r#"(include p (x "}, y: 2"))"#,
        ),
        (
            r#"{{ include "a" with { x: t | replace: "a", b, y: u | join: ", ", if: z or w } }}"#,
            r#"(include "a" (x (replace t "a" b)) (y (join u ", ")) (if (or z w)))"#,
        ),
    ]);
}

#[test]
fn comments_are_removed() {
    check_all(&[
        ("a{{# b #}}c", r#""a" "c""#),
        ("{{##}}", ""),
        ("{{# {{ x }} \" ' #}}", ""),
        ("{{# # #} #}}}", r#""}""#),
        ("a {{-# b #-}} c", r#""a" "c""#),
        ("a\n{{# b #}}\nc", r#""a\n" "\nc""#),
    ]);
}

#[test]
fn raw_text_is_copied_verbatim() {
    check_all(&[
        ("{{ raw }}{{ x }}{{ endraw }}", r#"(raw "{{ x }}")"#),
        (
            "{{raw}} {{# no #}} {{ if {{endraw}}",
            r#"(raw " {{# no #}} {{ if ")"#,
        ),
        ("{{ raw }}{{ endraw }}", r#"(raw "")"#),
        ("{{ raw }}{{{{ endraw }}", r#"(raw "{{")"#),
        ("{{ raw }}{{{ endraw }}}", r#"(raw "{") "}""#),
        (
            "{{ raw }}{{ endrawx }}{{ endraw }}",
            r#"(raw "{{ endrawx }}")"#,
        ),
        ("{{ raw }}'{{ endraw }}", r#"(raw "'")"#),
        ("{{ raw }}{{ raw }}{{ endraw }}", r#"(raw "{{ raw }}")"#),
    ]);
}

/// Before the directive the line break and the white space after it.
#[test]
fn the_text_before_is_trimmed() {
    check_all(&[
        ("a {{- x }}", r#""a" x"#),
        ("a \t {{- x }}", r#""a" x"#),
        ("a\n{{- x }}", r#""a" x"#),
        ("a\r\n{{- x }}", r#""a" x"#),
        ("a \n \t{{- x }}", r#""a " x"#),
        ("a\n\n{{- x }}", r#""a\n" x"#),
        ("a\n \n {{- x }}", r#""a\n " x"#),
        ("a\r{{- x }}", r#""a\r" x"#),
        ("a\u{a0}{{- x }}", "\"a\\u{a0}\" x"),
        (" \n {{- x }}", r#"" " x"#),
        ("\n{{- x }}", "x"),
        ("{{- x }}", "x"),
    ]);
}

/// After the directive white space and then the line break.
#[test]
fn the_text_after_is_trimmed() {
    check_all(&[
        ("{{ x -}} a", r#"x "a""#),
        ("{{ x -}} \t a", r#"x "a""#),
        ("{{ x -}}\na", r#"x "a""#),
        ("{{ x -}} \r\na", r#"x "a""#),
        ("{{ x -}} \n a", r#"x " a""#),
        ("{{ x -}}\n\na", r#"x "\na""#),
        ("{{ x -}}\ra", r#"x "\ra""#),
        ("{{ x -}} \n", "x"),
        ("{{ x -}}", "x"),
    ]);
}

#[test]
fn trims_combine() {
    check_all(&[
        ("a {{- x -}} b", r#""a" x "b""#),
        ("{{ x -}} \n {{- y }}", "x y"),
        ("{{ x -}} \n \n {{- y }}", r#"x " " y"#),
        ("{{ x -}}\n{{- y }}", "x y"),
        ("{{ x -}}{{ y }} a", r#"x y " a""#),
        ("a {{ x }}{{- y }}", r#""a " x y"#),
        ("a {{# c #}}{{- y }}", r#""a " y"#),
        ("{{ x -}}{{# c #}} a", r#"x " a""#),
        (
            "a\n  {{- if b -}}\n  x\n  {{- else -}}\n  y\n  {{- end -}}\nc",
            r#""a" (if (b "  x") (else "  y")) "c""#,
        ),
        (
            "a {{- raw -}} {{ x }} {{- endraw -}} b",
            r#""a" (raw "{{ x }}") "b""#,
        ),
        (
            "a {{ raw -}}\n\nx\n\n{{- endraw }} b",
            r#""a " (raw "\nx\n") " b""#,
        ),
        ("a {{- raw }} x {{ endraw -}} b", r#""a" (raw " x ") "b""#),
        ("{{ raw -}} \n {{- endraw }}", r#"(raw "")"#),
        ("{{- 5-}}", "(value 5)"),
        ("{{ -5 -}}", "(value -5)"),
        ("{{- -5}}", "(value -5)"),
    ]);
}

#[test]
fn the_first_word_decides() {
    check_all(&[
        ("{{if(a)}}x{{end}}", r#"(if (a "x") (else))"#),
        ("{{if'a'}}x{{end}}", r#"(if ("a" "x") (else))"#),
        ("{{if!a}}x{{end}}", r#"(if ((not a) "x") (else))"#),
        (
            "{{ iffy }}{{ ending }}{{ rawest }}{{ format }}",
            "iffy ending rawest format",
        ),
        ("{{ a.if }}", "(value a.if)"),
        ("{{ if.a }}", "at 1:1: expected expression"),
    ]);
}

#[test]
fn newlines_around_directives_are_kept() {
    check(
        "a\n{{ if b }}\nc\n{{ end }}\nd\n",
        r#""a\n" (if (b "\nc\n") (else)) "\nd\n""#,
    );
}

#[test]
fn nodes_know_where_they_are() {
    let text = "é {{- a -}} \nb\n {{ if c }}x{{ elif d }}{{ end }}\n{{ raw }}\n{{ endraw }}";
    let template = parse_template(text).unwrap();
    let places = template.nodes.iter();
    let places = places.map(|node| (node.span.of(text), node.position.to_string()));
    let places: Vec<_> = places.collect();
    let expected = [
        ("é", "1:1"),
        ("{{- a -}}", "1:3"),
        ("b\n ", "2:1"),
        ("{{ if c }}x{{ elif d }}{{ end }}", "3:2"),
        ("\n", "3:34"),
        ("{{ raw }}\n{{ endraw }}", "4:1"),
    ];
    let expected = expected.map(|(text, place)| (text, place.to_owned()));
    assert_eq!(places, expected);
    let NodeKind::If(block) = &template.nodes[3].kind else {
        panic!("the fourth node is the conditional");
    };
    let branches = block.branches.iter();
    let branches: Vec<_> = branches.map(|branch| branch.position.to_string()).collect();
    assert_eq!(branches, ["3:2", "3:13"]);
}
