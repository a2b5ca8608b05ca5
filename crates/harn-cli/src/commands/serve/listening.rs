//! Where a server listens, and who may connect.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use harn_acp::{Access, Network, SessionLimits};
use harn_listen::{Credentials, Limits, Policy, Secret, Tls};
use serde::Serialize;

use crate::environment::variable;

const RETAIN: Duration = Duration::from_secs(300);

/// The variable with the keys that callers show.
const API_KEYS: &str = "HARN_API_KEYS";
/// The variable with the keys that callers sign with.
const HMAC_KEYS: &str = "HARN_HMAC_KEYS";

/// Where a server listens, and who may connect.
#[derive(Debug, Args)]
#[command(next_help_heading = "On the network")]
pub(super) struct Listening {
    /// Listen at an address instead of standard input and output
    #[arg(long, value_name = "ADDR")]
    listen: Option<SocketAddr>,

    /// How connections are kept private
    #[arg(
        long,
        value_name = "MODE",
        requires = "listen",
        default_value = "plain"
    )]
    tls: Mode,

    /// The certificate, and those that lead to one people trust
    #[arg(long, value_name = "FILE", requires = "listen")]
    tls_cert: Option<PathBuf>,

    /// The private key of the certificate
    #[arg(long, value_name = "FILE", requires = "listen")]
    tls_key: Option<PathBuf>,

    /// Where others reach the listener, if it is not where it listens
    #[arg(long, value_name = "URL", requires = "listen")]
    public_url: Option<String>,

    /// A host that requests may be for, besides this machine
    #[arg(long, value_name = "HOST", requires = "listen")]
    allow_host: Vec<String>,

    /// An origin whose pages may connect
    #[arg(long, value_name = "ORIGIN", requires = "listen")]
    allow_origin: Vec<String>,

    /// A folder that callers may work in, instead of the project
    #[arg(long, value_name = "DIR", requires = "listen")]
    allow_root: Vec<PathBuf>,

    /// The name of a key whose callers may have MCP servers started
    #[arg(long, value_name = "NAME", requires = "listen")]
    allow_control: Vec<String>,

    /// The address of a proxy that says who its callers are
    #[arg(long, value_name = "IP", requires = "listen")]
    trust_claims_from: Vec<IpAddr>,

    /// Let everybody in who can reach the address; needs --deny exec
    #[arg(long, requires = "listen")]
    insecure_no_auth: bool,

    /// Set a limit, see the page on listeners
    #[arg(long, value_name = "NAME=NUMBER")]
    limit: Vec<String>,
}

/// How clients are served.
pub(super) struct Serving {
    /// What to listen with; nothing if there is one client, on standard input and output.
    pub(super) listen: Option<Listen>,
    pub(super) network: Network,
    pub(super) sessions: SessionLimits,
}

/// What to listen with.
pub(super) struct Listen {
    pub(super) policy: Policy,
    /// What callers may name; no roots: those of the project.
    pub(super) access: Access,
    /// How long a session is kept ready after its last client has gone.
    pub(super) retain: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Mode {
    /// Not at all
    Plain,
    /// By a proxy in front of the listener
    Edge,
    /// With a certificate made for this run, for trying things out
    SelfSignedDev,
    /// With the certificate of --tls-cert and --tls-key
    Pem,
}

impl Listening {
    /// How clients are served. Where what is served `can_start_processes`, everybody is never let
    /// in.
    ///
    /// # Errors
    /// What is wrong with the arguments or the environment, for a person.
    pub(super) fn read(&self, can_start_processes: bool) -> Result<Serving, String> {
        if self.insecure_no_auth && can_start_processes {
            return Err(
                "--insecure-no-auth would let everybody who reaches the address run commands as \
                 you: configure a key in HARN_API_KEYS, use the token that a listener without \
                 keys makes, or say --deny exec as well"
                    .to_owned(),
            );
        }
        let mut serving = Serving {
            listen: self.listen()?,
            network: Network::default(),
            sessions: SessionLimits::default(),
        };
        for limit in &self.limit {
            set_limit(limit, |name, number| serving.set(name, number))?;
        }
        Ok(serving)
    }

    fn listen(&self) -> Result<Option<Listen>, String> {
        let Some(address) = self.listen else {
            return Ok(None);
        };
        let mut policy = Policy::new(address);
        policy.tls = self.tls()?;
        policy.public_url.clone_from(&self.public_url);
        policy.insecure_no_auth = self.insecure_no_auth;
        policy.credentials = self.credentials()?;
        for host in &self.allow_host {
            policy
                .hosts
                .allow(host)
                .map_err(|error| error.to_string())?;
        }
        for origin in &self.allow_origin {
            policy
                .origins
                .allow(origin)
                .map_err(|error| error.to_string())?;
        }
        Ok(Some(Listen {
            policy,
            access: Access {
                roots: self.allow_root.clone(),
                control: self.allow_control.clone(),
            },
            retain: retain()?,
        }))
    }

