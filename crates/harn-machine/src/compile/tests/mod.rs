//! Programs and what they are compiled to.

mod calls;
mod control;
mod last_uses;
mod limits;
mod values;
mod verifier;

use std::rc::Rc;

use harn_check::Imported;
use harn_check::resolve::{Role, resolve};
use harn_syntax::{LineIndex, parse};

use super::{CompileError, Entry, Interner, PREDEFINED, Unit, compile, speaks_of_tracing};
use crate::code::{Function, Source, disassemble, verify};

/// The `main` of a file, verified.
fn function(text: &str, role: Role, entry: Entry<'_>) -> Result<Rc<Function>, CompileError> {
    let parsed = parse(text);
    assert_eq!(parsed.errors, [], "{text}");
    let imported = Imported::default();
    let resolved = resolve(&parsed.module, &imported, role);
    let source = Source {
        path: "test.harn".into(),
        folder: None,
        lines: LineIndex::new(text),
        text: text.into(),
        is_library: false,
        coverage: None,
    };
    let unit = Unit {
        source: Rc::new(source),
        role,
        globals: (PREDEFINED.len()..PREDEFINED.len() + resolved.top.len())
            .map(|at| u32::try_from(at).expect("there are few"))
            .collect(),
        module: 0,
        is_traced: speaks_of_tracing(text),
    };
    let mut interner = Interner::default();
    let compiled = compile(
        &parsed.module,
        &resolved,
        &imported,
        &unit,
        entry,
        &mut interner,
    )?;
    let globals = PREDEFINED.len() + resolved.top.len();
    assert_eq!(verify(&compiled.main, globals), Ok(()), "{text}");
    Ok(compiled.main)
}

/// What a script is compiled to, as text.
fn listing(text: &str) -> String {
    let main = function(text, Role::Entry, Entry::Default).expect("it is small");
    disassemble(&main)
}

/// Compares the code of the function `f` in a script with what is expected, line by line.
#[track_caller]
fn check(text: &str, expected: &[&str]) {
    let main = function(text, Role::Entry, Entry::Default).expect("it is small");
    let mut functions = main.functions.iter();
    let wanted = functions.find(|one| one.name.as_deref() == Some("f"));
    check_lines(
        &disassemble(wanted.expect("there is a function `f`")),
        expected,
    );
}

/// Compares the code of `main` with what is expected, line by line.
#[track_caller]
fn check_main(text: &str, expected: &[&str]) {
    let listing = listing(text);
    let main = listing.split("\n\n").next().unwrap_or_default();
    check_lines(main, expected);
}

#[track_caller]
fn check_lines(listing: &str, expected: &[&str]) {
    let code = listing.split("\n\n").next().unwrap_or_default();
    let lines: Vec<String> = code
        .lines()
        .skip(1)
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect();
    assert_eq!(lines, expected, "\n{listing}");
}
