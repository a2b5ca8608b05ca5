//! 9.4: what type parameters stand for, and bounds (9.8).

use crate::support::check;

#[test]
fn one_parameter_is_one_type() {
    let declared = "fn same<T>(a: T, b: T) -> T { return a }\n";
    check(
        &format!("{declared}same(1, \"a\")"),
        &["error: type parameter 'T' was inferred as both int and string"],
    );
    check(
        &format!("{declared}same(1, 2.0)"),
        &["error: type parameter 'T' was inferred as both int and float"],
    );
    check(
        &format!("{declared}same(1, 2)\nsame(nil, nil)\nfn g(x) {{ same(x, 1) }}"),
        &[],
    );
}

#[test]
fn matching_is_structural() {
    let conflict = |parameters: &str, arguments: &str| {
        check(
            &format!("fn f<T>({parameters}) {{ }}\nfn id(x: string) -> int {{ }}\nf({arguments})"),
            &["error: type parameter 'T' was inferred as both int and string"],
        );
    };
    conflict("a: T, b: list<T>", "1, [\"a\"]");
    conflict("a: list<T>, b: T", "[1], \"a\"");
    conflict("a: {v: T}, b: T", "{v: 1}, \"a\"");
    conflict("a: T, b: fn(T) -> int", "1, id");
    conflict("a: fn(string) -> T, b: T", "id, \"a\"");
    conflict("a: Result<T, string>, b: T", "Ok(1), \"a\"");
    check("fn f<T>(a: list<T>, b: T) { }\nf([], 1)\nf([1], 2)", &[]);
}

#[test]
fn bound_parameters_are_shown_in_messages() {
    check(
        "fn f<T>(a: T, b: fn(T) -> T, c: list<T>) { }\nf(1, 2, 3)",
        &[
            "error: Argument 2 ('b'): expected fn(int) -> int, got int",
            "error: Argument 3 ('c'): expected list<int>, got int",
        ],
    );
    check(
        "fn f<T>(c: list<T>) { }\nf(3)",
        &["error: Argument 1 ('c'): expected list<T>, got int"],
    );
}

#[test]
fn type_arguments_bind_first() {
    check(
        "fn id<T>(a: T) -> T { return a }\nid<int>(\"a\")",
        &["error: type parameter 'T' was inferred as both int and string"],
    );
    check(
        "fn id<T>(a: T) -> T { return a }\nid<int>(1)\nid<float>(1)\nid<int | nil>(nil)\n\
         fn g() { let s: string = id<int>(1) }",
        &["error: 's' declared as string, but assigned int"],
    );
}

#[test]
fn schemas_bind_what_they_describe() {
    check(
        "type P = {x: int}\nfn get<T>(v: any, s: Schema<T>) -> T { return v }\n\
         fn g() { let a: int = get(1, P)\n let b: int = get(1, schema_of(P))\n\
         let c: int = get(1, {type: \"string\"})\n let d: int = get(1, {type: \"int\"}) }",
        &[
            "error: 'a' declared as int, but assigned {x: int}",
            "error: 'b' declared as int, but assigned {x: int}",
            "error: 'c' declared as int, but assigned string",
        ],
    );
}

#[test]
fn bounds_must_be_satisfied() {
    let declared = "interface Named { fn name() -> string }\nstruct Cat { }\nstruct Dog { }\n\
                    impl Cat { fn name(self) -> string { return \"\" } }\n\
                    fn show<T>(x: T) where T: Named { }\n\
                    fn all<T>(x: list<T>) where T: Named { }\n";
    check(&format!("{declared}show(Cat {{}})\nall([Cat {{}}])"), &[]);
    check(
        &format!("{declared}show(Dog {{}})"),
        &[
            "error: Type 'Dog' does not satisfy interface 'Named': missing method(s): name \
           (required by constraint `where T: Named`)",
        ],
    );
    check(
        &format!("{declared}show({{a: 1}})"),
        &[
            "error: Type '{a: int}' does not satisfy interface 'Named': only named types can \
           satisfy interfaces (required by constraint `where T: Named`)",
        ],
    );
    check(
        &format!("{declared}fn g<U>(x: U, y) where U: Named {{ show(x)\n show(y) }}"),
        &[],
    );
    check(
        "fn f<T>(x: T) where T: Nowhere { }\nstruct S { }\nf(S {})",
        &[
            "error: Type 'S' does not satisfy interface 'Nowhere': interface 'Nowhere' not found \
           (required by constraint `where T: Nowhere`)",
        ],
    );
}

#[test]
fn methods_of_bounded_values() {
    let declared = "interface Named { fn name() -> string }\n";
    check(
        &format!("{declared}fn f<T>(x: T) where T: Named {{ x.name()\n x.age() }}"),
        &["warning: Method 'age' not found in interface 'Named' (constraint on 'T')"],
    );
    check(
        &format!("{declared}fn f<T>(x: T, y) {{ x.age()\n y.age() }}"),
        &[],
    );
    check("fn f<T>(x: T) where T: Nowhere { x.age() }", &[]);
}
