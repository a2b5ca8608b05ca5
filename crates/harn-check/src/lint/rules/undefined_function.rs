//! A call of something that does not exist. The check refuses the program, so this is an error.
//!
//! A variable anywhere in the file may hold a function, so its name counts as defined. If an
//! import cannot be found, nothing can be said about names.

use std::collections::HashSet;

use harn_syntax::{TokenKind, lex};

use super::Findings;
use crate::builtins;
use crate::lint::Context;
use crate::lint::rule::{Rule, replace};
use crate::types::suggest;

pub(crate) const RULE: Rule = Rule {
    name: "undefined-function",
    summary: "What is called should exist.",
    fixable: true,
    on_by_default: true,
};

const CONSTRUCTORS: &[&str] = &["Ok", "Err", "Some", "None"];

pub(super) fn check(ctx: &Context<'_>, out: &mut Findings) {
    if ctx.imported.unresolved {
        return;
    }
    let imported: HashSet<&str> = imported(ctx).collect();
    let mut suggestions = 0;
    for call in &ctx.names.calls {
        let name = call.text.as_str();
        let is_defined = ctx.names.declares(name)
            || builtins::find_any(name).is_some()
            || imported.contains(name)
            || CONSTRUCTORS.contains(&name)
            || name.starts_with("__")
            || name.starts_with("hostlib_");
        if is_defined {
            continue;
        }
        let finding = RULE.error(call.span, format!("there is no function called `{name}`"));
        suggestions += 1;
        let similar = match suggestions <= SUGGESTIONS_MAX {
            true => similar(ctx, name, &imported),
            false => None,
        };
        out.push(match similar {
            Some(other) => finding
                .with_help(format!("did you mean `{other}`?"))
                .with_fix(format!("Call `{other}`"), vec![replace(call.span, other)]),
            None => finding.with_help("declare it or import it"),
        });
    }
}

/// The names that imports bring in, those that are listed included.
fn imported<'a>(ctx: &'a Context<'_>) -> impl Iterator<Item = &'a str> {
    let listed = ctx
        .file
        .imports(ctx.module)
        .flat_map(|import| &import.names);
    let listed = listed.flatten().map(|name| name.text.as_str());
    let known = ctx.imported.names.iter().map(|name| name.as_str());
    listed.chain(known)
}

/// The closest name that could be meant.
fn similar(ctx: &Context<'_>, name: &str, imported: &HashSet<&str>) -> Option<String> {
    if name.len() > LENGTH_MAX {
        return None;
    }
    let builtins = builtins::all().iter().map(|builtin| builtin.name);
    let builtins = builtins.filter(|name| is_callable(name));
    let functions = ctx.names.functions.iter().map(|one| one.name.text.as_str());
    let mut imported: Vec<&str> = imported.iter().copied().collect();
    imported.sort_unstable();
    let candidates = builtins.chain(functions).chain(imported);
    suggest(name, candidates).map(str::to_owned)
}

/// Whether a call can be written with it. Some builtins are there for a word of the language.
fn is_callable(name: &str) -> bool {
    let first = lex(name).tokens.first().map(|token| token.kind);
    first == Some(TokenKind::Identifier) && !name.contains('.')
}

/// Longer names are not compared.
const LENGTH_MAX: usize = 64;
/// A file with more unknown names than this has other troubles.
const SUGGESTIONS_MAX: usize = 50;
