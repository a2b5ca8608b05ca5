//! Whether a signed URL is to be trusted.

use harn_machine::value::{Dict, Text};
use harn_machine::{Context, Failure, Value};

use super::base::Base;
use super::options::{Options, text_argument};
use super::{add, fail, signature};
use crate::encoding::is_equal;

const NAME: &str = "verify_signed_url";

pub(super) fn verify_signed_url(
    _: &mut Context<'_>,
    arguments: &mut [Value],
) -> Result<Value, Failure> {
    if !(3..=4).contains(&arguments.len()) {
        let reason = "requires 3 or 4 arguments: url, secret_or_keys, now, options?";
        return fail(NAME, reason);
    }
    let url = text_argument(NAME, arguments, 0, "url")?;
    let keys = match &arguments[1] {
        keys @ (Value::Text(_) | Value::Dict(_)) => keys,
        other => {
            let kind = other.type_name();
            let reason = format!("secret_or_keys must be a string or dict, got {kind}");
            return fail(NAME, &reason);
        }
    };
    let now = match &arguments[2] {
        Value::Int(now) => *now,
        other => {
            let kind = other.type_name();
            return fail(NAME, &format!("now must be an int, got {kind}"));
        }
    };
    let options = Options::read(NAME, arguments.get(3))?;
    let base = Base::read(NAME, &url)?;
    Ok(Seen::of(&base, &options, now).verdict(&base, &options, keys))
}

/// What a URL says about itself, be it true or not.
struct Seen<'a> {
    signatures: Vec<&'a str>,
    expiries: Vec<&'a str>,
    kids: Vec<&'a str>,
    /// When it expires, if that can be read.
    expires_at: Option<i64>,
    is_expired: bool,
}

impl<'a> Seen<'a> {
    fn of(base: &'a Base, options: &Options, now: i64) -> Self {
        let expiries = base.values(&options.expires);
        let expires_at = match *expiries.as_slice() {
            [expiry] => expiry.parse().ok(),
            _ => None,
        };
        let is_over = |at: i64| now > at.saturating_add(options.skew_seconds);
        Self {
            signatures: base.values(&options.signature),
            kids: base.values(&options.kid_name),
            is_expired: expires_at.is_some_and(is_over),
            expires_at,
            expiries,
        }
    }

    fn verdict(&self, base: &Base, options: &Options, keys: &Value) -> Value {
        let problem = self.problem(base, options, keys);
        let signature_valid = problem.is_none();
        let reason = match problem {
            Some(problem) => problem,
            None if self.is_expired => "expired",
            None => "ok",
        };
        Value::dict([
            ("claims", claims(base, options).into()),
            ("expired", self.is_expired.into()),
            ("expires_at", self.expires_at.into()),
            ("kid", self.kids.first().copied().into()),
            ("reason", reason.into()),
            ("signature_valid", signature_valid.into()),
            ("valid", (reason == "ok").into()),
        ])
    }

    /// Why the signature does not hold, if it does not.
    fn problem(&self, base: &Base, options: &Options, keys: &Value) -> Option<&'static str> {
        if self.signatures.is_empty() {
            return Some("missing_signature");
        }
        if self.expiries.is_empty() {
            return Some("missing_expiry");
        }
        if self.expires_at.is_none() {
            return Some("invalid_expiry");
        }
        if self.kids.len() > 1 {
            return Some("duplicate_kid");
        }
        let Some(secret) = self.secret(keys) else {
            return Some("unknown_key");
        };
        let mut parameters = base.parameters(options);
        for (name, values) in [
            (&options.expires, &self.expiries),
            (&options.kid_name, &self.kids),
        ] {
            for value in values {
                add(&mut parameters, name, value);
            }
        }
        let expected = signature(&secret, base, &mut parameters);
        let is_signed = match *self.signatures.as_slice() {
            [given] => is_equal(given.as_bytes(), expected.as_bytes()),
            _ => false,
        };
        (!is_signed).then_some("bad_signature")
    }

    /// The one secret, or that of the key that the URL names.
    fn secret(&self, keys: &Value) -> Option<Text> {
        match keys {
            Value::Dict(keys) => match keys.get(self.kids.first()?) {
                Some(Value::Text(secret)) => Some(secret.clone()),
                _ => None,
            },
            secret => Some(secret.to_text()),
        }
    }
}

fn claims(base: &Base, options: &Options) -> Dict {
    let mut claims = Dict::default();
    for (key, value) in &base.pairs {
        if !options.is_reserved(key) {
            claims.insert(Text::new(key), value.as_str().into());
        }
    }
    claims
}
