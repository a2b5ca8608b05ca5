//! Where templates are.
//!
//! ```text
//! greeting.prompt        beside the file that uses it
//! @/greeting.prompt      in the project: the nearest folder above with a harn.toml
//! @letters/formal.prompt in the folder that harn.toml gives for `letters`
//! ```

use std::path::{Component, Path, PathBuf};

use harn_machine::{Answer, Context, FileRequest, Request};

/// A template that was found.
pub(super) struct Found {
    pub(super) path: PathBuf,
    /// Whether it was named by `@`: such a template may be anywhere in the project.
    pub(super) is_asset: bool,
}

/// Where the template `name` is, used in a file in `folder`; `project` is where to look for
/// the project.
///
/// # Errors
/// Why it cannot be anywhere, as it is told to the program.
pub(super) fn locate(
    context: &mut Context<'_>,
    name: &str,
    folder: &Path,
    project: &Path,
) -> Result<Found, String> {
    let Some(asset) = name.strip_prefix('@') else {
        let path = normal(&folder.join(name));
        let is_asset = false;
        return Ok(Found { path, is_asset });
    };
    let path = match asset.strip_prefix('/') {
        Some(rest) => {
            if !is_inside(rest) {
                return Err(format!("invalid project-root asset path '{name}'"));
            }
            project_root(context, name, project)?.join(rest)
        }
        None => {
            let parts = asset.split_once('/').filter(|(_, rest)| is_inside(rest));
            let Some((alias, rest)) = parts else {
                return Err(format!("invalid asset path '{name}'"));
            };
            let root = project_root(context, name, project)?;
            asset_root(context, alias, &root)?.join(rest)
        }
    };
    let is_asset = true;
    Ok(Found { path, is_asset })
}

/// Whether a relative path stays where it begins.
fn is_inside(path: &str) -> bool {
    let mut parts = Path::new(path).components();
    !path.is_empty() && parts.all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
}

/// The nearest folder at or above `folder` that has a harn.toml.
fn project_root(context: &mut Context<'_>, name: &str, folder: &Path) -> Result<PathBuf, String> {
    let mut folders = folder.ancestors();
    let root = folders.find(|folder| {
        let manifest = FileRequest::Status(folder.join("harn.toml"));
        let status = context.perform(&Request::OwnFile(manifest));
        matches!(status, Answer::Status(Some(status)) if status.is_file)
    });
    root.map(Path::to_owned).ok_or_else(|| {
        let folder = folder.display();
        format!(
            "package-root prompt path '{name}' has no project root: no harn.toml found above {folder}"
        )
    })
}

/// The folder that an alias stands for.
fn asset_root(context: &mut Context<'_>, alias: &str, root: &Path) -> Result<PathBuf, String> {
    let manifest = root.join("harn.toml");
    let request = Request::OwnFile(FileRequest::Read(manifest.clone()));
    let text = text(context.perform(&request)).unwrap_or_default();
    let table: toml::Table = text.parse().unwrap_or_default();
    let folder = table.get("asset_roots").and_then(|roots| roots.get(alias));
    let Some(folder) = folder.and_then(toml::Value::as_str) else {
        let manifest = manifest.display();
        return Err(format!(
            "asset alias '{alias}' is not defined in [asset_roots] of {manifest}"
        ));
    };
    if !is_inside(folder) {
        return Err(format!(
            "asset alias '{alias}' resolves to an unsafe path '{folder}' (must be a project-relative directory without `..` segments)"
        ));
    }
    Ok(root.join(folder))
}

/// The text of a file.
///
/// # Errors
/// Why it cannot be read.
pub(super) fn read(context: &mut Context<'_>, path: &Path) -> Result<String, String> {
    text(context.perform(&Request::File(FileRequest::Read(path.to_owned()))))
}

fn text(answer: Answer) -> Result<String, String> {
    match answer {
        Answer::Octets(octets) => {
            String::from_utf8(octets).map_err(|_| "stream did not contain valid UTF-8".to_owned())
        }
        Answer::Failed(failure) => Err(failure.message),
        _ => Err("it cannot be read".to_owned()),
    }
}

/// The folder of the file whose function calls, from the root of the file system on.
pub(super) fn calling_folder(context: &mut Context<'_>) -> PathBuf {
    let folder = context.source_folder().map(Path::to_owned);
    let folder = folder.filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or_else(|| PathBuf::from("."));
    if folder.is_absolute() {
        return normal(&folder);
    }
    match context.perform(&Request::OwnFile(FileRequest::Canonical(folder.clone()))) {
        Answer::Text(Some(path)) => PathBuf::from(path),
        _ => folder,
    }
}

/// A path without `.` and `..`, by its text alone.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                // There is nothing above the root.
                normal.pop();
            }
            part => normal.push(part),
        }
    }
    normal
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lose_their_dots() {
        for (path, expected) in [
            ("/a/./b", "/a/b"),
            ("/a/../b/c/..", "/b"),
            ("/../..", "/"),
            ("/a/b/../../c", "/c"),
        ] {
            assert_eq!(normal(Path::new(path)), Path::new(expected), "{path}");
        }
    }

    #[test]
    fn assets_stay_inside_their_folder() {
        for (path, inside) in [
            ("a/b.prompt", true),
            ("./a", true),
            ("", false),
            ("../a", false),
            ("a/../../b", false),
            ("/etc/passwd", false),
        ] {
            assert_eq!(is_inside(path), inside, "{path}");
        }
    }
}
