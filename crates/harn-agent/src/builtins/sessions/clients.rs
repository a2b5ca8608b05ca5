//! Clients that follow a session: observers look on, one controller takes part.
//!
//! There is at most one controller, because two people who answer the same question answer it
//! twice. `takeover` passes control on. A client that gives `ttl_ms` must send heartbeats; one
//! that has been silent for longer is not there any more.

use std::sync::Arc;

use harn_events::InboxSource;
use harn_llm::desk::{Thrown, timestamp};
use harn_llm::options::value::truthy;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{Call, messages};
use crate::session::{Session, kept};

/// The kind of a note that holds what a client says to a loop that runs.
const PROMPT_KIND: &str = "client_prompt";

/// A client that follows a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Client {
    client_id: String,
    mode: Mode,
    /// Whether it may say something.
    prompt_injection: bool,
    /// Whether it is asked for permissions.
    permission_routing: bool,
    attached_at_ms: i64,
    seen_at_ms: i64,
    /// How long it may be silent.
    ttl_ms: Option<i64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Mode {
    Observer,
    Controller,
}

/// `agent_session_attach(id, client_id, opts?)`.
pub(super) fn attach(call: Call<'_>) -> Result<Value, Thrown> {
    let session = call.used(0, "id")?;
    let options = call.options(2)?;
    let mode = read_mode(call, &options)?;
    let client = read_client(call, mode, &options)?;
    change(call, &session, |clients| {
        if mode == Mode::Controller
            && let Some(other) = controller(clients)
            && other.client_id != client.client_id
        {
            return Err(format!(
                "session '{}' is controlled by client '{}'",
                session.id(),
                other.client_id
            ));
        }
        Ok(put(clients, client))
    })
}

/// `agent_session_takeover(id, client_id, opts?)`: the client is in control from now on, and
/// whoever was looks on.
pub(super) fn takeover(call: Call<'_>) -> Result<Value, Thrown> {
    let session = call.used(0, "id")?;
    let client = read_client(call, Mode::Controller, &call.options(2)?)?;
    change(call, &session, |clients| {
        let others = clients.iter_mut();
        let mut others =
            others.filter(|other| other.client_id != client.client_id && other.is_controller());
        let previous = others.next().map(|other| {
            other.mode = Mode::Observer;
            other.prompt_injection = false;
            other.permission_routing = false;
            other.client_id.clone()
        });
        let mut shown = put(clients, client);
        shown["previous_controller"] = json!(previous);
        Ok(shown)
    })
}

/// `agent_session_detach(id, client_id)`: whether it was there.
pub(super) fn detach(call: Call<'_>) -> Result<Value, Thrown> {
    let session = call.used(0, "id")?;
    let client_id = call.text(1, "client_id")?;
    change(call, &session, |clients| {
        let count = clients.len();
        clients.retain(|client| client.client_id != client_id);
        Ok(json!(clients.len() < count))
    })
}

/// `agent_session_heartbeat(id, client_id)`: the client is still there.
pub(super) fn heartbeat(call: Call<'_>) -> Result<Value, Thrown> {
    let session = call.used(0, "id")?;
    let client_id = call.text(1, "client_id")?;
    let now_ms = call.runtime.now_ms();
    change(call, &session, |clients| {
        let mut clients = clients.iter_mut();
        match clients.find(|client| client.client_id == client_id) {
            Some(client) => {
                client.seen_at_ms = now_ms;
                Ok(client.shown())
            }
            None => Err(unknown(client_id)),
        }
    })
}

/// `agent_session_live_clients(id)`.
pub(super) fn live(call: Call<'_>) -> Result<Value, Thrown> {
    let session = call.seen(0, "id")?;
    let clients = clients_of(session.kept(kept::CLIENTS).as_ref(), call.runtime.now_ms());
    Ok(clients.iter().map(Client::shown).collect())
}

/// `agent_session_client_inject_prompt(id, client_id, prompt, opts?)`: what the client says is
/// a message of the user. While a loop runs it waits in the inbox, so that it does not come
/// between a call and its result.
pub(super) async fn inject_prompt(call: Call<'_>) -> Result<Value, Thrown> {
    let session = call.used(0, "id")?;
    let client_id = call.text(1, "client_id")?;
    let prompt = match call.asked.argument(2) {
        Value::String(text) if !text.trim().is_empty() => json!(text),
        Value::Array(blocks) if !blocks.is_empty() => json!(blocks),
        _ => return call.refuse("`prompt` must be a string or a list of blocks"),
    };
    let options = call.options(3)?;
    let message_id = call.option_text(&options, "message_id")?;
    may_inject(call, &session, client_id)?;
    let is_running = call.is_running(session.id());
    if is_running {
        let text = prompt
            .as_str()
            .map_or_else(|| blocks_text(&prompt), str::to_owned);
        let payload = Some(json!({"client_id": client_id, "prompt": prompt}));
        let (bus, outside) = (&call.runtime.bus, InboxSource::Outside);
        bus.push_inbox_item(session.id(), PROMPT_KIND, &text, outside, payload, None);
    } else {
        let mut message = json!({"role": "user", "content": prompt});
        if let Some(id) = message_id {
            message["message_id"] = json!(id);
        }
        messages::put_in(&session, message).await;
    }
    Ok(
        json!({"ok": true, "session_id": session.id(), "client_id": client_id, "queued": is_running}),
    )
}

