//! All hooks of a run, one after another.

use std::sync::Arc;

use harn_llm::desk::Thrown;
use serde_json::Value;

use super::hook::{Hook, HookEvent, PostTool, PreTool, ToolUse};
use super::registered::RegisteredHook;

/// The hooks of a run in the order in which they were registered.
#[derive(Clone, Default)]
pub struct HookChain {
    entries: Vec<Entry>,
}

/// What all hooks together want before a call.
#[derive(Clone, Debug, PartialEq)]
pub enum PreToolOutcome {
    /// The call runs with these arguments.
    Run(Value),
    /// It does not, for this reason.
    Denied(String),
}

#[derive(Clone)]
enum Entry {
    Registered(RegisteredHook),
    Custom(Arc<dyn Hook>),
}

impl HookChain {
    /// Adds a hook of a manifest or of a Rust embedder.
    pub fn add(&mut self, hook: Arc<dyn Hook>) {
        self.entries.push(Entry::Custom(hook));
    }

    /// `register_tool_hook`.
    pub fn register(&mut self, hook: RegisteredHook) {
        self.entries.push(Entry::Registered(hook));
    }

    /// `clear_tool_hooks`: forgets what was registered. Hooks of manifests and embedders are not
    /// the program's to remove.
    pub fn clear_registered(&mut self) {
        self.entries
            .retain(|entry| matches!(entry, Entry::Custom(_)));
    }

    /// Whether nobody hears of calls.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// What was registered, to be kept with the state of a program.
    pub fn registered(&self) -> impl Iterator<Item = &RegisteredHook> {
        self.entries.iter().filter_map(|entry| match entry {
            Entry::Registered(hook) => Some(hook),
            Entry::Custom(_) => None,
        })
    }

    /// Shows a call to all hooks before it runs.
    ///
    /// # Errors
    /// What a hook throws. The call must not run then.
    pub async fn pre_tool(&self, tool: &str, arguments: &Value) -> Result<PreToolOutcome, Thrown> {
        let mut arguments = arguments.clone();
        for entry in &self.entries {
            let wish = match entry {
                Entry::Registered(hook) => match &hook.deny {
                    Some(reason) if hook.is_about(tool) => PreTool::Deny(reason.clone()),
                    _ => PreTool::Keep,
                },
                Entry::Custom(hook) => {
                    let call = ToolUse {
                        name: tool,
                        arguments: &arguments,
                    };
                    hook.pre_tool(call).await?
                }
            };
            match wish {
                PreTool::Keep => {}
                PreTool::Deny(reason) => return Ok(PreToolOutcome::Denied(reason)),
                PreTool::Replace(changed) => arguments = changed,
            }
        }
        Ok(PreToolOutcome::Run(arguments))
    }

    /// Shows the text of a call to all hooks and gives what they made of it. `compact` shortens
    /// a text to about so many bytes.
    ///
    /// # Errors
    /// What a hook throws.
    pub async fn post_tool(
        &self,
        tool: &str,
        arguments: &Value,
        text: String,
        compact: &(dyn Fn(&str, usize) -> String + Sync),
    ) -> Result<String, Thrown> {
        let mut text = text;
        for entry in &self.entries {
            match entry {
                Entry::Registered(hook) => {
                    if let Some(bytes_max) = hook.max_output.filter(|_| hook.is_about(tool)) {
                        text = compact(&text, bytes_max);
                    }
                }
                Entry::Custom(hook) => {
                    let call = ToolUse {
                        name: tool,
                        arguments,
                    };
                    if let PostTool::Replace(changed) = hook.post_tool(call, &text).await? {
                        text = changed;
                    }
                }
            }
        }
        Ok(text)
    }

    /// Tells all hooks that a turn begins.
    ///
    /// # Errors
    /// What a hook throws.
    pub async fn pre_turn(&self, payload: &Value) -> Result<(), Thrown> {
        for hook in self.custom() {
            hook.pre_turn(payload).await?;
        }
        Ok(())
    }

    /// Tells all hooks that a turn has ended.
    ///
    /// # Errors
    /// What a hook throws.
    pub async fn post_turn(&self, payload: &Value) -> Result<(), Thrown> {
        for hook in self.custom() {
            hook.post_turn(payload).await?;
        }
        Ok(())
    }

    /// Tells all hooks what became of a worker.
    ///
    /// # Errors
    /// What a hook throws.
    pub async fn worker(&self, event: HookEvent, payload: &Value) -> Result<(), Thrown> {
        for hook in self.custom() {
            hook.worker(event, payload).await?;
        }
        Ok(())
    }

    /// Whether any hook is told of turns, so that it is worth saying what happened.
    pub fn hears_of_turns(&self) -> bool {
        self.custom().next().is_some()
    }

