use harn_syntax::tree::Name;
use harn_syntax::visit::Visit;
use harn_syntax::{Span, parse};

use super::*;

/// All uses of names in source order, each as `name=place|place`.
fn uses(source: &str, role: Role) -> String {
    let parsed = parse(source);
    assert_eq!(parsed.errors, [], "{source}");
    let imported = Imported {
        names: vec!["shared_fn".into()],
        ..Imported::default()
    };
    let resolved = resolve(&parsed.module, &imported, role);
    let mut uses: Vec<_> = resolved.uses.iter().collect();
    uses.sort_by_key(|(start, _)| **start);
    let shown = uses.into_iter().map(|(start, used)| {
        let text = &source[*start as usize..];
        let is_part = |character: char| character.is_alphanumeric() || character == '_';
        let end = text
            .find(|character| !is_part(character))
            .unwrap_or(text.len());
        let places: Vec<_> = used.places.iter().map(|place| show(*place)).collect();
        format!("{}={}", &text[..end], places.join("|"))
    });
    shown.collect::<Vec<_>>().join(" ")
}

fn show(place: Place) -> String {
    match place {
        Place::Local(slot) => format!("local{slot}"),
        Place::Captured(at) => format!("captured{at}"),
        Place::Top(at) => format!("top{at}"),
        Place::Global(name) => format!("global:{name}"),
        Place::Builtin(builtin) => format!("builtin:{}", builtin.name),
    }
}

#[track_caller]
fn check(source: &str, expected: &str) {
    assert_eq!(uses(source, Role::Entry), expected, "{source}");
}

/// 4.2: slots are used again when their scope is over.
#[test]
fn variables_live_in_slots() {
    check(
        "fn f(a, b) { let c = a; return c + b }",
        "a=local0 c=local2 b=local1",
    );
    check(
        "fn f() { if true { let a = 1; g(a) } else { let b = 2; g(b) } }",
        "g= a=local0 g= b=local0",
    );
    let parsed = parse("fn f() { if true { let a = 1; let b = 2 } let c = 3 }");
    let resolved = resolve(&parsed.module, &Imported::default(), Role::Entry);
    let slots: Vec<_> = resolved.frames.iter().map(|frame| frame.slots).collect();
    assert_eq!(slots, [0, 2]);
}

/// 5.12: a value is put where its name will be, while variables inside it are still in use.
#[test]
fn the_slot_of_a_name_is_not_used_inside_its_value() {
    check(
        "fn f() { let a = if true { let b = 1; g(b) }; g(a) }",
        "g= b=local1 g= a=local0",
    );
    check(
        "fn f() { let {a = if true { let b = 1; g(b) }} = {}; g(a) }",
        "g= b=local1 g= a=local0",
    );
    check(
        "fn f(a = if true { let b = 1; g(b) }, ...c) { g(a); g(c) }",
        "g= b=local2 g= a=local0 g= c=local1",
    );
    // What a deferred block sees stays in use, but does not move the name to other variables.
    check(
        "fn f() { let a = match 1 { b -> { let c = b; g(c) } d -> { defer { g(d) } } }; g(a) }",
        "b=local1 g= c=local2 g= d=local1 g= a=local0",
    );
}

/// 4.1: shadowing, and reading before the binding.
#[test]
fn the_innermost_binding_counts_once_it_is_there() {
    check(
        "fn f() { let a = 1; if a { let b = a; let a = b; g(a) } }",
        "a=local0 a=local0 b=local1 g= a=local2",
    );
    check(
        "fn f() { g(len); let len = 1; g(len) }",
        "g= len=builtin:len g= len=local0",
    );
}

/// 4.4: a variable that is no function does not hide a builtin.
#[test]
fn a_call_has_several_places() {
    check(
        "fn f() { let len = 1; len(x) }",
        "len=local0|builtin:len x=",
    );
    check("fn f(g) { g(1) }", "g=local0");
    check("fn f() { nothing() }", "nothing=");
    check("log(argv)", "log=builtin:log argv=global:argv");
}

/// 4.3: closures copy what they mention, functions at the top are found by name.
#[test]
fn closures_capture() {
    check(
        "fn f() { let a = 1; let g = { x -> x + a }; g(2) }",
        "x=local0 a=captured0 g=local1",
    );
    check(
        "fn f() { let a = 1; let g = { -> { -> a } } }",
        "a=captured0",
    );
    check(
        "fn f() { return g() }; fn g() { return f() }",
        "g=top2 f=top1",
    );
    check("let n = 1\nfn f() { return n }", "n=captured0");
    check("spawn { let a = 1; a }", "a=local0");
    check(
        "fn f(xs) { parallel each xs { x -> x + len(xs) } }",
        "xs=local0 x=local0 len=builtin:len xs=captured0",
    );
}

