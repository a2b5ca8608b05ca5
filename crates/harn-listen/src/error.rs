//! Why a listener does not start.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

/// Why a listener does not start. Each says what to do about it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Anybody on the network could connect.
    #[error(
        "{0} can be reached from other machines and no authentication is configured: listen on \
         127.0.0.1, configure a key, or say --insecure-no-auth"
    )]
    Exposed(SocketAddr),
    /// Anybody who reaches the proxy could connect.
    #[error(
        "a proxy lets other machines in and no authentication is configured: configure a key, \
         or say --insecure-no-auth if the proxy asks for one itself"
    )]
    ExposedByProxy,
    /// The system gives no randomness.
    #[error("could not make a token: the system gives no random bytes")]
    NoToken,
    /// A host that is none.
    #[error("`{0}` is no host: write a name or an address, without scheme, port and path")]
    BadHost(String),
    /// An origin that is none.
    #[error("`{0}` is no origin: write a scheme and a host, like https://editor.example")]
    BadOrigin(String),
    /// Every origin at once.
    #[error("origins are allowed one by one, not with `*`")]
    AnyOrigin,
    /// A public URL that is none.
    #[error("`{0}` is no public URL: write one like https://agents.example/")]
    BadPublicUrl(String),
    /// What is private has an `https` URL.
    #[error("the public URL `{0}` must begin with https, because connections are private")]
    PublicUrlNotHttps(String),
    /// A key that is too easy to guess.
    #[error("the key `{name}` has {length} bytes, and keys have at least {min}")]
    WeakKey {
        /// The name of the key.
        name: String,
        /// How long it is.
        length: usize,
        /// How long it would have to be.
        min: usize,
    },
    /// Two keys with one name.
    #[error("there are two keys with the name `{0}`")]
    TwoKeys(String),
    /// A certificate or key that cannot be read.
    #[error("could not read {path}: {source}")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file that holds no certificate or no key.
    #[error("{path} holds no {what} in PEM form")]
    NotPem {
        /// The file.
        path: PathBuf,
        /// What was looked for.
        what: &'static str,
    },
    /// A certificate and a key that do not belong together, or are not understood.
    #[error("the certificate and its key cannot be used: {0}")]
    BadCertificate(#[source] rustls::Error),
    /// A certificate of our own that could not be made.
    #[error("could not make a certificate: {0}")]
    NoCertificate(#[source] rcgen::Error),
    /// The address is in use, or not ours.
    #[error("could not listen on {address}: {source}")]
    Bind {
        /// The address.
        address: SocketAddr,
        /// Why.
        source: io::Error,
    },
}
