//! The folders that callers of a listener may work in.
//!
//! They are the project that is served, less if its `harn.toml` says so, and others if the
//! operator names them. A project cannot widen them: it may have come from anywhere.

use std::env::current_dir;
use std::fs;
use std::path::{Path, PathBuf};

use harn_acp::Access;
use harn_vm::agent::real_path;
use serde::Deserialize;

#[derive(Debug, Default, Deserialize)]
struct Manifest {
    #[serde(default)]
    access: AccessTable,
}

/// `[access]` of a manifest.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct AccessTable {
    roots: Option<Vec<PathBuf>>,
}

/// What callers may name: what the operator has said, with the folders of the project where they
/// have said none.
///
/// # Errors
/// `[access]` of the manifest is not understood, or wants more than the project.
pub(super) fn project_access(
    said: &Access,
    base: &Path,
    manifest: Option<&Path>,
) -> Result<Access, String> {
    if !said.roots.is_empty() {
        return Ok(said.clone());
    }
    let here = current_dir().map_err(|error| error.to_string())?;
    let base = here.join(base);
    let text = match manifest {
        Some(manifest) => fs::read_to_string(manifest).map_err(|error| error.to_string())?,
        None => String::new(),
    };
    Ok(Access {
        roots: roots(&base, &text)?,
        ..said.clone()
    })
}

fn roots(base: &Path, manifest: &str) -> Result<Vec<PathBuf>, String> {
    let read: Manifest =
        toml::from_str(manifest).map_err(|error| format!("harn.toml: {}", error.message()))?;
    let Some(roots) = read.access.roots else {
        return Ok(vec![base.to_owned()]);
    };
    let is_below = |root: &Path| {
        let (root, base) = (real_path::resolve(root), real_path::resolve(base));
        root.zip(base)
            .is_some_and(|(root, base)| root.path.starts_with(base.path))
    };
    let roots = roots.into_iter().map(|root| {
        let whole = base.join(&root);
        match is_below(&whole) {
            true => Ok(whole),
            false => Err(format!(
                "harn.toml: `{}` in `[access] roots` is outside of the project; name it with \
                 --allow-root if callers may work there",
                root.display()
            )),
        }
    });
    roots.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_narrows_the_folders_of_callers_and_never_widens_them() {
        let scratch = tempfile::tempdir().unwrap();
        let base = scratch.path().join("project");
        fs::create_dir_all(base.join("src")).unwrap();
        std::os::unix::fs::symlink("/", base.join("link")).unwrap();
        assert_eq!(roots(&base, ""), Ok(vec![base.clone()]));
        let narrowed = roots(&base, "[access]\nroots = [\"src\"]");
        assert_eq!(narrowed, Ok(vec![base.join("src")]));
        for wide in ["/", "..", "src/../../other", "link"] {
            let refused = roots(&base, &format!("[access]\nroots = [\"{wide}\"]"));
            assert!(refused.unwrap_err().contains("--allow-root"), "{wide}");
        }
        let misspelt = roots(&base, "[access]\nroot = [\"src\"]");
        assert!(misspelt.unwrap_err().contains("unknown field `root`"));
    }
}
