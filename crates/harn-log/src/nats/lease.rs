//! Leases: who may do something, until when.
//!
//! ```text
//! free ──► held by one owner, renewed in time ──► released, or not renewed: free
//! ```
//!
//! A lease is an entry in a bucket whose entries the server removes when they are as
//! old as a lease lasts. The server's clock alone counts. Whoever makes the entry has
//! the lease; whoever renews it says which revision it has, so a holder who came too
//! late learns that it has lost the lease, also if nobody else has taken it.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::time::{Instant, sleep_until};

use super::bucket::{Bucket, Entry};
use super::connection::{Connection, next, unreachable};
use super::error::{NatsError, Result};
use super::name;
use crate::error::LogError;

/// How soon to look again at an entry that should have gone.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// A lease somebody has, or had. Dropping it does not release it; not renewing does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NatsLease {
    name: String,
    owner: String,
    /// Tells this holding from every other, also by the same owner.
    nonce: String,
    revision: u64,
}

impl NatsLease {
    /// What it is a lease of.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Who has it.
    pub fn owner(&self) -> &str {
        &self.owner
    }

    /// A number that rises with every renewal and every new holder, also of other
    /// leases of the same log. Whoever is shown two of them trusts the higher.
    pub fn token(&self) -> u64 {
        self.revision
    }
}

/// What is stored.
#[derive(Serialize, Deserialize)]
struct Holding {
    owner: String,
    nonce: String,
}

/// The leases of a log.
pub(super) struct Leases {
    connection: Connection,
    bucket: Bucket,
    ttl: Duration,
}

impl Leases {
    pub(super) fn new(connection: Connection, ttl: Duration) -> Self {
        let name = connection.names().leases_bucket();
        Self {
            bucket: Bucket::new(&connection, name, Some(ttl)),
            connection,
            ttl,
        }
    }

    /// Takes the lease if it is free.
    pub(super) async fn try_take(&self, lease: &str, owner: &str) -> Result<Option<NatsLease>> {
        let deadline = self.connection.deadline();
        self.check_ttl(deadline).await?;
        let key = key(lease)?;
        let current = self.bucket.get(&key, deadline).await?;
        let free_at = match current {
            None => 0,
            Some(entry) if entry.is_deleted => entry.revision,
            Some(_) => return Ok(None),
        };
        let taken = NatsLease {
            name: lease.to_owned(),
            owner: owner.to_owned(),
            nonce: self.connection.client().new_inbox(),
            revision: free_at,
        };
        self.write(taken, deadline).await
    }

    /// Takes the lease as soon as it is free, if that is before `until`.
    pub(super) async fn take(
        &self,
        lease: &str,
        owner: &str,
        until: Instant,
    ) -> Result<Option<NatsLease>> {
        let subject = self.bucket.subject(&key(lease)?);
        let subscribed = self.connection.client().subscribe(subject).await;
        let mut changes = subscribed.map_err(|why| unreachable("watch a lease", why))?;
        let mut link = self.connection.link();
        let mut gone_at = Instant::now() + self.ttl;
        loop {
            if let Some(taken) = self.try_take(lease, owner).await? {
                return Ok(Some(taken));
            }
            if Instant::now() >= until {
                return Ok(None);
            }
            let look_at = gone_at.max(Instant::now() + LOOK_AGAIN).min(until);
            tokio::select! {
                change = next(&mut changes) => {
                    if change.is_none() {
                        return Err(NatsError::Closed.into());
                    }
                    gone_at = Instant::now() + self.ttl;
                }
                _ = link.changed() => {}
                () = sleep_until(look_at) => {}
            }
        }
    }

    /// Makes the lease last from now on; `None` if it is lost.
    pub(super) async fn renew(&self, lease: NatsLease) -> Result<Option<NatsLease>> {
        self.write(lease, self.connection.deadline()).await
    }

    /// Gives the lease back, and says whether it was still held.
    pub(super) async fn release(&self, lease: &NatsLease) -> Result<bool> {
        let deadline = self.connection.deadline();
        let key = key(&lease.name)?;
        Ok(self.bucket.delete(&key, lease.revision, deadline).await?)
    }

    /// Who has the lease.
    pub(super) async fn holder(&self, lease: &str) -> Result<Option<NatsLease>> {
        let deadline = self.connection.deadline();
        let entry = self.bucket.get(&key(lease)?, deadline).await?;
        let Some(entry) = entry.filter(|entry| !entry.is_deleted) else {
            return Ok(None);
        };
        let Holding { owner, nonce } = holding(&entry)?;
        Ok(Some(NatsLease {
            name: lease.to_owned(),
            owner,
            nonce,
            revision: entry.revision,
        }))
    }

    /// Writes the entry if its revision is as expected. An answer that got lost is
    /// recognised by what is stored then.
    async fn write(&self, mut lease: NatsLease, deadline: Instant) -> Result<Option<NatsLease>> {
        let key = key(&lease.name)?;
        let value = serde_json::to_string(&Holding {
            owner: lease.owner.clone(),
            nonce: lease.nonce.clone(),
        })?;
        loop {
            let put = self
                .bucket
                .put(&key, value.clone(), lease.revision, deadline);
            match put.await {
                Ok(Some(revision)) => {
                    lease.revision = revision;
                    return Ok(Some(lease));
                }
                Ok(None) => return self.recognise(lease, deadline).await,
                Err(error) if error.is_transient() && Instant::now() < deadline => {
                    self.connection.pause().await;
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// The lease, if the entry is what we have written.
    async fn recognise(
        &self,
        mut lease: NatsLease,
        deadline: Instant,
    ) -> Result<Option<NatsLease>> {
        let entry = self.bucket.get(&key(&lease.name)?, deadline).await?;
        let Some(entry) = entry.filter(|entry| !entry.is_deleted) else {
            return Ok(None);
        };
        let is_ours = holding(&entry)?.nonce == lease.nonce;
        lease.revision = entry.revision;
        Ok(is_ours.then_some(lease))
    }

    async fn check_ttl(&self, deadline: Instant) -> Result<()> {
        match self.bucket.age(deadline).await? {
            Some(age) if age != self.ttl => Err(LogError::Config(format!(
                "leases of this log last {age:?}, not {:?}: all who use it must agree",
                self.ttl
            ))),
            _ => Ok(()),
        }
    }
}

fn key(lease: &str) -> Result<String> {
    match lease {
        "" => Err(LogError::Config("a lease needs a name".to_owned())),
        lease => Ok(name::word(lease)),
    }
}

fn holding(entry: &Entry) -> Result<Holding> {
    Ok(serde_json::from_slice(&entry.value)?)
}
