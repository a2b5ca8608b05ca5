//! A body that goes to a file.

use std::fs;
use std::path::{Path, PathBuf};

use harn_machine::{NetFailure, NetFailureKind};
use reqwest::Response;
use tokio::fs::File;
use tokio::io::AsyncWriteExt;

use super::exchange::{Limits, next};
use super::failure::failure;

/// Writes a body to a file as it arrives; gives how many octets there were. It is written beside
/// the file, as a part with that number, and takes its place in the end: if it breaks off, or
/// nobody wants it any more, whatever was there is still there.
pub(super) async fn save(
    response: &mut Response,
    path: &Path,
    number: u64,
    limits: &Limits,
) -> Result<u64, NetFailure> {
    let unwritten = |error: std::io::Error| failure(NetFailureKind::File, error.to_string());
    let place = Place::of(path, number);
    let mut file = File::create(place.written()).await.map_err(unwritten)?;
    let mut count = 0;
    while let Some(piece) = next(response, limits).await? {
        file.write_all(&piece).await.map_err(unwritten)?;
        count += piece.len() as u64;
    }
    file.flush().await.map_err(unwritten)?;
    place.finish().map_err(unwritten)?;
    Ok(count)
}

/// Where a body goes. A part that does not get to its place is removed.
struct Place {
    path: PathBuf,
    /// `None`: what is there is no file that could be replaced, such as a pipe.
    part: Option<PathBuf>,
}

impl Place {
    fn of(path: &Path, number: u64) -> Self {
        // A link stays one.
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let is_special = path.exists() && !path.is_file();
        let name = path.file_name().filter(|_| !is_special);
        let part = name.map(|name| {
            let name = name.to_string_lossy();
            path.with_file_name(format!(".{name}.{number}.part"))
        });
        Self { path, part }
    }

    fn written(&self) -> &Path {
        self.part.as_ref().unwrap_or(&self.path)
    }

    fn finish(mut self) -> std::io::Result<()> {
        if let Some(part) = &self.part {
            fs::rename(part, &self.path)?;
            self.part = None;
        }
        Ok(())
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(part) = &self.part {
            let _it_may_not_be_there = fs::remove_file(part);
        }
    }
}