#[test]
fn what_is_assigned_inside_is_copied_for_each_activation() {
    let parsed = parse("fn f() { var n = 1; let g = { -> n = n + 1 }; let h = { -> n } }");
    let resolved = resolve(&parsed.module, &Imported::default(), Role::Entry);
    let assigned = resolved.frames.iter().flat_map(|frame| &frame.captures);
    let assigned: Vec<_> = assigned
        .into_iter()
        .map(|one| (&*one.name, one.is_assigned))
        .collect();
    assert_eq!(assigned, [("n", true), ("n", false)]);
}

/// 11.5: the variables of an imported file are shared by its functions.
#[test]
fn an_imported_file_shares_its_variables() {
    let source = "var n = 1\nfn f() { n = n + 1 }";
    assert_eq!(uses(source, Role::Entry), "n=captured0 n=captured0");
    assert_eq!(uses(source, Role::Imported), "n=top2 n=top2");
    check("shared_fn()", "shared_fn=top0");
}

/// 4.3, 7.1: functions of a block see each other, also the later ones.
#[test]
fn functions_of_a_block_are_found_when_they_are_called() {
    check(
        "fn f() { fn a() { return b() }; fn b() { return a() }; return a() }",
        "b=captured0 a=captured0 a=local0",
    );
    // Before its declaration the slot is empty, and something else may be meant.
    check(
        "fn f() { len(1); fn len(x) { return x } }",
        "len=local0|builtin:len x=local0",
    );
}

/// 4.1: two immutable bindings of one name.
#[test]
fn binding_again_is_noticed() {
    let again = |source: &str| {
        let parsed = parse(source);
        let resolved = resolve(&parsed.module, &Imported::default(), Role::Entry);
        let all = resolved.declarations.values();
        all.filter(|declared| **declared == Declared::Again).count()
    };
    assert_eq!(again("let a = 1; let a = 2"), 1);
    assert_eq!(again("fn f(a) { let a = 2 }"), 1);
    assert_eq!(again("var a = 1; let a = 2; var a = 3"), 0);
    assert_eq!(again("let a = 1; var a = 2"), 0);
    assert_eq!(again("let a = 1; if a { let a = 2 }"), 0);
    assert_eq!(again("for x in xs { let x = 1 }"), 0);
    assert_eq!(again("try { } catch (e) { let e = 1 }"), 0);
    assert_eq!(again("let _ = 1; let _ = 2"), 0);
    assert_eq!(again("fn f() { }; let f = 1"), 1);
}

/// 4.1: what may not be assigned to.
#[test]
fn immutable_bindings_are_known() {
    let immutable = |source: &str| {
        let parsed = parse(source);
        let resolved = resolve(&parsed.module, &Imported::default(), Role::Entry);
        struct Targets<'a>(&'a Resolved, Vec<bool>);
        impl Visit for Targets<'_> {
            fn statement(&mut self, statement: &harn_syntax::tree::Statement) {
                use harn_syntax::tree::{ExpressionKind, StatementKind};
                if let StatementKind::Assignment(assignment) = &statement.kind
                    && let ExpressionKind::Name(name) = &assignment.target.kind
                {
                    self.1
                        .extend(self.0.use_of(name).map(|used| used.immutable));
                }
                harn_syntax::visit::walk_statement(self, statement);
            }
        }
        let mut targets = Targets(&resolved, Vec::new());
        harn_syntax::visit::walk_module(&mut targets, &parsed.module);
        targets.1
    };
    assert_eq!(
        immutable("fn f(p) { p = 1; let a = 1; a = 2; var b = 1; b = 2 }"),
        [true, true, false]
    );
    assert_eq!(immutable("for x in xs { x = 1 }"), [false]);
    assert_eq!(immutable("try { } catch (e) { e = 1 }"), [true]);
    assert_eq!(immutable("match v { n -> { n = 1 } }"), [true]);
}

/// 5.5: the placeholder is a slot of its own.
#[test]
fn the_placeholder_of_a_pipe_is_its_value() {
    check(
        "fn f(v) { return v |> split(_, \",\") |> _.first }",
        "v=local0 split=builtin:split _=local1 _=local2",
    );
    check("fn f(v) { return v |> { _ -> 1 } }", "v=local0");
}

