//! Which handler answers which requests.

use harn_machine::Value;
use harn_machine::value::{Dict, Text};

use super::BodyLimits;
use crate::encoding::url;

/// A handler and the requests that it answers.
pub(super) struct Route {
    /// In upper case; `None`: any.
    method: Option<String>,
    segments: Vec<Segment>,
    pub(super) handler: Value,
    pub(super) limits: BodyLimits,
}

/// A part of a path between slashes.
enum Segment {
    /// Exactly that.
    Literal(String),
    /// Anything, which handlers find by this name.
    Parameter(Text),
}

impl Route {
    pub(super) fn new(method: &str, template: &str, handler: Value, limits: BodyLimits) -> Self {
        Self {
            method: (method != "*").then(|| method.to_uppercase()),
            segments: segments(template).map(Segment::read).collect(),
            handler,
            limits,
        }
    }

    /// The parameters of a path, if this route answers it.
    pub(super) fn parameters(&self, method: &str, path: &str) -> Option<Dict> {
        if self
            .method
            .as_deref()
            .is_some_and(|wanted| wanted != method)
        {
            return None;
        }
        let mut found = Dict::default();
        let mut parts = segments(path);
        for segment in &self.segments {
            let part = parts.next()?;
            match segment {
                Segment::Literal(literal) if literal == part => {}
                Segment::Literal(_) => return None,
                Segment::Parameter(name) => {
                    found.insert(name.clone(), url::decode(part).into());
                }
            }
        }
        parts.next().is_none().then_some(found)
    }
}

impl Segment {
    fn read(segment: &str) -> Self {
        let braced = segment
            .strip_prefix('{')
            .and_then(|it| it.strip_suffix('}'));
        match braced.or_else(|| segment.strip_prefix(':')) {
            Some(name) => Self::Parameter(Text::new(name)),
            None => Self::Literal(segment.to_owned()),
        }
    }
}

/// The parts of a path. Slashes at its ends do not count.
fn segments(path: &str) -> impl Iterator<Item = &str> {
    let path = path.trim_matches('/');
    let count = if path.is_empty() { 0 } else { usize::MAX };
    path.split('/').take(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(template: &str, path: &str, expected: Option<&str>) {
        let limits = BodyLimits {
            bytes_max: 0,
            retains_raw: true,
        };
        let route = Route::new("get", template, Value::Nil, limits);
        let found = route.parameters("GET", path);
        let found = found.map(|found| Value::Dict(found).show());
        assert_eq!(found.as_deref(), expected, "{template} {path}");
    }

    #[test]
    fn a_template_matches_as_many_segments_as_it_has() {
        check("/", "/", Some("{}"));
        check("/", "", Some("{}"));
        check("/", "/a", None);
        check("/a", "/a/", Some("{}"));
        check("/a/{id}", "/a/7", Some("{id: 7}"));
        check("/a/:id/b", "/a/x%20y/b", Some("{id: x y}"));
        check("/a/{id}", "/a", None);
        check("/a/{id}", "/a/7/8", None);
        check("/a/{id}/b", "/a//b", Some("{id: }"));
    }

    #[test]
    fn methods_are_matched_in_upper_case() {
        let limits = BodyLimits {
            bytes_max: 0,
            retains_raw: true,
        };
        let route = Route::new("*", "/", Value::Nil, limits);
        assert!(route.parameters("PATCH", "/").is_some());
        let route = Route::new("post", "/", Value::Nil, limits);
        assert!(route.parameters("POST", "/").is_some());
        assert!(route.parameters("GET", "/").is_none());
    }
}
