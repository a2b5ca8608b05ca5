//! Where a redirect leads.

use url::Url;

use super::reply::Head;
use super::request::Prepared;

/// Headers that only the host they were meant for may see.
const PRIVATE: [&str; 3] = ["authorization", "cookie", "proxy-authorization"];

/// The request that follows a redirect; `None` if the answer is none.
pub(crate) fn followed(request: &Prepared, head: &Head) -> Option<Prepared> {
    if !matches!(head.status, 301 | 302 | 303 | 307 | 308) {
        return None;
    }
    let from = Url::parse(&request.url).ok()?;
    let to = from.join(head.header("location")?.trim()).ok()?;
    let mut next = Prepared {
        url: to.to_string(),
        ..request.clone()
    };
    let becomes_get = match head.status {
        301 | 302 => request.method == "POST",
        303 => request.method != "HEAD",
        _ => false,
    };
    if becomes_get {
        next.method = "GET".to_owned();
        next.body = None;
        next.headers
            .retain(|(name, _)| !name.starts_with("content-"));
    }
    let is_same_host = from.host() == to.host()
        && from.port_or_known_default() == to.port_or_known_default()
        && from.scheme() == to.scheme();
    if !is_same_host {
        next.headers
            .retain(|(name, _)| !PRIVATE.contains(&name.as_str()));
    }
    Some(next)
}

#[cfg(test)]
mod tests {
    use super::*;
    use harn_machine::HttpHead;

    fn redirected(method: &str, status: u16, location: &str) -> Option<Prepared> {
        let pair = |name: &str| (name.to_owned(), "1".to_owned());
        let request = Prepared {
            method: method.to_owned(),
            url: "https://a.b/c/d".to_owned(),
            headers: vec![pair("authorization"), pair("content-type"), pair("x-other")],
            body: None,
        };
        let head = HttpHead {
            status,
            headers: vec![("location".to_owned(), location.to_owned())],
        };
        followed(&request, &head.into())
    }

    #[test]
    fn secrets_stay_with_their_host() {
        let names = |request: Prepared| -> Vec<String> {
            request.headers.into_iter().map(|(name, _)| name).collect()
        };
        let same = redirected("GET", 302, "e").unwrap();
        assert_eq!(same.url, "https://a.b/c/e");
        assert_eq!(names(same), ["authorization", "content-type", "x-other"]);
        for other in ["https://x.b/", "http://a.b/", "https://a.b:8443/", "//x.b/"] {
            let other = redirected("GET", 302, other).unwrap();
            assert_eq!(names(other), ["content-type", "x-other"]);
        }
    }

    #[test]
    fn a_post_becomes_a_get_unless_the_server_says_otherwise() {
        let method = |method, status| redirected(method, status, "/").unwrap().method;
        assert_eq!(method("POST", 301), "GET");
        assert_eq!(method("POST", 302), "GET");
        assert_eq!(method("PUT", 302), "PUT");
        assert_eq!(method("PUT", 303), "GET");
        assert_eq!(method("HEAD", 303), "HEAD");
        assert_eq!(method("POST", 307), "POST");
        assert_eq!(method("POST", 308), "POST");
        assert!(redirected("GET", 304, "/").is_none());
        assert!(redirected("GET", 200, "/").is_none());
    }
}
