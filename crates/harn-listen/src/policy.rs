//! Everything a listener is told before it starts.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use tokio::net::TcpListener;
use url::Url;

use crate::guard::Guard;
use crate::listener::MadeToken;
use crate::token::{self, TokenFile};
use crate::{Clock, Credentials, Error, Hosts, Limits, Listener, Origins, Tls, is_loopback};

/// Who may connect to a listener, and how. The default lets in whoever on this machine knows the
/// token that the listener makes.
#[derive(Clone)]
pub struct Policy {
    /// Where to listen.
    pub address: SocketAddr,
    /// By what callers are known.
    pub credentials: Credentials,
    /// Lets everybody in: no token is made, and a listener starts that would otherwise refuse.
    pub insecure_no_auth: bool,
    /// Where the token of a listener without keys is kept, in a file of its address.
    pub token_folder: Option<PathBuf>,
    /// Which hosts requests may be for.
    pub hosts: Hosts,
    /// Which pages in a browser may connect.
    pub origins: Origins,
    /// How connections are kept private.
    pub tls: Tls,
    /// Where others reach the listener, if it is not where it listens.
    pub public_url: Option<String>,
    /// Paths that are open to everybody, like documents that say how to authenticate. One that
    /// ends with `/` stands for all below it.
    pub open_paths: Vec<String>,
    /// What a caller without a credential is told to bring, in `WWW-Authenticate`.
    pub challenge: String,
    /// How much strangers may cost.
    pub limits: Limits,
}

impl Policy {
    /// A listener at `address` with the defaults of everything else.
    pub fn new(address: SocketAddr) -> Self {
        Self {
            address,
            credentials: Credentials::default(),
            insecure_no_auth: false,
            token_folder: None,
            hosts: Hosts::default(),
            origins: Origins::default(),
            tls: Tls::default(),
            public_url: None,
            open_paths: Vec::new(),
            challenge: "Bearer realm=\"harn\"".to_owned(),
            limits: Limits::default(),
        }
    }

    /// Checks the policy, reads certificates, and binds the address, in this order.
    ///
    /// # Errors
    /// Strangers would be let in, a setting makes no sense, a certificate cannot be used, or
    /// the address is not to be had. Nothing listens then.
    pub async fn open(mut self, clock: Arc<dyn Clock>) -> Result<Listener, Error> {
        self.check_exposure()?;
        let public = self.check_public_url()?;
        if let Some(host) = public.as_ref().and_then(Url::host_str) {
            self.hosts.allow(host)?;
        }
        let ip = self.address.ip();
        if !ip.is_unspecified() {
            // An address cannot be pointed elsewhere, as a name can.
            self.hosts.allow(&ip.to_string())?;
        }
        let tls = self.tls.prepare(&self.hosts.names())?;
        let bind = |source| Error::Bind {
            address: self.address,
            source,
        };
        let socket = TcpListener::bind(self.address).await.map_err(bind)?;
        let bound = socket.local_addr().map_err(bind)?;
        let url = public.map_or_else(|| self.url_of(bound), |url| url.to_string());
        let limits = self.limits;
        let token = self.make_token(bound)?;
        let guard = Arc::new(Guard::new(self, clock));
        Ok(Listener::new(socket, bound, url, tls, token, guard, limits))
    }

    /// A token for whoever looks after this machine, if there is no other credential.
    fn make_token(&mut self, bound: SocketAddr) -> Result<Option<MadeToken>, Error> {
        if !self.credentials.is_empty() || self.insecure_no_auth {
            return Ok(None);
        }
        let token = token::new_token().ok_or(Error::NoToken)?;
        let file = self.token_folder.as_deref();
        let file = file.map(|folder| TokenFile::write(folder, bound, &token));
        let file = file.transpose().unwrap_or_else(|error| {
            // The operator is shown the token all the same.
            tracing::warn!(%error, "the token of the listener cannot be kept in a file");
            None
        });
        self.credentials.set_token(token.clone());
        Ok(Some(MadeToken { token, file }))
    }

    /// A proxy in front of us is reached from other machines, wherever it finds us.
    fn check_exposure(&self) -> Result<(), Error> {
        if !self.credentials.is_empty() || self.insecure_no_auth {
            return Ok(());
        }
        if !is_loopback(self.address.ip()) {
            return Err(Error::Exposed(self.address));
        }
        if self.tls == Tls::Edge {
            return Err(Error::ExposedByProxy);
        }
        Ok(())
    }

    fn check_public_url(&self) -> Result<Option<Url>, Error> {
        let Some(text) = &self.public_url else {
            return Ok(None);
        };
        let bad = || Error::BadPublicUrl(text.clone());
        let url = Url::parse(text).map_err(|_| bad())?;
        let is_good = matches!(url.scheme(), "http" | "https")
            && url.host().is_some()
            && url.query().is_none()
            && url.fragment().is_none()
            && url.username().is_empty()
            && url.password().is_none();
        if !is_good {
            return Err(bad());
        }
        if self.tls.is_https() && url.scheme() != "https" {
            return Err(Error::PublicUrlNotHttps(text.clone()));
        }
        Ok(Some(url))
    }

    fn url_of(&self, bound: SocketAddr) -> String {
        let scheme = if self.tls.is_https() { "https" } else { "http" };
        format!("{scheme}://{bound}/")
    }
}
