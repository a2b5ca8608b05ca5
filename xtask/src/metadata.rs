//! What cargo knows about the packages we build and depend on.
//!
//! Only the parts our checks read are named here; cargo's full answer is large.

use std::collections::HashMap;

use serde::Deserialize;

use crate::error::Error;
use crate::process;
use crate::repo::Repo;

/// The answer of `cargo metadata`.
#[derive(Debug, Deserialize)]
pub(crate) struct Metadata {
    /// Ours and everybody else's.
    pub(crate) packages: Vec<Package>,
    /// Ids of our own packages.
    pub(crate) workspace_members: Vec<String>,
    /// Which package uses which, after features and versions are settled.
    pub(crate) resolve: Graph,
}

/// One package.
#[derive(Debug, Deserialize)]
pub(crate) struct Package {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) version: String,
    /// An SPDX expression.
    pub(crate) license: Option<String>,
    /// As written in the manifest.
    pub(crate) dependencies: Vec<Dependency>,
}

/// One line of a manifest's dependency tables.
#[derive(Debug, Deserialize)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    pub(crate) kind: Option<Kind>,
}

/// What a dependency is for; cargo writes `null` for an ordinary one.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    Dev,
    Build,
}

/// The resolved graph.
#[derive(Debug, Deserialize)]
pub(crate) struct Graph {
    nodes: Vec<Node>,
}

#[derive(Debug, Deserialize)]
struct Node {
    id: String,
    deps: Vec<Edge>,
}

#[derive(Debug, Deserialize)]
struct Edge {
    pkg: String,
    dep_kinds: Vec<EdgeKind>,
}

#[derive(Debug, Deserialize)]
struct EdgeKind {
    kind: Option<Kind>,
}

impl Metadata {
    /// Asks cargo, which must not change the lock file to answer.
    pub(crate) fn read(repo: &Repo) -> Result<Self, Error> {
        let arguments = ["metadata", "--format-version", "1", "--locked"];
        let answer = process::capture(process::cargo(repo, &arguments))?;
        serde_json::from_str(&answer).map_err(|why| Error::malformed("cargo metadata", why))
    }

    /// Our own packages.
    pub(crate) fn members(&self) -> impl Iterator<Item = &Package> {
        self.packages
            .iter()
            .filter(|package| self.workspace_members.contains(&package.id))
    }

    /// Everything that is compiled in order to use `package`, itself left out;
    /// what only its tests need does not count.
    pub(crate) fn reachable_from(&self, package: &Package) -> Vec<&Package> {
        let edges: HashMap<&str, &[Edge]> = self
            .resolve
            .nodes
            .iter()
            .map(|node| (node.id.as_str(), node.deps.as_slice()))
            .collect();
        let mut seen = vec![package.id.as_str()];
        let mut next = 0;
        while let Some(id) = seen.get(next) {
            for edge in edges.get(id).copied().unwrap_or_default() {
                if edge.is_compiled() && !seen.contains(&edge.pkg.as_str()) {
                    seen.push(&edge.pkg);
                }
            }
            next += 1;
        }
        let reached = |one: &&Package| one.id != package.id && seen.contains(&one.id.as_str());
        self.packages.iter().filter(reached).collect()
    }
}

impl Edge {
    fn is_compiled(&self) -> bool {
        self.dep_kinds.iter().any(|one| one.kind != Some(Kind::Dev))
    }
}

#[cfg(test)]
pub(crate) mod fixtures {
    //! Small pretend workspaces for the checks that read metadata.

    use super::{Dependency, Edge, EdgeKind, Graph, Kind, Metadata, Node, Package};

    /// A package with its dependencies.
    pub(crate) type Line<'a> = (&'a str, &'a [(&'a str, Option<Kind>)]);

    /// Packages named `harn-*` or `xtask` are members; the ids are the names.
    pub(crate) fn metadata(lines: &[Line<'_>]) -> Metadata {
        let is_ours = |name: &str| name.starts_with("harn-") || name == "xtask";
        Metadata {
            packages: lines.iter().map(package).collect(),
            workspace_members: lines
                .iter()
                .filter(|(name, _)| is_ours(name))
                .map(|(name, _)| (*name).to_string())
                .collect(),
            resolve: Graph {
                nodes: lines.iter().map(node).collect(),
            },
        }
    }

    fn package((name, dependencies): &Line<'_>) -> Package {
        Package {
            id: (*name).to_string(),
            name: (*name).to_string(),
            version: "1.0.0".to_string(),
            license: Some("MIT".to_string()),
            dependencies: dependencies
                .iter()
                .map(|&(name, kind)| Dependency {
                    name: name.to_string(),
                    kind,
                })
                .collect(),
        }
    }

    fn node((name, dependencies): &Line<'_>) -> Node {
        Node {
            id: (*name).to_string(),
            deps: dependencies
                .iter()
                .map(|&(name, kind)| Edge {
                    pkg: name.to_string(),
                    dep_kinds: vec![EdgeKind { kind }],
                })
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_tests_use_is_not_reached() {
        let metadata = fixtures::metadata(&[
            ("harn-a", &[("b", None), ("tests", Some(Kind::Dev))]),
            ("b", &[("c", Some(Kind::Build))]),
            ("c", &[("b", None)]),
            ("tests", &[("deep", None)]),
            ("deep", &[]),
        ]);
        let names: Vec<&str> = metadata
            .reachable_from(&metadata.packages[0])
            .iter()
            .map(|package| package.name.as_str())
            .collect();
        assert_eq!(names, ["b", "c"]);
    }
}
