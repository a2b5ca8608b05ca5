//! The beginning of a loop, and of each of its iterations.

use harn_events::AgentEvent;
use harn_llm::desk::Thrown;
use serde_json::Value;
use serde_json::json;

use super::turn::Turn;
use super::{Delivered, Run, daemon, interrupted, preflight, resumption, skills, texts, unread};
use crate::host::{HostInput, Seam};
use crate::mailbox::Mail;
use crate::session::{Change, kept};

/// Begins a loop: what was said before, and what the user says now.
/// Says whether it goes on from a snapshot.
pub(super) async fn begin_run(run: &Run<'_>) -> Result<bool, Thrown> {
    run.session.record(Change::RunStarted {
        ledger: run.options.ledger.clone(),
        resumed_iterations: 0,
    });
    skills::restore(run).await;
    resumption::forget(run);
    remember_system_prompt(run);
    show_tools_to_host(run);
    unread::adopt(run);
    interrupted::answer_calls(run).await;
    interrupted::tell_untold(run).await;
    adopt_summary(run);
    let is_resumed = daemon::resumed(run).await?;
    if !is_resumed {
        for message in &run.prompt_messages {
            run.say(message.clone()).await;
        }
    }
    for event in &run.format_events {
        run.emit(event.clone()).await;
    }
    Ok(is_resumed)
}

/// The session knows what its model was last told to be.
fn remember_system_prompt(run: &Run<'_>) {
    let system = json!(run.system);
    if run.session.kept(kept::SYSTEM_PROMPT).unwrap_or_default() != system {
        run.session.keep(kept::SYSTEM_PROMPT, system);
    }
}

/// Whoever sits in front of the host may want to know what the model can do.
fn show_tools_to_host(run: &Run<'_>) {
    if let Some(bridge) = &run.runtime.bridge {
        let tools = run.call.request.tools.iter();
        let tools = tools.map(|tool| (tool.name.clone(), tool.description.clone()));
        bridge.see_tools(run.session.id(), &tools.collect::<Vec<_>>());
    }
}

/// A summary that is not among the messages is put before them.
fn adopt_summary(run: &Run<'_>) {
    let missing = run.session.read(|state| {
        let summary = state.summary.as_ref()?;
        let first = state.messages.first();
        let is_there = first.is_some_and(|first| {
            first["role"] == "user" && first["content"].as_str() == Some(summary)
        });
        (!summary.trim().is_empty() && !is_there).then(|| summary.clone())
    });
    if let Some(summary) = missing {
        let message = texts::user(summary);
        run.session.record(Change::Prepended { message });
    }
}

/// Begins an iteration: readers learn of it, and messages of the host are delivered.
pub(super) async fn begin_iteration(run: &Run<'_>, turn: Turn) -> Turn {
    run.session.record(Change::IterationStarted {
        iteration: turn.iteration,
    });
    let (provider, model) = preflight::next_model(run);
    run.emit(AgentEvent::IterationStart {
        session_id: run.id(),
        iteration: turn.number(),
        provider,
        model,
    })
    .await;
    let delivered = deliver_host_messages(run, Seam::IterationStart).await;
    let delivered = Delivered {
        host: delivered,
        ..Delivered::default()
    };
    run.pass("iteration_start", turn.number(), delivered).await;
    turn
}

/// Delivers what the host has for the model; says how many messages that were.
pub(super) async fn deliver_host_messages(run: &Run<'_>, seam: Seam) -> usize {
    let messages = take_host_messages(run, seam);
    let count = messages.len();
    for message in messages {
        run.say(message).await;
    }
    count
}

/// What the host has for the model. Whoever takes it says it, in its place.
pub(super) fn take_host_messages(run: &Run<'_>, seam: Seam) -> Vec<Value> {
    let bridge = run.runtime.bridge.as_ref();
    let was_said = |id: &str| run.session.read(|state| state.heard.contains(id));
    let host = bridge.map(|bridge| bridge.take_inputs(run.session.id(), seam, &was_said));
    let own = run.mailbox.as_ref().map(|mailbox| mailbox.take(seam));
    let (host, own) = (host.unwrap_or_default(), own.unwrap_or_default());
    if !host.is_empty() || !own.is_empty() {
        run.session.record(Change::TextOnlyTurns { count: 0 });
        daemon::reset_backoff(run);
    }
    let host = host.into_iter().map(|input| heard(run, input, seam));
    let own = own.into_iter().map(|mail| {
        let Mail { text, metadata } = mail;
        run.note("host_input", "user", "public", &text, metadata);
        texts::user(text)
    });
    host.chain(own).collect()
}

/// The message that an input is. Its id goes with it: once the message is in the journal, the
/// input is never heard again.
fn heard(run: &Run<'_>, input: HostInput, seam: Seam) -> Value {
    let HostInput {
        content,
        id,
        mode,
        actor,
    } = input;
    let text = match &content {
        Value::String(text) => text.clone(),
        blocks => block_text(blocks),
    };
    run.note("host_input", "user", "public", &text, None);
    let mut message = json!({"role": "user", "content": content});
    if let Some(id) = id {
        message["messageId"] = json!(id);
        run.session.emit(&AgentEvent::ControlOutcome {
            session_id: run.id(),
            control_id: id.clone(),
            method: "session/input".to_owned(),
            outcome: "accepted".to_owned(),
            status: "delivered".to_owned(),
            actor: actor.map_or(Value::Null, |actor| actor.stored()),
            target: json!({"sessionId": run.session.id(), "messageId": id}),
            reason: None,
            metadata: json!({"requestedMode": mode, "deliveredAt": seam.word()}),
        });
    }
    message
}

/// What the texts among some blocks say.
fn block_text(blocks: &Value) -> String {
    let blocks = blocks.as_array().into_iter().flatten();
    let texts: Vec<&str> = blocks.filter_map(|block| block["text"].as_str()).collect();
    texts.join("\n")
}
