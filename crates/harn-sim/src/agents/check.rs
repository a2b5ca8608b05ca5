//! What readers may rely on, checked on what they saw.

use std::collections::BTreeMap;

use harn_agent::events::AgentEvent;

use super::calls::Calls;
use super::plan::Plan;
use super::readers::Seen;
use super::world::{World, lock};

/// Checks what readers saw.
pub(super) fn check(world: &World, plan: &Plan) {
    let seen = world.seen.seen();
    let is_ordered =
        |pair: &[Seen]| pair[0].sequence < pair[1].sequence && pair[0].at_ms <= pair[1].at_ms;
    if !seen.windows(2).all(is_ordered) {
        world.complain("events are out of order");
    }
    let begun = count(&lock(&world.begun));
    let ended = count(&own(world, &lock(&world.ends)));
    if begun != ended {
        world.complain(format!(
            "runs began {begun:?}, session-end hooks were called {ended:?}"
        ));
    }
    super::children::check(world, &seen);
    for session in &plan.sessions {
        let id = &*session.id;
        let of_session: Vec<Seen> = seen
            .iter()
            .filter(|seen| seen.event.session_id() == id)
            .cloned()
            .collect();
        check_apart(world, id, &of_session);
        let runs = begun.get(id).copied().unwrap_or(0);
        check_session(world, id, &of_session, runs);
    }
}

/// The sessions that are no children's: those are checked elsewhere.
fn own(world: &World, names: &[String]) -> Vec<String> {
    let children = super::children::sessions_of_children(world);
    let is_own = |name: &&String| !children.contains(*name);
    names.iter().filter(is_own).cloned().collect()
}

fn count(names: &[String]) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for name in names {
        *counts.entry(name.clone()).or_default() += 1;
    }
    counts
}

/// Who watches one session sees what happens in it and nothing else.
fn check_apart(world: &World, id: &str, of_session: &[Seen]) {
    let apart = lock(&world.seen_apart);
    let Some(recorder) = apart.get(id) else {
        return;
    };
    let numbers = |seen: &[Seen]| seen.iter().map(|seen| seen.sequence).collect::<Vec<_>>();
    if numbers(&recorder.seen()) != numbers(of_session) {
        world.complain(format!(
            "a reader of {id} saw something else than everybody"
        ));
    }
}

/// The pairs of one session.
fn check_session(world: &World, id: &str, seen: &[Seen], runs: usize) {
    let mut iteration = None;
    let mut exits = 0;
    let mut has_exited = false;
    let mut calls = Calls::default();
    for (at, one) in seen.iter().enumerate() {
        let place = |what: &str| format!("{id} event {at}: {what}");
        let event = &one.event;
        match event {
            AgentEvent::IterationStart {
                iteration: number, ..
            } => {
                if let Some(open) = iteration.replace(*number) {
                    world.complain(place(&format!("{number} starts while {open} runs")));
                }
            }
            AgentEvent::IterationEnd {
                iteration: number, ..
            } => {
                let running = iteration.take();
                if running != Some(*number) {
                    world.complain(place(&format!("{number} ends and does not run")));
                }
            }
            AgentEvent::LoopCheckpoint { kind, .. } if kind == "loop_exit" => {
                exits += 1;
                has_exited = true;
                if iteration.is_some() {
                    world.complain(place("the loop exits in an iteration"));
                }
                for problem in calls.at_exit() {
                    world.complain(place(&problem));
                }
                continue;
            }
            AgentEvent::SessionClosed { .. } if at + 1 != seen.len() => {
                world.complain(place("something happens after the end"));
            }
            AgentEvent::SessionClosed { .. } => continue,
            _ => {}
        }
        // A run begins with a message or a format, or with its first iteration; what a run
        // may not do is say something about itself after it has exited.
        let is_of_turn = matches!(
            event,
            AgentEvent::IterationEnd { .. }
                | AgentEvent::ToolCallUpdate { .. }
                | AgentEvent::ToolCall { .. }
        );
        if has_exited && is_of_turn && iteration.is_none() {
            world.complain(place(&format!("{} after the loop exited", event.tag())));
        }
        has_exited &= iteration.is_none();
        for problem in calls.see(event) {
            world.complain(place(&problem));
        }
    }
    if exits != runs {
        world.complain(format!("{id} had {runs} runs and {exits} exits"));
    }
    if !matches!(
        seen.last().map(|last| &last.event),
        Some(AgentEvent::SessionClosed { .. })
    ) {
        world.complain(format!("{id} was not closed"));
    }
}
