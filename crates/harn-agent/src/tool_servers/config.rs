//! What is said about a server: in `harn.toml`, in the options of a loop, by an editor.

use std::collections::BTreeMap;
use std::path::PathBuf;

use harn_llm::Secret;
use serde_json::{Map, Value};

/// The version of the protocol in which every request stands alone.
pub const MODERN_VERSION: &str = "2026-07-28";

/// The versions that begin with a handshake, the newest first.
pub const HANDSHAKE_VERSIONS: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// A server, as somebody describes it. Variables, headers and keys are secrets; showing this
/// shows none of them.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerConfig {
    /// What it is called. Its tools are `NAME__TOOL` for models.
    pub name: String,
    /// Where it is.
    pub endpoint: Endpoint,
    /// Whether it is left alone until somebody needs it.
    pub is_lazy: bool,
    /// How long it stays when nobody needs it any more.
    pub keep_alive_ms: u64,
    /// Where it describes itself: a URL or a file.
    pub card: Option<String>,
    /// Which way of talking is tried.
    pub protocol: ProtocolChoice,
    /// Whether it may ask a model, and which.
    pub sampling: Option<Sampling>,
    /// Whether it may know the folders we work in.
    pub tells_roots: bool,
    /// Whether every loop of the program offers its tools, also one that does not ask for them.
    /// Servers that an editor brings along are such.
    pub is_for_every_loop: bool,
    /// What it may take.
    pub limits: ServerLimits,
}

/// Where a server is.
#[derive(Clone, Debug, PartialEq)]
pub enum Endpoint {
    /// A process that we start.
    Stdio(StdioEndpoint),
    /// A service.
    Http(HttpEndpoint),
}

/// A process that is started and talked with over its input and output.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StdioEndpoint {
    /// The program.
    pub command: String,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Variables that are added to the harmless ones of our environment.
    pub environment: BTreeMap<String, Secret>,
    /// Where it works; `None`: where we do.
    pub folder: Option<PathBuf>,
}

/// A service that is talked with over HTTP.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HttpEndpoint {
    /// Where.
    pub url: String,
    /// Headers of every request.
    pub headers: Vec<(String, Secret)>,
    /// Scopes to ask for, if the service does not say which.
    pub scopes: Vec<String>,
    /// Who we are, if that was agreed upon.
    pub client_id: Option<String>,
    /// The proof of it.
    pub client_secret: Option<Secret>,
}

/// Which way of talking is tried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProtocolChoice {
    /// The modern one, and the handshake if the server does not know it.
    #[default]
    Auto,
    /// 2026-07-28 only.
    Modern,
    /// The handshake only.
    Handshake,
}

/// What a server may ask of models.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sampling {
    /// The model that answers.
    pub model: String,
    /// How many tokens it may write for this server in all.
    pub tokens_max: u64,
}

/// What a server may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerLimits {
    /// Until it is connected.
    pub connect_ms: u64,
    /// Until it shows signs of life during a call.
    pub idle_ms: u64,
    /// Until a call is over.
    pub total_ms: u64,
    /// How large one message of it may be.
    pub frame_bytes_max: usize,
    /// How many entries a list of it may have.
    pub entries_max: usize,
}

impl Default for ServerLimits {
    fn default() -> Self {
        Self {
            connect_ms: 20_000,
            idle_ms: 60_000,
            total_ms: 600_000,
            frame_bytes_max: 16 * 1024 * 1024,
            entries_max: 10_000,
        }
    }
}

/// How long a server stays that nobody needs, unless its description says otherwise.
const KEEP_ALIVE_MS: u64 = 30_000;

/// Everything that can be said about a server.
const KEYS: [&str; 24] = [
    "name",
    "transport",
    "type",
    "command",
    "args",
    "env",
    "url",
    "headers",
    "auth_token",
    "lazy",
    "keep_alive_ms",
    "card",
    "scopes",
    "client_id",
    "client_secret",
    "protocol",
    "protocol_version",
    "sampling",
    "sampling_model",
    "sampling_tokens_max",
    "roots",
    "connect_timeout_ms",
    "idle_timeout_ms",
    "timeout_ms",
];

