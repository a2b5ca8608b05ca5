use std::collections::BTreeSet;

use harn_syntax::parse;
use harn_syntax::tree::{Function, ItemKind, StatementKind, Type, TypeKind};

use super::*;

/// Appendix B of the language as it is printed: types of results, each with names.
const APPENDIX_B: &str = include_str!("tests/appendix_b.txt");

fn appendix_b() -> impl Iterator<Item = (&'static str, Vec<&'static str>)> {
    APPENDIX_B.split("\n\n").flat_map(|paragraph| {
        let (heading, names) = paragraph.split_once(" —\n").unwrap();
        let types = heading.trim_matches('*');
        let result: Vec<_> = match types {
            "dynamic" => Vec::new(),
            _ => types.split(" | ").collect(),
        };
        names
            .split_whitespace()
            .map(move |name| (name, result.clone()))
    })
}

#[test]
fn exactly_the_names_of_appendix_b_are_known() {
    let listed: BTreeSet<_> = appendix_b().map(|(name, _)| name).collect();
    let known: BTreeSet<_> = all().iter().map(|builtin| builtin.name).collect();
    assert_eq!(known, listed);
    assert_eq!(known.len(), 818);
    assert_eq!(all().len(), 818);
}

#[test]
fn results_are_those_of_appendix_b() {
    for (name, result) in appendix_b() {
        assert_eq!(find(name).unwrap().result, result, "{name}");
    }
}

#[test]
fn names_are_sorted_and_unique() {
    for table in [all(), unlisted()] {
        assert!(table.is_sorted_by(|a, b| a.name < b.name));
    }
    assert!(
        unlisted()
            .iter()
            .all(|builtin| find(builtin.name).is_none())
    );
}

#[test]
fn every_known_builtin_is_in_one_area() {
    assert!(areas().is_sorted_by(|a, b| a.name < b.name));
    let mut names: Vec<_> = areas()
        .iter()
        .flat_map(|area| area.builtins.iter().map(|builtin| builtin.name))
        .collect();
    names.sort_unstable();
    let known: Vec<_> = all().iter().map(|builtin| builtin.name).collect();
    assert_eq!(names, known);
}

#[test]
fn a_builtin_is_found_by_its_name() {
    for builtin in all() {
        assert_eq!(find(builtin.name), Some(builtin));
        assert!(builtin.known);
    }
    for builtin in unlisted() {
        assert_eq!(find_any(builtin.name), Some(builtin));
        assert!(!builtin.known);
    }
    for name in ["", "lenght", "stream.", "zzz", "Ok"] {
        assert_eq!(find(name), None, "{name}");
    }
}

#[test]
fn only_the_generic_builtins_take_type_arguments() {
    let generic: Vec<_> = all().iter().filter(|it| it.type_parameters > 0).collect();
    let names: Vec<_> = generic.iter().map(|builtin| builtin.name).collect();
    assert_eq!(
        names,
        [
            "ask_user",
            "dual_control",
            "llm_call",
            "llm_call_structured",
            "llm_call_structured_result",
            "llm_completion",
            "schema_check",
            "schema_expect",
            "schema_parse",
        ]
    );
    assert!(generic.iter().all(|builtin| builtin.type_parameters == 1));
}

#[test]
fn documentation_is_one_sentence() {
    for builtin in all().iter().chain(unlisted()) {
        let Builtin { name, doc, .. } = builtin;
        assert!(doc.ends_with('.'), "{name}: {doc}");
        assert!(!doc.contains('\n') && !doc.contains(". "), "{name}: {doc}");
        assert!(doc.starts_with(char::is_uppercase), "{name}: {doc}");
    }
}

/// Families whose members all need the same from outside.
#[test]
fn effects_are_those_of_the_family() {
    let families = [
        ("http_", Effect::Io),
        ("read_", Effect::Io),
        ("write_", Effect::Io),
        ("host_", Effect::Io),
        ("pg_", Effect::Io),
        ("store_", Effect::Io),
        ("log_", Effect::Io),
        ("event_log", Effect::Io),
        ("hostlib_", Effect::Io),
        ("websocket_", Effect::Io),
        ("llm_", Effect::Model),
        ("provider_", Effect::Model),
        ("random", Effect::Random),
        ("date_now", Effect::Clock),
        ("sleep", Effect::Clock),
        ("bytes_", Effect::Pure),
        ("json_", Effect::Pure),
        ("set_is_", Effect::Pure),
        ("regex_", Effect::Pure),
        ("shared_", Effect::Pure),
    ];
    for builtin in all().iter().chain(unlisted()) {
        for (prefix, effect) in families {
            if builtin.name.starts_with(prefix) {
                assert_eq!(builtin.effect, effect, "{}", builtin.name);
            }
        }
    }
}

