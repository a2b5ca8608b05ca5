//! Listeners that keep their connections private.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod world;

use std::path::Path;
use std::sync::Arc;

use harn_listen::{Error, Policy, Tls};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use tokio_rustls::TlsConnector;
use world::{Answer, World, get, policy};

/// Trusts anybody, so that the test sees what is behind.
#[derive(Debug)]
struct Anybody;

impl ServerCertVerifier for Anybody {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![
            SignatureScheme::ECDSA_NISTP256_SHA256,
            SignatureScheme::ED25519,
        ]
    }
}

async fn ask(world: &World, config: ClientConfig, request: &str) -> Option<Answer> {
    let name = ServerName::try_from("localhost").unwrap();
    let connector = TlsConnector::from(Arc::new(config));
    let stream = connector.connect(name, world.connect().await).await.ok()?;
    Some(world::exchange(stream, request.to_owned()).await)
}

fn client() -> rustls::ConfigBuilder<ClientConfig, rustls::WantsVerifier> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
}

fn trusting_anybody() -> ClientConfig {
    client()
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Anybody))
        .with_no_client_auth()
}

#[tokio::test]
async fn a_certificate_for_trying_things_out_is_new_each_time_and_sticks_to_nobody() {
    let open = async || {
        World::open(Policy {
            tls: Tls::SelfSignedDev,
            ..policy()
        })
        .await
    };
    let (world, other) = (open().await, open().await);
    assert!(world.fingerprint.is_some() && world.fingerprint != other.fingerprint);
    assert!(world.url.starts_with("https://127.0.0.1:"));
    let request = get("/who", "host: localhost");
    let answer = ask(&world, trusting_anybody(), &request).await.unwrap();
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("strict-transport-security"), None);
    // Who does not speak TLS gets nothing.
    assert_ne!(world.ask(&request).await.status, 200);
    assert_eq!(world.handled(), 1);
    // The checks hold inside as well.
    let stranger = get("/who", "host: evil.example");
    let answer = ask(&world, trusting_anybody(), &stranger).await.unwrap();
    assert_eq!(answer.status, 403);
}

#[tokio::test]
async fn a_certificate_from_files_is_served_to_those_who_trust_it() {
    let folder = tempfile::tempdir().unwrap();
    let (certificate, tls) = write_pair(folder.path(), "one");
    let world = World::open(Policy { tls, ..policy() }).await;
    let mut roots = RootCertStore::empty();
    roots.add(certificate).unwrap();
    let trusting = client().with_root_certificates(roots).with_no_client_auth();
    let request = get("/who", "host: localhost");
    let answer = ask(&world, trusting, &request).await.unwrap();
    assert_eq!(answer.status, 200);
    assert!(answer.header("strict-transport-security").is_some());

    let nobody = RootCertStore::empty();
    let wary = client()
        .with_root_certificates(nobody)
        .with_no_client_auth();
    assert!(ask(&world, wary, &request).await.is_none());
}

#[tokio::test]
async fn files_that_cannot_be_used_are_refused_before_anything_listens() {
    let folder = tempfile::tempdir().unwrap();
    let (_, one) = write_pair(folder.path(), "one");
    let (_, two) = write_pair(folder.path(), "two");
    let (Tls::Pem { certificates, key }, Tls::Pem { key: other, .. }) = (one, two) else {
        unreachable!("both are files");
    };
    let junk = folder.path().join("junk.pem");
    std::fs::write(&junk, "no certificate").unwrap();
    let missing = folder.path().join("missing.pem");
    let open = async |certificates: &Path, key: &Path| {
        let tls = Tls::Pem {
            certificates: certificates.to_owned(),
            key: key.to_owned(),
        };
        let policy = Policy { tls, ..policy() };
        policy.open(world::clock()).await.err()
    };
    assert!(open(&certificates, &key).await.is_none());
    let refused = open(&certificates, &other).await;
    assert!(matches!(refused, Some(Error::BadCertificate(_))));
    let refused = open(&missing, &key).await;
    assert!(matches!(refused, Some(Error::Unreadable { .. })));
    let refused = open(&certificates, &junk).await;
    assert!(matches!(
        refused,
        Some(Error::NotPem {
            what: "private key",
            ..
        })
    ));
    let refused = open(&junk, &key).await;
    assert!(matches!(
        refused,
        Some(Error::NotPem {
            what: "certificate",
            ..
        })
    ));
}

/// A certificate and its key in files of that name.
fn write_pair(folder: &Path, name: &str) -> (CertificateDer<'static>, Tls) {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let certificates = folder.join(format!("{name}.pem"));
    let key = folder.join(format!("{name}.key"));
    std::fs::write(&certificates, made.cert.pem()).unwrap();
    std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    (made.cert.der().clone(), Tls::Pem { certificates, key })
}
