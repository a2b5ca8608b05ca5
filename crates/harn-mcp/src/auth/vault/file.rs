//! Logins in files that only their owner can read.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use url::Url;

use super::{Failure, unkept};

/// A login is small; a file that is not is none.
const BYTES_MAX: u64 = 1024 * 1024;

/// A folder with one file for each server.
pub(super) struct Folder(pub(super) PathBuf);

impl Folder {
    /// The login to a server, if there is one.
    ///
    /// # Errors
    /// Also when others could have read it, or changed it.
    pub(super) fn read(&self, server: &Url) -> Result<Option<String>, Failure> {
        let path = self.path(server, "json");
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed(&path, &error)),
        };
        let facts = file.metadata().map_err(|error| failed(&path, &error))?;
        if facts.permissions().mode() & 0o077 != 0 {
            let why = format!(
                "others can read {}; run `chmod 600` on it, or log in again",
                path.display()
            );
            return Err(unkept(&why));
        }
        let mut text = String::new();
        let read = file.take(BYTES_MAX).read_to_string(&mut text);
        read.map_err(|error| failed(&path, &error))?;
        Ok(Some(text))
    }

    /// Replaces the login to a server; whoever reads meanwhile sees the old one or the new one.
    pub(super) fn write(&self, server: &Url, text: &str) -> Result<(), Failure> {
        self.make()?;
        let path = self.path(server, "json");
        let new = self.path(server, "new");
        let written = replace(&path, &new, text);
        written.map_err(|error| failed(&path, &error))
    }

    /// Forgets the login to a server.
    pub(super) fn remove(&self, server: &Url) -> Result<(), Failure> {
        let path = self.path(server, "json");
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed(&path, &error)),
            _ => Ok(()),
        }
    }

    /// Waits until no other process has the lock of a server.
    pub(super) async fn lock(&self, server: &Url) -> Result<File, Failure> {
        self.make()?;
        let path = self.path(server, "lock");
        let opened = OpenOptions::new()
            .create(true)
            .append(true)
            .mode(0o600)
            .open(&path);
        let file = opened.map_err(|error| failed(&path, &error))?;
        let waiting = tokio::task::spawn_blocking(move || file.lock().map(|()| file));
        let locked = waiting.await.map_err(|error| unkept(&error))?;
        locked.map_err(|error| failed(&path, &error))
    }

    fn make(&self) -> Result<(), Failure> {
        let made = DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&self.0);
        made.map_err(|error| failed(&self.0, &error))
    }

    /// Readable for people, different for every server.
    fn path(&self, server: &Url, kind: &str) -> PathBuf {
        let digest = Sha256::digest(server.as_str().as_bytes());
        let digest: String = digest[..8]
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        let host = server.host_str().unwrap_or("server");
        let host: String = host
            .chars()
            .map(|letter| match letter {
                'a'..='z' | '0'..='9' | '.' | '-' => letter,
                _ => '_',
            })
            .take(64)
            .collect();
        self.0.join(format!("{host}-{digest}.{kind}"))
    }
}

fn replace(path: &Path, new: &Path, text: &str) -> io::Result<()> {
    // What a crash has left is nobody's; a link that somebody has put there is not followed.
    match fs::remove_file(new) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(new)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(new, path)
}

fn failed(path: &Path, error: &io::Error) -> Failure {
    unkept(&format!("{}: {error}", path.display()))
}
