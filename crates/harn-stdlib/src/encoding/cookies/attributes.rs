//! What is said about a cookie that is set.

use harn_machine::value::{Dict, Text};
use harn_machine::{Failure, Value};

use super::fail;

/// The attributes of a cookie, as far as they are given.
#[derive(Clone, Default)]
pub(super) struct Attributes {
    pub(super) path: Option<Text>,
    pub(super) domain: Option<Text>,
    pub(super) max_age: Option<i64>,
    pub(super) expires: Option<Text>,
    pub(super) http_only: Option<bool>,
    pub(super) secure: Option<bool>,
    pub(super) same_site: Option<&'static str>,
}

impl Attributes {
    /// Reads the options of a function.
    pub(super) fn read(function: &str, options: Option<&Value>) -> Result<Self, Failure> {
        let options = match options {
            None | Some(Value::Nil) => return Ok(Self::default()),
            Some(Value::Dict(options)) => options,
            Some(other) => {
                let kind = other.type_name();
                return fail(format!("{function}: options must be a dict, got {kind}"));
            }
        };
        Ok(Self {
            path: option(options, "path").map(Value::to_text),
            domain: option(options, "domain").map(Value::to_text),
            max_age: max_age(options)?,
            expires: option(options, "expires").map(Value::to_text),
            http_only: flag(options, "http_only")?,
            secure: flag(options, "secure")?,
            same_site: same_site(options)?,
        })
    }

    /// Those of a cookie that only its own server may read, where nothing else is said.
    pub(super) fn guarded(self) -> Self {
        Self {
            path: self.path.or_else(|| Some(Text::new("/"))),
            http_only: self.http_only.or(Some(true)),
            secure: self.secure.or(Some(true)),
            same_site: self.same_site.or(Some("Lax")),
            ..self
        }
    }

    /// Adds them to the text of a cookie.
    pub(super) fn write(&self, out: &mut String) -> Result<(), Failure> {
        if self.same_site == Some("None") && self.secure != Some(true) {
            return fail("SameSite=None requires Secure");
        }
        let max_age = self.max_age.map(|seconds| seconds.to_string());
        for (name, value) in [
            ("Path", self.path.as_deref()),
            ("Domain", self.domain.as_deref()),
            ("Max-Age", max_age.as_deref()),
            ("Expires", self.expires.as_deref()),
        ] {
            let Some(value) = value else { continue };
            if value.contains(|letter: char| letter.is_control() || letter == ';') {
                return fail(format!("{name} contains an invalid cookie attribute value"));
            }
            out.extend(["; ", name, "=", value]);
        }
        if self.http_only == Some(true) {
            out.push_str("; HttpOnly");
        }
        if self.secure == Some(true) {
            out.push_str("; Secure");
        }
        if let Some(same_site) = self.same_site {
            out.extend(["; SameSite=", same_site]);
        }
        Ok(())
    }
}

/// An option, by its name or by one that the header or other languages spell differently.
fn option<'a>(options: &'a Dict, name: &str) -> Option<&'a Value> {
    let given = options.get(name).or_else(|| {
        let plain = |name: &str| name.replace(['_', '-'], "").to_ascii_lowercase();
        let mut alike = options.iter().filter(|(key, _)| plain(key) == plain(name));
        alike.next().map(|(_, value)| value)
    });
    given.filter(|value| !value.is_nil())
}

fn max_age(options: &Dict) -> Result<Option<i64>, Failure> {
    match option(options, "max_age") {
        None => Ok(None),
        Some(Value::Int(seconds)) => Ok(Some(*seconds)),
        Some(other) => {
            let kind = other.type_name();
            fail(format!("option max_age must be an int, got {kind}"))
        }
    }
}

fn flag(options: &Dict, name: &str) -> Result<Option<bool>, Failure> {
    match option(options, name) {
        None => Ok(None),
        Some(Value::Bool(flag)) => Ok(Some(*flag)),
        Some(other) => {
            let kind = other.type_name();
            fail(format!("option {name} must be a bool, got {kind}"))
        }
    }
}

fn same_site(options: &Dict) -> Result<Option<&'static str>, Failure> {
    let Some(given) = option(options, "same_site") else {
        return Ok(None);
    };
    let given = given.to_text();
    let known = ["Lax", "Strict", "None"];
    let found = known.iter().find(|one| one.eq_ignore_ascii_case(&given));
    match found {
        Some(found) => Ok(Some(found)),
        None => fail("same_site must be one of Lax, Strict, or None"),
    }
}
