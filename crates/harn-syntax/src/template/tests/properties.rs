//! What holds for all templates.

use proptest::prelude::*;

use super::*;

/// Texts made of what means something to a template.
fn scraps() -> impl Strategy<Value = String> {
    let scrap = prop::sample::select(vec![
        "{{",
        "}}",
        "{{-",
        "-}}",
        "{{#",
        "#}}",
        "#-}}",
        "{",
        "}",
        "#",
        "-",
        "if",
        "elif",
        "else",
        "end",
        "for",
        "in",
        "include",
        "with",
        "raw",
        "endraw",
        "and",
        "or",
        "not",
        "nil",
        "a",
        "b.c",
        "[",
        "]",
        "(",
        ")",
        "|",
        "upper",
        "join",
        ":",
        ",",
        "\"",
        "'",
        "\\",
        "=",
        "==",
        "!",
        "&",
        "<",
        "1",
        "-2",
        "3.5",
        " ",
        "\n",
        "\r\n",
        "\t",
        "é",
        "😀",
        "{{ end }}",
        "{{ if a }}",
        "{{ for x in xs }}",
        "{{ raw }}",
        "{{ endraw }}",
        "{{ include 'p' with { a: ",
    ]);
    prop::collection::vec(scrap, 0..40).prop_map(|scraps| scraps.concat())
}

/// A source and the tree it stands for.
type Pair = (String, String);

fn name() -> impl Strategy<Value = String> {
    "[xyz]{1,3}"
}

fn primary() -> impl Strategy<Value = Pair> {
    let same = |text: String| (text.clone(), text);
    prop_oneof![
        name().prop_map(same),
        any::<i64>().prop_map(|int| int.to_string()).prop_map(same),
        Just("nil".to_owned()).prop_map(same),
        ("[ -~é😀\n]{0,6}", any::<bool>()).prop_map(|(text, single)| {
            let quote = if single { '\'' } else { '"' };
            let escaped = text
                .replace('\\', "\\\\")
                .replace(quote, &format!("\\{quote}"));
            (format!("{quote}{escaped}{quote}"), format!("{text:?}"))
        }),
        (name(), name(), any::<i64>()).prop_map(|(root, member, index)| {
            let source = format!("{root} . {member}[{index}]");
            (source, format!("{root}.{member}[{index}]"))
        }),
    ]
}

fn expression() -> impl Strategy<Value = Pair> {
    primary().prop_recursive(4, 24, 4, |inner| {
        let operands = prop::collection::vec(inner.clone(), 2..4);
        let joined = (operands, any::<bool>()).prop_map(|(operands, is_or)| {
            let (sign, word) = if is_or {
                (" || ", "or")
            } else {
                (" and ", "and")
            };
            let sources: Vec<_> = operands
                .iter()
                .map(|pair| format!("({})", pair.0))
                .collect();
            let trees: Vec<_> = operands.iter().map(|pair| pair.1.as_str()).collect();
            (sources.join(sign), format!("({word} {})", trees.join(" ")))
        });
        let compared = (inner.clone(), inner.clone()).prop_map(|(left, right)| {
            let source = format!("({})<=({})", left.0, right.0);
            (source, format!("(<= {} {})", left.1, right.1))
        });
        let negated =
            inner.prop_map(|(source, tree)| (format!("! ({source})"), format!("(not {tree})")));
        prop_oneof![joined, compared, negated]
    })
}

fn filtered() -> impl Strategy<Value = Pair> {
    (expression(), prop::option::of(expression())).prop_map(|(value, default)| match default {
        None => value,
        Some(default) => (
            format!("{} | default: {} | trim", value.0, default.0),
            format!("(trim (default {} {}))", value.1, default.1),
        ),
    })
}

fn piece() -> impl Strategy<Value = Pair> {
    prop_oneof![
        name().prop_map(|name| (format!("{{{{{name}}}}}"), name)),
        expression().prop_map(|(source, tree)| {
            (format!("{{{{ ({source}) }}}}"), format!("(value {tree})"))
        }),
        "[a-z{} \n]{0,5}".prop_map(|text| {
            (
                format!("{{{{raw}}}}{text} {{{{endraw}}}}"),
                format!("(raw {:?})", text + " "),
            )
        }),
    ]
}

