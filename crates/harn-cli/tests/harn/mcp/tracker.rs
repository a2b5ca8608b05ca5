//! A server of tools and its authorization server, in one thread.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Value, json};

/// What members show.
pub(super) const TOKEN: &str = "t0ken-of-a-member";

/// A server that is there as long as the tests run.
pub(super) struct Tracker {
    origin: String,
    seen: Arc<Mutex<BTreeMap<String, usize>>>,
}

struct Asked {
    path: String,
    query: String,
    is_member: bool,
    body: String,
}

struct Reply {
    status: u16,
    headers: Vec<(String, String)>,
    body: String,
}

impl Tracker {
    pub(super) fn open_to_all() -> Self {
        Self::start(true)
    }

    pub(super) fn for_members() -> Self {
        Self::start(false)
    }

    fn start(is_open: bool) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        let seen = Arc::new(Mutex::new(BTreeMap::new()));
        let tracker = Self {
            origin: origin.clone(),
            seen: seen.clone(),
        };
        thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let Some(asked) = read(&mut stream) else {
                    continue;
                };
                *seen.lock().unwrap().entry(asked.path.clone()).or_default() += 1;
                write(&mut stream, answer(&origin, is_open, &asked));
            }
        });
        tracker
    }

    pub(super) fn url(&self) -> String {
        format!("{}/mcp", self.origin)
    }

    /// How often a path was asked for.
    pub(super) fn count(&self, path: &str) -> usize {
        self.seen.lock().unwrap().get(path).copied().unwrap_or(0)
    }
}

fn answer(origin: &str, is_open: bool, asked: &Asked) -> Reply {
    match &*asked.path {
        "/mcp" if is_open || asked.is_member => protocol(&asked.body),
        "/mcp" => Reply {
            status: 401,
            headers: vec![(
                "www-authenticate".to_owned(),
                format!("Bearer resource_metadata=\"{origin}/resource\""),
            )],
            body: String::new(),
        },
        "/resource" => Reply::json(&json!({
            "resource": format!("{origin}/mcp"), "authorization_servers": [origin],
        })),
        "/.well-known/oauth-authorization-server" => Reply::json(&json!({
            "issuer": origin,
            "authorization_endpoint": format!("{origin}/authorize"),
            "token_endpoint": format!("{origin}/token"),
            "registration_endpoint": format!("{origin}/register"),
            "response_types_supported": ["code"],
            "code_challenge_methods_supported": ["S256"],
        })),
        "/register" => Reply::json(&json!({"client_id": "c", "redirect_uris": []})),
        "/authorize" => authorize(&asked.query),
        "/token" => Reply::json(&json!({"access_token": TOKEN, "token_type": "Bearer"})),
        _ => Reply {
            status: 404,
            headers: Vec::new(),
            body: String::new(),
        },
    }
}

fn authorize(query: &str) -> Reply {
    let parameters: BTreeMap<_, _> = query
        .split('&')
        .filter_map(|one| one.split_once('='))
        .collect();
    let back = parameters["redirect_uri"]
        .replace("%3A", ":")
        .replace("%2F", "/");
    let location = format!("{back}?code=c&state={}", parameters["state"]);
    Reply {
        status: 302,
        headers: vec![("location".to_owned(), location)],
        body: String::new(),
    }
}

/// The protocol of 2026-07-28, as little as there can be of it.
fn protocol(body: &str) -> Reply {
    let asked: Value = serde_json::from_str(body).unwrap_or_default();
    let mut result = match asked["method"].as_str().unwrap_or_default() {
        "server/discover" => json!({
            "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}},
            "serverInfo": {"name": "tracker", "version": "1.2"},
            "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "tracker", "version": "1.2"}},
        }),
        "tools/list" => json!({"tools": [{
            "name": "whoami", "description": "Tells who asks.\nReally.",
            "inputSchema": {"type": "object"},
        }]}),
        "tools/call" => json!({"content": [{"type": "text", "text": "a member"}]}),
        other => {
            let error = json!({"code": -32601, "message": format!("no {other}")});
            return Reply::json(&json!({"jsonrpc": "2.0", "id": asked["id"], "error": error}));
        }
    };
    result["resultType"] = json!("complete");
    result["ttlMs"] = json!(0);
    result["cacheScope"] = json!("private");
    Reply::json(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": result}))
}

impl Reply {
    fn json(body: &Value) -> Self {
        Self {
            status: 200,
            headers: vec![("content-type".to_owned(), "application/json".to_owned())],
            body: body.to_string(),
        }
    }
}

fn read(stream: &mut TcpStream) -> Option<Asked> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let target = line.split(' ').nth(1)?.to_owned();
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    let (mut length, mut is_member) = (0, false);
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        let header = header.trim();
        if header.is_empty() {
            break;
        }
        let (name, value) = header.split_once(':')?;
        match &*name.to_ascii_lowercase() {
            "content-length" => length = value.trim().parse().ok()?,
            "authorization" => is_member = value.trim() == format!("Bearer {TOKEN}"),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Asked {
        path: path.to_owned(),
        query: query.to_owned(),
        is_member,
        body: String::from_utf8(body).ok()?,
    })
}

fn write(stream: &mut TcpStream, reply: Reply) {
    let mut head = format!("HTTP/1.1 {} Said\r\nconnection: close\r\n", reply.status);
    for (name, value) in &reply.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str(&format!(
        "content-length: {}\r\n\r\n{}",
        reply.body.len(),
        reply.body
    ));
    let _they_may_have_gone = stream.write_all(head.as_bytes());
}
