//! Whom connections trust.

use std::sync::{Arc, OnceLock};

use rustls::{ClientConfig, RootCertStore};

/// TLS, made when it is first needed: finding out whom a machine trusts takes longer than many
/// requests.
#[derive(Default)]
pub(crate) struct Tls {
    of_machine: OnceLock<Result<ClientConfig, String>>,
}

impl Tls {
    /// Trusts what the machine trusts.
    pub(crate) fn of_machine(&self) -> Result<ClientConfig, String> {
        let made = self.of_machine.get_or_init(|| {
            let mut roots = RootCertStore::empty();
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
            configured(roots)
        });
        made.clone()
    }

    /// Trusts nobody, for connections without TLS.
    pub(crate) fn of_nobody(&self) -> Result<ClientConfig, String> {
        configured(RootCertStore::empty())
    }
}

fn configured(roots: RootCertStore) -> Result<ClientConfig, String> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?;
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}
