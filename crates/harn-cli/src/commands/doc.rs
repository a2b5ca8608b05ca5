//! `harn doc`: what programs can call without writing it.
//!
//! ```text
//! declarations of builtins ─┐
//! methods of values ────────┼─► entries, by area ─► a page, a list, JSON
//! modules of std/ ──────────┘
//! ```

mod entry;
mod library;

use std::io::{self, Write};

use clap::Args;

use self::entry::{Area, Entry, areas};
use super::{Form, Outcome};
use crate::arguments::after_help;
use crate::output::{Output, Palette, Untrusted};
use crate::suggestion;
use crate::wrapping::wrap;

const EXAMPLES: &str = "  \
  harn doc split                       What `split` takes, gives and does
  harn doc list.group_by               A method of lists
  harn doc std/math                    All functions of a module
  harn doc files                       All builtins of an area
  harn doc                             Everything, by area";

/// Look up builtins, methods and modules
///
/// NAME is a builtin (`split`, `stream.map`), a method (`group_by`, `list.group_by`), a
/// function or type of a standard module (`median`), such a module (`std/math`), or an area
/// (`files`). Without NAME everything is listed by area.
///
/// The effect tells what a builtin needs besides its arguments: pure (nothing), clock,
/// random, io (files, processes, network, people) or model.
///
/// With --json the answer is {"entries": [ENTRY, …]}, or {"areas": [{"area", "title",
/// "entries"}, …]} without NAME. ENTRY has name, kind (builtin, value, method, function or
/// type), signature, doc, area, import, effect, known: whether `harn check` accepts calls, and
/// available: whether a call does something in this version.
#[derive(Debug, Args)]
#[command(after_help = after_help(EXAMPLES))]
pub(crate) struct Arguments {
    /// What to look up
    #[arg(value_name = "NAME")]
    name: Option<String>,
}

pub(crate) fn run(arguments: &Arguments, form: Form, output: &mut Output) -> io::Result<Outcome> {
    let areas = areas();
    let Some(name) = &arguments.name else {
        match form {
            Form::Json => output.json(&serde_json::json!({"areas": areas}))?,
            Form::Text => list(areas.iter(), output)?,
        }
        return Ok(Outcome::Done);
    };
    let found = Found::of(&areas, name);
    match (found, form) {
        (Found::Nothing, _) => {
            output.error(format_args!("there is no `{}`", Untrusted(name)));
            match closest(&areas, name) {
                Some(other) => output.note(format_args!("did you mean `{other}`?")),
                None => output.note(format_args!("`harn doc` lists everything")),
            }
            return Ok(Outcome::Problems);
        }
        (Found::Area(area), Form::Text) => list([area].into_iter(), output)?,
        (Found::Entries(entries), Form::Text) => {
            for (at, entry) in entries.iter().enumerate() {
                if at > 0 {
                    writeln!(output)?;
                }
                page(entry, output)?;
            }
        }
        (Found::Area(area), Form::Json) => {
            output.json(&serde_json::json!({"entries": area.entries}))?;
        }
        (Found::Entries(entries), Form::Json) => {
            output.json(&serde_json::json!({"entries": entries}))?;
        }
    }
    Ok(Outcome::Done)
}

/// The page about a name as text, for whoever shows it in another way.
pub(super) fn describe(name: &str) -> Result<String, String> {
    let areas = areas();
    let entries: Vec<&Entry> = match Found::of(&areas, name) {
        Found::Nothing => {
            let hint = closest(&areas, name);
            let hint = hint.map(|other| format!("; did you mean `{other}`?"));
            return Err(format!("there is no `{name}`{}", hint.unwrap_or_default()));
        }
        Found::Area(area) => area.entries.iter().collect(),
        Found::Entries(entries) => entries,
    };
    let pages = entries
        .iter()
        .map(|entry| page_text(entry, Palette::plain()));
    Ok(pages.collect::<Vec<_>>().join("\n"))
}

/// What a name leads to.
enum Found<'a> {
    Nothing,
    Area(&'a Area),
    Entries(Vec<&'a Entry>),
}

impl<'a> Found<'a> {
    /// Entries come first: an area can also be had by reading the list of everything.
    fn of(areas: &'a [Area], name: &str) -> Self {
        let entries = areas.iter().flat_map(|area| &area.entries);
        let entries: Vec<_> = entries.filter(|entry| entry.is_called(name)).collect();
        if !entries.is_empty() {
            return Self::Entries(entries);
        }
        let area = areas.iter().find(|area| area.area == name);
        area.map_or(Self::Nothing, Self::Area)
    }
}

fn closest<'a>(areas: &'a [Area], name: &str) -> Option<&'a str> {
    let names = areas.iter().flat_map(|area| {
        let entries = area.entries.iter().map(|entry| entry.name.as_str());
        entries.chain([area.area.as_str()])
    });
    suggestion::closest(name, names)
}

fn list<'a>(areas: impl Iterator<Item = &'a Area>, output: &mut Output) -> io::Result<()> {
    let palette = output.palette();
    for (at, area) in areas.enumerate() {
        if at > 0 {
            writeln!(output)?;
        }
        let heading = palette.heading(&area.area);
        writeln!(output, "{heading}  {}", palette.faint(&area.title))?;
        let widths = area.entries.iter().map(|entry| entry.name.len());
        let width = widths.max().unwrap_or(0);
        for entry in &area.entries {
            let name = palette.name(format!("{:width$}", entry.name));
            writeln!(output, "{}", format!("  {name}  {}", entry.doc).trim_end())?;
        }
    }
    Ok(())
}

fn page(entry: &Entry, output: &mut Output) -> io::Result<()> {
    let page = page_text(entry, output.palette());
    write!(output, "{page}")
}

fn page_text(entry: &Entry, palette: Palette) -> String {
    let signature = entry.signature.replacen(
        &entry.name,
        &palette.name(&entry.name).to_string(),
        usize::from(entry.signature.starts_with(&entry.name)),
    );
    let mut page = format!("{signature}\n");
    for line in wrap(&entry.doc, 4) {
        page += &format!("    {line}\n");
    }
    page += "\n";
    for (label, text) in facts(entry) {
        page += &format!("  {label:<8}{text}\n");
    }
    page
}

fn facts(entry: &Entry) -> Vec<(&'static str, String)> {
    let mut facts = vec![("area", entry.area.clone())];
    if let Some(import) = &entry.import {
        facts.push(("import", import.clone()));
    }
    if let Some(effect) = entry.effect {
        facts.push(("effect", effect.to_owned()));
    }
    if !entry.known {
        facts.push(("note", "`harn check` does not know it".to_owned()));
    }
    if !entry.available {
        facts.push((
            "note",
            "it is specified and not built in this version".to_owned(),
        ));
    }
    facts
}
