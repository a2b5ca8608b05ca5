//! The host of the program: what its loops ask of whoever embeds them.

use std::collections::BTreeSet;

use harn_vm::agent::{BoxFuture, HostBridge, HostError, Seam};
use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::asked::{Asked, Permission, Scope};
use super::clean::clean_line;
use super::shared::Shared;
use crate::commands::run::live::wording;

/// What need not be asked again in this chat.
#[derive(Debug, Default)]
pub(super) struct Always(BTreeSet<Scope>);

impl Always {
    pub(super) fn allow(&mut self, scope: Scope) {
        if scope != Scope::Once {
            self.0.insert(scope);
        }
    }

    fn allows(&self, scope: &Scope) -> bool {
        *scope != Scope::Once && self.0.contains(scope)
    }
}

/// A host with a person in front of it.
pub(super) struct Host {
    pub(super) shared: Shared,
}

impl HostBridge for Host {
    fn request<'a>(
        &'a self,
        method: &'a str,
        parameters: Value,
    ) -> BoxFuture<'a, Result<Value, HostError>> {
        match method {
            "session/request_permission" => self.ask(&parameters),
            "builtin_call" => {
                let tool = parameters["name"].as_str().unwrap_or_default();
                let why = format!("there is no tool '{tool}'");
                Box::pin(std::future::ready(Err(HostError::Lacking(why))))
            }
            other => {
                let why = format!("a chat does not know '{other}'");
                Box::pin(std::future::ready(Err(HostError::Lacking(why))))
            }
        }
    }

    fn notify(&self, _method: &str, _parameters: Value) {}

    /// What the person says in the middle of a turn is heard before the next question to the
    /// model. What comes too late for the loop is the next prompt.
    fn take_messages(&self, _session_id: &str, seam: Seam) -> Vec<String> {
        match seam {
            Seam::Completion | Seam::LoopExit => Vec::new(),
            Seam::IterationStart
            | Seam::PreToolDispatch
            | Seam::PostToolDispatch
            | Seam::IterationEnd
            | Seam::Idle => self.shared.change(|state| {
                let heard: Vec<String> = state.unheard.drain(..).collect();
                heard.iter().for_each(|text| state.view.prompt(text));
                heard
            }),
        }
    }

    fn take_resume(&self, _session_id: &str) -> bool {
        false
    }

    fn see_tools(&self, _session_id: &str, tools: &[(String, String)]) {
        self.shared.change(|state| state.view.set_tools(tools));
    }
}

impl Host {
    /// Asks the person whether a tool may be called, unless that was answered for good.
    fn ask(&self, parameters: &Value) -> BoxFuture<'static, Result<Value, HostError>> {
        let text = |pointer: &str| parameters.pointer(pointer).and_then(Value::as_str);
        let tool = text("/toolCall/toolName").unwrap_or_default();
        let session_id = text("/sessionId").unwrap_or_default();
        let call_id = text("/toolCall/toolCallId").unwrap_or_default();
        let arguments = &parameters["toolCall"]["rawInput"];
        let caution = text("/caution").map(clean_line);
        let answer = self.shared.change(|state| {
            let kind = state.view.open_call(session_id, call_id);
            let kind = kind.and_then(|call| call.kind);
            // What a runtime is cautious about is never answered for good.
            let scope = match &caution {
                Some(_) => Scope::Once,
                None => Scope::of(tool, kind, arguments).known_as(parameters),
            };
            if state.always.allows(&scope) {
                return None;
            }
            let (reply, answer) = oneshot::channel();
            state.asked.push_back(Asked::Permission(Permission {
                tool: clean_line(tool),
                told: clean_line(&wording::arguments(arguments)),
                caution,
                scope,
                reply,
            }));
            Some(answer)
        });
        Box::pin(async move {
            match answer {
                None => Ok(granted()),
                // Whoever leaves does not agree.
                Some(answer) => answer.await.map_err(|_| "nobody has answered".into()),
            }
        })
    }
}

/// The answer that allows a call.
pub(super) fn granted() -> Value {
    json!({"outcome": {"outcome": "selected", "optionId": "allow_once"}})
}

/// The answer that does not.
pub(super) fn refused(reason: &str) -> Value {
    json!({"outcome": {"outcome": "selected", "optionId": "reject_once"}, "reason": reason})
}
