//! Whom a connection trusts, and as whom it speaks.

use std::fmt::Display;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use harn_machine::TlsOptions;
use rustls::client::WebPkiServerVerifier;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore};

use super::pin::{Pinned, digest};

/// What connections without TLS are made with: it trusts nobody, and costs nothing to make.
pub(super) fn trusting_nobody() -> Result<ClientConfig, String> {
    configured(&TlsOptions::default(), RootCertStore::empty())
}

/// What connections with TLS are made with: it trusts whom the machine trusts.
pub(super) fn trusting(options: &TlsOptions) -> Result<ClientConfig, String> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if let Some(path) = &options.authorities {
        roots.add_parsable_certificates(certificates(path)?);
    }
    configured(options, roots)
}

fn configured(options: &TlsOptions, roots: RootCertStore) -> Result<ClientConfig, String> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?;
    let builder = match options.pins.is_empty() {
        true => builder.with_root_certificates(roots),
        false => {
            let trusted = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider);
            let trusted = trusted.build().map_err(|error| error.to_string())?;
            let digests = options.pins.iter().map(|pin| {
                let found = digest(pin);
                found.ok_or_else(|| format!("the pin '{pin}' is not a SHA-256 digest"))
            });
            builder
                .dangerous()
                .with_custom_certificate_verifier(Arc::new(Pinned {
                    trusted,
                    digests: digests.collect::<Result<_, _>>()?,
                }))
        }
    };
    let Some((chain, key)) = identity(options)? else {
        return Ok(builder.with_no_client_auth());
    };
    let config = builder.with_client_auth_cert(chain, key);
    config.map_err(|error| error.to_string())
}

type Identity = (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>);

/// Our own certificate and its key, from two files or one.
fn identity(options: &TlsOptions) -> Result<Option<Identity>, String> {
    let certificate = options.certificate.as_ref().or(options.identity.as_ref());
    let Some(certificate) = certificate else {
        return Ok(None);
    };
    refuse_pkcs12(certificate)?;
    let key = options.key.as_ref().unwrap_or(certificate);
    let read = PrivateKeyDer::from_pem_file(key).map_err(|error| unreadable(key, &error))?;
    Ok(Some((certificates(certificate)?, read)))
}

/// Browsers hand out identities in a form that this program does not read. It is no PEM, but
/// begins as all things of its encoding do, and who gives one should learn what to do.
fn refuse_pkcs12(path: &Path) -> Result<(), String> {
    const BEGINNING: u8 = 0x30;
    let mut first = [0; 1];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut first));
    match read.is_ok() && first == [BEGINNING] {
        true => Err(unreadable(
            path,
            &"PKCS#12 is not supported; give a PEM file, as `openssl pkcs12 -nodes` writes it",
        )),
        false => Ok(()),
    }
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let found = CertificateDer::pem_file_iter(path).map_err(|error| unreadable(path, &error))?;
    let found = found.collect::<Result<Vec<_>, _>>();
    found.map_err(|error| unreadable(path, &error))
}

fn unreadable(path: &Path, error: &dyn Display) -> String {
    format!("cannot read {}: {error}", path.display())
}
