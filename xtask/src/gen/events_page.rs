//! The reference page of all events, written from the catalogue.
//!
//! ```text
//! catalogue/events.json ──► Catalogue ──► intro, groups, events, types, old and reserved tags
//! ```

use serde_json::Value;

use super::markdown::{cell, code, in_cell, prose, table};
use crate::markdown::anchor;
use harn_events::catalogue::{Catalogue, Choice, Event, Field, HostRight, LegacyTag, Type};

/// Words of group names that are not spelled the usual way.
const ACRONYMS: &[&str] = &["mcp", "llm", "hitl", "fs"];

/// The page for a catalogue.
pub(super) fn render(catalogue: &Catalogue) -> String {
    Page { catalogue }.render()
}

/// Knows the whole catalogue, so that a field can link to its type.
struct Page<'a> {
    catalogue: &'a Catalogue,
}

impl Page<'_> {
    fn render(&self) -> String {
        let mut sections = vec![self.intro(), self.group_table()];
        for (group, events) in self.catalogue.groups() {
            sections.push(format!("## {}\n", title(group)));
            sections.extend(events.iter().map(|event| self.event(event)));
        }
        sections.push(self.types());
        sections.push(self.legacy_tags());
        sections.push(self.reserved_tags());
        sections.join("\n")
    }

    fn intro(&self) -> String {
        format!(
            "<!-- Written by `cargo xtask gen` from crates/harn-events/catalogue/events.json. \
             Edit the catalogue, not this page. -->\n\n\
             # Events\n\n\
             Everything an agent session does is published as one of {} kinds of event. \
             An event is a JSON object whose `type` key names its kind and whose \
             `session_id` names the session it belongs to; the other keys are listed below. \
             A type that ends in `?` may be null, one that ends in `[]` is an array, and \
             `json` stands for any JSON value. *On write* tells when a key is present in \
             what Harn writes; *absent on read* tells what a reader makes of a key that is \
             not there. *Since* is the version of the format that brought an event or a key.\n",
            self.catalogue.variants.len()
        )
    }

    fn group_table(&self) -> String {
        let link = |event: &&Event| format!("[`{0}`](#{0})", event.tag);
        let row = |(group, events): (&str, Vec<&Event>)| {
            let title = title(group);
            let links: Vec<String> = events.iter().map(link).collect();
            vec![format!("[{title}](#{})", anchor(&title)), links.join(", ")]
        };
        let rows: Vec<Vec<String>> = self.catalogue.groups().into_iter().map(row).collect();
        table(&["group", "events"], &rows)
    }

    fn event(&self, event: &Event) -> String {
        let mut text = format!("### `{}`\n\n{}\n\n", event.tag, prose(&event.meaning));
        let mut facts = vec![
            format!("Since: version {}", event.since),
            format!("Emitted by: {}", prose(&event.emitted_today())),
            format!("When: {}", prose(&event.emitted_when)),
            format!("Order: {}", prose(&event.ordering)),
            format!("Hosts may emit it: {}", host_right(event)),
        ];
        if let Some(old) = &event.renamed_from {
            facts.push(format!("Earlier name: {}", code(old)));
        }
        facts.extend(
            event
                .notes
                .iter()
                .map(|note| format!("Note: {}", prose(note))),
        );
        for fact in facts {
            text += &format!("- {fact}\n");
        }
        text.push('\n');
        text += &self.field_table(&event.fields);
        text
    }

    /// Fields of a type carry no version, and then the column would be empty.
    fn field_table(&self, fields: &[Field]) -> String {
        let dated = fields.iter().any(|field| field.since.is_some());
        let mut header = vec!["field", "type", "on write", "absent on read"];
        if dated {
            header.push("since");
        }
        header.push("meaning");
        let row = |field: &Field| {
            let mut row = vec![
                code(&field.name),
                self.type_link(&field.type_name),
                on_write(field),
                in_cell(&absent_on_read(field)),
            ];
            if dated {
                row.push(
                    field
                        .since
                        .as_ref()
                        .map(ToString::to_string)
                        .unwrap_or_default(),
                );
            }
            row.push(cell(&field.doc));
            row
        };
        let rows: Vec<Vec<String>> = fields.iter().map(row).collect();
        table(&header, &rows)
    }

    fn type_link(&self, type_name: &str) -> String {
        let bare = type_name.trim_end_matches(['?', '[', ']']);
        if self.catalogue.types.contains_key(bare) {
            format!("[{}](#{})", code(type_name), anchor(bare))
        } else {
            code(type_name)
        }
    }

    fn types(&self) -> String {
        let types = &self.catalogue.types;
        let described: Vec<String> = types
            .iter()
            .map(|(name, one)| self.one_type(name, one))
            .collect();
        format!("## Types\n\n{}", described.join("\n"))
    }

    fn one_type(&self, name: &str, described: &Type) -> String {
        let mut text = format!("### `{name}`\n\n{}\n", prose(&described.doc));
        if let Some(encoding) = &described.encoding {
            text += &format!("\nWritten as: {}.\n", prose(encoding));
        }
        if !described.fields.is_empty() {
            text += &format!("\n{}", self.field_table(&described.fields));
        }
        if !described.values.is_empty() {
            text += &format!("\n{}", choice_table(&described.values));
        }
        for choice in described.values.iter().filter(|one| !one.fields.is_empty()) {
            text += &format!(
                "\nKeys of {}:\n\n{}",
                code(&choice.value),
                self.field_table(&choice.fields)
            );
        }
        if let Some(reaction) = &described.on_unknown {
            text += &format!("\nA value the reader does not know: {}.\n", prose(reaction));
        }
        if let Some(note) = &described.note {
            text += &format!("\n{}\n", prose(note));
        }
        text
    }

    fn legacy_tags(&self) -> String {
        let row = |(tag, legacy): (&String, &LegacyTag)| {
            let renamed: Vec<String> = legacy
                .rename
                .iter()
                .map(|(old, new)| format!("{} is now {}", code(old), code(new)))
                .collect();
            vec![
                code(tag),
                format!("[`{0}`](#{0})", legacy.maps_to),
                renamed.join(", "),
            ]
        };
        let rows: Vec<Vec<String>> = self.catalogue.legacy_tags.iter().map(row).collect();
        format!(
            "## Old tags\n\nRecords written by earlier versions may carry these; they are read \
             as the event that replaced them.\n\n{}",
            table(&["tag", "read as", "keys"], &rows)
        )
    }

    fn reserved_tags(&self) -> String {
        let tags: Vec<String> = self
            .catalogue
            .reserved_tags
            .iter()
            .map(|tag| code(tag))
            .collect();
        format!(
            "## Reserved tags\n\nThese names are kept for events to come. Do not use them for \
             events of your own: {}.\n",
            tags.join(", ")
        )
    }
}

