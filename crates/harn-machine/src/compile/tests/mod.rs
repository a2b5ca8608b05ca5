//! Programs and what they are compiled to.

mod snapshots;

use std::rc::Rc;

use harn_check::Imported;
use harn_check::resolve::{Role, resolve};
use harn_syntax::{LineIndex, parse};

use super::{CompileError, Entry, Interner, PREDEFINED, Unit, compile};
use crate::code::{Function, Source, disassemble, verify};

/// The `main` of a file, verified.
fn function(text: &str, role: Role) -> Result<Rc<Function>, CompileError> {
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
    };
    let first = u32::try_from(PREDEFINED.len()).unwrap_or_default();
    let unit = Unit {
        source: Rc::new(source),
        role,
        globals: first,
        module: 0,
    };
    let mut interner = Interner::default();
    let compiled = compile(
        &parsed.module,
        &resolved,
        &imported,
        &unit,
        Entry::Default,
        &mut interner,
    )?;
    let globals = PREDEFINED.len() + resolved.top.len();
    assert_eq!(verify(&compiled.main, globals), Ok(()), "{text}");
    Ok(compiled.main)
}

/// What a script is compiled to, as text.
fn listing(text: &str) -> String {
    let main = function(text, Role::Entry).expect("it is small");
    disassemble(&main)
}
