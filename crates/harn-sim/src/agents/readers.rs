//! Those who watch a run and have a say in it: sinks, subscribers, hooks and the host.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, Weak};

use harn_agent::events::{
    AgentEvent, AgentEventSink, AgentEventSubscriber, EmissionFrame, InboxSource, SubscriberCall,
    SubscriberError, SubscriberFuture, SubscriberOutcome,
};
use harn_agent::llm::desk::Thrown;
use harn_agent::tool_hooks::{Hook, PostTool, PreTool, ToolUse};
use harn_agent::{BoxFuture, HostBridge, HostError, Seam};
use serde_json::{Value, json};

use super::tools::PANIC;
use super::world::{World, lock};

/// Remembers what it saw.
#[derive(Default)]
pub(super) struct Recorder(Mutex<Vec<Seen>>);

/// An event and when it was emitted.
#[derive(Clone)]
pub(super) struct Seen {
    pub(super) sequence: u64,
    pub(super) at_ms: i64,
    pub(super) event: AgentEvent,
}

impl Recorder {
    pub(super) fn seen(&self) -> Vec<Seen> {
        lock(&self.0).clone()
    }

    /// What it saw, as JSON lines.
    pub(super) fn lines(&self) -> Vec<String> {
        let line = |seen: &Seen| {
            let event = serde_json::to_value(&seen.event).unwrap_or_default();
            json!({"at": seen.at_ms, "event": event}).to_string()
        };
        lock(&self.0).iter().map(line).collect()
    }
}

impl AgentEventSink for Recorder {
    fn handle_event(&self, _event: &AgentEvent) {}

    fn handle_frame(&self, frame: &EmissionFrame<'_>) {
        lock(&self.0).push(Seen {
            sequence: frame.sequence,
            at_ms: frame.emitted_at_ms,
            event: frame.event.clone(),
        });
    }
}

/// A sink that panics now and then, and sometimes answers back.
pub(super) struct WildSink(pub(super) Weak<World>);

impl AgentEventSink for WildSink {
    fn handle_event(&self, event: &AgentEvent) {
        let Some(world) = self.0.upgrade() else {
            return;
        };
        if world.wild(3) {
            world.count("sink panicked");
            panic!("{PANIC} a sink broke");
        }
        if matches!(event, AgentEvent::IterationStart { .. }) && world.wild(20) {
            world.count("sink answered back");
            let session_id = event.session_id().to_owned();
            world.runtime().bus().emit(&AgentEvent::AgentThoughtChunk {
                session_id,
                content: "a sink thinks".to_owned(),
            });
        }
    }
}

/// A subscriber that fails, panics, waits and talks to the loop.
pub(super) struct WildSubscriber(pub(super) Weak<World>);

impl AgentEventSubscriber for WildSubscriber {
    fn name(&self) -> Cow<'_, str> {
        Cow::Borrowed("wild")
    }

    fn on_event<'a>(&'a self, call: SubscriberCall<'a>) -> SubscriberFuture<'a> {
        let world = self.0.upgrade().expect("the world outlives its readers");
        if world.wild(2) {
            world.count("subscriber panicked at once");
            panic!("{PANIC} a subscriber broke at once");
        }
        Box::pin(async move {
            if world.wild(15) {
                world.pause().await;
            }
            if world.wild(2) {
                world.count("subscriber panicked later");
                panic!("{PANIC} a subscriber broke");
            }
            if matches!(call.event, AgentEvent::IterationStart { .. }) && world.wild(15) {
                world.count("subscriber gave feedback");
                let session_id = call.event.session_id();
                let bus = world.runtime().bus().clone();
                bus.push_feedback(session_id, "note", "mind the gap", InboxSource::Loop);
            }
            match world.wild(5) {
                true => Err(SubscriberError("it does not like that".to_owned())),
                false => Ok(SubscriberOutcome::Ran),
            }
        })
    }
}

/// A hook that denies, changes and throws.
pub(super) struct WildHook(pub(super) Weak<World>);

