//! How connections are kept private.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ring::digest::{SHA256, digest};
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};

use crate::Error;
use crate::secret::hex;

/// How connections are kept private.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Tls {
    /// Not at all: for this machine, or a network one trusts.
    #[default]
    Plain,
    /// A proxy in front of us does it. Browsers are told to stay with `https`, and so are
    /// those who ask for our URL.
    Edge,
    /// With a certificate that is made at the start and forgotten at the end, for trying
    /// things out. Browsers are not told to stay with `https`, because they would remember.
    SelfSignedDev,
    /// With a certificate from files.
    Pem {
        /// The certificate, and those that lead to one people trust.
        certificates: PathBuf,
        /// Its private key.
        key: PathBuf,
    },
}

/// A certificate that was found good, ready for use.
pub(crate) struct Ready {
    pub(crate) config: Arc<ServerConfig>,
    pub(crate) fingerprint: String,
}

impl Tls {
    /// Whether our URLs begin with `https`.
    pub(crate) fn is_https(&self) -> bool {
        *self != Self::Plain
    }

    /// What browsers are told about coming back, if anything.
    pub(crate) fn strict_transport(&self) -> Option<&'static str> {
        match self {
            Self::Edge | Self::Pem { .. } => Some("max-age=31536000"),
            Self::Plain | Self::SelfSignedDev => None,
        }
    }

    /// Reads or makes the certificate; `None` if none is needed here.
    pub(crate) fn prepare(&self, names: &[String]) -> Result<Option<Ready>, Error> {
        match self {
            Self::Plain | Self::Edge => Ok(None),
            Self::SelfSignedDev => self_signed(names).map(Some),
            Self::Pem { certificates, key } => from_files(certificates, key).map(Some),
        }
    }
}

fn self_signed(names: &[String]) -> Result<Ready, Error> {
    let made = rcgen::generate_simple_self_signed(names).map_err(Error::NoCertificate)?;
    let key = PrivatePkcs8KeyDer::from(made.signing_key.serialize_der());
    ready(vec![made.cert.der().clone()], key.into())
}

fn from_files(certificates: &Path, key: &Path) -> Result<Ready, Error> {
    let not_pem = |path: &Path, what| Error::NotPem {
        path: path.to_owned(),
        what,
    };
    let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&read(certificates)?).collect();
    let chain = chain.ok().filter(|chain| !chain.is_empty());
    let chain = chain.ok_or_else(|| not_pem(certificates, "certificate"))?;
    let private = PrivateKeyDer::from_pem_slice(&read(key)?);
    ready(chain, private.map_err(|_| not_pem(key, "private key"))?)
}

fn read(path: &Path) -> Result<Vec<u8>, Error> {
    fs::read(path).map_err(|source| Error::Unreadable {
        path: path.to_owned(),
        source,
    })
}

/// Checks that the key belongs to the certificate.
fn ready(chain: Vec<CertificateDer<'static>>, key: PrivateKeyDer<'static>) -> Result<Ready, Error> {
    let fingerprint = hex(digest(&SHA256, &chain[0]).as_ref());
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, key))
        .map_err(Error::BadCertificate)?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Ready {
        config: Arc::new(config),
        fingerprint,
    })
}