fn may_inject(call: Call<'_>, session: &Session, client_id: &str) -> Result<(), Thrown> {
    let clients = clients_of(session.kept(kept::CLIENTS).as_ref(), call.runtime.now_ms());
    match clients.iter().find(|client| client.client_id == client_id) {
        None => call.refuse(unknown(client_id)),
        Some(client) if !client.is_controller() => {
            call.refuse("observer mode cannot inject a prompt")
        }
        Some(client) if !client.prompt_injection => call.refuse(format!(
            "client '{client_id}' has not requested prompt_injection"
        )),
        Some(_) => Ok(()),
    }
}

/// The words among the blocks of a prompt.
fn blocks_text(blocks: &Value) -> String {
    let blocks = blocks.as_array().into_iter().flatten();
    let texts: Vec<&str> = blocks.filter_map(|block| block["text"].as_str()).collect();
    texts.join("\n")
}

/// `agent_session_route_permission(id, request, opts?)`: which client answers the question.
/// Asking it is up to whoever is connected to it.
pub(super) fn route_permission(call: Call<'_>) -> Result<Value, Thrown> {
    let session = call.used(0, "id")?;
    let request = call.dict(1, "request")?;
    call.options(2)?;
    let clients = clients_of(session.kept(kept::CLIENTS).as_ref(), call.runtime.now_ms());
    let takes = |client: &&Client| client.is_controller() && client.permission_routing;
    let client_id = clients.iter().find(takes).map(|client| &client.client_id);
    let nobody = "no live client takes permission requests";
    Ok(json!({
        "ok": client_id.is_some(),
        "session_id": session.id(),
        "client_id": client_id,
        "request": request,
        "error": client_id.is_none().then_some(nobody),
    }))
}

fn read_mode(call: Call<'_>, options: &Map<String, Value>) -> Result<Mode, Thrown> {
    match call.option_text(options, "mode")? {
        None | Some("observer") => Ok(Mode::Observer),
        Some("controller") => Ok(Mode::Controller),
        Some(other) => call.refuse(format!(
            "unknown mode '{other}' (expected 'observer' or 'controller')"
        )),
    }
}

fn read_client(call: Call<'_>, mode: Mode, options: &Map<String, Value>) -> Result<Client, Thrown> {
    let client_id = call.text(1, "client_id")?;
    if client_id.trim().is_empty() {
        return call.refuse("`client_id` must not be empty");
    }
    let is_controller = mode == Mode::Controller;
    let wants = |key: &str| {
        let given = options.get(key).filter(|value| !value.is_null());
        given.map_or(is_controller, truthy)
    };
    let (prompt_injection, permission_routing) =
        (wants("prompt_injection"), wants("permission_routing"));
    if !is_controller && (prompt_injection || permission_routing) {
        return call.refuse("observer mode cannot request prompt_injection or permission_routing");
    }
    let ttl_ms = match options.get("ttl_ms") {
        None | Some(Value::Null) => None,
        Some(ttl_ms) => match ttl_ms.as_i64() {
            Some(ttl_ms) if ttl_ms > 0 => Some(ttl_ms),
            _ => return call.refuse("`ttl_ms` must be an int > 0"),
        },
    };
    let now_ms = call.runtime.now_ms();
    Ok(Client {
        client_id: client_id.to_owned(),
        mode,
        prompt_injection,
        permission_routing,
        attached_at_ms: now_ms,
        seen_at_ms: now_ms,
        ttl_ms,
    })
}

/// Changes who follows a session. Clients that have been silent for too long go.
fn change(
    call: Call<'_>,
    session: &Arc<Session>,
    step: impl FnOnce(&mut Vec<Client>) -> Result<Value, String>,
) -> Result<Value, Thrown> {
    let now_ms = call.runtime.now_ms();
    let done = session.keep_next(kept::CLIENTS, |before| {
        let mut clients = clients_of(before, now_ms);
        match step(&mut clients) {
            Ok(answer) => (Some(json!(clients)), Ok(answer)),
            Err(complaint) => (None, Err(complaint)),
        }
    });
    done.or_else(|complaint| call.refuse(complaint))
}

/// The clients that are there, in the order they came.
fn clients_of(kept: Option<&Value>, now_ms: i64) -> Vec<Client> {
    let clients = kept.and_then(|kept| serde_json::from_value(kept.clone()).ok());
    let mut clients: Vec<Client> = clients.unwrap_or_default();
    clients.retain(|client| client.is_there(now_ms));
    clients
}

fn controller(clients: &[Client]) -> Option<&Client> {
    clients.iter().find(|client| client.is_controller())
}

/// Puts a client in; one that is there already keeps its place and the time it came.
fn put(clients: &mut Vec<Client>, mut client: Client) -> Value {
    let place = clients
        .iter_mut()
        .find(|other| other.client_id == client.client_id);
    match place {
        Some(place) => {
            client.attached_at_ms = place.attached_at_ms;
            *place = client;
            place.shown()
        }
        None => {
            let shown = client.shown();
            clients.push(client);
            shown
        }
    }
}

fn unknown(client_id: &str) -> String {
    format!("unknown client id '{client_id}'")
}

impl Client {
    fn is_controller(&self) -> bool {
        self.mode == Mode::Controller
    }

    fn is_there(&self, now_ms: i64) -> bool {
        let silent_ms = now_ms.saturating_sub(self.seen_at_ms);
        self.ttl_ms.is_none_or(|ttl_ms| silent_ms <= ttl_ms)
    }

    fn shown(&self) -> Value {
        json!({
            "client_id": self.client_id,
            "mode": self.mode,
            "prompt_injection": self.prompt_injection,
            "permission_routing": self.permission_routing,
            "attached_at": timestamp(self.attached_at_ms),
            "last_seen_at": timestamp(self.seen_at_ms),
            "ttl_ms": self.ttl_ms,
        })
    }
}
