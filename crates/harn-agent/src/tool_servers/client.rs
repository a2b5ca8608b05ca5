//! What servers are told about us, and who answers them.
//!
//! Text of a server is data: it is shown and passed on, but no rule follows from it. A question
//! goes to a person only if there is one, and one that asks for a secret goes to nobody.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use harn_events::{AgentEvent, RedactionPolicy};
use harn_llm::Secret;
use harn_llm::desk::Question;
use serde_json::{Map, Value, json};

use super::asking::{self, Asker};
use super::{Capabilities, Sampling, ServerClient, ServerConfig, ServerNotice, ServerRequest};
use crate::callback::BoxFuture;
use crate::host::Elicits;
use crate::policy::Approval;
use crate::runtime::Runtime;

/// How large the parameters of a notice may be to be kept. Of larger ones the size is.
const NOTICE_BYTES_MAX: usize = 256 * 1024;

/// How many notices of a server are told in a second. More are counted, and the count is told.
const NOTICES_MAX: u64 = 20;

/// How many of them may be about progress.
const PROGRESS_MAX: u64 = 10;

/// How much a server may say in notices in all. After that they are only counted.
const NOTICES_BYTES_MAX: usize = 16 * 1024 * 1024;

/// How long notices are counted before the count is told.
const WINDOW_MS: i64 = 1_000;

const PROGRESS: &str = "notifications/progress";

/// What is told instead of notices that are only counted.
const FOLDED: &str = "harn/notices_folded";

/// A server's view of a session, or of a program outside of its sessions.
pub(crate) struct SessionClient {
    runtime: Weak<Runtime>,
    server: String,
    session_id: Option<String>,
    sampling: Option<Sampling>,
    tells_roots: bool,
    /// What the server is told in confidence. It may say it again.
    secrets: Vec<Secret>,
    told: Mutex<Told>,
    /// Itself, for the time when a count is told.
    own: Weak<Self>,
}

/// What was told so far.
#[derive(Default)]
struct Told {
    /// When the second began that is counted.
    since_ms: i64,
    notices: u64,
    progress: u64,
    /// How many were not told since the last count, and about which session the last of them was.
    folded: u64,
    folded_in: Option<String>,
    bytes: usize,
    /// The tokens that models have written for the server, and those they may still write for
    /// what it asks now.
    tokens: u64,
}

impl SessionClient {
    pub(crate) fn new(
        runtime: &Arc<Runtime>,
        config: &ServerConfig,
        session_id: Option<&str>,
    ) -> Arc<Self> {
        Arc::new_cyclic(|own| Self {
            runtime: Arc::downgrade(runtime),
            server: config.name.clone(),
            session_id: session_id.map(str::to_owned),
            sampling: config.sampling.clone(),
            tells_roots: config.tells_roots,
            secrets: config.secrets().into_iter().cloned().collect(),
            told: Mutex::default(),
            own: own.clone(),
        })
    }

    fn told(&self) -> std::sync::MutexGuard<'_, Told> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells a session, if one can be made out.
    fn emit(&self, session_id: Option<&str>, event: impl FnOnce(String, String) -> AgentEvent) {
        let session_id = session_id.or(self.session_id.as_deref());
        if let (Some(session_id), Some(runtime)) = (session_id, self.runtime.upgrade()) {
            let session = runtime.sessions().get_also_unnamed(session_id);
            let event = event(session_id.to_owned(), self.server.clone());
            match session {
                Some(session) => session.emit(&event),
                None => runtime.bus.emit(&event),
            }
        }
    }

    /// Whether one more notice may be told now. If not, it is counted.
    fn takes_notice(&self, runtime: &Runtime, notice: &ServerNotice, bytes: usize) -> bool {
        let now_ms = runtime.now_ms();
        let is_progress = notice.method == PROGRESS;
        let mut told = self.told();
        if now_ms - told.since_ms >= WINDOW_MS {
            told.since_ms = now_ms;
            told.notices = 0;
            told.progress = 0;
        }
        told.notices += 1;
        told.progress += u64::from(is_progress);
        let is_within = told.notices <= NOTICES_MAX
            && (!is_progress || told.progress <= PROGRESS_MAX)
            && told.bytes + bytes <= NOTICES_BYTES_MAX;
        if is_within {
            told.bytes += bytes;
            return true;
        }
        told.folded += 1;
        told.folded_in.clone_from(&notice.session_id);
        let is_first = told.folded == 1;
        drop(told);
        if is_first {
            self.tell_count_later(runtime);
        }
        false
    }

