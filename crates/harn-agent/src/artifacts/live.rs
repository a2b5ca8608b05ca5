//! Artifacts that are shown while a session goes on: charts, graphs and tables.
//!
//! A host draws what it is given, so only declarations get through: nothing that runs, nothing
//! that fetches, and nothing so large that it would stop the stream of events.

use serde_json::{Map, Value, json};

use super::Making;
use super::record::shown;

/// How large a spec may be unless the program says otherwise, and at most.
const SPEC_BYTES: u64 = 256 * 1024;
const SPEC_BYTES_MAX: u64 = 1024 * 1024;

/// How large fallback, metadata and provenance may be, each.
const EXTRA_BYTES_MAX: usize = 64 * 1024;

const COLUMNS_MAX: usize = 50;
const ROWS_MAX: usize = 500;

/// Something that can be shown.
#[derive(Clone, Debug, PartialEq)]
pub struct LiveArtifact {
    /// The same id again: the newer form of the same thing.
    pub artifact_id: String,
    /// `vega-lite`, `mermaid` or `table`.
    pub kind: &'static str,
    /// What people call it.
    pub title: Option<String>,
    /// What the spec is, for those who draw it.
    pub mime_type: &'static str,
    /// What is drawn.
    pub spec: Value,
    /// What is read where nothing can be drawn.
    pub fallback: String,
    /// The size of the spec as JSON.
    pub size_bytes: u64,
    /// Where it comes from.
    pub provenance: Map<String, Value>,
    /// Whatever else is known.
    pub metadata: Map<String, Value>,
}

/// Why something is not shown.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LiveError {
    /// Nobody knows how to draw it.
    #[error("unknown kind '{0}'; known are vega-lite, mermaid and table")]
    UnknownKind(String),
    /// The spec is not of the kind that is needed.
    #[error("a {kind} spec must be {wanted}")]
    WrongSpec {
        /// The kind of the artifact.
        kind: &'static str,
        /// What it takes.
        wanted: &'static str,
    },
    /// A chart wants to fetch something.
    #[error("a vega-lite spec must carry its data; data.url is not allowed")]
    ExternalData,
    /// A table has too much of something.
    #[error("a table may have at most {most} {what}, got {count}")]
    TooMany {
        /// Columns or rows.
        what: &'static str,
        /// How many it may have.
        most: usize,
        /// How many it has.
        count: usize,
    },
    /// Something takes too much room.
    #[error("the {what} may take at most {most} bytes, got {size}")]
    TooLarge {
        /// What.
        what: &'static str,
        /// How large it may be.
        most: u64,
        /// How large it is.
        size: u64,
    },
    /// An option is not of the kind that is needed.
    #[error("{option} must be {wanted}")]
    WrongOption {
        /// Which.
        option: &'static str,
        /// What it takes.
        wanted: &'static str,
    },
}

impl LiveArtifact {
    /// What a program wants to show.
    ///
    /// # Errors
    /// It cannot be shown, and why.
    pub fn read(
        kind: &Value,
        spec: &Value,
        options: &Value,
        making: &Making<'_>,
    ) -> Result<Self, LiveError> {
        if !matches!(options, Value::Null | Value::Object(_)) {
            return Err(LiveError::WrongOption {
                option: "options",
                wanted: "a dict or nil",
            });
        }
        let (kind, mime_type) = drawn(kind, spec)?;
        let size_bytes = spec.to_string().len() as u64;
        limited("spec", size_bytes, spec_bytes_max(options)?)?;
        let title = options.get("title").and_then(shown);
        let fallback = match options.get("fallback") {
            None | Some(Value::Null) => fallback(kind, title.as_deref(), spec),
            Some(given) => shown(given).unwrap_or_default(),
        };
        limited("fallback", fallback.len() as u64, EXTRA_BYTES_MAX as u64)?;
        let id = |key: &str| options.get(key).and_then(shown);
        let id = id("artifact_id").or_else(|| id("id"));
        let id = id.filter(|id| !id.trim().is_empty());
        Ok(Self {
            artifact_id: id.unwrap_or_else(|| format!("artifact_{}", (making.new_id)())),
            kind,
            title,
            mime_type,
            spec: spec.clone(),
            fallback,
            size_bytes,
            provenance: extra(options, "provenance")?,
            metadata: extra(options, "metadata")?,
        })
    }

    /// What the program gets.
    pub(crate) fn to_json(&self) -> Value {
        json!({
            "ok": true,
            "artifact_id": self.artifact_id,
            "kind": self.kind,
            "title": self.title,
            "mime_type": self.mime_type,
            "size_bytes": self.size_bytes,
            "metadata": self.metadata,
            "provenance": self.provenance,
        })
    }
}

