//! How the parameters of a signed URL are called.

use harn_machine::value::{Dict, Text};
use harn_machine::{Failure, Value};

use super::fail;

/// The options of both functions; each looks at those that it knows.
pub(super) struct Options {
    pub(super) signature: Text,
    pub(super) expires: Text,
    pub(super) kid_name: Text,
    /// Which of several secrets it is signed with.
    pub(super) kid: Option<Text>,
    /// How long a URL holds after it has expired, for clocks that disagree.
    pub(super) skew_seconds: i64,
}

impl Options {
    pub(super) fn read(function: &str, options: Option<&Value>) -> Result<Self, Failure> {
        let none = Dict::default();
        let options = match options {
            None | Some(Value::Nil) => &none,
            Some(Value::Dict(options)) => options,
            Some(other) => {
                let kind = other.type_name();
                return fail(function, &format!("options must be a dict, got {kind}"));
            }
        };
        let name = |key: &str, usual: &str| -> Result<Text, Failure> {
            Ok(text_option(function, options, key)?.unwrap_or_else(|| Text::new(usual)))
        };
        let read = Self {
            signature: name("signature_param", "sig")?,
            expires: name("expires_param", "exp")?,
            kid_name: name("kid_param", "kid")?,
            kid: text_option(function, options, "kid")?,
            skew_seconds: skew_seconds(function, options)?,
        };
        let (signature, expires, kid) = (&read.signature, &read.expires, &read.kid_name);
        if signature == expires || signature == kid || expires == kid {
            let reason = "signature_param, expires_param, and kid_param must be distinct";
            return fail(function, reason);
        }
        Ok(read)
    }

    /// Whether a parameter belongs to the signature.
    pub(super) fn is_reserved(&self, name: &str) -> bool {
        [&self.signature, &self.expires, &self.kid_name]
            .iter()
            .any(|reserved| reserved.as_str() == name)
    }
}

fn text_option(function: &str, options: &Dict, key: &str) -> Result<Option<Text>, Failure> {
    match options.get(key) {
        None | Some(Value::Nil) => Ok(None),
        Some(Value::Text(text)) if text.is_empty() => {
            fail(function, &format!("option `{key}` cannot be empty"))
        }
        Some(Value::Text(text)) => Ok(Some(text.clone())),
        Some(other) => {
            let kind = other.type_name();
            let reason = format!("option `{key}` must be a string, got {kind}");
            fail(function, &reason)
        }
    }
}

fn skew_seconds(function: &str, options: &Dict) -> Result<i64, Failure> {
    match options.get("skew_seconds") {
        None | Some(Value::Nil) => Ok(0),
        Some(Value::Int(skew)) if *skew < 0 => {
            fail(function, "skew_seconds must be greater than or equal to 0")
        }
        Some(Value::Int(skew)) => Ok(*skew),
        Some(other) => {
            let kind = other.type_name();
            fail(
                function,
                &format!("skew_seconds must be an int, got {kind}"),
            )
        }
    }
}

/// An argument that is text; there are enough arguments.
pub(super) fn text_argument(
    function: &str,
    arguments: &[Value],
    at: usize,
    name: &str,
) -> Result<Text, Failure> {
    match &arguments[at] {
        Value::Text(text) => Ok(text.clone()),
        other => {
            let kind = other.type_name();
            fail(function, &format!("{name} must be a string, got {kind}"))
        }
    }
}
