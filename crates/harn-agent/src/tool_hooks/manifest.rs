//! The `[[hooks]]` of a manifest: an event, a pattern, and a function of the program.

use std::sync::Arc;

use harn_llm::desk::Thrown;
use serde_json::Value;

use super::answer::{read_post_tool, read_pre_tool};
use super::hook::{Hook, HookEvent, PostTool, PreTool, ToolUse};
use super::pattern::Pattern;
use crate::callback::{BoxFuture, Callback};

/// One entry of `[[hooks]]`.
#[derive(Clone, Debug)]
pub struct ManifestHook {
    /// What it is bound to.
    pub event: HookEvent,
    /// Which of those it is about.
    pub pattern: Pattern,
    /// The function to call.
    pub handler: HandlerName,
}

/// A function of a module: `module::function`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HandlerName {
    /// The package's own name, one of its exports, or an import path.
    pub module: String,
    /// The function.
    pub function: String,
}

impl ManifestHook {
    /// Reads an entry.
    ///
    /// # Errors
    /// An event nobody knows, a pattern that is none, or a handler without its module.
    pub fn read(entry: &Value) -> Result<Self, Thrown> {
        let text = |key: &str| entry.get(key).and_then(Value::as_str).unwrap_or_default();
        let event = HookEvent::named(text("event"))
            .ok_or_else(|| Thrown::Runtime(format!("unknown hook event '{}'", text("event"))))?;
        Ok(Self {
            event,
            pattern: Pattern::read(text("pattern"))?,
            handler: HandlerName::read(text("handler"))?,
        })
    }

    /// The hook, with the function that its handler names.
    pub fn bind(self, function: Arc<dyn Callback>) -> Arc<dyn Hook> {
        Arc::new(Bound {
            event: self.event,
            pattern: self.pattern,
            function,
        })
    }
}

impl HandlerName {
    /// Reads `module::function`.
    ///
    /// # Errors
    /// Anything else.
    pub fn read(text: &str) -> Result<Self, Thrown> {
        let parts = text.trim().rsplit_once("::");
        match parts.filter(|(module, function)| !module.is_empty() && !function.is_empty()) {
            Some((module, function)) => Ok(Self {
                module: module.to_owned(),
                function: function.to_owned(),
            }),
            None => Err(Thrown::Runtime(format!(
                "invalid hook handler '{text}': expected <module>::<function>"
            ))),
        }
    }
}

/// What to throw when a module does not have the function of a handler.
pub fn missing_handler(handler: &HandlerName) -> Thrown {
    Thrown::Runtime(format!(
        "hook handler '{}' is not exported by module '{}'",
        handler.function, handler.module
    ))
}

/// A hook of a manifest whose function was found.
struct Bound {
    event: HookEvent,
    pattern: Pattern,
    function: Arc<dyn Callback>,
}

impl Bound {
    /// Calls the function if the hook is about an event; nil if it is not.
    async fn tell(&self, event: HookEvent, payload: Value) -> Result<Value, Thrown> {
        if self.event != event || !self.pattern.matches(&payload) {
            return Ok(Value::Null);
        }
        self.function.call(vec![payload]).await
    }

    /// Tells about something in which a hook cannot interfere, so the answer does not matter.
    fn notify(&self, event: HookEvent, payload: &Value) -> BoxFuture<'_, Result<(), Thrown>> {
        let mut payload = payload.clone();
        if let Some(fields) = payload.as_object_mut() {
            fields.insert("event".to_owned(), event.as_str().into());
        }
        Box::pin(async move { self.tell(event, payload).await.map(drop) })
    }
}

impl Hook for Bound {
    fn pre_tool<'a>(&'a self, call: ToolUse<'a>) -> BoxFuture<'a, Result<PreTool, Thrown>> {
        Box::pin(async move {
            let answer = self.tell(HookEvent::PreToolUse, call.payload_before());
            read_pre_tool(&answer.await?)
        })
    }

