//! Which pages in a browser may talk to a listener.

use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_METHOD, ORIGIN,
    VARY,
};
use axum::http::{HeaderMap, HeaderValue, Method};
use url::{Origin, Url};

use crate::Error;

/// The origins that may connect. There are none by default, and there is no "all".
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origins(Vec<HeaderValue>);

/// What a request says of the page it comes from.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum From<'a> {
    /// It does not come from a page.
    Nowhere,
    /// The page may.
    Allowed(&'a HeaderValue),
    /// The page may not.
    Stranger,
}

const METHODS: &str = "GET, POST, DELETE, OPTIONS";
const REQUEST_HEADERS: &str = "accept, authorization, content-type, x-api-key, last-event-id, \
    traceparent, tracestate, baggage, acp-connection-id, acp-session-id, mcp-session-id, \
    mcp-protocol-version, mcp-method, mcp-name, a2a-version, a2a-extensions";
const RESPONSE_HEADERS: &str =
    "www-authenticate, retry-after, acp-connection-id, acp-session-id, mcp-session-id";
const MAX_AGE_SECS: &str = "600";

impl Origins {
    /// Allows one more.
    ///
    /// # Errors
    /// It is no origin, or all of them.
    pub fn allow(&mut self, origin: &str) -> Result<(), Error> {
        if origin.contains('*') {
            return Err(Error::AnyOrigin);
        }
        let bad = || Error::BadOrigin(origin.to_owned());
        let url = Url::parse(origin).map_err(|_| bad())?;
        let is_bare = url.path() == "/" || url.path().is_empty();
        if !is_bare || url.query().is_some() || url.fragment().is_some() {
            return Err(bad());
        }
        let Origin::Tuple(..) = url.origin() else {
            return Err(bad());
        };
        let value = HeaderValue::try_from(url.origin().ascii_serialization()).map_err(|_| bad())?;
        if !self.0.contains(&value) {
            self.0.push(value);
        }
        Ok(())
    }

    /// Where a request comes from. Browsers send the serialized origin, so it is compared byte
    /// by byte; `null` is no origin one could trust.
    pub(crate) fn of<'a>(&'a self, headers: &HeaderMap) -> From<'a> {
        let mut said = headers.get_all(ORIGIN).iter();
        match (said.next(), said.next()) {
            (None, _) => From::Nowhere,
            (Some(origin), None) => match self.0.iter().find(|known| *known == origin) {
                Some(known) => From::Allowed(known),
                None => From::Stranger,
            },
            _ => From::Stranger,
        }
    }
}

/// Whether a browser asks if it may send a request.
pub(crate) fn is_preflight(method: &Method, headers: &HeaderMap) -> bool {
    method == Method::OPTIONS && headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD)
}

/// Tells the browser that the page may read the answer.
pub(crate) fn grant(origin: &HeaderValue, headers: &mut HeaderMap) {
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
    headers.append(VARY, HeaderValue::from_static("origin"));
    headers.insert(
        ACCESS_CONTROL_EXPOSE_HEADERS,
        HeaderValue::from_static(RESPONSE_HEADERS),
    );
}

/// Tells the browser what the page may send.
pub(crate) fn grant_request(headers: &mut HeaderMap) {
    for (name, value) in [
        (ACCESS_CONTROL_ALLOW_METHODS, METHODS),
        (ACCESS_CONTROL_ALLOW_HEADERS, REQUEST_HEADERS),
        (ACCESS_CONTROL_MAX_AGE, MAX_AGE_SECS),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_are_named_one_by_one() {
        let mut origins = Origins::default();
        assert!(matches!(origins.allow("*"), Err(Error::AnyOrigin)));
        assert!(matches!(
            origins.allow("https://*.example"),
            Err(Error::AnyOrigin)
        ));
        for bad in [
            "null",
            "editor.example",
            "https://a.example/x",
            "data:x",
            "",
        ] {
            assert!(
                matches!(origins.allow(bad), Err(Error::BadOrigin(_))),
                "{bad}"
            );
        }
        assert_eq!(origins, Origins::default());
        origins.allow("https://Editor.Example:443/").unwrap();
        let mut headers = HeaderMap::new();
        assert_eq!(origins.of(&headers), From::Nowhere);
        headers.insert(ORIGIN, HeaderValue::from_static("https://editor.example"));
        assert!(matches!(origins.of(&headers), From::Allowed(_)));
        for stranger in [
            "null",
            "http://editor.example",
            "https://editor.example:8443",
        ] {
            headers.insert(ORIGIN, HeaderValue::from_static(stranger));
            assert_eq!(origins.of(&headers), From::Stranger, "{stranger}");
        }
    }
}
