//! Connections over TLS: whom to trust, and which key a server must have.

use std::io::{BufReader, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use tokio_tungstenite::tungstenite;

use super::programs::check;
use super::server::{answer, receive};

fn file(name: &str) -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.join("tests/vm/http/certificates").join(name)
}

fn server_config() -> Arc<ServerConfig> {
    let certificate = CertificateDer::from_pem_file(file("server.pem")).expect("it is there");
    let key = PrivateKeyDer::from_pem_file(file("server.key")).expect("it is there");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("they are safe")
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .expect("the key fits");
    Arc::new(config)
}

/// A server with the certificate of the tests.
fn server() -> String {
    let config = server_config();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let url = format!(
        "https://localhost:{}",
        listener.local_addr().expect("it is bound").port()
    );
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let connection = ServerConnection::new(config.clone()).expect("it is complete");
            let mut reader = BufReader::new(StreamOwned::new(connection, stream));
            if let Ok(Some(_)) = receive(&mut reader) {
                let answer = answer("200 OK", &[], b"safe");
                let _client_may_be_gone = reader.get_mut().write_all(&answer);
            }
        }
    });
    url
}

#[test]
fn a_server_is_trusted_if_somebody_vouches_for_it() {
    let pin = std::fs::read_to_string(file("server.pin")).unwrap();
    let program = r#"
let tls = {ca_bundle_path: "AUTHORITY"}
println(http_get("URL/", {tls: tls}).body)
println(attempt({ -> http_get("URL/") }).starts_with("http: request failed: "))
println(http_get("URL/", {tls: tls + {pinned_sha256: "PIN"}}).body)
println(http_get("URL/", {tls: tls + {pinned_sha256: ["sha256/PIN", "00"]}}).body)
"#;
    let program = program.replace("AUTHORITY", &file("authority.pem").display().to_string());
    let unread = program.replace("PIN", pin.trim()).replace(", \"00\"", "");
    check(&server(), &unread, &["safe", "true", "safe", "safe"]);
}

#[test]
fn a_server_with_another_key_is_refused() {
    let program = r#"
let tls = {ca_bundle_path: "AUTHORITY", pinned_sha256: "PIN"}
println(attempt({ -> http_get("URL/", {tls: tls}) }))
println(attempt({ -> http_get("URL/", {tls: tls + {pinned_sha256: "short"}}) }))
println(attempt({ -> http_get("URL/", {tls: {ca_bundle_path: "/no/such/file"}}) }))
"#;
    let program = program.replace("AUTHORITY", &file("authority.pem").display().to_string());
    check(
        &server(),
        &program.replace("PIN", &"00".repeat(32)),
        &[
            "http: TLS SPKI pin mismatch",
            "http: request failed: the pin 'short' is not a SHA-256 digest",
            "http: request failed: cannot read /no/such/file: I/O error: \
             No such file or directory (os error 2)",
        ],
    );
}

#[test]
fn an_identity_that_is_no_pem_is_refused_with_advice() {
    let folder = tempfile::tempdir().unwrap();
    let identity = folder.path().join("me.p12");
    std::fs::write(&identity, [0x30, 0x82, 0x01, 0x00, 0x02]).unwrap();
    let program = r#"
let tls = {client_identity_path: "IDENTITY"}
println(attempt({ -> http_get("https://localhost:1/", {tls: tls}) }))
"#;
    let identity = identity.display().to_string();
    let expected = format!(
        "http: request failed: cannot read {identity}: PKCS#12 is not supported; give a PEM file, \
         as `openssl pkcs12 -nodes` writes it"
    );
    check("", &program.replace("IDENTITY", &identity), &[&expected]);
}

/// A server of web sockets that says one word, with the certificate of the tests.
fn socket_server() -> String {
    let config = server_config();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let port = listener.local_addr().expect("it is bound").port();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let connection = ServerConnection::new(config.clone()).expect("it is complete");
            let stream = StreamOwned::new(connection, stream);
            if let Ok(mut socket) = tungstenite::accept(stream) {
                let _client_may_be_gone = socket.send("safe".into());
                let _client_closes = socket.read();
            }
        }
    });
    format!("wss://localhost:{port}")
}

#[test]
fn a_web_socket_trusts_whom_its_options_name() {
    let pin = std::fs::read_to_string(file("server.pin")).unwrap();
    let program = r#"
fn word(tls) {
  let socket = websocket_connect("URL/", {tls: tls})
  let message = websocket_receive(socket)
  websocket_close(socket)
  return message.data
}
println(word({ca_bundle_path: "AUTHORITY"}))
println(word({ca_bundle_path: "AUTHORITY", pinned_sha256: "PIN"}))
println(attempt({ -> word({}) }).starts_with("websocket_connect: failed: "))
println(attempt({ -> word({ca_bundle_path: "AUTHORITY", pinned_sha256: "00".repeat(32)}) }).contains("pin"))
"#;
    let program = program.replace("AUTHORITY", &file("authority.pem").display().to_string());
    let program = program.replace("PIN", pin.trim());
    check(
        &socket_server(),
        &program,
        &["safe", "safe", "true", "true"],
    );
}
