//! The methods about sessions, but for turns.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use harn_vm::agent::{Keeper, rfc3339};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use super::connection::Connection;
use super::cursor;
use crate::error::Refusal;
use crate::peer::Peer;
use crate::session::{self, Fork, From, Opening, Past, Place, Session, Settings, Visit};

/// How many sessions a page of the list has.
const PAGE: usize = 50;

/// What a client is answered, and what it is told once it has the answer.
pub(super) struct Answer {
    pub(super) value: Value,
    /// The session that it follows from then on.
    pub(super) follows: Option<Arc<Session>>,
}

impl Answer {
    pub(super) fn plain(value: Value) -> Self {
        Self {
            value,
            follows: None,
        }
    }

    /// With the id of the session, which is new to the client.
    fn naming_session(mut self) -> Self {
        if let Some(session) = &self.follows {
            self.value["sessionId"] = json!(session.id);
        }
        self
    }
}

/// `session/new`.
///
/// # Errors
/// The folder is none, a server is not understood, or the session cannot be kept.
pub(super) async fn new(
    connection: &Arc<Connection>,
    parameters: &Value,
) -> Result<Answer, Refusal> {
    let server = &connection.server;
    let opening = Opening {
        settings: Settings::new(place(connection, parameters)?, connection.principal.clone()),
        tool_servers: server.lent(&connection.principal, parameters)?,
        title: None,
    };
    let room = server.admit()?;
    let session = Session::create(server, new_id(), opening).await?;
    let visit = session.visit();
    room.take(&session);
    let answer = opened(connection, visit, From::Now).await?;
    Ok(answer.naming_session())
}

/// `session/load` and `session/resume`: the first tells what was said.
///
/// # Errors
/// There is no such session, or it works elsewhere, or somebody else writes it.
pub(super) async fn load(
    connection: &Arc<Connection>,
    parameters: &Value,
    from: From,
) -> Result<Answer, Refusal> {
    let server = &connection.server;
    let who = &connection.principal;
    let place = place(connection, parameters)?;
    let tool_servers = server.lent(who, parameters)?;
    let id = session_id(parameters)?;
    // Nobody else opens it meanwhile, and nobody closes it.
    let door = server.door(id).await;
    let found = match server.opened_by(who, id) {
        // Somebody wants it closed and is behind us at the door.
        Some(session) if session.is_closed() => {
            server.close(&session).await;
            None
        }
        found => found,
    };
    let session = match found {
        Some(session) => {
            check_folder(&session.settings(), &place)?;
            session
        }
        None => {
            let (state, settings) = server.find(who, id).await?;
            check_folder(&settings, &place)?;
            let room = server.admit()?;
            let opening = Opening {
                settings,
                tool_servers: Vec::new(),
                title: session::title(&state),
            };
            let session = Session::open(server, id.to_owned(), opening, Keeper::claim).await?;
            room.take(&session);
            session
        }
    };
    let visit = session.visit();
    // What this client says replaces what was said before, whether or not the session is open.
    session.reopen(place.more, tool_servers)?;
    drop(door);
    opened(connection, visit, from).await
}

/// Where a client that loads a session has left off.
///
/// # Errors
/// `_meta.harn.after` is no index.
pub(super) fn after(parameters: &Value) -> Result<From, Refusal> {
    match &parameters["_meta"]["harn"]["after"] {
        Value::Null => Ok(From::After(None)),
        after => match after.as_u64() {
            Some(after) => Ok(From::After(Some(after))),
            None => Err(Refusal::bad_parameters(
                "`_meta.harn.after` has to be an index",
            )),
        },
    }
}

/// `session/fork`.
///
/// # Errors
/// There is no such session, or the new one cannot be kept.
pub(super) async fn fork(
    connection: &Arc<Connection>,
    parameters: &Value,
) -> Result<Answer, Refusal> {
    let server = &connection.server;
    let who = &connection.principal;
    let place = place(connection, parameters)?;
    let tool_servers = server.lent(who, parameters)?;
    let parent_id = session_id(parameters)?.to_owned();
    let (parent, settings) = server.find(who, &parent_id).await?;
    let wanted = &parameters["_meta"]["harn"];
    let keep_first = match &wanted["keepFirst"] {
        Value::Null => None,
        count => match count.as_u64().and_then(|count| usize::try_from(count).ok()) {
            Some(count) => Some(count),
            None => {
                let why = "`_meta.harn.keepFirst` has to be a number of messages";
                return Err(Refusal::bad_parameters(why));
            }
        },
    };
    let fork = Fork {
        parent_id,
        keep_first,
        parent,
    };
    let branch = wanted["branch"].as_str().map(str::to_owned);
    let opening = Opening {
        title: branch.clone().or_else(|| session::title(&fork.parent)),
        settings: Settings {
            cwd: place.cwd,
            additional_directories: place.more,
            branch,
            owner: Some(who.clone()),
            ..settings
        },
        tool_servers,
    };
    let room = server.admit()?;
    let session = Session::fork(server, new_id(), &fork, opening).await?;
    let visit = session.visit();
    room.take(&session);
    let mut answer = opened(connection, visit, From::Now).await?;
    let meta = &mut answer.value["_meta"]["harn"];
    meta["parentId"] = json!(fork.parent_id);
    meta["branchedAt"] = json!(fork.branched_at());
    Ok(answer.naming_session())
}

