//! What the manifest of the fuzz targets says about them.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::MANIFEST;
use crate::error::Error;

/// A fuzz target.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) name: String,
    /// Inputs in `cargo xtask test`: seconds, not minutes.
    pub(super) runs: u64,
    /// A folder elsewhere in the repository that is full of seeds.
    pub(super) seeds: Option<String>,
}

/// The targets, as the manifest declares them.
pub(super) fn targets(manifest: &str) -> Result<Vec<Target>, Error> {
    let manifest: Manifest =
        toml::from_str(manifest).map_err(|why| Error::malformed(MANIFEST, why))?;
    let Metadata {
        mut runs,
        mut seeds,
    } = manifest.package.metadata;
    let mut targets = Vec::new();
    for Bin { name } in manifest.bin {
        let Some(runs) = runs.remove(&name) else {
            let why = format!("it does not say how many runs `{name}` gets");
            return Err(Error::malformed(MANIFEST, why));
        };
        targets.push(Target {
            seeds: seeds.remove(&name),
            name,
            runs,
        });
    }
    match runs.into_keys().chain(seeds.into_keys()).next() {
        None => Ok(targets),
        Some(name) => {
            let why = format!("it has runs or seeds for `{name}`, which is no target");
            Err(Error::malformed(MANIFEST, why))
        }
    }
}

#[derive(Deserialize)]
struct Manifest {
    package: Package,
    bin: Vec<Bin>,
}

#[derive(Deserialize)]
struct Package {
    metadata: Metadata,
}

#[derive(Deserialize)]
struct Metadata {
    runs: BTreeMap<String, u64>,
    seeds: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct Bin {
    name: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest(runs: &str) -> String {
        format!(
            "[package.metadata.seeds]\ntwo = \"conformance\"\n[package.metadata.runs]\n{runs}\n\
             [[bin]]\nname = \"one\"\n[[bin]]\nname = \"two\"\npath = \"x.rs\"\n"
        )
    }

    #[test]
    fn targets_and_their_runs_come_from_the_manifest() {
        let targets = targets(&manifest("two = 2\none = 1_000")).unwrap();
        let found = targets.iter();
        let found: Vec<_> = found
            .map(|one| (one.name.as_str(), one.runs, one.seeds.as_deref()))
            .collect();
        let expected = [("one", 1000, None), ("two", 2, Some("conformance"))];
        assert_eq!(found, expected);
    }

    #[test]
    fn contributors_are_told_of_every_target() {
        let repo = crate::repo::Repo::find().unwrap();
        let page = repo.read("CONTRIBUTING.md").unwrap();
        for target in targets(&repo.read(MANIFEST).unwrap()).unwrap() {
            assert!(
                page.contains(&format!("`{}`", target.name)),
                "{}",
                target.name
            );
        }
    }

    #[test]
    fn every_target_has_runs_and_nothing_else_has() {
        for runs in ["one = 1", "one = 1\ntwo = 2\nthree = 3"] {
            assert!(targets(&manifest(runs)).is_err(), "{runs}");
        }
    }
}
