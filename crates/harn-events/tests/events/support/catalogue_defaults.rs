//! What a default looks like when it is written.

use harn_events::catalogue::{Catalogue, Field};
use serde_json::{Map, Value};

/// What a field holds when its default is written out in full: `{}` for a record
/// stands for a record whose fields have their defaults.
pub(crate) fn written_default(catalogue: &Catalogue, field: &Field) -> Value {
    let Some(named) = catalogue.types.get(&field.type_name) else {
        return field.default.clone();
    };
    if named.fields.is_empty() {
        return field.default.clone();
    }
    let written = named.fields.iter().filter(|inner| inner.skip_if.is_none());
    let fields: Map<String, Value> = written
        .map(|inner| (inner.name.clone(), written_default(catalogue, inner)))
        .collect();
    Value::Object(fields)
}