/// A session is open: the client follows it, and is told what it is.
///
/// # Errors
/// The log cannot be read, or somebody has closed the session meanwhile.
async fn opened(connection: &Arc<Connection>, visit: Visit, from: From) -> Result<Answer, Refusal> {
    let session = Arc::clone(visit.session());
    connection.follow(&session, from).await?;
    if session.is_closed() {
        connection.forget(&session);
        return Err(Refusal::unknown_session(&session.id));
    }
    let settings = session.settings();
    let choices = &connection.server.choices;
    let mut value = json!({"configOptions": choices.options(&settings)});
    if let Some(modes) = choices.modes(&settings) {
        value["modes"] = modes;
    }
    if let Some(notice) = session.trust_notice().await {
        value["_meta"]["harn"]["notice"] = notice.into();
    }
    Ok(Answer {
        value,
        follows: Some(session),
    })
}

/// `session/list`.
///
/// # Errors
/// The cursor is none of ours, or the log cannot be read.
pub(super) async fn list(
    connection: &Arc<Connection>,
    parameters: &Value,
) -> Result<Answer, Refusal> {
    let (server, who) = (&connection.server, &connection.principal);
    let cwd = match &parameters["cwd"] {
        Value::Null => None,
        Value::String(cwd) => Some(Path::new(cwd)),
        _ => return Err(Refusal::bad_parameters("`cwd` has to be a path")),
    };
    let after = match &parameters["cursor"] {
        Value::Null => None,
        Value::String(text) => Some(cursor::read(text)?),
        _ => return Err(Refusal::bad_parameters("`cursor` has to be a text")),
    };
    let mut sessions = server.list(who, cwd).await?;
    if let Some(after) = after {
        sessions.retain(|past| after.is_before(past));
    }
    let is_over = sessions.len() <= PAGE;
    sessions.truncate(PAGE);
    let told: Vec<Value> = sessions.iter().map(info).collect();
    let mut value = json!({"sessions": told});
    if let Some(last) = sessions.last().filter(|_| !is_over) {
        value["nextCursor"] = json!(cursor::after(last));
    }
    Ok(Answer::plain(value))
}

fn info(past: &Past) -> Value {
    let mut info = json!({
        "sessionId": past.id,
        "cwd": past.settings.cwd,
        "updatedAt": rfc3339(past.active_at_ms),
    });
    let title = past.settings.branch.as_ref().or(past.title.as_ref());
    if let Some(title) = title {
        info["title"] = json!(title);
    }
    if !past.settings.additional_directories.is_empty() {
        info["additionalDirectories"] = json!(past.settings.additional_directories);
    }
    info
}

/// What was begun, and goes on whether or not somebody waits for it: a session that is closed
/// halfway could neither be used nor be opened again.
pub(super) struct Begun(JoinHandle<Result<Answer, Refusal>>);

impl Begun {
    fn new(work: impl Future<Output = Result<Answer, Refusal>> + Send + 'static) -> Self {
        Self(tokio::spawn(work))
    }

    /// What comes of it.
    pub(super) async fn end(self) -> Result<Answer, Refusal> {
        let ended = self.0.await;
        ended.unwrap_or_else(|_| Err(Refusal::internal("the session cannot be closed")))
    }
}

/// `session/close`. What comes after it finds the session closed.
///
/// # Errors
/// There is no such session.
pub(super) fn close(connection: &Arc<Connection>, parameters: &Value) -> Result<Begun, Refusal> {
    let session = connection.session(session_id(parameters)?)?;
    session.begin_closing();
    let own = Arc::clone(connection);
    Ok(Begun::new(async move {
        let _door = own.server.door(&session.id).await;
        own.server.close(&session).await;
        own.forget(&session);
        Ok(Answer::plain(json!({})))
    }))
}