fn host_right(event: &Event) -> String {
    let names: Vec<String> = event.host_types.iter().map(|name| code(name)).collect();
    match event.host {
        HostRight::No => "no".to_string(),
        HostRight::Direct => "yes, as it is".to_string(),
        HostRight::Special => format!("yes, by sending {}", names.join(", ")),
    }
}

fn on_write(field: &Field) -> String {
    match field.skip_if.as_deref() {
        None => "always".to_string(),
        Some(condition) => format!("left out when {}", condition.replace('_', " ")),
    }
}

fn absent_on_read(field: &Field) -> String {
    let value = |value: &Value| code(&value.to_string());
    match &field.compat_default {
        _ if !field.required => value(&field.default),
        Some(lenient) => format!("error when strict, otherwise {}", value(lenient)),
        None => "error".to_string(),
    }
}

fn choice_table(choices: &[Choice]) -> String {
    let row = |choice: &Choice| {
        vec![
            code(&choice.value),
            choice.since.to_string(),
            cell(&choice.doc),
        ]
    };
    let rows: Vec<Vec<String>> = choices.iter().map(row).collect();
    table(&["value", "since", "meaning"], &rows)
}

/// `mcp_client` becomes `MCP client`.
fn title(group: &str) -> String {
    let spell = |(index, word): (usize, &str)| {
        if ACRONYMS.contains(&word) {
            return word.to_uppercase();
        }
        let mut letters = word.chars();
        match (index, letters.next()) {
            (0, Some(first)) => first.to_uppercase().chain(letters).collect(),
            _ => word.to_string(),
        }
    };
    let words: Vec<String> = group.split('_').enumerate().map(spell).collect();
    words.join(" ")
}

#[cfg(test)]
mod tests;