impl WildHook {
    fn turn(&self) -> BoxFuture<'_, Result<(), Thrown>> {
        Box::pin(async move {
            let Some(world) = self.0.upgrade() else {
                return Ok(());
            };
            if world.wild(15) {
                world.pause().await;
            }
            match world.wild(2) {
                true => {
                    world.count("turn hook threw");
                    Err(Thrown::Plain("a hook has had enough".to_owned()))
                }
                false => Ok(()),
            }
        })
    }
}

impl Hook for WildHook {
    fn pre_tool<'a>(&'a self, call: ToolUse<'a>) -> BoxFuture<'a, Result<PreTool, Thrown>> {
        Box::pin(async move {
            let Some(world) = self.0.upgrade() else {
                return Ok(PreTool::Keep);
            };
            if world.wild(20) {
                world.pause().await;
            }
            let choice = world.choose(|random| random.below(100));
            Ok(match choice {
                _ if world.is_calm() => PreTool::Keep,
                0..=7 => PreTool::Deny("not today".to_owned()),
                8..=11 => PreTool::Replace(json!({"path": "c"})),
                12..=14 => {
                    world.count("tool hook threw before");
                    return Err(Thrown::Plain(format!("a hook dislikes {}", call.name)));
                }
                _ => PreTool::Keep,
            })
        })
    }

    fn post_tool<'a>(
        &'a self,
        call: ToolUse<'a>,
        _text: &'a str,
    ) -> BoxFuture<'a, Result<PostTool, Thrown>> {
        Box::pin(async move {
            let Some(world) = self.0.upgrade() else {
                return Ok(PostTool::Keep);
            };
            if world.wild(20) {
                world.pause().await;
            }
            let choice = world.choose(|random| random.below(100));
            Ok(match choice {
                _ if world.is_calm() => PostTool::Keep,
                0..=4 => PostTool::Replace("something else".to_owned()),
                5..=7 => {
                    world.count("tool hook threw after");
                    let text = format!("a hook dislikes what {} said", call.name);
                    return Err(Thrown::Plain(text));
                }
                _ => PostTool::Keep,
            })
        })
    }

    fn pre_turn<'a>(&'a self, _payload: &'a Value) -> BoxFuture<'a, Result<(), Thrown>> {
        self.turn()
    }

    fn post_turn<'a>(&'a self, _payload: &'a Value) -> BoxFuture<'a, Result<(), Thrown>> {
        self.turn()
    }
}

/// A host whose user talks in between.
pub(super) struct Host(pub(super) Weak<World>);

impl HostBridge for Host {
    fn request<'a>(
        &'a self,
        method: &'a str,
        _parameters: Value,
    ) -> BoxFuture<'a, Result<Value, HostError>> {
        Box::pin(async move {
            let Some(world) = self.0.upgrade() else {
                return Err("nobody there".into());
            };
            world.pause().await;
            match world.wild(30) {
                true => Err(format!("the host cannot do {method}").into()),
                false => Ok(json!("done by the host")),
            }
        })
    }

    fn notify(&self, _method: &str, _parameters: Value) {}

    fn take_messages(&self, _session_id: &str, seam: Seam) -> Vec<String> {
        let Some(world) = self.0.upgrade() else {
            return Vec::new();
        };
        match world.wild(8) {
            true => {
                world.count(format!("host spoke at {seam:?}"));
                vec!["one more thing".to_owned()]
            }
            false => Vec::new(),
        }
    }

    /// Never: a daemon that is woken without a word asks with a conversation that ends with what
    /// the model said, which Anthropic takes for the beginning of the answer. The loop would
    /// have to say something then.
    fn take_resume(&self, _session_id: &str) -> bool {
        false
    }
}

/// Sinks, subscribers and a recorder for one session.
pub(super) fn attach(world: &super::Shared, session_id: &str, readers: usize) {
    let runtime = world.runtime();
    let recorder: Arc<Recorder> = Arc::default();
    lock(&world.seen_apart).insert(session_id.to_owned(), Arc::clone(&recorder));
    runtime.bus().register_sink(session_id, recorder);
    for _ in 0..readers {
        let sink = Arc::new(WildSink(Arc::downgrade(world)));
        runtime.bus().register_sink(session_id, sink);
        let subscriber = Arc::new(WildSubscriber(Arc::downgrade(world)));
        runtime.bus().subscribe(session_id, subscriber);
    }
}
