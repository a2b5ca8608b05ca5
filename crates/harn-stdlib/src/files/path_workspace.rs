//! Where in the workspace a path lies.

use std::path::PathBuf;

use harn_machine::{Context, Registry, Value, argument};

use super::folders::root_text;
use super::path_text::{Parts, normalize, relative_to};
use super::status;
use crate::expect::text;

pub(super) fn register(registry: &mut Registry) {
    registry.plain(&[
        ("path_workspace_info", |context, arguments| {
            Ok(classified(context, arguments).described())
        }),
        ("path_workspace_normalize", |context, arguments| {
            Ok(classified(context, arguments).workspace_path.into())
        }),
    ]);
}

/// What a path is to a workspace.
#[derive(Debug, Default, PartialEq, Eq)]
struct Classified {
    input: String,
    kind: &'static str,
    normalized: String,
    workspace_path: Option<String>,
    host_path: Option<String>,
    has_drifted: bool,
    reason: Option<&'static str>,
}

impl Classified {
    fn described(self) -> Value {
        Value::dict([
            ("host_path", self.host_path.into()),
            ("input", self.input.into()),
            ("kind", self.kind.into()),
            ("normalized", self.normalized.into()),
            ("reason", self.reason.into()),
            ("recovered_root_drift", self.has_drifted.into()),
            ("workspace_path", self.workspace_path.into()),
        ])
    }
}

fn classified(context: &mut Context<'_>, arguments: &[Value]) -> Classified {
    let root = match argument(arguments, 1) {
        Value::Nil => root_text(context),
        root => normalize(&root.to_text()),
    };
    let exists = |path: &str| status(context, PathBuf::from(path)).is_some();
    classify(&text(arguments, 0), &root, exists)
}

fn classify(input: &str, root: &str, mut exists: impl FnMut(&str) -> bool) -> Classified {
    let invalid = |reason: &'static str| Classified {
        input: input.to_owned(),
        kind: "invalid",
        reason: Some(reason),
        ..Classified::default()
    };
    if input.trim().is_empty() {
        return invalid("path is empty");
    }
    if input.contains('\0') {
        return invalid("path contains NUL bytes");
    }
    let parts = Parts::of(input).normalized();
    let normalized = parts.show();
    let of_kind = |kind, workspace_path: Option<String>, host_path: String| Classified {
        input: input.to_owned(),
        kind,
        normalized: normalized.clone(),
        workspace_path,
        host_path: Some(host_path),
        ..Classified::default()
    };
    let inside = |path: &str| normalize(&format!("{root}/{path}"));
    if !parts.is_absolute {
        if parts.segments.first().is_some_and(|first| first == "..") {
            return Classified {
                reason: Some("workspace-relative path escapes the workspace root"),
                ..of_kind("invalid", None, inside(&normalized))
            };
        }
        let host = inside(&normalized);
        return of_kind("workspace_relative", Some(normalized.clone()), host);
    }
    let remainder = relative_to(&normalized, root).filter(|way| !leads_out(way));
    if remainder.is_some() {
        return of_kind("host_absolute", remainder, normalized.clone());
    }
    let stripped = parts.segments.join("/");
    let folder = inside(&parts.segments[..parts.segments.len().saturating_sub(1)].join("/"));
    let is_known = parts.segments.len() > 1 && exists(&folder) || exists(&inside(&stripped));
    if !exists(&normalized) && !stripped.is_empty() && is_known {
        let host = inside(&stripped);
        return Classified {
            has_drifted: true,
            ..of_kind("workspace_relative", Some(stripped), host)
        };
    }
    of_kind("host_absolute", None, normalized.clone())
}

/// Whether a relative path begins by going up. A name may begin with two dots as well.
fn leads_out(path: &str) -> bool {
    path == ".." || path.starts_with("../")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(input: &str, kind: &str, workspace: Option<&str>, host: Option<&str>) -> Classified {
        let exists = |path: &str| ["/w/src", "/w/src/a.rs", "/etc"].contains(&path);
        let found = classify(input, "/w", exists);
        assert_eq!(found.kind, kind, "{input}");
        assert_eq!(found.workspace_path.as_deref(), workspace, "{input}");
        assert_eq!(found.host_path.as_deref(), host, "{input}");
        found
    }

    #[test]
    fn paths_are_classified() {
        check(
            "src/./a.rs",
            "workspace_relative",
            Some("src/a.rs"),
            Some("/w/src/a.rs"),
        );
        check("/w/src", "host_absolute", Some("src"), Some("/w/src"));
        check("/w", "host_absolute", Some("."), Some("/w"));
        check("/w/..a", "host_absolute", Some("..a"), Some("/w/..a"));
        check(
            "..a/b",
            "workspace_relative",
            Some("..a/b"),
            Some("/w/..a/b"),
        );
        check("/etc", "host_absolute", None, Some("/etc"));
        check("/other", "host_absolute", None, Some("/other"));
        let drifted = check(
            "/src/a.rs",
            "workspace_relative",
            Some("src/a.rs"),
            Some("/w/src/a.rs"),
        );
        assert!(drifted.has_drifted);
        let new = check(
            "/src/new.rs",
            "workspace_relative",
            Some("src/new.rs"),
            Some("/w/src/new.rs"),
        );
        assert!(new.has_drifted);
        let empty = check("  ", "invalid", None, None);
        assert_eq!(empty.reason, Some("path is empty"));
        let escaping = check("a/../../b", "invalid", None, Some("/b"));
        assert_eq!(
            escaping.reason,
            Some("workspace-relative path escapes the workspace root")
        );
    }
}
