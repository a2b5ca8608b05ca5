//! Functions that are broken in every way there is.

use std::rc::Rc;

use harn_check::resolve::Role;

use super::{Entry, function};
use crate::code::{CaptureFrom, Function, Handler, Instruction, Op, PathStep, Raised, verify};
use crate::value::{Text, Value};

/// A function with a bit of everything, which is good.
const GOOD: &str = "
enum E { A(x) }
struct S { a }
let n = 1
fn helper() { }
let closure = { x -> x + n }
var data = {a: {b: [1, 2]}, z: S {a: 1}}
data.a.b[n] = 2
try { helper() } catch (e: E) { throw E.A(e) }
defer { log(data.a) }
for x in [1, 2] { log(\"x: ${x}\"); defer { log(x) } }
impl S { fn m(self, ...rest) { } }
match data { E.A(x) -> { log(x) } [a] -> { } _ -> { missing } }
log(closure(1).m(2)[0:1])
";

const GLOBALS: usize = 64;

/// A change of an instruction.
type Change = fn(Instruction) -> Instruction;

#[track_caller]
fn check(damage: impl FnOnce(&mut Function), expected: &str) {
    let mut main = function(GOOD, Role::Entry, Entry::Default).expect("it is small");
    assert_eq!(verify(&main, GLOBALS), Ok(()));
    damage(Rc::get_mut(&mut main).expect("nobody else has it"));
    let error = verify(&main, GLOBALS).expect_err("it is broken");
    assert!(error.contains(expected), "{error}");
}

/// Replaces the first instruction with an op by another one.
fn replace(function: &mut Function, op: Op, change: impl Fn(Instruction) -> Instruction) {
    let mut code = function.code.iter_mut();
    let found = code.find(|instruction| instruction.op() == op);
    let instruction = found.expect("it is there");
    *instruction = change(*instruction);
}

fn with_a(one: Instruction, a: u16) -> Instruction {
    match one.op().is_wide() {
        true => Instruction::wide(one.op(), one.n(), a, one.wide_bc()),
        false => Instruction::new(one.op(), one.n(), a, one.b(), one.c()),
    }
}

fn with_b(one: Instruction, b: u16) -> Instruction {
    Instruction::new(one.op(), one.n(), one.a(), b, one.c())
}

fn with_c(one: Instruction, c: u16) -> Instruction {
    Instruction::new(one.op(), one.n(), one.a(), one.b(), c)
}

fn with_wide(one: Instruction, wide: u32) -> Instruction {
    Instruction::wide(one.op(), one.n(), one.a(), wide)
}

#[test]
fn operands_must_exist() {
    let broken: [(Op, Change, &str); 17] = [
        (Op::LoadInt, |one| with_a(one, 60_000), "register 60000"),
        (Op::Move, |one| with_b(one, 60_000), "register 60000"),
        (Op::NewList, |one| with_c(one, 1000), "no register"),
        (Op::NewList, |one| with_c(one, -1_i16 as u16), "no size"),
        (
            Op::LoadConstant,
            |one| with_wide(one, 9999),
            "constant 9999",
        ),
        (Op::GetField, |one| with_c(one, 9999), "site 9999"),
        (Op::NewDict, |one| with_b(one, 9999), "list of keys 9999"),
        (Op::NewStruct, |one| with_b(one, 9999), "shape 9999"),
        (Op::SetPath, |one| with_b(one, 9999), "path 9999"),
        (Op::CallBuiltin, |one| with_c(one, 60_000), "builtin 60000"),
        (Op::CallBuiltin, |one| one.with_n(250), "no register"),
        (Op::SetGlobal, |one| with_wide(one, 64), "global 64"),
        (Op::MakeClosure, |one| with_wide(one, 9999), "function 9999"),
        (Op::DeferPush, |one| with_b(one, 5), "deferred block 5"),
        (Op::DeferKeep, |one| with_wide(one, 5), "round 5"),
        (Op::ForLoop, |one| with_c(one, i16::MAX as u16), "target"),
        (Op::Jump, |one| with_wide(one, i32::MIN as u32), "leads out"),
    ];
    for (op, change, expected) in broken {
        check(|main| replace(main, op, change), expected);
    }
}

#[test]
fn constants_must_be_of_the_right_kind() {
    let text = |main: &mut Function| {
        main.constants.push(Value::text("text"));
        u16::try_from(main.constants.len() - 1).expect("there are few")
    };
    let int = |main: &mut Function| {
        main.constants.push(Value::Int(1));
        u16::try_from(main.constants.len() - 1).expect("there are few")
    };
    for op in [Op::NewEnum, Op::JumpUnlessTag] {
        check(
            |main| {
                let at = text(main);
                replace(main, op, |one| with_b(one, at));
            },
            "a tag is no variant",
        );
    }
    for op in [Op::JumpUnlessCaught, Op::DefineMethod] {
        check(
            |main| {
                let at = int(main);
                replace(main, op, |one| with_b(one, at));
            },
            "no",
        );
    }
    check(
        |main| {
            let at = int(main);
            replace(main, Op::Raise, |one| with_wide(one, u32::from(at)));
        },
        "an error has no text",
    );
    let other = Raised::UndefinedBuiltin as u8 + 1;
    check(
        |main| replace(main, Op::Raise, |one| one.with_n(other)),
        "an error has no text",
    );
}

#[test]
fn control_must_not_run_past_the_end() {
    check(|main| main.code.truncate(main.code.len() - 1), "offsets");
    check(
        |main| {
            main.code.clear();
            main.offsets.clear();
        },
        "there is no code",
    );
    check(
        |main| {
            replace(main, Op::Rethrow, |one| {
                Instruction::new(Op::Yield, 0, one.a(), 0, 0)
            })
        },
        "it cannot pause",
    );
    check(
        |main| {
            main.code.push(Instruction::new(Op::LoadNil, 0, 0, 0, 0));
            main.offsets.push(0);
        },
        "past the end",
    );
}

#[test]
fn handlers_must_be_nested() {
    let handler = |start, end| Handler {
        start,
        end,
        target: 0,
        register: 0,
    };
    let add = |handlers: Vec<Handler>| {
        move |main: &mut Function| {
            main.handlers = handlers;
        }
    };
    check(add(vec![handler(2, 2)]), "covers nothing");
    check(add(vec![handler(0, 60_000)]), "too much");
    check(add(vec![handler(0, 4), handler(1, 2)]), "outer handler");
    check(add(vec![handler(0, 2), handler(1, 3)]), "cross");
    let mut lost = handler(0, 1);
    lost.target = 60_000;
    check(add(vec![lost]), "leads out");
    let mut lost = handler(0, 1);
    lost.register = 60_000;
    check(add(vec![lost]), "register 60000");
}

#[test]
fn tables_must_hold_what_exists() {
    check(|main| main.defers = vec![60_000], "deferred block");
    check(
        |main| main.keeps[0].blocks.end = 60_000,
        "no deferred block",
    );
    check(
        |main| main.keeps[0].registers.push(60_000),
        "register 60000",
    );
    check(
        |main| main.keys.push(vec![Text::new("b"), Text::new("a")]),
        "keys are not sorted",
    );
    check(|main| main.paths.push(Vec::new()), "no steps");
    check(
        |main| main.paths.push(vec![PathStep::Index(60_000)]),
        "register 60000",
    );
    check(|main| main.has_rest = true, "nothing to take the rest");
    check(
        |main| main.parameters = vec!["a".into(); 60_000],
        "parameters are no registers",
    );
    for capture in [CaptureFrom::Register(60_000), CaptureFrom::Capture(0)] {
        check(
            |main| {
                let inner = main.functions.iter_mut();
                let inner = inner.filter_map(Rc::get_mut);
                inner.for_each(|inner| inner.captures = vec![capture]);
            },
            "there is no",
        );
    }
}

#[test]
fn functions_inside_are_looked_at_as_well() {
    check(
        |main| {
            let inner = main.functions.iter_mut().filter_map(Rc::get_mut);
            inner.for_each(|inner| inner.code.clear());
        },
        "offsets are missing",
    );
}
