//! What is declared in `harn-check` is there, and what is registered as Harn is in its file.

use harn_check::builtins;
use harn_machine::{Body, BuiltinId, Receiver, Registry};
use harn_vm::registry;

/// Whether a body can be called: one in Harn needs its function.
fn is_there(registry: &Registry, body: Option<Body>) -> bool {
    match body {
        None => false,
        Some(Body::Plain(_) | Body::Waiting(_)) => true,
        Some(Body::Harn { file, function } | Body::Each { file, function, .. }) => {
            let text = registry.file_text(file).unwrap_or_default();
            text.contains(&format!("\nfn {function}("))
        }
    }
}

fn receiver(kind: &str) -> Receiver {
    match kind {
        "dict" => Receiver::Dict,
        "iter" => Receiver::Iter,
        "list" => Receiver::List,
        "range" => Receiver::Range,
        "set" => Receiver::Set,
        "string" => Receiver::Text,
        other => panic!("{other} has methods, but receives none"),
    }
}

#[test]
fn every_method_that_is_declared_has_a_body() {
    let registry = registry();
    for (kind, methods) in builtins::methods() {
        for method in *methods {
            for name in [&[method.name()], method.aliases].concat() {
                let body = registry.method_of(receiver(kind), name);
                assert!(is_there(&registry, body), "{kind}.{name}");
            }
        }
    }
}

#[test]
fn iterators_and_ranges_have_the_same_methods() {
    let registry = registry();
    let iterators = builtins::methods().iter().find(|(kind, _)| *kind == "iter");
    let (_, methods) = iterators.expect("iterators have methods");
    for method in *methods {
        let body = registry.method_of(Receiver::Range, method.name());
        assert!(is_there(&registry, body), "range.{}", method.name());
    }
}

#[test]
fn what_the_library_alone_may_call_is_there() {
    let registry = registry();
    let names = builtins::unlisted().iter().map(|builtin| builtin.name);
    for name in names.filter(|name| name.starts_with("__")) {
        let id = BuiltinId::find(name).expect("it is declared");
        assert!(is_there(&registry, registry.body(id)), "{name}");
    }
}

#[test]
fn bodies_in_harn_are_in_their_files() {
    let registry = registry();
    for builtin in builtins::all().iter().chain(builtins::unlisted()) {
        let id = BuiltinId::find(builtin.name).expect("it is declared");
        if let Some(body @ Body::Harn { .. }) = registry.body(id) {
            assert!(is_there(&registry, Some(body)), "{}", builtin.name);
        }
    }
}
