//! What an authorization server must promise before anybody is sent to it.

use rmcp::transport::auth::AuthorizationMetadata;
use serde_json::Value;
use url::Url;

use super::Failure;
use crate::fetcher::{NamedOrigins, origin};

/// Checks what the SDK tolerates.
///
/// # Errors
/// The first rule that is broken.
pub(super) fn check(metadata: &AuthorizationMetadata, named: &NamedOrigins) -> Result<(), Failure> {
    let methods = metadata.code_challenge_methods_supported.as_deref();
    if !methods
        .unwrap_or_default()
        .iter()
        .any(|method| method == "S256")
    {
        return Err(Failure::NoPkce);
    }
    // That it is who it says was checked by the SDK.
    let issuer = metadata
        .issuer
        .as_deref()
        .and_then(|text| Url::parse(text).ok());
    let issuer = issuer.ok_or(Failure::NoIssuer)?;
    let registration = metadata.registration_endpoint.as_deref();
    let endpoints = [
        ("authorization", Some(&*metadata.authorization_endpoint)),
        ("token", Some(&*metadata.token_endpoint)),
        ("registration", registration),
    ];
    for (what, endpoint) in endpoints {
        if let Some(endpoint) = endpoint {
            check_endpoint(what, endpoint, &issuer, named)?;
        }
    }
    Ok(())
}

/// People and secrets are sent to these, so they are where the issuer is, unless somebody has
/// named the other place; and what is said there cannot be overheard.
fn check_endpoint(
    what: &'static str,
    endpoint: &str,
    issuer: &Url,
    named: &NamedOrigins,
) -> Result<(), Failure> {
    let url = Url::parse(endpoint).map_err(|_| Failure::Endpoint(what))?;
    let is_named = named.contains(&url);
    if url.origin() != issuer.origin() && !is_named {
        return Err(Failure::OtherOrigin {
            what,
            issuer: origin(issuer),
            endpoint: origin(&url),
        });
    }
    match url.scheme() {
        "https" => Ok(()),
        "http" if is_named => Ok(()),
        _ => Err(Failure::Endpoint(what)),
    }
}

/// Whether the authorization server reads documents about clients.
pub(super) fn reads_documents(metadata: &AuthorizationMetadata) -> bool {
    let told = metadata
        .additional_fields
        .get("client_id_metadata_document_supported");
    told == Some(&Value::Bool(true))
}

/// Whether a token that can be renewed has to be asked for by name.
pub(super) fn offers_offline_access(metadata: &AuthorizationMetadata) -> bool {
    let scopes = metadata.scopes_supported.as_deref().unwrap_or_default();
    scopes.iter().any(|scope| scope == super::OFFLINE_ACCESS)
}
