//! The crates of the map in ARCHITECTURE.md, and which of them exist.

use crate::error::Error;
use crate::sources::SourceFile;

const MAP: &str = "ARCHITECTURE.md";

/// The crates that have a place in the map and are not written, in its order.
///
/// # Errors
/// The map and the folders disagree about what exists.
pub(super) fn planned(files: &[SourceFile]) -> Result<Vec<String>, Error> {
    let map = files.iter().find(|file| file.path == MAP);
    let drawn = map.map(|file| drawn(&file.text)).unwrap_or_default();
    let exists = |name: &str| {
        let manifest = format!("crates/{name}/Cargo.toml");
        files.iter().any(|file| file.path == manifest)
    };
    for (name, is_built) in &drawn {
        let why = match (is_built, exists(name)) {
            (true, false) => format!("`{name}` has a ● and does not exist"),
            (false, true) => format!("`{name}` exists and has no ●"),
            (true, true) | (false, false) => continue,
        };
        return Err(Error::malformed(MAP, why));
    }
    let manifests = files.iter().filter_map(|file| {
        let name = file
            .path
            .strip_prefix("crates/")?
            .strip_suffix("/Cargo.toml")?;
        (!name.contains('/')).then_some(name)
    });
    for name in manifests {
        if !drawn.iter().any(|(one, _)| one == name) {
            return Err(Error::malformed(MAP, format!("`{name}` is not on the map")));
        }
    }
    let planned = drawn.into_iter().filter(|(_, is_built)| !is_built);
    Ok(planned.map(|(name, _)| name).collect())
}

/// The crates in the drawing of `crates/`, and whether they have a ●.
fn drawn(page: &str) -> Vec<(String, bool)> {
    let drawing = page
        .split_once("```text\ncrates/\n")
        .map_or("", |(_, rest)| rest);
    let drawing = drawing
        .split_once("```")
        .map_or(drawing, |(drawing, _)| drawing);
    let mut crates = Vec::new();
    for line in drawing.lines() {
        let mut is_built = false;
        for word in line.split_whitespace() {
            match word {
                "●" => is_built = true,
                name if name.starts_with("harn-") => {
                    crates.push((name.to_owned(), is_built));
                    is_built = false;
                }
                // What it is for follows.
                _ => break,
            }
        }
    }
    crates
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "# Architecture\n\n```text\ncrates/\n\
                        ● harn-log   where harn-events are kept\n\
                        ● harn-acp  harn-a2a  ● harn-mcp     one protocol each\n\
                        ● bench/     benchmarks\n```\n\nharn-cli is told about later.\n";

    /// The crates that are planned, or what is wrong, where these exist.
    fn check(existing: &[&str], expected: &str) {
        let mut files = vec![SourceFile::new(MAP, PAGE)];
        let manifest = |name: &&str| format!("crates/{name}/Cargo.toml");
        let manifests = existing.iter().map(manifest);
        files.extend(manifests.map(|path| SourceFile::new(&path, "")));
        let told = match planned(&files) {
            Ok(planned) => planned.join(" "),
            Err(why) => why.to_string(),
        };
        assert_eq!(told, expected);
    }

    #[test]
    fn what_has_no_dot_is_planned() {
        check(&["harn-log", "harn-acp", "harn-mcp"], "harn-a2a");
    }

    #[test]
    fn the_map_and_the_folders_agree() {
        let malformed = "ARCHITECTURE.md is malformed: ";
        let missing = format!("{malformed}`harn-mcp` has a ● and does not exist");
        check(&["harn-log", "harn-acp"], &missing);
        let all = ["harn-log", "harn-acp", "harn-mcp", "harn-a2a"];
        check(&all, &format!("{malformed}`harn-a2a` exists and has no ●"));
        let strange = ["harn-log", "harn-acp", "harn-mcp", "harn-base"];
        check(
            &strange,
            &format!("{malformed}`harn-base` is not on the map"),
        );
    }
}
