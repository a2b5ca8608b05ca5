//! Where logins are kept: the keychain of the system, or a file for its owner alone.
//!
//! What was read is remembered, because a keychain is a program that has to be started and
//! every request wants a token. Other processes may log in or renew meanwhile, so whoever was
//! refused, or is about to renew, reads anew under the lock of that login: one of this process
//! and, where there is a folder, one that other processes see.

mod file;
mod keychain;

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::fs::File;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard};
use url::Url;

pub use keychain::{CommandKeychain, Keychain};

use super::Failure;
use super::credential::Credential;
use file::Folder;

/// Keeps logins.
#[derive(Default)]
pub struct Vault {
    keychain: Option<Arc<dyn Keychain>>,
    folder: Option<Folder>,
    /// What was read or written last, also that there was nothing.
    known: Mutex<HashMap<Url, Option<Credential>>>,
    renewing: Mutex<HashMap<Url, Arc<AsyncMutex<()>>>>,
    logging_in: Mutex<HashMap<Url, Arc<AsyncMutex<()>>>>,
}

/// While it lives, nobody else renews the same login.
pub(super) struct Lock {
    _here: OwnedMutexGuard<()>,
    /// Unlocks when it is closed.
    _everywhere: Option<File>,
}

impl Vault {
    /// Logins are kept in the keychain, or else in files in `folder`; without either they end
    /// with the process.
    pub fn new(keychain: Option<Arc<dyn Keychain>>, folder: Option<PathBuf>) -> Self {
        Self {
            keychain,
            folder: folder.map(Folder),
            ..Self::default()
        }
    }

    /// Whether somebody has logged in to a server.
    ///
    /// # Errors
    /// When what is kept cannot be read.
    pub async fn has_login(&self, server: &Url) -> Result<bool, Failure> {
        let kept = self.load(server).await?;
        Ok(kept.is_some_and(|kept| kept.access_token().is_some()))
    }

    /// What is kept for a server, as it was known last.
    pub(super) async fn load(&self, server: &Url) -> Result<Option<Credential>, Failure> {
        let known = self.known().get(server).cloned();
        match known {
            Some(known) => Ok(known),
            None => self.load_anew(server).await,
        }
    }

    /// What is kept for a server right now.
    pub(super) async fn load_anew(&self, server: &Url) -> Result<Option<Credential>, Failure> {
        if self.keychain.is_none() && self.folder.is_none() {
            return Ok(self.known().get(server).cloned().flatten());
        }
        let text = self.read(server).await?;
        // What another version has written is no login of ours; somebody logs in again. What
        // was kept under this name for another server is nobody's business here.
        let kept = text.and_then(|text| serde_json::from_str::<Credential>(&text).ok());
        let kept = kept.filter(|kept| kept.server == server.as_str());
        self.known().insert(server.clone(), kept.clone());
        Ok(kept)
    }

    async fn read(&self, server: &Url) -> Result<Option<String>, Failure> {
        if let Some(keychain) = &self.keychain
            && let Ok(Some(text)) = keychain.load(server.as_str()).await
        {
            return Ok(Some(text));
        }
        match &self.folder {
            Some(folder) => folder.read(server),
            None => Ok(None),
        }
    }

    pub(super) async fn save(&self, server: &Url, kept: &Credential) -> Result<(), Failure> {
        let text = serde_json::to_string(kept).map_err(|error| unkept(&error))?;
        self.known().insert(server.clone(), Some(kept.clone()));
        if let Some(keychain) = &self.keychain {
            match store(keychain.as_ref(), server, &text).await {
                Ok(()) => {
                    // Two copies would disagree one day.
                    if let Some(folder) = &self.folder {
                        folder.remove(server)?;
                    }
                    return Ok(());
                }
                Err(why) if self.folder.is_none() => return Err(unkept(&why)),
                Err(why) => tracing::warn!("the keychain cannot be used: {why}"),
            }
        }
        match &self.folder {
            Some(folder) => folder.write(server, &text),
            None => Ok(()),
        }
    }

    /// Says whether there was anything.
    pub(super) async fn remove(&self, server: &Url) -> Result<bool, Failure> {
        let known = self.load_anew(server).await?;
        self.known().insert(server.clone(), None);
        if let Some(keychain) = &self.keychain {
            keychain
                .remove(server.as_str())
                .await
                .map_err(|why| unkept(&why))?;
        }
        if let Some(folder) = &self.folder {
            folder.remove(server)?;
        }
        Ok(known.is_some())
    }

    /// Waits until nobody else renews the login of a server.
    pub(super) async fn lock(&self, server: &Url) -> Result<Lock, Failure> {
        let here = mutex_of(&self.renewing, server).lock_owned().await;
        let everywhere = match &self.folder {
            Some(folder) => Some(folder.lock(server).await?),
            None => None,
        };
        Ok(Lock {
            _here: here,
            _everywhere: everywhere,
        })
    }

    /// Waits until nobody else of this process logs in to a server. Other processes are not
    /// waited for: one without a terminal must not wait for a person in front of another.
    pub(super) async fn one_login(&self, server: &Url) -> OwnedMutexGuard<()> {
        mutex_of(&self.logging_in, server).lock_owned().await
    }

    fn known(&self) -> std::sync::MutexGuard<'_, HashMap<Url, Option<Credential>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn mutex_of(all: &Mutex<HashMap<Url, Arc<AsyncMutex<()>>>>, server: &Url) -> Arc<AsyncMutex<()>> {
    let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
    all.entry(server.clone()).or_default().clone()
}

/// Puts a text into a keychain and looks whether it is there: a keychain that is locked, or
/// that cuts long texts, must not lose a login.
async fn store(keychain: &dyn Keychain, server: &Url, text: &str) -> Result<(), String> {
    keychain.save(server.as_str(), text).await?;
    match keychain.load(server.as_str()).await? {
        Some(kept) if kept == text => Ok(()),
        _ => {
            let _it_is_of_no_use = keychain.remove(server.as_str()).await;
            Err("it does not give back what it was given".to_owned())
        }
    }
}

fn unkept(why: &dyn std::fmt::Display) -> Failure {
    Failure::Vault(why.to_string())
}