impl ServerConfig {
    /// A server with everything else as usual.
    pub fn new(name: impl Into<String>, endpoint: Endpoint) -> Self {
        Self {
            name: name.into(),
            endpoint,
            is_lazy: false,
            keep_alive_ms: KEEP_ALIVE_MS,
            card: None,
            protocol: ProtocolChoice::Auto,
            sampling: None,
            tells_roots: false,
            is_for_every_loop: false,
            limits: ServerLimits::default(),
        }
    }

    /// Reads a description: a table `[[mcp]]` of `harn.toml`, an entry of `mcp_servers`, or
    /// what an editor sends.
    ///
    /// # Errors
    /// What is missing or not understood, without any value that was given.
    pub fn read(description: &Value) -> Result<Self, String> {
        let Some(fields) = description.as_object() else {
            return Err("an MCP server is described by a table".to_owned());
        };
        let reader = Reader(fields);
        let name = reader.text("name")?.unwrap_or_default();
        check_name(&name)?;
        let named = |problem: String| format!("MCP server '{name}': {problem}");
        reader.check_keys().map_err(named)?;
        reader.read(&name).map_err(named)
    }

    /// The secrets that are given to the server. Wherever they turn up in what it writes, they
    /// are hidden.
    pub fn secrets(&self) -> Vec<&Secret> {
        match &self.endpoint {
            Endpoint::Stdio(stdio) => stdio.environment.values().collect(),
            Endpoint::Http(http) => {
                let headers = http.headers.iter().map(|(_, value)| value);
                headers.chain(&http.client_secret).collect()
            }
        }
    }
}

/// Names become parts of the names of tools, so they have to look like them.
fn check_name(name: &str) -> Result<(), String> {
    if name.is_empty() {
        return Err("an MCP server needs a 'name'".to_owned());
    }
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || "_-.".contains(letter);
    match name.len() <= 64 && name.chars().all(is_part) {
        true => Ok(()),
        false => Err(format!(
            "the name {name:?} of an MCP server may have at most 64 letters, digits, '_', '-' \
             and '.'"
        )),
    }
}

struct Reader<'a>(&'a Map<String, Value>);