/// 6.3
#[test]
fn arms_bind_names() {
    check(
        "fn f(v) { match v { Shape.Circle(r) -> { g(r) } {k: x, y: 1} -> { g(x) } [a, 2] -> { g(a) } n -> { g(n) } } }; enum Shape { Circle(r) }",
        "v=local0 g= r=local1 g= x=local1 g= a=local1 g= n=local1",
    );
    check("enum E { A }\nmatch E.A { E.A -> { } }", "");
}

/// 0: variables first, then declarations; parameters of pipelines may be missing.
#[test]
fn files_with_pipelines_are_prepared_in_two_passes() {
    check(
        "fn f() { return later }\nlet later = 1\npipeline default(task) { f(); task; later }",
        "later=captured0 f=top1 task=captured0 later=captured1",
    );
    check(
        "pipeline p() { let a = 1 }\npipeline default() extends p { a }",
        "a=local0",
    );
    check("log(1)\npipeline p() { }", "");
}

#[test]
fn endless_chains_of_pipelines_end() {
    let chain =
        (0..20_000).map(|at| format!("pipeline p{}() extends p{at} {{ let x{at} = 1 }}\n", at + 1));
    let source: String = chain.collect();
    let parsed = parse(&source);
    let resolved = resolve(&parsed.module, &Imported::default(), Role::Entry);
    assert_eq!(resolved.frames.len(), 2);
    assert_eq!(resolved.frames[1].slots, 20_000);
    let circle = parse("pipeline a() extends b { let x = 1 }\npipeline b() extends a { x }");
    resolve(&circle.module, &Imported::default(), Role::Entry);
}

/// What was typed before is found, can be assigned if it is a `var`, and can be declared again.
#[test]
fn what_was_typed_before_is_found() {
    let module = parse("fn f() { n = n + k }\nlet k = k\nfn n() {}").module;
    let earlier = [("n", true), ("k", false)].map(|(name, is_mutable)| Earlier {
        name: name.into(),
        is_mutable,
    });
    let resolved = resolve_typed(&module, &Imported::default(), &earlier);
    let top = resolved.top.iter();
    let top: Vec<_> = top
        .map(|top| (top.name.as_str(), top.is_imported))
        .collect();
    let expected = [
        ("n", true),
        ("k", true),
        ("f", false),
        ("n", false),
        ("k", false),
    ];
    assert_eq!(top, expected);
    // Nothing is captured: a session shares its variables.
    assert!(
        resolved
            .frames
            .iter()
            .all(|frame| frame.captures.is_empty())
    );
}

#[test]
fn a_constant_that_was_typed_before_cannot_be_assigned() {
    for is_mutable in [true, false] {
        let module = parse("a = 1").module;
        let earlier = [Earlier {
            name: "a".into(),
            is_mutable,
        }];
        let resolved = resolve_typed(&module, &Imported::default(), &earlier);
        let name = Name {
            text: "a".into(),
            span: Span { start: 0, end: 1 },
        };
        let used = resolved.use_of(&name).unwrap();
        assert_eq!(used.places, [Place::Top(0)]);
        assert_eq!(used.immutable, !is_mutable);
    }
}

/// 6.9: what a deferred block sees is not used for anything else before it runs.
#[test]
fn deferred_blocks_keep_their_variables() {
    check(
        "fn f() { if true { let a = 1; defer { g(a) } }; let b = 2; g(b) }",
        "g= a=local0 g= b=local1",
    );
}

/// 15.3: a pack has its id and its fields as variables, and a name of its own.
#[test]
fn eval_packs_bind_names() {
    let source = "eval_pack \"Nightly run: 2\" { cases: 3\nid; version; cases }\nnightly_run_2";
    check(
        source,
        "id=local0 version=local1 cases=local2 nightly_run_2=top1",
    );
    for (id, name) in [
        ("a-b", "a_b"),
        ("1st", "eval_pack_1st"),
        ("--", "eval_pack_"),
    ] {
        assert_eq!(super::walk::name_of_pack(id), name);
    }
    assert_eq!(super::walk::name_of_pack("if"), "eval_pack_if");
}

/// 7.5: in a circle every pipeline is resolved, whichever is the entry.
#[test]
fn pipelines_in_a_circle_are_resolved() {
    check(
        "pipeline a() extends b { let x = 1; x }\npipeline b() extends a { let y = 2; y }",
        "x=local0 y=local1",
    );
}