/// The function a signature declares, read by the parser; `None` if it declares a value.
fn function(builtin: &Builtin) -> Option<Function> {
    let rest = builtin.signature.strip_prefix(builtin.name).unwrap();
    let source = match rest.strip_prefix(": ") {
        Some(ty) => format!("let value: {ty} = nil"),
        // Some names are reserved words or have a dot, so another one stands for them.
        None => format!("fn f{rest} {{}}"),
    };
    let parsed = parse(&source);
    assert_eq!(parsed.errors, [], "{source}");
    let [statement] = &parsed.module.statements[..] else {
        panic!("{source} is one statement")
    };
    match &statement.kind {
        StatementKind::Item(item) => match &item.kind {
            ItemKind::Function(function) => Some(function.clone()),
            _ => panic!("{source} declares a function"),
        },
        _ => None,
    }
}

#[test]
fn signatures_are_harn() {
    for builtin in all().iter().chain(unlisted()) {
        let Some(function) = function(builtin) else {
            continue;
        };
        assert!(function.result.is_some(), "{}", builtin.signature);
        assert_eq!(
            function.type_parameters.len(),
            builtin.type_parameters,
            "{}",
            builtin.signature
        );
    }
}

#[test]
fn what_is_no_function_is_a_value() {
    let values = all().iter().chain(unlisted());
    let values = values.filter(|builtin| function(builtin).is_none());
    let names: Vec<_> = values.map(|builtin| builtin.name).collect();
    assert_eq!(
        names,
        [
            "e",
            "pi",
            "stream",
            "argv",
            "event_log",
            "mcp",
            "skills",
            "workflow"
        ]
    );
}

/// The kinds of values a type means, by the names that appendix B uses.
fn kinds(ty: &Type, kinds: &mut BTreeSet<String>) {
    match &ty.kind {
        TypeKind::Named(name, _) => drop(kinds.insert(name.text.to_string())),
        TypeKind::List(_) => drop(kinds.insert("list".to_owned())),
        TypeKind::Shape(_) => drop(kinds.insert("dict".to_owned())),
        TypeKind::Nil => drop(kinds.insert("nil".to_owned())),
        TypeKind::Union(members) => members.iter().for_each(|member| self::kinds(member, kinds)),
        other => panic!("no builtin returns {other:?}"),
    }
}

/// Where the documents describe something else than appendix B says, the signature follows
/// the documents: these are all such places.
#[test]
fn signatures_agree_with_appendix_b() {
    let disagreeing = all().iter().filter(|builtin| {
        let Some(function) = function(builtin) else {
            return false;
        };
        let mut declared = BTreeSet::new();
        kinds(&function.result.unwrap(), &mut declared);
        let inferred: BTreeSet<_> = builtin.result.iter().map(|it| it.to_string()).collect();
        !inferred.is_empty() && declared != inferred
    });
    let names: Vec<_> = disagreeing.map(|builtin| builtin.name).collect();
    assert_eq!(
        names,
        [
            "exit",
            "handler_context",
            "metadata_get",
            "metadata_resolve",
            "project_root",
            "range",
            "regex_match",
            "to_float",
            "to_int",
            "trigger_fire",
            "trigger_register",
            "trigger_replay",
            "trust_graph_policy_for",
            "trust_graph_query",
            "trust_graph_record",
            "trust_graph_verify_chain",
            "trust_record",
        ]
    );
}

#[test]
fn methods_are_sorted_harn_with_one_sentence() {
    assert!(methods().is_sorted_by(|a, b| a.0 < b.0));
    for (receiver, methods) in methods() {
        assert!(
            methods.is_sorted_by(|a, b| a.name() < b.name()),
            "{receiver}"
        );
        for Method { signature, doc, .. } in *methods {
            assert!(doc.ends_with('.') && !doc.contains(". "), "{doc}");
            let parsed = parse(&format!("fn {signature} {{}}"));
            assert_eq!(parsed.errors, [], "{signature}");
        }
    }
}
