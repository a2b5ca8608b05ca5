//! `fs/read_text_file` and `fs/write_text_file`: text as the editor knows it.
//!
//! A path is sent only if it leads into the folders of the session after all links are followed,
//! whatever the client would check. The tools have looked already; this is asked again because
//! it is here that something leaves.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use harn_vm::agent::BoxFuture;
use harn_vm::agent::coding::{Lines, TextFiles};
use harn_vm::agent::real_path::resolve;
use serde_json::{Value, json};

use super::{Peers, Roots, lock};
use crate::peer::{ClientFacts, PeerError};

/// How long an editor has for a file.
const ANSWER_WITHIN: Duration = Duration::from_secs(300);

/// The files of a session, through its client.
pub(super) struct EditorFiles {
    pub(super) session_id: String,
    pub(super) roots: Roots,
    pub(super) peers: Arc<Peers>,
}

/// Where a path leads, if that is inside of one of the folders.
pub(super) fn inside(roots: &[PathBuf], path: &Path) -> Result<PathBuf, String> {
    let outside = || {
        format!(
            "'{}' is outside of the folders of the session",
            path.display()
        )
    };
    if !path.is_absolute() {
        return Err(format!("'{}' is not an absolute path", path.display()));
    }
    let real = resolve(path).ok_or_else(outside)?.path;
    let mut roots = roots.iter().filter_map(|root| root.canonicalize().ok());
    match roots.any(|root| real.starts_with(root)) {
        true => Ok(real),
        false => Err(outside()),
    }
}

impl EditorFiles {
    /// Asks a client that can do it; `None`: there is none.
    async fn ask(
        &self,
        method: &str,
        parameters: Value,
        can: fn(&ClientFacts) -> bool,
    ) -> Option<Result<Value, String>> {
        self.peers.find(can)?;
        let asked = self.peers.ask(method, parameters, can);
        Some(match tokio::time::timeout(ANSWER_WITHIN, asked).await {
            Ok(answer) => answer.map_err(|error: PeerError| error.to_string()),
            Err(_) => Err("the editor has not answered".to_owned()),
        })
    }
}

impl TextFiles for EditorFiles {
    fn read<'a>(
        &'a self,
        path: &'a Path,
        lines: Option<Lines>,
    ) -> BoxFuture<'a, Option<Result<String, String>>> {
        Box::pin(async move {
            let path = match inside(&lock(&self.roots).clone(), path) {
                Ok(path) => path,
                Err(reason) => return Some(Err(reason)),
            };
            let mut parameters = json!({"sessionId": self.session_id, "path": path});
            if let Some(Lines { first, count }) = lines {
                parameters["line"] = json!(u32::try_from(first).unwrap_or(u32::MAX));
                parameters["limit"] = json!(u32::try_from(count).unwrap_or(u32::MAX));
            }
            let answer = self
                .ask("fs/read_text_file", parameters, |client| client.reads_files)
                .await?;
            Some(answer.and_then(|answer| match &answer["content"] {
                Value::String(text) => Ok(text.clone()),
                _ => Err("the editor's answer has no text".to_owned()),
            }))
        })
    }

    fn write<'a>(
        &'a self,
        path: &'a Path,
        text: &'a str,
    ) -> BoxFuture<'a, Option<Result<(), String>>> {
        Box::pin(async move {
            let path = match inside(&lock(&self.roots).clone(), path) {
                Ok(path) => path,
                Err(reason) => return Some(Err(reason)),
            };
            let parameters = json!({"sessionId": self.session_id, "path": path, "content": text});
            let answer = self
                .ask("fs/write_text_file", parameters, |client| {
                    client.writes_files
                })
                .await?;
            Some(answer.map(|_| ()))
        })
    }
}
