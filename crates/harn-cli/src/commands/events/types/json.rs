//! The JSON form of event types. Its keys are a promise; they are those of the
//! catalogue, so that there is one vocabulary to learn.

use harn_events::catalogue::{Catalogue, Emitter, Event, Field, HostRight, Since};
use serde::{Serialize, Serializer};
use serde_json::Value;

/// All types.
#[derive(Serialize)]
pub(super) struct Listing<'a> {
    events: Vec<Described<'a>>,
}

impl<'a> Listing<'a> {
    pub(super) fn of(catalogue: &'a Catalogue) -> Self {
        let events = catalogue.variants.iter().map(Described::of).collect();
        Self { events }
    }
}

/// One type.
#[derive(Serialize)]
pub(super) struct Described<'a> {
    r#type: &'a str,
    group: &'a str,
    #[serde(serialize_with = "since")]
    since: &'a Since,
    meaning: &'a str,
    emitted_by: &'a str,
    emitter: Emitter,
    emitted_when: &'a str,
    ordering: &'a str,
    host: &'static str,
    host_types: &'a [String],
    renamed_from: Option<&'a str>,
    notes: &'a [String],
    fields: Vec<DescribedField<'a>>,
}

/// One key of a type.
#[derive(Serialize)]
struct DescribedField<'a> {
    name: &'a str,
    r#type: &'a str,
    required: bool,
    skip_if: Option<&'a str>,
    default: &'a Value,
    compat_default: Option<&'a Value>,
    #[serde(serialize_with = "since_option")]
    since: Option<&'a Since>,
    doc: &'a str,
}

impl<'a> Described<'a> {
    pub(super) fn of(event: &'a Event) -> Self {
        Self {
            r#type: &event.tag,
            group: &event.group,
            since: &event.since,
            meaning: &event.meaning,
            emitted_by: &event.emitted_by,
            emitter: event.emitter,
            emitted_when: &event.emitted_when,
            ordering: &event.ordering,
            host: match event.host {
                HostRight::No => "no",
                HostRight::Direct => "direct",
                HostRight::Special => "special",
            },
            host_types: &event.host_types,
            renamed_from: event.renamed_from.as_deref(),
            notes: &event.notes,
            fields: event.fields.iter().map(DescribedField::of).collect(),
        }
    }
}

impl<'a> DescribedField<'a> {
    fn of(field: &'a Field) -> Self {
        Self {
            name: &field.name,
            r#type: &field.type_name,
            required: field.required,
            skip_if: field.skip_if.as_deref(),
            default: &field.default,
            compat_default: field.compat_default.as_ref(),
            since: field.since.as_ref(),
            doc: &field.doc,
        }
    }
}

fn since<S: Serializer>(since: &Since, serializer: S) -> Result<S::Ok, S::Error> {
    match since {
        Since::Version(number) => serializer.serialize_u32(*number),
        Since::Word(word) => serializer.serialize_str(word),
    }
}

fn since_option<S: Serializer>(written: &Option<&Since>, serializer: S) -> Result<S::Ok, S::Error> {
    match written {
        Some(written) => since(written, serializer),
        None => serializer.serialize_none(),
    }
}
