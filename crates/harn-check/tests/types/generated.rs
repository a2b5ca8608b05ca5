//! Whatever is written, checking it does not panic.

use harn_check::{CheckOptions, Imported, inspect_types};
use proptest::prelude::*;

use crate::conformance::{conformance, programs};

/// Pieces that make interesting programs when they are put together.
const PIECES: &[&str] = &[
    "fn f<T>(x: T, y: int = 1) -> T where T: I {\n",
    "gen fn g() -> Stream<int> {\n",
    "struct S<out T> { a: T, b?: int }\n",
    "enum E { A, B(x: int) }\n",
    "type A = {k: \"a\", n: A | nil} | {k: \"b\"}\n",
    "type B<T> = list<B<T>>\n",
    "interface I { type X = int\n fn m(a: X) -> I }\n",
    "impl S { fn m(self, a: int) -> S {\n",
    "pipeline default(a) -> int {\n",
    "@deprecated(use: \"x\")\n",
    "@archivist(confidence: 3)\n",
    "let x: int | nil = nil\n",
    "var x = nil\n",
    "x = 1\n",
    "x += \"a\"\n",
    "let {a, b = 1, ...c} = x\n",
    "if x != nil && type_of(x) == \"int\" {\n",
    "} else {\n",
    "while !x {\n",
    "for (k, v) in x.iter() {\n",
    "match x.k { \"a\" | 1 -> {\n",
    "_ -> {\n",
    "guard x.has(\"a\") else { return 1 }\n",
    "return x\n",
    "throw \"a\"\n",
    "emit x?.y\n",
    "yield x[0]\n",
    "f<int>(x, ...x, S { a: 1, z: 2 }, E.B(1))\n",
    "x |> f(_)\n",
    "try { x? } catch (e: E) { e }\n",
    "let p = parallel each x with { max_concurrent: \"a\" } { i -> i }\n",
    "schema_expect(x, {type: \"object\", properties: {a: {type: \"int\"}}})\n",
    "let y = x ?? 1 + 2.0 * \"a\" - nil\n",
    "let z = x < true ? x[1:2] : { q: int -> q }\n",
    "unreachable(x)\n",
    "}\n",
    "}\n",
    "} }\n",
];

fn program() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(PIECES);
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

/// A program of the conformance suite with the lines of another put between its own, and
/// some lines left out: much of it still makes sense, but not all.
fn mixture() -> impl Strategy<Value = String> {
    let mut found = Vec::new();
    programs(&conformance(), &mut found);
    found.sort();
    let file = prop::sample::select(found);
    let picks = prop::collection::vec(0..8_u8, 1..40);
    (file.clone(), file, picks).prop_map(|(one, other, picks)| {
        let read = |path| std::fs::read_to_string(path).unwrap_or_default();
        let (one, other) = (read(one), read(other));
        let mut inserted = other.lines();
        let mut mixed = String::new();
        for (line, pick) in one.lines().zip(picks.iter().cycle()) {
            let lines = match pick {
                0 => [None, None],
                1 => [Some(line), inserted.next()],
                2 => [inserted.next(), inserted.next()],
                _ => [Some(line), None],
            };
            for line in lines.into_iter().flatten() {
                mixed.push_str(line);
                mixed.push('\n');
            }
        }
        mixed
    })
}

fn check(source: &str) {
    let parsed = harn_syntax::parse(source);
    for strict_types in [false, true] {
        let options = CheckOptions {
            strict_types,
            before_a_run: strict_types,
        };
        let checked = inspect_types(&parsed.module, &Imported::default(), options);
        for diagnostic in &checked.diagnostics {
            assert!(diagnostic.span.end as usize <= source.len());
        }
        checked.type_at(3);
    }
}

proptest! {
    #[test]
    fn programs_of_pieces(source in program()) {
        check(&source);
    }

    #[test]
    fn programs_of_programs(source in mixture()) {
        check(&source);
    }

    #[test]
    fn programs_of_anything(source in "\\PC*") {
        check(&source);
    }
}