    fn tls(&self) -> Result<Tls, String> {
        let files = (self.tls_cert.clone(), self.tls_key.clone());
        match (self.tls, files) {
            (Mode::Pem, (Some(certificates), Some(key))) => Ok(Tls::Pem { certificates, key }),
            (Mode::Pem, _) => Err("--tls pem needs --tls-cert and --tls-key".to_owned()),
            (_, (Some(_), _) | (_, Some(_))) => {
                Err("--tls-cert and --tls-key need --tls pem".to_owned())
            }
            (Mode::Plain, _) => Ok(Tls::Plain),
            (Mode::Edge, _) => Ok(Tls::Edge),
            (Mode::SelfSignedDev, _) => Ok(Tls::SelfSignedDev),
        }
    }

    fn credentials(&self) -> Result<Credentials, String> {
        let mut credentials = credentials()?;
        for front in &self.trust_claims_from {
            credentials.trust_claims_from(*front);
        }
        Ok(credentials)
    }
}

/// Who may connect, and for how long sessions are kept, as the environment says it. Keys are
/// told by their names.
#[derive(Serialize)]
pub(in crate::commands) struct Callers {
    pub(in crate::commands) api_keys: Vec<String>,
    pub(in crate::commands) hmac_keys: Vec<String>,
    pub(in crate::commands) retain_secs: u64,
}

/// Who may connect.
///
/// # Errors
/// What is wrong with the environment, for a person.
pub(in crate::commands) fn callers() -> Result<Callers, String> {
    credentials()?;
    let names = |name: &str| {
        let names = keys(name)?.into_iter().map(|(name, _)| name);
        Ok::<Vec<String>, String>(names.collect())
    };
    Ok(Callers {
        api_keys: names(API_KEYS)?,
        hmac_keys: names(HMAC_KEYS)?,
        retain_secs: retain()?.as_secs(),
    })
}

/// The keys of callers.
fn credentials() -> Result<Credentials, String> {
    let mut credentials = Credentials::default();
    for (name, key) in keys(API_KEYS)? {
        let added = credentials.add_key(&name, key);
        added.map_err(|error| format!("{API_KEYS}: {error}"))?;
    }
    for (name, key) in keys(HMAC_KEYS)? {
        let added = credentials.add_signing_key(&name, key);
        added.map_err(|error| format!("{HMAC_KEYS}: {error}"))?;
    }
    Ok(credentials)
}

fn retain() -> Result<Duration, String> {
    let Some(secs) = variable("HARN_ACP_RETAIN_SECS") else {
        return Ok(RETAIN);
    };
    let secs = secs.parse().ok().filter(|secs| *secs > 0);
    let secs = secs.ok_or("HARN_ACP_RETAIN_SECS must be a number of seconds, at least 1")?;
    Ok(Duration::from_secs(secs))
}

/// The names and keys in a variable. What is wrong with it is said without repeating it: a key
/// whose name was forgotten may itself end in `=`, and would pass for a name.
fn keys(name: &str) -> Result<Vec<(String, Secret)>, String> {
    let text = variable(name).unwrap_or_default();
    let pairs = text
        .split(',')
        .map(str::trim)
        .filter(|pair| !pair.is_empty());
    let is_key = |key: &str| key.bytes().any(|byte| byte != b'=');
    let read = |pair: &str| match pair.split_once('=') {
        Some((name, key)) if !name.is_empty() && is_key(key) => {
            Ok((name.to_owned(), Secret::new(key)))
        }
        _ => Err(format!("{name} must have the form NAME=KEY,NAME=KEY")),
    };
    pairs.map(read).collect()
}

impl Serving {
    /// Sets a limit by its name; `false` if there is none of that name.
    ///
    /// # Errors
    /// It is one of listeners, and nobody listens.
    fn set(&mut self, name: &str, number: u32) -> Result<bool, String> {
        let is_of_listeners =
            Limits::NAMES.contains(&name) || ["acp_connections", "acp_streams"].contains(&name);
        let is_policy = match &mut self.listen {
            None if is_of_listeners => return Err(format!("the limit `{name}` needs --listen")),
            None => false,
            Some(listen) => listen.policy.limits.set(name, number),
        };
        Ok(is_policy || self.network.set(name, number) || self.sessions.set(name, number))
    }
}

/// Sets a limit; `set` says whether there is one of that name.
fn set_limit(
    text: &str,
    set: impl FnOnce(&str, u32) -> Result<bool, String>,
) -> Result<(), String> {
    let (name, number) = text
        .split_once('=')
        .ok_or_else(|| format!("--limit wants NAME=NUMBER, not `{text}`"))?;
    let number: u32 = number
        .parse()
        .map_err(|_| format!("`{number}` is no number for the limit `{name}`"))?;
    if set(name, number)? {
        return Ok(());
    }
    let known = Limits::NAMES.iter().chain(&Network::NAMES);
    let known = known.chain(&SessionLimits::NAMES);
    let known: Vec<_> = known.copied().collect();
    Err(format!(
        "there is no limit `{name}`; there are {}",
        known.join(", ")
    ))
}
