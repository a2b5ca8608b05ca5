//! Cookies that are set.

use harn_machine::value::Text;
use harn_machine::{Context, Failure, Registry, Value};

use super::attributes::Attributes;
use super::{fail, is_name, is_value, require};
use crate::expect::text;

pub(super) fn register(registry: &mut Registry) {
    registry.plain(&[
        ("cookie_delete", cookie_delete),
        ("cookie_serialize", cookie_serialize),
    ]);
}

/// A date that is over for every clock.
const LONG_AGO: &str = "Thu, 01 Jan 1970 00:00:00 GMT";

fn cookie_serialize(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    require("cookie_serialize", arguments, 2)?;
    let attributes = Attributes::read("cookie_serialize", arguments.get(2))?;
    serialized(&text(arguments, 0), &text(arguments, 1), &attributes)
}

fn cookie_delete(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    require("cookie_delete", arguments, 1)?;
    let attributes = Attributes::read("cookie_delete", arguments.get(1))?;
    let attributes = Attributes {
        max_age: Some(0),
        expires: Some(Text::new(LONG_AGO)),
        ..attributes.guarded()
    };
    serialized(&text(arguments, 0), "", &attributes)
}

/// The text of the header that sets a cookie.
pub(super) fn serialized(
    name: &str,
    value: &str,
    attributes: &Attributes,
) -> Result<Value, Failure> {
    if !is_name(name) {
        return fail("cookie name is empty or contains invalid characters");
    }
    if !is_value(value) {
        return fail(
            "cookie value contains spaces, quotes, separators, or control characters; \
             encode it first",
        );
    }
    let mut out = format!("{name}={value}");
    attributes.write(&mut out)?;
    Ok(out.into())
}
