//! What can be looked up.

use harn_check::builtins::{self, Builtin, Effect, Method};
use harn_syntax::TokenKind;
use harn_vm::machine::{BuiltinId, Registry};
use serde::Serialize;

use super::library;

/// What belongs together.
#[derive(Debug, Serialize)]
pub(super) struct Area {
    /// A word for it, or `std/NAME`.
    pub(super) area: String,
    /// What it is about.
    pub(super) title: String,
    pub(super) entries: Vec<Entry>,
}

/// Something that can be looked up.
#[derive(Debug, Serialize)]
pub(super) struct Entry {
    pub(super) name: String,
    /// What it is: builtin, value, method, function or type.
    pub(super) kind: &'static str,
    /// Its declaration.
    pub(super) signature: String,
    /// What it does. Nobody may have said so.
    pub(super) doc: String,
    /// Where it belongs.
    pub(super) area: String,
    /// How to get it, if it is not there from the start.
    pub(super) import: Option<String>,
    /// What it needs besides its arguments, if somebody has said so.
    pub(super) effect: Option<&'static str>,
    /// Whether the checker accepts calls of it.
    pub(super) known: bool,
    /// Whether a call does something; what is declared and not built yet fails.
    pub(super) available: bool,
}

impl Entry {
    /// Whether it is meant by a name: that of a method also without what has it.
    pub(super) fn is_called(&self, name: &str) -> bool {
        let of_something = self.name.rsplit_once('.').map(|(_, name)| name);
        self.name == name || (self.kind == "method" && of_something == Some(name))
    }
}

/// Everything, by what it is about: builtins, then methods, then modules.
pub(super) fn areas() -> Vec<Area> {
    let bodies = harn_vm::registry();
    let of_builtins = |area: &builtins::Area| of_builtins(area, &bodies);
    let mut areas: Vec<_> = builtins::areas().iter().map(of_builtins).collect();
    areas.push(Area {
        area: "other".to_owned(),
        title: "Builtins that `harn check` does not know".to_owned(),
        entries: of_table(builtins::unlisted(), "other", &bodies),
    });
    areas.extend(builtins::methods().iter().map(of_methods));
    areas.extend(library::modules());
    areas
}

fn of_builtins(area: &builtins::Area, bodies: &Registry) -> Area {
    Area {
        area: area.name.to_owned(),
        title: area.title.to_owned(),
        entries: of_table(area.builtins, area.name, bodies),
    }
}

/// Names that begin with `__` are for the standard library alone.
fn of_table(table: &[Builtin], area: &str, bodies: &Registry) -> Vec<Entry> {
    let table = table.iter().filter(|one| !one.name.starts_with("__"));
    table.map(|one| of_builtin(one, area, bodies)).collect()
}

fn of_builtin(builtin: &Builtin, area: &str, bodies: &Registry) -> Entry {
    let is_value = builtin.signature[builtin.name.len()..].starts_with(':');
    // What is also a word of the language is compiled and needs no body.
    let is_word = TokenKind::RESERVED.contains(&builtin.name);
    let body = BuiltinId::find(builtin.name).and_then(|id| bodies.body(id));
    Entry {
        name: builtin.name.to_owned(),
        kind: if is_value { "value" } else { "builtin" },
        signature: builtin.signature.to_owned(),
        doc: builtin.doc.to_owned(),
        area: area.to_owned(),
        import: None,
        effect: Some(match builtin.effect {
            Effect::Pure => "pure",
            Effect::Clock => "clock",
            Effect::Random => "random",
            Effect::Io => "io",
            Effect::Model => "model",
        }),
        known: builtin.known,
        available: is_value || is_word || body.is_some(),
    }
}

/// The methods of a kind of value, each under every name it has.
fn of_methods((receiver, methods): &(&str, &[Method])) -> Area {
    let area = format!("{receiver} methods");
    let entries = methods.iter().flat_map(|method| {
        let aliases = method.aliases.iter().copied();
        let names = [method.name()].into_iter().chain(aliases);
        names.map(|name| Entry {
            name: format!("{receiver}.{name}"),
            kind: "method",
            signature: format!(
                "{receiver}.{name}{}",
                &method.signature[method.name().len()..]
            ),
            doc: method.doc.to_owned(),
            area: area.clone(),
            import: None,
            effect: None,
            known: true,
            available: true,
        })
    });
    let mut entries: Vec<_> = entries.collect();
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    Area {
        title: format!("What can be called on a value of type {receiver}"),
        area,
        entries,
    }
}