    /// Once the second is over, the count is told. Where nothing waits in the background, it is
    /// told when the server ends.
    fn tell_count_later(&self, runtime: &Runtime) {
        let own = self.own.clone();
        let later = async move {
            tokio::time::sleep(Duration::from_millis(WINDOW_MS.unsigned_abs())).await;
            if let Some(own) = own.upgrade() {
                own.tell_count();
            }
        };
        let _it_is_told_at_the_end = runtime.spawn(Box::pin(later));
    }

    /// Tells how many notices were not told, if there were any.
    fn tell_count(&self) {
        let (count, session_id) = {
            let mut told = self.told();
            (std::mem::take(&mut told.folded), told.folded_in.take())
        };
        if count == 0 {
            return;
        }
        self.emit(session_id.as_deref(), |session_id, server| {
            AgentEvent::McpNotification {
                session_id,
                server,
                method: FOLDED.to_owned(),
                direction: "notification".to_owned(),
                params: json!({"count": count}),
            }
        });
    }

    async fn elicit(&self, params: Value, session_id: Option<&str>) -> Result<Value, String> {
        let runtime = self.runtime()?;
        let session_id = session_id.or(self.session_id.as_deref());
        let is_url = params["mode"] == "url";
        let can = self.elicits(&runtime, session_id);
        if (is_url && !can.urls) || (!is_url && !can.forms) {
            return Err("nobody can be asked this way".to_owned());
        }
        if let Some(name) = sensitive_field(&params).filter(|_| !is_url) {
            let text = format!(
                "mcp server '{}' asks for '{name}' in a form; what is secret is not typed into \
                 forms",
                self.server
            );
            runtime.warn("mcp", &text);
            return Ok(json!({"action": "decline"}));
        }
        let host = runtime.bridge.as_ref().filter(|bridge| {
            let can = bridge.elicits(session_id);
            if is_url { can.urls } else { can.forms }
        });
        let Some(host) = host else {
            let server = Asker {
                name: &self.server,
                secrets: &self.secrets,
            };
            return Ok(asking::ask(&runtime, &server, &params, session_id).await);
        };
        let mut asked = params;
        asked["sessionId"] = json!(session_id);
        asked["server"] = json!(self.server);
        let answer = host.request("elicitation/create", asked).await;
        // Whoever cannot be asked has said no.
        Ok(answer.map_or_else(|_| json!({"action": "cancel"}), answer_of))
    }

    /// Who can be asked: the people of the host, or those who look after the project and find
    /// in the log what they are asked.
    fn elicits(&self, runtime: &Runtime, session_id: Option<&str>) -> Elicits {
        let host = runtime.bridge.as_ref();
        let host = host
            .map(|host| host.elicits(session_id))
            .unwrap_or_default();
        let others = runtime.reaches_people();
        Elicits {
            forms: host.forms || others,
            urls: host.urls || others,
        }
    }

    async fn sample(&self, params: Value, session_id: Option<&str>) -> Result<Value, String> {
        let runtime = self.runtime()?;
        let sampling = self.sampling.as_ref().ok_or("no model may be asked")?;
        self.check_sampling(&runtime, &params, session_id)?;
        // Nobody knows what a model has written for a request that was cancelled, so what is
        // reserved is given back only when there is an answer.
        let reserved = self.reserve(sampling, &params)?;
        let answer = match question(&params, &sampling.model, reserved) {
            Ok(question) => {
                let answer = runtime.desk.call(&question).await;
                answer.map_err(|thrown| crate::registry::told(&thrown))
            }
            Err(reason) => Err(reason),
        };
        let used = match &answer {
            Ok(answer) => answer["output_tokens"].as_u64().unwrap_or(reserved),
            Err(_) => 0,
        };
        {
            let mut told = self.told();
            told.tokens = (told.tokens - reserved).saturating_add(used);
        }
        let answer = answer?;
        Ok(json!({
            "role": "assistant",
            "content": {"type": "text", "text": answer["text"]},
            "model": answer["model"],
            "stopReason": "endTurn",
        }))
    }

