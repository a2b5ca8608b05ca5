//! What is in front of the query of a signed URL, and the parameters in it.

use harn_machine::Failure;
use url::Url;
use url::form_urlencoded;

use super::options::Options;
use super::{Parameters, add, fail};

/// A URL or an absolute path, in its normal form.
pub(super) struct Base {
    /// All but query and fragment.
    pub(super) address: String,
    /// The part of it that is signed: who logs in does not matter.
    pub(super) signed: String,
    /// The parameters of its query.
    pub(super) pairs: Vec<(String, String)>,
}

impl Base {
    /// Reads an absolute URL or path.
    pub(super) fn read(function: &str, text: &str) -> Result<Self, Failure> {
        let is_path = text.starts_with('/');
        let whole = match is_path {
            // Any host will do to read a path.
            true => Url::parse(&format!("http://path{text}")),
            false => Url::parse(text),
        };
        let mut url = match whole {
            Ok(url) if url.has_host() => url,
            _ => {
                let reason = "expected an absolute URL or an absolute path starting with `/`";
                return fail(function, reason);
            }
        };
        let query = url.query().unwrap_or_default().as_bytes();
        let pairs = form_urlencoded::parse(query).into_owned().collect();
        if is_path {
            let path = url.path().to_owned();
            return Ok(Self {
                address: path.clone(),
                signed: path,
                pairs,
            });
        }
        url.set_query(None);
        url.set_fragment(None);
        let address = url.to_string();
        let host = url.host_str().unwrap_or_default();
        let port = url.port().map(|port| format!(":{port}"));
        let port = port.unwrap_or_default();
        let signed = format!("{}://{host}{port}{}", url.scheme(), url.path());
        Ok(Self {
            address,
            signed,
            pairs,
        })
    }

    /// The parameters that are neither the signature nor what is signed with it.
    pub(super) fn parameters(&self, options: &Options) -> Parameters {
        let mut parameters = Parameters::new();
        for (key, value) in &self.pairs {
            if !options.is_reserved(key) {
                add(&mut parameters, key, value);
            }
        }
        parameters
    }

    /// The values of a parameter.
    pub(super) fn values<'a>(&'a self, name: &str) -> Vec<&'a str> {
        let named = self.pairs.iter().filter(|(key, _)| key == name);
        named.map(|(_, value)| value.as_str()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_place_is_written_in_one_way() {
        for (text, address, signed) in [
            ("/a/run 1?x=1#top", "/a/run%201", "/a/run%201"),
            ("//host/x", "//host/x", "//host/x"),
            (
                "HTTPS://Ann@Example.com:443/a?b",
                "https://Ann@example.com/a",
                "https://example.com/a",
            ),
            ("http://h:81", "http://h:81/", "http://h:81/"),
        ] {
            let base = Base::read("f", text).expect("it is absolute");
            assert_eq!((&*base.address, &*base.signed), (address, signed));
        }
        for text in ["", "a/b", "mailto:a@b", "https://"] {
            assert!(Base::read("f", text).is_err(), "{text}");
        }
    }
}
