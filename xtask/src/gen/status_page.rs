//! The page that says what is specified and not built.
//!
//! ```text
//! `harn doc --json` ─────────► builtins and functions without a body
//! catalogue of events ───────► events nobody emits
//! tables of options ─────────► options that are refused
//! catalogue of providers ────► those that cannot be asked in every way
//! `harn reference` ──┐
//! specified.toml ────┴───────► commands and options of commands that are not there
//! ARCHITECTURE.md ───────────► crates of the map without a ●
//! ```
//!
//! Nothing here repeats by hand what something else knows, with one exception: what the
//! specification names and nothing in the repository declares is in `specified.toml`. What the
//! program has by now is left out, so the page cannot claim that something is missing which is
//! there.

mod crates;
mod options;
mod providers;

use std::collections::BTreeMap;

use harn_events::catalogue::{Catalogue, Emitter, Event};
use serde::Deserialize;

use super::builtins_pages::{self, Area, Place};
use super::commands_page::{self, Command};
use super::markdown::{cell, code, table};
use crate::error::Error;
use crate::markdown::anchor;
use crate::sources::SourceFile;

/// What the specification names besides builtins, events and options.
const SPECIFIED: &str = include_str!("specified.toml");

/// What the page is derived from.
pub(super) struct Facts<'a> {
    /// The answer of `harn doc --json`.
    pub(super) builtins: &'a str,
    /// The answer of `harn reference`.
    pub(super) reference: &'a str,
    /// All events, in agreement with the tests that cause them.
    pub(super) catalogue: &'a Catalogue,
    /// The text of the repository.
    pub(super) files: &'a [SourceFile],
}

/// Names the specification has, each with what it is for.
#[derive(Deserialize)]
struct Specified {
    commands: BTreeMap<String, String>,
    crates: BTreeMap<String, String>,
}

/// The page.
pub(super) fn render(facts: &Facts<'_>) -> Result<String, Error> {
    let specified: Specified =
        toml::from_str(SPECIFIED).map_err(|why| Error::malformed("specified.toml", why))?;
    let areas = builtins_pages::Answer::parse(facts.builtins)?.areas;
    let commands = commands_page::Answer::parse(facts.reference)?.commands;
    let sections = [
        intro(&areas, facts.catalogue),
        builtins(&areas),
        functions(&areas),
        events(facts.catalogue),
        refused_options(&options::refused()),
        lacking_providers(&providers::lacking(facts.files)?),
        missing_commands(&specified.commands, &commands),
        missing_crates(&crates::planned(facts.files)?, &specified.crates)?,
    ];
    Ok(sections.join("\n"))
}

fn intro(areas: &[Area], catalogue: &Catalogue) -> String {
    let builtins = count(areas, |place| place != Place::Module);
    let functions = count(areas, |place| place == Place::Module);
    let events = emitted_by(catalogue, Emitter::Nobody).count();
    format!(
        "<!-- Written by `cargo xtask gen` from what the program and its tests say. Build what is \
         missing, or edit xtask/src/gen/specified.toml; not this page. -->\n\n\
         # What is not built\n\n\
         Harn is specified further than it is built. This page lists what a reader of the \
         specification would look for in vain: {builtins} builtins, {functions} functions of \
         standard modules, {events} events, and the options, commands and crates below. It is \
         derived from the program and its tests, and a check fails when they disagree: what \
         gets built leaves the page.\n"
    )
}

fn count(areas: &[Area], is_counted: impl Fn(Place) -> bool) -> usize {
    let areas = areas.iter().filter(|area| is_counted(area.place()));
    areas.map(|area| unbuilt(area).count()).sum()
}

/// The names of an area that do nothing yet.
fn unbuilt(area: &Area) -> impl Iterator<Item = &str> {
    let entries = area.entries.iter().filter(|one| !one.available);
    entries.map(|one| one.name.as_str())
}

fn builtins(areas: &[Area]) -> String {
    let areas = areas.iter().filter(|area| area.place() != Place::Module);
    let rows = areas.filter_map(|area| {
        let page = match area.place() {
            Place::Methods => "methods",
            Place::Builtins | Place::Module => &area.area,
        };
        let page = format!("reference/builtins/{page}.md");
        row(area, &page, |name| {
            format!("[`{name}`]({page}#{})", anchor(name))
        })
    });
    format!(
        "## Builtins\n\n\
         They are declared, so that programs that use them can be checked. A call throws \
         `NAME is specified and not built in this version of Harn`.\n\n{}",
        table(&["area", "builtins"], &rows.collect::<Vec<_>>())
    )
}

