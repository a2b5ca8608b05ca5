//! What nobody should read in a list of requests.

use crate::encoding::url::decode;

const HIDDEN: &str = "[redacted]";
const HIDDEN_IN_URL: &str = "%5Bredacted%5D";

const HEADERS: [&str; 9] = [
    "authorization",
    "proxy-authorization",
    "cookie",
    "set-cookie",
    "x-api-key",
    "api-key",
    "x-auth-token",
    "x-csrf-token",
    "x-xsrf-token",
];

const PARAMETERS: [&str; 9] = [
    "api_key",
    "apikey",
    "access_token",
    "refresh_token",
    "id_token",
    "client_secret",
    "password",
    "secret",
    "token",
];

pub(super) fn headers_without_secrets(headers: &[(String, String)]) -> Vec<(String, String)> {
    let headers = headers.iter().map(|(name, value)| {
        let is_secret = HEADERS.contains(&name.as_str());
        let value = if is_secret { HIDDEN } else { value };
        (name.clone(), value.to_owned())
    });
    headers.collect()
}

/// A URL whose other parts stay as they are written.
pub(super) fn url_without_secrets(url: &str) -> String {
    let (rest, fragment) = match url.split_once('#') {
        Some((rest, fragment)) => (rest, Some(fragment)),
        None => (url, None),
    };
    let Some((place, query)) = rest.split_once('?') else {
        return url.to_owned();
    };
    let pairs = query.split('&').map(|pair| match pair.split_once('=') {
        Some((name, _)) if is_secret(name) => format!("{name}={HIDDEN_IN_URL}"),
        _ => pair.to_owned(),
    });
    let pairs: Vec<String> = pairs.collect();
    let mut url = format!("{place}?{}", pairs.join("&"));
    if let Some(fragment) = fragment {
        url.push('#');
        url.push_str(fragment);
    }
    url
}

fn is_secret(name: &str) -> bool {
    let name = decode(name).to_lowercase();
    PARAMETERS.contains(&name.as_str()) || name.ends_with("_token") || name.ends_with("_secret")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secret_parameters_are_hidden_in_place() {
        for (url, expected) in [
            ("https://a/b", "https://a/b"),
            (
                "https://a/b?x=1&token=t",
                "https://a/b?x=1&token=%5Bredacted%5D",
            ),
            (
                "https://a/?my_secret=1#f",
                "https://a/?my_secret=%5Bredacted%5D#f",
            ),
            (
                "https://a/?API%5Fkey=1",
                "https://a/?API%5Fkey=%5Bredacted%5D",
            ),
            ("https://a/?tokens=1&token", "https://a/?tokens=1&token"),
            ("https://a/#?token=1", "https://a/#?token=1"),
        ] {
            assert_eq!(url_without_secrets(url), expected);
        }
    }
}
