use harn_machine::value::Sameness;
use harn_machine::value::Set;
use harn_syntax::parse_template;
use harn_syntax::template::{LoopVariables, NodeKind};

use super::expression::{Trouble, filtered};
use super::scope::{Items, Scopes};
use super::*;

fn bindings() -> Dict {
    let ints = |items: &[i64]| items.iter().copied().map(Value::Int).collect::<Value>();
    let Value::Dict(dict) = Value::dict([
        ("name", "ada".into()),
        ("blank", "  ".into()),
        ("none", Value::Nil),
        ("xs", ints(&[10, 20, 30])),
        ("empty", Value::list(Vec::new())),
        ("set", Set::new([Value::Int(1)], Sameness::Equal).into()),
        ("no_set", Set::default().into()),
        ("zero_time", Value::Duration(0)),
        (
            "user",
            Value::dict([("first name", "Ada".into()), ("age", Value::Int(36))]),
        ),
        ("text", "a\n\nb".into()),
    ]) else {
        panic!("it is a dict")
    };
    dict
}

/// The value of an expression, or what is wrong with it.
fn evaluate(expression: &str) -> Result<Value, String> {
    let template = parse_template(&format!("{{{{ {expression} }}}}")).unwrap();
    let [node] = &template.nodes[..] else {
        panic!("{expression} is one directive")
    };
    let scopes = Scopes::new(bindings());
    let value = match &node.kind {
        NodeKind::Value(value) => value,
        NodeKind::Name(name) => return Ok(scopes.get(name).unwrap_or_default()),
        _ => panic!("{expression} is a value"),
    };
    match filtered(value, &scopes, &mut |_| Ok(())) {
        Ok(value) => Ok(value),
        Err(Trouble::Message(message)) => Err(message),
        Err(Trouble::Failure(failure)) => Err(failure.text()),
    }
}

#[track_caller]
fn check(expression: &str, expected: &str) {
    match evaluate(expression) {
        Ok(value) => assert_eq!(value.show(), expected, "{expression}"),
        Err(message) => assert_eq!(message, expected, "{expression}"),
    }
}

#[test]
fn paths_lead_into_values_or_nowhere() {
    check("user['first name']", "Ada");
    check("user.age", "36");
    check("xs[0]", "10");
    check("xs[-1]", "30");
    check("xs[3]", "nil");
    check("xs[-4]", "nil");
    check("name[0]", "a");
    check("name[-3]", "a");
    check("user.age.more", "nil");
    check("nothing.at.all", "nil");
}

#[test]
fn and_and_or_give_operands() {
    check("none or blank or name", "ada");
    check("none or 0", "0");
    check("name and xs", "[10, 20, 30]");
    check("empty and name", "[]");
    check("not blank", "true");
    check("!name", "false");
    check("no_set and 1", "1");
    check("zero_time and 1", "1");
}

#[test]
fn only_numbers_and_texts_have_an_order() {
    check("1 < 1.5", "true");
    check("'b' >= 'a'", "true");
    check("xs < 5", "false");
    check("xs >= xs", "false");
    check("none <= none", "false");
    check("1 == 1.0", "true");
    check("xs == xs", "true");
    check("'1' != 1", "true");
}

#[test]
fn filters_change_values() {
    check("name | upper", "ADA");
    check("'hELLO wORLD' | capitalize", "Hello world");
    check("'hELLO  wORLD' | title", "Hello  World");
    check("none | length", "0");
    check("user | length", "2");
    check("5 | length", "`length` not defined for int");
    check("set | first", "1");
    check("empty | last", "nil");
    check("name | last", "a");
    check("xs | reverse", "[30, 20, 10]");
    check("xs | join: '-'", "10-20-30");
    check("name | join: '-'", "ada");
    check("none | join: '-'", "`join` requires a list (got nil)");
    check("blank | default: name", "ada");
    check("no_set | default: name", "set()");
    check("text | indent: 2", "a\n\n  b");
    check("text | indent: 2, true", "  a\n\n  b");
    check("text | indent: 1.5", "`indent` requires an integer width");
    check("text | lines | length", "3");
    check("'1. *x*' | escape_md", r"1\. \*x\*");
    check("name | replace: 'a', '(a)'", "(a)d(a)");
}

#[test]
fn json_is_compact_or_indented() {
    check("user | json", r#"{"age":36,"first name":"Ada"}"#);
    check(
        "user | json: true",
        "{\n  \"age\": 36,\n  \"first name\": \"Ada\"\n}",
    );
    check("empty | json: true", "[]");
    check("1.0 | json", "1");
    check(r#"'a"\n\\' | json"#, r#""a\"\n\\""#);
    check("zero_time | json", "null");
}

#[test]
fn a_filter_that_needs_too_much_memory_ends_the_program() {
    let template = parse_template("{{ 'a' | indent: 100000000000 }}").unwrap();
    let NodeKind::Value(value) = &template.nodes[0].kind else {
        panic!("it is a value")
    };
    let scopes = Scopes::new(Dict::default());
    let refuse = &mut |bytes: usize| match bytes > 1000 {
        true => Err(Fault::stopped("too much")),
        false => Ok(()),
    };
    let refused = filtered(value, &scopes, refuse);
    assert!(matches!(refused, Err(Trouble::Failure(_))));
}

#[test]
fn the_innermost_binding_counts() {
    let mut scopes = Scopes::new(bindings());
    scopes.enter_with(vec![
        ("name".into(), Value::Int(1)),
        ("name".into(), Value::Int(2)),
    ]);
    assert_eq!(scopes.get("name"), Some(Value::Int(2)));
    let items = Items::of(Value::list(vec![Value::Int(7), Value::Int(8)])).unwrap();
    scopes.enter_loop(LoopVariables::KeyAndItem("k".into(), "name".into()), items);
    assert_eq!(scopes.get("name"), Some(Value::Int(7)));
    assert_eq!(scopes.get("k"), Some(Value::Int(0)));
    assert!(scopes.next_turn());
    let shown = scopes.get("loop").unwrap().show();
    assert_eq!(
        shown,
        "{first: false, index: 2, index0: 1, last: true, length: 2}"
    );
    assert!(!scopes.next_turn(), "the loop is over");
    assert_eq!(scopes.get("name"), Some(Value::Int(2)));
    assert_eq!(scopes.get("loop"), None);
}