/// What a kind is called and how its specs are known to others, if the spec can be drawn.
fn drawn(kind: &Value, spec: &Value) -> Result<(&'static str, &'static str), LiveError> {
    match kind.as_str() {
        Some("vega-lite") => {
            check_chart(spec)?;
            Ok(("vega-lite", "application/vnd.vegalite.v5+json"))
        }
        Some("mermaid") if spec.is_string() => Ok(("mermaid", "text/vnd.mermaid")),
        Some("mermaid") => Err(LiveError::WrongSpec {
            kind: "mermaid",
            wanted: "a string",
        }),
        Some("table") => {
            check_table(spec)?;
            Ok(("table", "application/vnd.harn.table+json"))
        }
        _ => Err(LiveError::UnknownKind(shown(kind).unwrap_or_default())),
    }
}

fn check_chart(spec: &Value) -> Result<(), LiveError> {
    if !spec.is_object() {
        return Err(LiveError::WrongSpec {
            kind: "vega-lite",
            wanted: "a dict",
        });
    }
    match fetches(spec) {
        true => Err(LiveError::ExternalData),
        false => Ok(()),
    }
}

/// Whether data come from elsewhere, at any depth: layers and lookups have data of their own.
fn fetches(spec: &Value) -> bool {
    let mut parts = vec![spec];
    while let Some(part) = parts.pop() {
        match part {
            Value::Object(fields) => {
                if fields
                    .get("data")
                    .is_some_and(|data| data.get("url").is_some())
                {
                    return true;
                }
                parts.extend(fields.values());
            }
            Value::Array(items) => parts.extend(items),
            _ => {}
        }
    }
    false
}

fn check_table(spec: &Value) -> Result<(), LiveError> {
    let (Some(columns), Some(rows)) = (spec["columns"].as_array(), spec["rows"].as_array()) else {
        return Err(LiveError::WrongSpec {
            kind: "table",
            wanted: "a dict with the lists columns and rows",
        });
    };
    for (what, count, most) in [
        ("columns", columns.len(), COLUMNS_MAX),
        ("rows", rows.len(), ROWS_MAX),
    ] {
        if count > most {
            return Err(LiveError::TooMany { what, most, count });
        }
    }
    Ok(())
}

/// How large the spec may be.
fn spec_bytes_max(options: &Value) -> Result<u64, LiveError> {
    match options.get("max_bytes") {
        None | Some(Value::Null) => Ok(SPEC_BYTES),
        Some(most) => match most.as_u64() {
            Some(most) if most > 0 => Ok(most.min(SPEC_BYTES_MAX)),
            _ => Err(LiveError::WrongOption {
                option: "max_bytes",
                wanted: "a positive int",
            }),
        },
    }
}

fn limited(what: &'static str, size: u64, most: u64) -> Result<(), LiveError> {
    match size > most {
        true => Err(LiveError::TooLarge { what, most, size }),
        false => Ok(()),
    }
}

/// What a program adds, as an object.
fn extra(options: &Value, option: &'static str) -> Result<Map<String, Value>, LiveError> {
    let extra = match options.get(option) {
        None | Some(Value::Null) => return Ok(Map::new()),
        Some(Value::Object(extra)) => extra.clone(),
        Some(_) => {
            return Err(LiveError::WrongOption {
                option,
                wanted: "a dict",
            });
        }
    };
    let size = Value::Object(extra.clone()).to_string().len() as u64;
    limited(option, size, EXTRA_BYTES_MAX as u64)?;
    Ok(extra)
}

/// What is read where nothing can be drawn, if the program does not say.
fn fallback(kind: &str, title: Option<&str>, spec: &Value) -> String {
    let mut text = String::new();
    if let Some(title) = title {
        text += title;
        text.push('\n');
    }
    match (kind, spec) {
        (_, Value::String(source)) => text += source,
        ("table", _) => text += &rows(spec),
        _ => text += &spec.to_string(),
    }
    if text.len() > EXTRA_BYTES_MAX {
        text.truncate(text.floor_char_boundary(EXTRA_BYTES_MAX));
    }
    text
}

/// A table as lines: its columns, then its rows.
fn rows(table: &Value) -> String {
    let lists = |key: &str| table[key].as_array().into_iter().flatten();
    let names: Vec<String> = lists("columns").map(column_name).collect();
    let mut lines = vec![names.join(" | ")];
    for row in lists("rows") {
        let cells: Vec<String> = match row {
            Value::Array(cells) => cells.iter().map(cell).collect(),
            Value::Object(fields) => names
                .iter()
                .map(|name| fields.get(name).map(cell).unwrap_or_default())
                .collect(),
            other => vec![cell(other)],
        };
        lines.push(cells.join(" | "));
    }
    lines.join("\n")
}

/// A column is a name, or says what it is called.
fn column_name(column: &Value) -> String {
    let named = ["name", "key", "title"].map(|key| &column[key]);
    let named = named.into_iter().find(|name| !name.is_null());
    cell(named.unwrap_or(column))
}

fn cell(value: &Value) -> String {
    shown(value).unwrap_or_default()
}
