//! Which tools are in view while skills are active.

use std::collections::BTreeSet;

use super::entry::Skill;

/// What a tool is allowed by when its namespace counts.
const NAMESPACE: &str = "namespace:";

/// What allows all tools.
const ALL: &str = "*";

/// Which tools are in view. A scope only takes away: whether a tool that is in view may be
/// called is decided by policies, which know nothing of skills.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scope {
    /// `None`: all of them.
    narrowed: Option<Narrowed>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Narrowed {
    names: BTreeSet<String>,
    namespaces: BTreeSet<String>,
}

impl Scope {
    /// What these skills leave in view together. Skills that name no tools add nothing.
    pub fn of<'a>(skills: impl IntoIterator<Item = &'a Skill>) -> Self {
        let mut narrowed = Narrowed::default();
        for allowed in skills.into_iter().flat_map(|skill| &skill.allowed_tools) {
            match allowed.strip_prefix(NAMESPACE) {
                _ if allowed == ALL => return Self::default(),
                Some(tag) => narrowed.namespaces.insert(tag.to_owned()),
                None => narrowed.names.insert(allowed.clone()),
            };
        }
        let is_empty = narrowed.names.is_empty() && narrowed.namespaces.is_empty();
        Self {
            narrowed: (!is_empty).then_some(narrowed),
        }
    }

    /// Whether everything is in view.
    pub fn is_open(&self) -> bool {
        self.narrowed.is_none()
    }

    /// Whether a tool is in view. Tools of the runtime itself always are.
    pub fn allows(&self, name: &str, namespace: Option<&str>) -> bool {
        let Some(narrowed) = &self.narrowed else {
            return true;
        };
        name.starts_with("__harn_")
            || name == "load_skill"
            || narrowed.names.contains(name)
            || namespace.is_some_and(|tag| narrowed.namespaces.contains(tag))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scope(lists: &[&[&str]]) -> Scope {
        let skills = lists.iter().map(|allowed| Skill {
            allowed_tools: allowed.iter().map(|name| (*name).to_owned()).collect(),
            ..Skill::default()
        });
        Scope::of(&skills.collect::<Vec<_>>())
    }

    #[test]
    fn without_lists_everything_is_in_view() {
        for lists in [&[][..], &[&[][..]], &[&["a"][..], &["*"]], &[&["*"][..]]] {
            assert!(scope(lists).is_open(), "{lists:?}");
        }
    }

    #[test]
    fn lists_are_united_and_mean_what_they_say() {
        let scope = scope(&[&["read"], &[], &["namespace:web"]]);
        let rows = [
            ("read", None, true),
            ("write", None, false),
            ("Read", None, false),
            ("fetch", Some("web"), true),
            ("fetch", Some("webs"), false),
            ("web", None, false),
            ("namespace:web", None, false),
            ("__harn_tool_search", None, true),
            ("load_skill", None, true),
        ];
        for (name, namespace, expected) in rows {
            assert_eq!(scope.allows(name, namespace), expected, "{name}");
        }
    }
}