    /// Takes the tokens that an answer may have out of what is left.
    fn reserve(&self, sampling: &Sampling, params: &Value) -> Result<u64, String> {
        let mut told = self.told();
        let left = sampling.tokens_max.saturating_sub(told.tokens);
        if left == 0 {
            return Err("the tokens for this server are used up".to_owned());
        }
        let wanted = params["maxTokens"].as_u64().unwrap_or(left).min(left);
        told.tokens += wanted;
        Ok(wanted)
    }

    /// Asking a model is shown to the policy like a call of a tool.
    fn check_sampling(
        &self,
        runtime: &Runtime,
        params: &Value,
        session_id: Option<&str>,
    ) -> Result<(), String> {
        let name = format!("{}__sampling", self.server);
        let ambient = runtime.ambient_in(session_id.or(self.session_id.as_deref()));
        ambient.check_builtin("llm_call", None)?;
        match ambient.decide(&name, None, params) {
            Approval::Approved => Ok(()),
            Approval::Denied(reason) => Err(reason),
            // Nobody is asked here, and what needs a yes and has none is not done.
            Approval::Ask => Err(format!("'{name}' needs an approval")),
        }
    }

    fn roots(&self) -> Result<Value, String> {
        let runtime = self.runtime()?;
        if !self.tells_roots {
            return Err("the folders are not told".to_owned());
        }
        let folder = std::path::absolute(&runtime.folder)
            .or_else(|_| std::env::current_dir())
            .map_err(|error| error.to_string())?;
        Ok(json!({"roots": [{"uri": file_uri(&folder)}]}))
    }

    fn runtime(&self) -> Result<Arc<Runtime>, String> {
        let runtime = self.runtime.upgrade();
        runtime.ok_or_else(|| "the program has ended".to_owned())
    }
}

/// The URI of a folder. What has a meaning in URIs, or none, is written in hexadecimal.
fn file_uri(folder: &Path) -> String {
    let bytes = folder.as_os_str().as_encoded_bytes().iter();
    let encoded = bytes.map(|&byte| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' => {
            char::from(byte).to_string()
        }
        other => format!("%{other:02X}"),
    });
    format!("file://{}", encoded.collect::<String>())
}

/// What a form asks for that must not be asked in a form, by what it is called or how it is
/// shown to people.
fn sensitive_field(params: &Value) -> Option<&String> {
    let policy = RedactionPolicy::new();
    let fields = params["requestedSchema"]["properties"].as_object()?;
    let is_sensitive = |(name, field): &(&String, &Value)| {
        let title = field["title"].as_str().unwrap_or_default();
        policy.is_sensitive_name(name)
            || policy.is_sensitive_name(&title.replace(' ', "_"))
            || field["format"] == "password"
    };
    fields.iter().find(is_sensitive).map(|(name, _)| name)
}

/// An answer to a question: only what such an answer consists of.
fn answer_of(answer: Value) -> Value {
    match answer["action"].as_str() {
        Some("accept") => json!({"action": "accept", "content": answer["content"]}),
        Some(action @ ("decline" | "cancel")) => json!({"action": action}),
        _ => json!({"action": "cancel"}),
    }
}

/// What a model is asked.
///
/// # Errors
/// There is something in it that is no text.
fn question(params: &Value, model: &str, tokens_max: u64) -> Result<Question, String> {
    let messages = params["messages"].as_array().into_iter().flatten();
    let messages = messages.map(|message| {
        let text = text_of(&message["content"])?;
        Ok(json!({"role": message["role"], "content": text}))
    });
    let messages = messages.collect::<Result<Vec<Value>, String>>()?;
    let options = json!({"model": model, "max_tokens": tokens_max, "messages": messages});
    let options: Map<String, Value> = options.as_object().cloned().unwrap_or_default();
    Ok(Question {
        prompt: String::new(),
        system: params["systemPrompt"].as_str().map(str::to_owned),
        options,
        replies: None,
    })
}

/// The text of a message: of one block or of several. A model that hears half of a question
/// would answer another one, so whatever is no text is refused.
fn text_of(content: &Value) -> Result<String, String> {
    let blocks = match content {
        Value::Array(blocks) => &blocks[..],
        block => std::slice::from_ref(block),
    };
    let texts = blocks.iter().map(|block| {
        let text = block["text"].as_str().filter(|_| block["type"] == "text");
        text.ok_or_else(|| "a model is passed on text and nothing else".to_owned())
    });
    let texts = texts.collect::<Result<Vec<&str>, String>>()?;
    Ok(texts.join("\n"))
}

