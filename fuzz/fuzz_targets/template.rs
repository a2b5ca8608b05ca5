//! Every text is a template or an error, and text without directives is copied.

#![no_main]

use harn_fuzz::source::template_text;
use harn_fuzz::spans::check_span;
use harn_syntax::parse_template;
use harn_syntax::template::{Node, NodeKind};

fn check(text: &str, nodes: &[Node]) {
    for node in nodes {
        check_span(text, node.span);
        match &node.kind {
            NodeKind::Text(copied) => assert_eq!(node.span.of(text), copied),
            NodeKind::If(conditional) => {
                for branch in &conditional.branches {
                    check(text, &branch.body);
                }
                check(text, &conditional.otherwise);
            }
            NodeKind::For(repeated) => {
                check(text, &repeated.body);
                check(text, &repeated.otherwise);
            }
            NodeKind::Raw(_) | NodeKind::Name(_) | NodeKind::Value(_) | NodeKind::Include(_) => {}
        }
    }
}

harn_fuzz::target!(|bytes| {
    let text = template_text(bytes);
    match parse_template(&text) {
        Ok(template) => {
            check(&text, &template.nodes);
            if !text.contains("{{") {
                let copied = template.nodes.iter().map(|node| node.span.of(&text));
                assert_eq!(copied.collect::<String>(), text);
            }
        }
        Err(error) => {
            assert!(text.contains("{{"), "{text:?}: {error}");
            assert!(
                text[error.offset as usize..].starts_with("{{"),
                "{text:?}: {error}"
            );
        }
    }
});