impl Reader<'_> {
    fn check_keys(&self) -> Result<(), String> {
        for key in self.0.keys() {
            if key == "proxy_server_name" {
                return Err("'proxy_server_name' is not supported".to_owned());
            }
            if !KEYS.contains(&&**key) {
                return Err(format!("'{key}' is not something a server has"));
            }
        }
        Ok(())
    }

    fn read(&self, name: &str) -> Result<ServerConfig, String> {
        let mut config = ServerConfig::new(name, self.endpoint()?);
        config.is_lazy = self.truth("lazy")?.unwrap_or(false);
        config.keep_alive_ms = self.number("keep_alive_ms")?.unwrap_or(KEEP_ALIVE_MS);
        config.card = self.text("card")?;
        config.protocol = self.protocol()?;
        config.sampling = self.sampling()?;
        config.tells_roots = self.truth("roots")?.unwrap_or(false);
        let limits = &mut config.limits;
        let times = [
            ("connect_timeout_ms", &mut limits.connect_ms),
            ("idle_timeout_ms", &mut limits.idle_ms),
            ("timeout_ms", &mut limits.total_ms),
        ];
        for (key, limit) in times {
            if let Some(given) = self.number(key)? {
                *limit = given;
            }
        }
        Ok(config)
    }

    fn endpoint(&self) -> Result<Endpoint, String> {
        let transport = self.text("transport")?.or(self.text("type")?);
        match transport.as_deref() {
            Some("http" | "streamable_http" | "streamable-http") => self.http(),
            Some("stdio") => self.stdio(),
            Some(other) => Err(format!(
                "the transport '{other}' is not known; it is 'stdio' or 'http'"
            )),
            None if self.0.contains_key("url") && !self.0.contains_key("command") => self.http(),
            None => self.stdio(),
        }
    }

    fn stdio(&self) -> Result<Endpoint, String> {
        self.refuse(
            &[
                "url",
                "headers",
                "auth_token",
                "scopes",
                "client_id",
                "client_secret",
            ],
            "stdio",
        )?;
        let command = self.text("command")?.unwrap_or_default();
        if command.is_empty() {
            return Err("'command' is required".to_owned());
        }
        Ok(Endpoint::Stdio(StdioEndpoint {
            command,
            arguments: self.texts("args")?,
            environment: self.pairs("env")?.into_iter().collect(),
            folder: None,
        }))
    }

    fn http(&self) -> Result<Endpoint, String> {
        self.refuse(&["command", "args", "env"], "http")?;
        let url = self.text("url")?.unwrap_or_default();
        if !(url.starts_with("http://") || url.starts_with("https://")) {
            return Err("'url' has to be an http or https URL".to_owned());
        }
        let mut headers = self.pairs("headers")?;
        if let Some(token) = self.text("auth_token")? {
            let bearer = Secret::new(format!("Bearer {token}"));
            headers.push(("Authorization".to_owned(), bearer));
        }
        Ok(Endpoint::Http(HttpEndpoint {
            url,
            headers,
            scopes: self.texts("scopes")?,
            client_id: self.text("client_id")?,
            client_secret: self.text("client_secret")?.map(Secret::new),
        }))
    }

    /// What belongs to another transport would be ignored, and somebody would wonder.
    fn refuse(&self, keys: &[&str], transport: &str) -> Result<(), String> {
        let stray = keys.iter().find(|key| self.given(key).is_some());
        stray.map_or(Ok(()), |key| {
            Err(format!(
                "'{key}' means nothing for the transport '{transport}'"
            ))
        })
    }

    fn protocol(&self) -> Result<ProtocolChoice, String> {
        let protocol = self.text("protocol")?.or(self.text("protocol_version")?);
        match protocol.as_deref() {
            None | Some("auto") => Ok(ProtocolChoice::Auto),
            Some(MODERN_VERSION) => Ok(ProtocolChoice::Modern),
            Some(version) if HANDSHAKE_VERSIONS.contains(&version) => Ok(ProtocolChoice::Handshake),
            Some(other) => Err(format!(
                "the protocol '{other}' is not known; it is 'auto', '2026-07-28' or '2025-11-25'"
            )),
        }
    }

    fn sampling(&self) -> Result<Option<Sampling>, String> {
        let is_wanted = self.truth("sampling")?.unwrap_or(false);
        let model = self.text("sampling_model")?;
        let tokens_max = self.number("sampling_tokens_max")?;
        match (is_wanted, model, tokens_max) {
            (false, None, None) => Ok(None),
            (true, Some(model), Some(tokens_max)) => Ok(Some(Sampling { model, tokens_max })),
            _ => Err(
                "sampling needs all three: 'sampling = true', 'sampling_model' and \
                 'sampling_tokens_max'"
                    .to_owned(),
            ),
        }
    }

    fn given(&self, key: &str) -> Option<&Value> {
        self.0.get(key).filter(|value| !value.is_null())
    }

    fn text(&self, key: &str) -> Result<Option<String>, String> {
        match self.given(key) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(_) => Err(format!("'{key}' has to be a string")),
        }
    }

    fn truth(&self, key: &str) -> Result<Option<bool>, String> {
        match self.given(key) {
            None => Ok(None),
            Some(Value::Bool(truth)) => Ok(Some(*truth)),
            Some(_) => Err(format!("'{key}' has to be true or false")),
        }
    }

    fn number(&self, key: &str) -> Result<Option<u64>, String> {
        match self.given(key) {
            None => Ok(None),
            Some(value) => match value.as_u64() {
                Some(number) => Ok(Some(number)),
                None => Err(format!("'{key}' has to be a whole number, at least 0")),
            },
        }
    }

    fn texts(&self, key: &str) -> Result<Vec<String>, String> {
        let wrong = || format!("'{key}' has to be a list of strings");
        match self.given(key) {
            None => Ok(Vec::new()),
            Some(Value::Array(items)) => {
                let texts = items.iter().map(|item| item.as_str().map(str::to_owned));
                texts.collect::<Option<_>>().ok_or_else(wrong)
            }
            Some(_) => Err(wrong()),
        }
    }

    /// Names and secrets: a table, or a list of `{name, value}`.
    fn pairs(&self, key: &str) -> Result<Vec<(String, Secret)>, String> {
        let wrong = || format!("'{key}' has to be a table of strings");
        let pair = |name: Option<&str>, value: &Value| {
            let value = value.as_str().map(Secret::new);
            Some((name?.to_owned(), value?))
        };
        let pairs: Option<Vec<_>> = match self.given(key) {
            None => Some(Vec::new()),
            Some(Value::Object(fields)) => {
                let fields = fields.iter();
                fields
                    .map(|(name, value)| pair(Some(name), value))
                    .collect()
            }
            Some(Value::Array(items)) => {
                let items = items.iter();
                items
                    .map(|item| pair(item["name"].as_str(), &item["value"]))
                    .collect()
            }
            Some(_) => None,
        };
        pairs.ok_or_else(wrong)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn fails(description: Value, expected: &str) {
        assert_eq!(ServerConfig::read(&description).unwrap_err(), expected);
    }

    #[test]
    fn a_process_is_described_by_its_command() {
        let config = ServerConfig::read(&json!({
            "name": "files", "command": "npx", "args": ["-y", "x"], "env": {"TOKEN": "s3cret"},
            "lazy": true, "keep_alive_ms": 5, "protocol": "2025-11-25", "timeout_ms": 7,
        }))
        .unwrap();
        let Endpoint::Stdio(stdio) = &config.endpoint else {
            panic!("it has a command");
        };
        assert_eq!(stdio.arguments, ["-y", "x"]);
        assert_eq!(stdio.environment["TOKEN"].expose(), "s3cret");
        assert!(config.is_lazy);
        assert_eq!(config.keep_alive_ms, 5);
        assert_eq!(config.protocol, ProtocolChoice::Handshake);
        assert_eq!(config.limits.total_ms, 7);
        assert_eq!(config.limits.idle_ms, 60_000);
    }

    #[test]
    fn a_service_is_described_by_its_url_and_its_token_is_a_header() {
        let config = ServerConfig::read(&json!({
            "type": "http", "name": "s", "url": "https://a.test/mcp",
            "headers": [{"name": "X-Key", "value": "k"}], "auth_token": "t0ken",
        }))
        .unwrap();
        let Endpoint::Http(http) = &config.endpoint else {
            panic!("it has a URL");
        };
        let headers = http.headers.iter();
        let headers: Vec<_> = headers
            .map(|(name, value)| (&**name, value.expose()))
            .collect();
        assert_eq!(headers, [("X-Key", "k"), ("Authorization", "Bearer t0ken")]);
    }

    #[test]
    fn nothing_secret_is_shown() {
        let given = json!({"name": "a", "command": "c", "env": {"K": "marked"}});
        let config = ServerConfig::read(&given).unwrap();
        assert!(!format!("{config:?}").contains("marked"));
        let given = json!({"name": "a", "url": "http://x", "headers": {"K": "marked"},
                           "client_secret": "marked"});
        let config = ServerConfig::read(&given).unwrap();
        assert!(!format!("{config:?}").contains("marked"));
        assert_eq!(config.secrets().len(), 2);
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        fails(json!([]), "an MCP server is described by a table");
        fails(json!({"command": "x"}), "an MCP server needs a 'name'");
        fails(
            json!({"name": "a/b", "command": "x"}),
            "the name \"a/b\" of an MCP server may have at most 64 letters, digits, '_', '-' and \
             '.'",
        );
        fails(
            json!({"name": "a"}),
            "MCP server 'a': 'command' is required",
        );
        fails(
            json!({"name": "a", "command": "x", "comand": 1}),
            "MCP server 'a': 'comand' is not something a server has",
        );
        fails(
            json!({"name": "a", "command": "x", "url": "http://b"}),
            "MCP server 'a': 'url' means nothing for the transport 'stdio'",
        );
        fails(
            json!({"name": "a", "url": "ftp://b"}),
            "MCP server 'a': 'url' has to be an http or https URL",
        );
        fails(
            json!({"name": "a", "command": "x", "sampling": true}),
            "MCP server 'a': sampling needs all three: 'sampling = true', 'sampling_model' and \
             'sampling_tokens_max'",
        );
        fails(
            json!({"name": "a", "command": "x", "protocol": "1"}),
            "MCP server 'a': the protocol '1' is not known; it is 'auto', '2026-07-28' or \
             '2025-11-25'",
        );
        fails(
            json!({"name": "a", "command": "x", "env": {"K": 1}}),
            "MCP server 'a': 'env' has to be a table of strings",
        );
    }
}