impl ServerClient for SessionClient {
    fn capabilities(&self) -> Capabilities {
        let Some(runtime) = self.runtime.upgrade() else {
            return Capabilities::default();
        };
        let can = self.elicits(&runtime, self.session_id.as_deref());
        Capabilities {
            forms: can.forms,
            urls: can.urls,
            sampling: self.sampling.is_some(),
            roots: self.tells_roots,
        }
    }

    fn notice(&self, notice: ServerNotice) {
        let Some(runtime) = self.runtime.upgrade() else {
            return;
        };
        let bytes = notice.params.to_string().len();
        if !notice.is_request && !self.takes_notice(&runtime, &notice, bytes) {
            return;
        }
        let params = match bytes > NOTICE_BYTES_MAX {
            true => json!({"truncated": true, "bytes": bytes}),
            false => notice.params,
        };
        let direction = if notice.is_request {
            "request"
        } else {
            "notification"
        };
        self.emit(notice.session_id.as_deref(), |session_id, server| {
            AgentEvent::McpNotification {
                session_id,
                server,
                method: notice.method,
                direction: direction.to_owned(),
                params,
            }
        });
    }

    fn catalogue_changed(&self, session_id: Option<&str>) {
        self.emit(session_id, |session_id, server| {
            AgentEvent::McpCatalogChanged {
                session_id,
                server: Some(server),
                reason: "list_changed".to_owned(),
            }
        });
    }

    fn auth_required(&self, resource: &str, scope: Option<&str>, session_id: Option<&str>) {
        self.emit(session_id, |session_id, server| {
            AgentEvent::McpAuthRequired {
                session_id,
                server,
                resource: resource.to_owned(),
                scope: scope.map(str::to_owned),
            }
        });
    }

    fn answer<'a>(
        &'a self,
        request: ServerRequest,
        session_id: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Value, String>> {
        Box::pin(async move {
            match request {
                ServerRequest::Elicit(params) => self.elicit(params, session_id).await,
                ServerRequest::Sample(params) => self.sample(params, session_id).await,
                ServerRequest::Roots => self.roots(),
            }
        })
    }

    fn warn(&self, text: &str) {
        if let Some(runtime) = self.runtime.upgrade() {
            runtime.warn("mcp", text);
        }
    }

    fn ended(&self) {
        self.tell_count();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_has_a_uri_whatever_it_is_called() {
        let uri = file_uri(Path::new("/srv/my project/50%/ö"));
        assert_eq!(uri, "file:///srv/my%20project/50%25/%C3%B6");
    }

    #[test]
    fn a_form_asks_for_a_secret_by_name_title_or_format() {
        let asks = |fields: Value| {
            let params = json!({"requestedSchema": {"properties": fields}});
            sensitive_field(&params).cloned()
        };
        assert_eq!(
            asks(json!({"name": {}, "city": {"title": "Home town"}})),
            None
        );
        for secret in [
            json!({"password": {}}),
            json!({"n": {}, "github_token": {}}),
            json!({"n": {"title": "Your password"}}),
            json!({"n": {"title": "API key"}}),
            json!({"n": {"type": "string", "format": "password"}}),
        ] {
            assert!(asks(secret.clone()).is_some(), "{secret}");
        }
    }

    #[test]
    fn a_model_hears_all_of_a_question_or_none_of_it() {
        let text = |text: &str| json!({"type": "text", "text": text});
        let asked = |content: Value| {
            let params = json!({
                "systemPrompt": "Be brief.",
                "messages": [{"role": "user", "content": content}],
            });
            question(&params, "m", 5).map(|question| question.options["messages"].clone())
        };
        let hello = json!([{"role": "user", "content": "Hello"}]);
        assert_eq!(asked(text("Hello")).unwrap(), hello);
        let two = json!([{"role": "user", "content": "Hello\nyou"}]);
        assert_eq!(asked(json!([text("Hello"), text("you")])).unwrap(), two);
        let image = json!({"type": "image", "data": "AA==", "mimeType": "image/png"});
        let refused = asked(json!([text("Hello"), image])).unwrap_err();
        assert_eq!(refused, "a model is passed on text and nothing else");
    }
}