fn block() -> impl Strategy<Value = Pair> {
    piece().prop_recursive(5, 32, 4, |inner| {
        let body = prop::collection::vec(inner, 0..4).prop_map(sequence);
        let conditional = (
            filtered(),
            body.clone(),
            filtered(),
            body.clone(),
            body.clone(),
        );
        let conditional = conditional.prop_map(|(a, first, b, second, third)| {
            let source = format!(
                "{{{{ if {} }}}}{}{{{{- elif {}-}}}}{}{{{{else}}}}{}{{{{end}}}}",
                a.0, first.0, b.0, second.0, third.0
            );
            let part =
                |head: &str, body: &str| format!("({})", format!("{head} {body}").trim_end());
            let parts = [
                part(&a.1, &first.1),
                part(&b.1, &second.1),
                part("else", &third.1),
            ];
            (source, format!("(if {})", parts.join(" ")))
        });
        let repeated = (name(), filtered(), body).prop_map(|(name, items, body)| {
            let source = format!("{{{{ for {name} in {} }}}}{}{{{{ end }}}}", items.0, body.0);
            let head = format!("for {name} {} {}", items.1, body.1);
            (source, format!("({} (else))", head.trim_end()))
        });
        prop_oneof![conditional, repeated]
    })
}

fn sequence(parts: Vec<Pair>) -> Pair {
    let (sources, trees): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
    (sources.concat(), trees.join(" "))
}

proptest! {
    #[test]
    fn nothing_panics(text in any::<String>()) {
        outcome(&text);
    }

    #[test]
    fn nothing_that_looks_like_a_template_panics(text in scraps()) {
        outcome(&text);
    }

    #[test]
    fn a_text_without_braces_comes_back(text in "[^{]{0,40}(\\{[^{]{1,10}){0,4}") {
        let template = parse_template(&text).unwrap();
        let copied: String = template.nodes.iter().map(|node| node.span.of(&text)).collect();
        prop_assert_eq!(copied, text.clone());
        for node in &template.nodes {
            prop_assert_eq!(&node.kind, &NodeKind::Text(text.clone().into()));
        }
    }

    #[test]
    fn errors_and_nodes_are_at_braces(text in scraps()) {
        let lines = crate::LineIndex::new(&text);
        match parse_template(&text) {
            Err(error) => {
                prop_assert!(text[error.offset as usize..].starts_with("{{"));
                prop_assert_eq!(lines.position(&text, error.offset), error.position);
            }
            Ok(template) => for node in &template.nodes {
                let is_text = matches!(node.kind, NodeKind::Text(_));
                prop_assert_eq!(node.span.of(&text).starts_with("{{"), !is_text);
                prop_assert_eq!(lines.position(&text, node.span.start), node.position);
            },
        }
    }

    #[test]
    fn what_was_put_together_is_taken_apart((source, tree) in block()) {
        prop_assert_eq!(outcome(&source), tree);
    }
}

/// Each of these would take minutes if something were gone through again for every part, and
/// the run would be stopped.
#[test]
fn long_texts_come_to_an_end() {
    for part in [
        "{{x}}",
        "{",
        "{{ ",
        "{{-",
        "{{#",
        "{{# #",
        "{{raw}}",
        "{{raw}}{{ ",
        "{{ endraw",
        "{{ '",
        "{{ 'a\\",
        "{{ if a }}",
        "{{ x -}} ",
        " \n",
        "{{ a ",
        "{{ a.b",
        "{{ (",
        "{{ a | trim",
        "{{ for ",
        "{{ for a,",
        "{{ include 'a' with {",
        "é{{x}}",
    ] {
        let repeated = part.repeat(100_000);
        for text in [
            repeated.clone(),
            format!("{{{{ {repeated} }}}}"),
            format!("{{{{ raw }}}}{repeated}"),
            format!("{{{{ for {repeated} in x }}}}"),
            format!("{{{{ include 'a' with {{ {repeated} }} }}}}"),
        ] {
            assert!(!outcome(&text).is_empty(), "{part}");
        }
    }
}
