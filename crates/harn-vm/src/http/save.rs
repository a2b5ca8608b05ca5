//! A body that goes to a file.

use std::path::Path;

use harn_machine::{NetFailure, NetFailureKind};
use reqwest::Response;
use tokio::fs::File;
use tokio::io::AsyncWriteExt;

use super::exchange::{Limits, next};
use super::failure::failure;

/// Writes a body to a file as it arrives; gives how many octets there were. If it breaks off, or
/// nobody wants it any more, there is no file.
pub(super) async fn save(
    response: &mut Response,
    path: &Path,
    limits: &Limits,
) -> Result<u64, NetFailure> {
    let unwritten = |error: std::io::Error| failure(NetFailureKind::File, error.to_string());
    let mut file = File::create(path).await.map_err(unwritten)?;
    let mut unfinished = Unfinished { path: Some(path) };
    let mut count = 0;
    while let Some(piece) = next(response, limits).await? {
        file.write_all(&piece).await.map_err(unwritten)?;
        count += piece.len() as u64;
    }
    file.flush().await.map_err(unwritten)?;
    unfinished.path = None;
    Ok(count)
}

/// A file that holds only a part of what it should.
struct Unfinished<'a> {
    path: Option<&'a Path>,
}

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        if let Some(path) = self.path.filter(|path| path.is_file()) {
            let _it_may_be_gone_already = std::fs::remove_file(path);
        }
    }
}