fn functions(areas: &[Area]) -> String {
    let modules = areas.iter().filter(|area| area.place() == Place::Module);
    let rows = modules.filter_map(|area| {
        let page = format!("reference/modules.md#{}", anchor(&area.area));
        row(area, &page, code)
    });
    format!(
        "## Functions of standard modules\n\n\
         They can be imported, and a call throws \
         `std/MODULE: NAME is specified and not built in this version of Harn`.\n\n{}",
        table(&["module", "functions"], &rows.collect::<Vec<_>>())
    )
}

/// An area and what it has not, if there is something.
fn row(area: &Area, page: &str, shown: impl Fn(&str) -> String) -> Option<Vec<String>> {
    let names: Vec<String> = unbuilt(area).map(shown).collect();
    let area = format!("[{}]({page})", area.area);
    (!names.is_empty()).then(|| vec![area, names.join(", ")])
}

fn emitted_by(catalogue: &Catalogue, emitter: Emitter) -> impl Iterator<Item = &Event> {
    let events = catalogue.variants.iter();
    events.filter(move |event| event.emitter == emitter)
}

fn events(catalogue: &Catalogue) -> String {
    let rows = |emitter| {
        let rows = emitted_by(catalogue, emitter).map(|event| {
            let link = format!("[`{0}`](reference/events.md#{0})", event.tag);
            vec![link, cell(&event.emitted_by)]
        });
        table(&["event", "will be emitted by"], &rows.collect::<Vec<_>>())
    };
    format!(
        "## Events\n\n\
         Nobody emits these, and the [host door](events/hosts.md) refuses them:\n\n{}\n\
         These are there when a program publishes them with `agent_emit_event`. Nothing emits \
         them by itself:\n\n{}\n\
         [Who emits what today](events/emitters.md) names the tests that prove the others.\n",
        rows(Emitter::Nobody),
        rows(Emitter::ProgramsSoFar),
    )
}

fn refused_options(refused: &BTreeMap<String, Vec<String>>) -> String {
    let rows = refused.iter().map(|(builtin, options)| {
        let options: Vec<String> = options.iter().map(|one| code(one)).collect();
        vec![code(builtin), options.join(", ")]
    });
    format!(
        "## Options\n\n\
         An option that asks for what is not there is refused before anything is done, with \
         `OPTION is not available in this build`. Switched off, as with `nil` or `false`, it \
         may stand there.\n\n{}",
        table(&["builtin", "options"], &rows.collect::<Vec<_>>())
    )
}

fn lacking_providers(lacking: &[(String, &str)]) -> String {
    let rows = lacking
        .iter()
        .map(|(name, what)| vec![code(name), cell(what)]);
    format!(
        "## Providers\n\n{}",
        table(&["provider", "what is missing"], &rows.collect::<Vec<_>>())
    )
}

fn missing_commands(specified: &BTreeMap<String, String>, commands: &[Command]) -> String {
    let missing = specified
        .iter()
        .filter(|(name, _)| !is_there(name, commands));
    let rows = missing.map(|(name, purpose)| vec![code(name), cell(purpose)]);
    format!(
        "## Commands\n\n\
         Names of the specification, without those that the program has:\n\n{}",
        table(&["command", "what it is for"], &rows.collect::<Vec<_>>())
    )
}

/// Whether there is a command of that name, with the option if one is named.
fn is_there(name: &str, commands: &[Command]) -> bool {
    let (name, option) = match name.split_once(" --") {
        Some((name, option)) => (name, Some(option)),
        None => (name, None),
    };
    let Some(command) = commands.iter().find(|one| one.name == name) else {
        return false;
    };
    let has = |option: &str| {
        let forms = command
            .options
            .iter()
            .flat_map(|one| one.form.split(|c: char| !c.is_alphanumeric() && c != '-'));
        forms
            .filter_map(|word| word.strip_prefix("--"))
            .any(|word| word == option)
    };
    option.is_none_or(has)
}

fn missing_crates(
    planned: &[String],
    specified: &BTreeMap<String, String>,
) -> Result<String, Error> {
    let row = |name: &String| match specified.get(name) {
        Some(purpose) => Ok(vec![code(name), cell(purpose)]),
        None => {
            let why = format!("it does not say what `{name}` is for");
            Err(Error::malformed("specified.toml", why))
        }
    };
    let rows: Vec<Vec<String>> = planned.iter().map(row).collect::<Result<_, _>>()?;
    Ok(format!(
        "## Protocols and surfaces\n\n\
         Crates that have a place in the map of `ARCHITECTURE.md` and are not written:\n\n{}",
        table(&["crate", "what it is for"], &rows)
    ))
}

#[cfg(test)]
mod tests;
