//! Objects of JSON whose keys are known.

use serde_json::{Map, Value};

/// An object with those fields, in that order. Unlike `json!` it makes room for all of them at
/// once and takes values as they are, which is half the work for what is made in every turn.
pub(crate) fn object<const N: usize>(fields: [(&str, Value); N]) -> Map<String, Value> {
    let mut object = Map::with_capacity(N);
    for (key, value) in fields {
        object.insert(key.to_owned(), value);
    }
    object
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_stay_in_order() {
        let made = object([("b", 1.into()), ("a", "x".into())]);
        assert_eq!(Value::Object(made).to_string(), r#"{"b":1,"a":"x"}"#);
    }
}