    fn custom(&self) -> impl Iterator<Item = &Arc<dyn Hook>> {
        self.entries.iter().filter_map(|entry| match entry {
            Entry::Registered(_) => None,
            Entry::Custom(hook) => Some(hook),
        })
    }
}

#[cfg(test)]
mod tests {
    use harn_log::block_on;
    use serde_json::json;

    use super::*;
    use crate::callback::BoxFuture;

    /// Adds its name to the argument `seen` and to the text.
    struct Signs(&'static str);

    impl Hook for Signs {
        fn pre_tool<'a>(&'a self, call: ToolUse<'a>) -> BoxFuture<'a, Result<PreTool, Thrown>> {
            let seen = call.arguments["seen"].as_str().unwrap_or_default();
            let changed = json!({"seen": format!("{seen}{}", self.0)});
            Box::pin(async move { Ok(PreTool::Replace(changed)) })
        }

        fn post_tool<'a>(
            &'a self,
            _call: ToolUse<'a>,
            text: &'a str,
        ) -> BoxFuture<'a, Result<PostTool, Thrown>> {
            let changed = format!("{text}{}", self.0);
            Box::pin(async move { Ok(PostTool::Replace(changed)) })
        }
    }

    /// Implements nothing.
    struct Idle;

    impl Hook for Idle {}

    /// Throws whatever it sees.
    struct Throws;

    impl Hook for Throws {
        fn pre_tool<'a>(&'a self, _: ToolUse<'a>) -> BoxFuture<'a, Result<PreTool, Thrown>> {
            Box::pin(async { Err(Thrown::Runtime("broken".to_owned())) })
        }
    }

    fn registered(config: Value) -> RegisteredHook {
        RegisteredHook::read(&config).expect("it is a dict")
    }

    fn cut(text: &str, bytes_max: usize) -> String {
        text.chars().take(bytes_max).collect()
    }

    #[test]
    fn each_hook_sees_the_change_before() {
        let mut chain = HookChain::default();
        chain.add(Arc::new(Signs("a")));
        chain.add(Arc::new(Idle));
        chain.register(registered(json!({"pattern": "run", "max_output": 3})));
        chain.add(Arc::new(Signs("b")));
        let outcome = block_on(chain.pre_tool("run", &json!({})));
        assert_eq!(outcome, Ok(PreToolOutcome::Run(json!({"seen": "ab"}))));
        let text = block_on(chain.post_tool("run", &json!({}), "12345".to_owned(), &cut));
        assert_eq!(text.as_deref(), Ok("123b"));
        let text = block_on(chain.post_tool("read", &json!({}), "12345".to_owned(), &cut));
        assert_eq!(text.as_deref(), Ok("12345ab"));
        assert_eq!(block_on(chain.pre_turn(&json!({}))), Ok(()));
        assert_eq!(block_on(chain.post_turn(&json!({}))), Ok(()));
        assert_eq!(
            block_on(chain.worker(HookEvent::WorkerSpawned, &json!({}))),
            Ok(())
        );
    }

    #[test]
    fn the_first_denial_ends_the_chain() {
        let mut chain = HookChain::default();
        chain.register(registered(json!({"pattern": "x", "deny": "never"})));
        chain.register(registered(json!({"pattern": "ru*", "deny": "not now"})));
        chain.register(registered(json!({"deny": "late"})));
        chain.add(Arc::new(Throws));
        let outcome = block_on(chain.pre_tool("run", &json!({})));
        assert_eq!(outcome, Ok(PreToolOutcome::Denied("not now".to_owned())));
    }

    #[test]
    fn what_a_hook_throws_is_given_back() {
        let mut chain = HookChain::default();
        chain.add(Arc::new(Throws));
        let outcome = block_on(chain.pre_tool("run", &json!({})));
        assert_eq!(outcome, Err(Thrown::Runtime("broken".to_owned())));
    }

    #[test]
    fn clearing_leaves_the_hooks_of_others() {
        let mut chain = HookChain::default();
        chain.add(Arc::new(Signs("a")));
        chain.register(registered(json!({"deny": "no"})));
        assert_eq!(chain.registered().count(), 1);
        chain.clear_registered();
        assert_eq!(chain.registered().count(), 0);
        let outcome = block_on(chain.pre_tool("run", &json!({})));
        assert_eq!(outcome, Ok(PreToolOutcome::Run(json!({"seen": "a"}))));
    }

    #[test]
    fn running_the_chain_can_move_to_another_thread() {
        fn check<T: Send>(_: T) {}
        let chain = HookChain::default();
        check(chain.pre_tool("run", &json!({})));
        check(chain.post_tool("run", &json!({}), String::new(), &cut));
    }
}
