//! What the files of a project could do, line by line.

use std::io::{self, Write};

use harn_vm::project::{Change, JudgedProject, Kind, Part};

use crate::output::Untrusted;

/// The word of a kind. The words are a promise.
pub(super) fn word(kind: Kind) -> &'static str {
    match kind {
        Kind::Server => "server",
        Kind::Hook => "hook",
        Kind::Provider => "provider",
        Kind::Log => "log",
        Kind::Skill => "skill",
        Kind::Instructions => "instructions",
        Kind::Setting => "setting",
    }
}

/// What a part could do, in words.
fn doing(part: &Part) -> &'static str {
    match part.kind {
        Kind::Server if part.detail.starts_with("http") => "reach",
        Kind::Server => "start",
        Kind::Hook => "run",
        Kind::Provider => "ask models at",
        Kind::Log => "keep sessions in",
        Kind::Skill | Kind::Instructions => "tell models",
        Kind::Setting => "set",
    }
}

/// Commands and hosts first, each whole.
pub(super) fn write(judged: &JudgedProject, output: &mut impl Write) -> io::Result<()> {
    for part in judged.contents.acting() {
        let (doing, name, detail) = (doing(part), &part.name, &part.detail);
        let (name, detail) = (Untrusted(name).to_string(), Untrusted(detail).to_string());
        writeln!(
            output,
            "{}",
            format!("  {doing:<17} {name:<20} {detail}").trim_end()
        )?;
    }
    for what in &judged.contents.unreadable {
        writeln!(output, "  cannot be read    {}", Untrusted(what))?;
    }
    Ok(())
}

/// Added, changed and removed parts.
pub(super) fn write_changes(changes: &[Change], output: &mut impl Write) -> io::Result<()> {
    for change in changes {
        let (sign, name, told) = match change {
            Change::Added(part) => ("added", &part.name, part.detail.clone()),
            Change::Changed(part, before) if *before == part.detail => {
                ("changed", &part.name, part.detail.clone())
            }
            Change::Changed(part, before) => (
                "changed",
                &part.name,
                format!("{} (before: {before})", part.detail),
            ),
            Change::Removed(name, before) => ("removed", name, before.clone()),
        };
        let (name, told) = (Untrusted(name).to_string(), Untrusted(told).to_string());
        writeln!(
            output,
            "{}",
            format!("  {sign:<17} {name:<20} {told}").trim_end()
        )?;
    }
    Ok(())
}