    fn post_tool<'a>(
        &'a self,
        call: ToolUse<'a>,
        text: &'a str,
    ) -> BoxFuture<'a, Result<PostTool, Thrown>> {
        Box::pin(async move {
            let answer = self.tell(HookEvent::PostToolUse, call.payload_after(text));
            read_post_tool(&answer.await?)
        })
    }

    fn pre_turn<'a>(&'a self, payload: &'a Value) -> BoxFuture<'a, Result<(), Thrown>> {
        self.notify(HookEvent::PreAgentTurn, payload)
    }

    fn post_turn<'a>(&'a self, payload: &'a Value) -> BoxFuture<'a, Result<(), Thrown>> {
        self.notify(HookEvent::PostAgentTurn, payload)
    }

    fn worker<'a>(
        &'a self,
        event: HookEvent,
        payload: &'a Value,
    ) -> BoxFuture<'a, Result<(), Thrown>> {
        self.notify(event, payload)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use harn_log::block_on;
    use serde_json::json;

    use super::*;

    /// A hook and the payloads its function is called with.
    fn bound(entry: Value, answer: Value) -> (Arc<dyn Hook>, Arc<Mutex<Vec<Value>>>) {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let hook = ManifestHook::read(&entry).expect("it is well formed");
        let notes = Arc::clone(&seen);
        let function = move |arguments: Vec<Value>| {
            notes.lock().expect("nobody panics").extend(arguments);
            Ok(answer.clone())
        };
        (hook.bind(Arc::new(function)), seen)
    }

    #[test]
    fn an_entry_is_read() {
        let entry = json!({"event": "PreToolUse", "pattern": "run*", "handler": "a/b::check"});
        let hook = ManifestHook::read(&entry).expect("it is well formed");
        assert_eq!(hook.event, HookEvent::PreToolUse);
        assert_eq!(
            (&*hook.handler.module, &*hook.handler.function),
            ("a/b", "check")
        );
        let text = "hook handler 'check' is not exported by module 'a/b'";
        assert_eq!(
            missing_handler(&hook.handler),
            Thrown::Runtime(text.to_owned())
        );
    }

    #[test]
    fn what_cannot_be_read_is_thrown() {
        let rows = [
            (
                json!({"event": "Later", "handler": "a::b"}),
                "unknown hook event 'Later'",
            ),
            (
                json!({"event": "PreToolUse", "handler": "check"}),
                "invalid hook handler 'check': expected <module>::<function>",
            ),
            (
                json!({"event": "PreToolUse", "handler": "a::"}),
                "invalid hook handler 'a::': expected <module>::<function>",
            ),
            (
                json!({"event": "PreToolUse", "handler": "::b"}),
                "invalid hook handler '::b': expected <module>::<function>",
            ),
            (
                json!({"event": "PreToolUse"}),
                "invalid hook handler '': expected <module>::<function>",
            ),
        ];
        for (entry, text) in rows {
            let thrown = ManifestHook::read(&entry);
            assert_eq!(thrown.err(), Some(Thrown::Runtime(text.to_owned())));
        }
    }

    #[test]
    fn a_hook_sees_only_its_event_and_its_tools() {
        let entry = json!({"event": "PreToolUse", "pattern": "run", "handler": "a::b"});
        let (hook, seen) = bound(entry, json!({"deny": "no"}));
        let arguments = json!({});
        let call = |name: &'static str| ToolUse {
            name,
            arguments: &arguments,
        };
        let denied = PreTool::Deny("no".to_owned());
        assert_eq!(block_on(hook.pre_tool(call("run"))), Ok(denied));
        assert_eq!(block_on(hook.pre_tool(call("read"))), Ok(PreTool::Keep));
        assert_eq!(
            block_on(hook.post_tool(call("run"), "x")),
            Ok(PostTool::Keep)
        );
        assert_eq!(block_on(hook.pre_turn(&json!({}))), Ok(()));
        assert_eq!(seen.lock().expect("nobody panics").len(), 1);
    }

    #[test]
    fn turns_and_workers_are_told() {
        let entry = json!({"event": "WorkerFailed", "pattern": "*", "handler": "a::b"});
        let (hook, seen) = bound(entry, json!(7));
        let payload = json!({"id": "w"});
        assert_eq!(
            block_on(hook.worker(HookEvent::WorkerFailed, &payload)),
            Ok(())
        );
        assert_eq!(
            block_on(hook.worker(HookEvent::WorkerSpawned, &payload)),
            Ok(())
        );
        assert_eq!(block_on(hook.post_turn(&payload)), Ok(()));
        let expected = [json!({"event": "WorkerFailed", "id": "w"})];
        assert_eq!(*seen.lock().expect("nobody panics"), expected);
    }
}
