//! `harn events types`: what can happen in a session, from the catalogue.

mod json;

use std::io::{self, Write};

use clap::Args;
use harn_events::catalogue::{Catalogue, Event, Field, HostRight};

use super::super::{Form, Outcome};
use crate::arguments::after_help;
use crate::output::Output;
use crate::suggestion::closest;
use crate::wrapping::wrap;
use json::{Described, Listing};

const EXAMPLES: &str = "  \
  harn events types                    All event types, by group
  harn events types tool_call_update   The fields of one type
  harn events types --json | jq -r '.events[].type'";

/// List event types, or describe one
///
/// Without TYPE, a table of all types by group; with TYPE, its fields, who emits
/// it and when, its order, and whether hosts may emit it.
///
/// With --json the answer is {"events": [EVENT, …]}, or EVENT alone when TYPE is
/// given. EVENT has the keys of the event catalogue: type, group, since, meaning,
/// emitted_by, emitter, emitted_when, ordering, host (no, direct or special),
/// host_types, renamed_from, notes and fields. The emitter of this version is
/// runtime, programs, programs_so_far or nobody; for the last two, what emitted_by
/// names is not built. Each field has name, type, required, skip_if, default,
/// compat_default, since and doc.
#[derive(Debug, Args)]
#[command(after_help = after_help(EXAMPLES))]
pub(super) struct Arguments {
    /// Describe this event type, for instance `tool_call`
    #[arg(value_name = "TYPE")]
    event_type: Option<String>,
}

pub(super) fn run(arguments: &Arguments, form: Form, output: &mut Output) -> io::Result<Outcome> {
    let catalogue = Catalogue::builtin();
    let Some(name) = &arguments.event_type else {
        match form {
            Form::Text => list(&catalogue, output)?,
            Form::Json => output.json(&Listing::of(&catalogue))?,
        }
        return Ok(Outcome::Done);
    };
    let Some(event) = find(&catalogue, name, output) else {
        return Ok(Outcome::Problems);
    };
    match form {
        Form::Text => describe(&catalogue, event, output)?,
        Form::Json => output.json(&Described::of(event))?,
    }
    Ok(Outcome::Done)
}

/// The event of this name. Names that lead to an event are followed: those of
/// older versions, and those under which hosts send it.
fn find<'a>(catalogue: &'a Catalogue, name: &str, output: &mut Output) -> Option<&'a Event> {
    let by_tag = |tag: &str| catalogue.variants.iter().find(|event| event.tag == tag);
    if let Some(event) = by_tag(name) {
        return Some(event);
    }
    if let Some(event) = catalogue
        .legacy_tags
        .get(name)
        .and_then(|legacy| by_tag(&legacy.maps_to))
    {
        let (tag, since) = (&event.tag, &event.since);
        output.note(format_args!(
            "`{name}` is called `{tag}` since version {since}"
        ));
        return Some(event);
    }
    let is_sent_as = |event: &&Event| event.host_types.iter().any(|sent| sent == name);
    if let Some(event) = catalogue.variants.iter().find(is_sent_as) {
        let tag = &event.tag;
        output.note(format_args!("hosts send `{name}` to publish `{tag}`"));
        return Some(event);
    }
    let help = if catalogue.reserved_tags.iter().any(|tag| tag == name) {
        "; the name is reserved for a later version".to_owned()
    } else {
        let tags = catalogue.variants.iter().map(|event| event.tag.as_str());
        match closest(name, tags) {
            Some(tag) => format!("; did you mean `{tag}`?"),
            None => "; `harn events types` lists them all".to_owned(),
        }
    };
    output.error(format_args!("there is no event type `{name}`{help}"));
    None
}

fn list(catalogue: &Catalogue, output: &mut Output) -> io::Result<()> {
    let palette = output.palette();
    let tags = catalogue.variants.iter().map(|event| event.tag.len());
    let width = tags.max().unwrap_or(0);
    writeln!(
        output,
        "{}",
        palette.heading(format_args!("{:width$}  SINCE  MEANING", "TYPE"))
    )?;
    for (group, events) in catalogue.groups() {
        writeln!(output, "\n{}", palette.heading(group.replace('_', " ")))?;
        for event in events {
            let tag = palette.name(&event.tag);
            let since = event.since.to_string();
            writeln!(output, "{tag:width$}  {since:>5}  {}", event.meaning)?;
        }
    }
    Ok(())
}

/// Columns in front of the facts of an event.
const FACTS: usize = 16;
/// Columns in front of what is said about a field.
const FIELD: usize = 4;

fn describe(catalogue: &Catalogue, event: &Event, output: &mut Output) -> io::Result<()> {
    let palette = output.palette();
    writeln!(output, "{}", palette.name(&event.tag))?;
    paragraph(output, "", FIELD, &event.meaning)?;
    writeln!(output)?;
    fact(output, "group", &event.group.replace('_', " "))?;
    fact(output, "since", &format!("version {}", event.since))?;
    fact(output, "emitted by", &event.emitted_today())?;
    fact(output, "emitted when", &event.emitted_when)?;
    fact(output, "order", &event.ordering)?;
    fact(output, "hosts", &host_right(event))?;
    if let Some(old) = &event.renamed_from {
        fact(output, "earlier name", old)?;
    }
    for note in &event.notes {
        fact(output, "note", note)?;
    }
    writeln!(output, "\n{}", palette.heading("FIELDS"))?;
    for field in &event.fields {
        let name = palette.name(&field.name);
        writeln!(output, "  {name}  {}", field.type_name)?;
        paragraph(output, "", FIELD, &field.doc)?;
        paragraph(output, "", FIELD, &rules(field))?;
        if let Some(values) = values(catalogue, field) {
            paragraph(output, "", FIELD, &values)?;
        }
    }
    Ok(())
}

fn fact(output: &mut Output, label: &str, text: &str) -> io::Result<()> {
    paragraph(output, &format!("  {label}"), FACTS, text)
}

/// A label and the text beside it.
fn paragraph(output: &mut Output, label: &str, indent: usize, text: &str) -> io::Result<()> {
    let mut label = label;
    for line in wrap(text, indent) {
        writeln!(output, "{label:indent$}{line}")?;
        label = "";
    }
    Ok(())
}

fn host_right(event: &Event) -> String {
    match event.host {
        HostRight::No => "may not emit it".to_owned(),
        HostRight::Direct => "may emit it as it is".to_owned(),
        HostRight::Special => format!("may emit it by sending {}", event.host_types.join(", ")),
    }
}

/// When the key is written, what its absence means, and how old it is.
fn rules(field: &Field) -> String {
    let write = match field.skip_if.as_deref() {
        None => "always written".to_owned(),
        Some(condition) => format!("left out when {}", condition.replace('_', " ")),
    };
    let read = match &field.compat_default {
        _ if !field.required => format!("reads as {} when absent", field.default),
        Some(lenient) => format!("reads as {lenient} when absent in old records"),
        None => "required".to_owned(),
    };
    let since = field.since.as_ref();
    let since = since.map_or(String::new(), |since| format!("; since version {since}"));
    format!("({write}; {read}{since})")
}

/// The words a field can hold, if its type is a choice.
fn values(catalogue: &Catalogue, field: &Field) -> Option<String> {
    let bare = field.type_name.trim_end_matches(['?', '[', ']']);
    let choices = &catalogue.types.get(bare)?.values;
    let words: Vec<&str> = choices.iter().map(|choice| choice.value.as_str()).collect();
    (!words.is_empty()).then(|| format!("One of {}.", words.join(", ")))
}
