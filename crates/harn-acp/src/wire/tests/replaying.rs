//! A replay says what was said before.

use std::sync::Arc;

use harn_vm::agent::events::{BusConfig, EventBus};
use harn_vm::agent::log::{AnyEventLog, MemoryEventLog, block_on};
use harn_vm::agent::{LoggedSessions, Subscription};
use proptest::prelude::*;
use serde_json::json;

use super::super::replay;
use super::*;

struct World {
    bus: EventBus,
    log: Arc<AnyEventLog>,
}

impl World {
    fn new() -> Self {
        let log = Arc::new(AnyEventLog::Memory(MemoryEventLog::new(64)));
        let bus = EventBus::new(BusConfig {
            durable: Some(Arc::new(LoggedSessions::new(Arc::clone(&log)))),
            ..BusConfig::default()
        });
        bus.open_session("s").unwrap();
        Self { bus, log }
    }

    fn subscribe(&self) -> Subscription {
        let log = Arc::clone(&self.log);
        block_on(Subscription::open(&self.bus, log, "s", None)).unwrap()
    }

    /// What a client hears that is there all the time.
    fn live(&self, events: &[Value], profile: &Profile) -> Vec<Outgoing> {
        let mut subscription = self.subscribe();
        let mut mapping = mapping();
        let mut told = Vec::new();
        for one in events {
            self.bus.emit(&event(one.clone()));
        }
        let last = json!({"type": "agent_message_chunk", "content": "the end"});
        self.bus.emit(&event(last.clone()));
        loop {
            let seen = block_on(subscription.next()).unwrap();
            told.extend(mapping.of(&seen, profile));
            if seen.event == event(last.clone()) {
                return told;
            }
        }
    }

    fn replayed(&self, profile: &Profile, after: Option<u64>) -> Vec<Outgoing> {
        let mut told = Vec::new();
        let mut subscription = self.subscribe();
        let say = |one| {
            told.push(one);
            std::future::ready(())
        };
        block_on(replay(
            &mut subscription,
            mapping(),
            profile,
            after,
            true,
            say,
        ));
        told
    }
}

/// What is left of things told when they are compared: not whether they were replayed, and not
/// how arguments arrived, which nobody keeps.
fn comparable(told: Vec<Outgoing>) -> Vec<Outgoing> {
    let comparable = told.into_iter().filter_map(|mut one| {
        let (Outgoing::Update(body)
        | Outgoing::Extension {
            parameters: body, ..
        }) = &mut one;
        let fields = body.as_object_mut().unwrap();
        let harn = fields["_meta"]["harn"].as_object_mut().unwrap();
        harn.shift_remove("replayed");
        harn.shift_remove("rawInputPartial");
        let says_more = harn.len() > 1;
        let is_update = fields.get("sessionUpdate") == Some(&json!("tool_call_update"));
        if is_update {
            fields.shift_remove("rawInput");
            fields.shift_remove("locations");
        }
        (!is_update || says_more || fields.len() > 3).then_some(one)
    });
    comparable.collect()
}

fn stories() -> impl Strategy<Value = Vec<Value>> {
    let id = prop_oneof![Just("a"), Just("b")];
    let start = id.clone().prop_map(|id| {
        json!({
            "type": "tool_call", "tool_call_id": id, "tool_name": "look", "kind": "read",
            "status": "pending", "raw_input": {},
        })
    });
    let arriving = (id.clone(), 0..40_usize).prop_map(|(id, len)| {
        json!({
            "type": "tool_call_update", "tool_call_id": id, "tool_name": "look",
            "status": "pending", "raw_output": null, "error": null,
            "raw_input": {"path": "x".repeat(len)},
        })
    });
    let end = (id, any::<bool>()).prop_map(|(id, is_ok)| {
        json!({
            "type": "tool_call_update", "tool_call_id": id, "tool_name": "look",
            "status": if is_ok { "completed" } else { "failed" },
            "raw_output": {"text": "t"}, "error": if is_ok { Value::Null } else { json!("e") },
        })
    });
    let other = prop_oneof![
        Just(json!({"type": "agent_message_chunk", "content": "Hi"})),
        Just(json!({"type": "agent_thought_chunk", "content": "Hm"})),
        Just(json!({"type": "iteration_start", "iteration": 1})),
        Just(json!({"type": "iteration_end", "iteration": 1, "iteration_info": {}})),
        Just(
            json!({"type": "user_message", "message_id": "m", "content": [{"type": "text", "text": "t"}]})
        ),
        Just(json!({
            "type": "progress_reported", "message": null, "entries": [{"content": "a"}],
            "replace": false, "metadata": {},
        })),
    ];
    let event = prop_oneof![2 => start, 4 => arriving, 2 => end, 4 => other];
    proptest::collection::vec(event, 0..40)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn a_replay_says_what_was_said(events in stories()) {
        let world = World::new();
        let live = comparable(world.live(&events, &plain()));
        let replayed = world.replayed(&plain(), None);
        for one in &replayed {
            let (Outgoing::Update(body) | Outgoing::Extension { parameters: body, .. }) = one;
            prop_assert_eq!(&body["_meta"]["harn"]["replayed"], &json!(true));
        }
        prop_assert_eq!(comparable(replayed), live);
    }

    /// Whoever was there until some index and comes back later has heard everything once.
    #[test]
    fn who_comes_back_hears_the_rest(events in stories(), after in 0..40_u64) {
        let world = World::new();
        let live = comparable(world.live(&events, &plain()));
        let index = |one: &Outgoing| {
            let (Outgoing::Update(body) | Outgoing::Extension { parameters: body, .. }) = one;
            body["_meta"]["harn"]["index"].as_u64().unwrap()
        };
        let mut heard: Vec<_> = live.iter().filter(|one| index(one) <= after).cloned().collect();
        heard.extend(comparable(world.replayed(&plain(), Some(after))));
        prop_assert_eq!(heard, live);
    }
}

#[test]
fn a_client_that_comes_back_to_a_crash_is_told_that_calls_have_ended() {
    let world = World::new();
    world.bus.emit(&event(json!({
        "type": "tool_call", "tool_call_id": "a", "tool_name": "look", "kind": "read",
        "status": "in_progress", "raw_input": {},
    })));
    // The client knows of the call already; that it has ended is news. That is so also for one
    // that goes on without a replay.
    for after in [0, u64::MAX] {
        let (mut told, profile) = (Vec::new(), plain());
        let mut subscription = world.subscribe();
        let say = |one| {
            told.push(one);
            std::future::ready(())
        };
        let replayed = replay(
            &mut subscription,
            mapping(),
            &profile,
            Some(after),
            false,
            say,
        );
        block_on(replayed);
        let told = updates(&told);
        assert_eq!(told.len(), 1);
        assert_eq!(
            (&told[0]["toolCallId"], &told[0]["status"]),
            (&json!("a"), &json!("failed"))
        );
    }
}