/// `session/delete`. A session that is not there is gone.
///
/// # Errors
/// The parameters name none.
pub(super) fn delete(connection: &Arc<Connection>, parameters: &Value) -> Result<Begun, Refusal> {
    let (own, id) = (Arc::clone(connection), session_id(parameters)?.to_owned());
    if let Some(session) = own.server.opened_by(&own.principal, &id) {
        session.begin_closing();
    }
    Ok(Begun::new(async move {
        let _door = own.server.door(&id).await;
        // Also one that was opened meanwhile.
        if let Some(session) = own.server.opened_by(&own.principal, &id) {
            own.server.close(&session).await;
            own.forget(&session);
        }
        own.server.remove(&own.principal, &id).await?;
        Ok(Answer::plain(json!({})))
    }))
}

/// `session/set_mode`.
///
/// # Errors
/// There is no such session or mode.
pub(super) fn set_mode(connection: &Arc<Connection>, parameters: &Value) -> Result<Value, Refusal> {
    let session = connection.session(session_id(parameters)?)?;
    let mode = parameters["modeId"].as_str();
    let mode = mode.ok_or_else(|| Refusal::bad_parameters("`modeId` has to be a text"))?;
    let settings = session.choose(|choices, settings| choices.set_mode(settings, mode))?;
    tell_mode(&session, mode);
    tell_options(connection, &session, &settings, Some(&connection.peer()));
    Ok(json!({}))
}

/// `session/set_config_option`.
///
/// # Errors
/// There is no such session, option or value.
pub(super) fn set_config_option(
    connection: &Arc<Connection>,
    parameters: &Value,
) -> Result<Value, Refusal> {
    let session = connection.session(session_id(parameters)?)?;
    let option = parameters["configId"].as_str();
    let option = option.ok_or_else(|| Refusal::bad_parameters("`configId` has to be a text"))?;
    let value = parameters["value"].as_str();
    let value = value.ok_or_else(|| Refusal::bad_parameters("`value` has to be a text"))?;
    let settings = session.choose(|choices, settings| choices.set(settings, option, value))?;
    if option == "mode" {
        tell_mode(&session, value);
    }
    let options = tell_options(connection, &session, &settings, Some(&connection.peer()));
    Ok(json!({"configOptions": options}))
}

fn tell_mode(session: &Session, mode: &str) {
    let update = json!({"sessionUpdate": "current_mode_update", "currentModeId": mode});
    session.tell_all(&update, None);
}

/// Tells what is chosen to those who follow the session, but for who chose it.
fn tell_options(
    connection: &Connection,
    session: &Session,
    settings: &Settings,
    but: Option<&Arc<dyn Peer>>,
) -> Vec<Value> {
    let options = connection.server.choices.options(settings);
    let update = json!({"sessionUpdate": "config_option_update", "configOptions": options});
    session.tell_all(&update, but);
    options
}

fn new_id() -> String {
    format!("acp_{}", harn_vm::new_id())
}

/// The session that parameters name.
///
/// # Errors
/// They name none.
pub(super) fn session_id(parameters: &Value) -> Result<&str, Refusal> {
    let id = parameters["sessionId"].as_str();
    id.ok_or_else(|| Refusal::bad_parameters("`sessionId` has to be a text"))
}

/// Somebody who wants to go on elsewhere wants another session.
fn check_folder(settings: &Settings, place: &Place) -> Result<(), Refusal> {
    let is_same = settings.cwd == place.cwd
        || settings.cwd.canonicalize().ok() == place.cwd.canonicalize().ok();
    match is_same {
        true => Ok(()),
        false => {
            let why = "the session works in another folder than `cwd`";
            Err(Refusal::bad_parameters(why))
        }
    }
}

/// Where a session works.
fn place(connection: &Connection, parameters: &Value) -> Result<Place, Refusal> {
    let more = match &parameters["additionalDirectories"] {
        Value::Null => Vec::new(),
        Value::Array(folders) => folders.iter().collect(),
        _ => {
            let why = "`additionalDirectories` has to be a list";
            return Err(Refusal::bad_parameters(why));
        }
    };
    let more = more
        .into_iter()
        .map(|one| folder(connection, one, "additionalDirectories"));
    Ok(Place {
        cwd: folder(connection, &parameters["cwd"], "cwd")?,
        more: more.collect::<Result<_, _>>()?,
    })
}

fn folder(connection: &Connection, given: &Value, name: &str) -> Result<PathBuf, Refusal> {
    let Some(text) = given.as_str() else {
        let why = format!("`{name}` has to be a path");
        return Err(Refusal::bad_parameters(why));
    };
    let path = Path::new(text);
    if !path.is_absolute() {
        let why = format!("`{name}` has to be an absolute path");
        return Err(Refusal::bad_parameters(why).with(json!({"path": text})));
    }
    let access = &connection.server.options.access;
    access.check_folder(&connection.principal, path)?;
    if !path.is_dir() {
        let why = format!("`{name}` has to be a folder that exists");
        return Err(Refusal::bad_parameters(why).with(json!({"path": text})));
    }
    Ok(path.to_owned())
}
