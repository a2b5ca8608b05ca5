//! The phase before a model is asked: feedback, compaction, and what the model gets to see.

use std::collections::HashSet;
use std::sync::PoisonError;

use harn_llm::desk::{Question, Thrown};
use harn_llm::grammar::contract::Mode;
use harn_llm::options::CallOptions;
use harn_llm::options::tools::native_projection;
use harn_llm::{Messages, SharedList};
use serde_json::{Map, Value, json};

use super::start::settle_channel;
use super::turn::Turn;
use super::{Delivered, Experiment, Run, compact, project, texts};
use crate::session::conversation::TEXT_RESULTS;

/// How many of the last messages a context callback gets apart.
const RECENT_MESSAGES: usize = 10;

/// Brings the conversation up to date, and begins with the call of this turn.
pub(super) async fn prepare(run: &Run<'_>, mut turn: Turn) -> Result<Turn, Thrown> {
    let mut delivered = drain(run, &mut turn).await;
    run.pass("pre_compact", turn.number(), delivered).await;
    let system = run.system_prompt();
    compact::before_call(run, system.as_deref()).await?;
    pre_turn_hooks(run, &turn).await?;
    delivered = drain(run, &mut turn).await;
    run.pass("post_compact", turn.number(), delivered).await;
    turn.call = Some(Box::new(base_call(run)?));
    Ok(turn)
}

/// Makes the call of this turn once more, from the conversation as it is.
pub(super) async fn make_call(run: &Run<'_>, mut turn: Turn) -> Result<Turn, Thrown> {
    turn.call = Some(Box::new(base_call(run)?));
    show(run, turn).await
}

/// Puts into the call of this turn what the model gets to see.
pub(super) async fn show(run: &Run<'_>, mut turn: Turn) -> Result<Turn, Thrown> {
    let mut call = turn.call.take().expect("it was begun");
    call.request.system = run.system_prompt();
    let said = run.session.read(|state| state.messages.clone());
    call.request.messages = run
        .told
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .of(&said);
    project::apply(run, &mut call).await?;
    offer_tools(run, &mut call);
    add_ledger(run, &mut call);
    shape_context(run, &turn, &mut call).await?;
    experiment(run, &turn, &mut call).await?;
    call.request.prefill = turn.prefill.clone().or(call.request.prefill);
    call.iteration = turn.iteration;
    turn.call = Some(call);
    Ok(turn)
}

/// Takes what waits in the session's inbox.
async fn drain(run: &Run<'_>, turn: &mut Turn) -> Delivered {
    let items = run.runtime.bus.drain_feedback(run.session.id());
    let inbox = items.len();
    for (kind, content) in items {
        match &*kind {
            "prefill_assistant" => turn.prefill = Some(content.clone()),
            kind => run.tell(kind, &content),
        }
        run.report(&kind, content).await;
    }
    Delivered {
        inbox,
        ..Delivered::default()
    }
}

async fn pre_turn_hooks(run: &Run<'_>, turn: &Turn) -> Result<(), Thrown> {
    let hooks = run.runtime.hook_chain();
    if !hooks.hears_of_turns() {
        return Ok(());
    }
    let total = run.session.read(|state| state.run.total_iterations);
    let payload = json!({
        "event": "PreAgentTurn",
        "session": run.session_payload(),
        "turn": {"iteration": turn.iteration, "total_iterations": total},
    });
    hooks.pre_turn(&payload).await
}

/// Whom the next call is for, as far as that is known before it is prepared. Options that nobody
/// understands are refused when it is.
pub(super) fn next_model(run: &Run<'_>) -> (String, String) {
    let is_changed = run.session.read(|state| state.run.next_options.is_some());
    let next = is_changed.then(|| base_call(run).ok()).flatten();
    let call = next.as_ref().unwrap_or(&run.call);
    (call.provider.clone(), call.request.model.clone())
}

/// What every call starts from, with what was asked for this one only.
fn base_call(run: &Run<'_>) -> Result<CallOptions, Thrown> {
    let next = run.session.read(|state| state.run.next_options.clone());
    let Some(next) = next else {
        return Ok(run.call.clone());
    };
    let mut options = Map::clone(&run.call_options);
    options.extend(next);
    options.remove("structural_experiment");
    let mut call = run.runtime.desk.prepare(&Question {
        prompt: String::new(),
        system: None,
        options,
        replies: None,
    })?;
    call.tool_format.clone_from(&run.call.tool_format);
    call.transcript.clone_from(&run.call.transcript);
    call.request.tools.clone_from(&run.call.request.tools);
    call.native_tools.clone_from(&run.call.native_tools);
    settle_channel(&mut call, run.mode, &run.options);
    Ok(call)
}

/// Puts the tools of this turn where the model finds them.
fn offer_tools(run: &Run<'_>, call: &mut CallOptions) {
    if run.mode != Mode::Native {
        call.request.tools = SharedList::default();
        call.native_tools = None;
        return;
    }
    hide_tools(run, call);
    let added = run.added_tools();
    if !added.is_empty() {
        let style = run.runtime.desk.style(&call.provider);
        let shown = call.native_tools.get_or_insert_default();
        let projected = added.iter().map(|spec| native_projection(spec, style));
        shown.change(|shown| shown.extend(projected));
        call.request.tools.extend(added);
    }
}

/// Takes away what is out of view.
fn hide_tools(run: &Run<'_>, call: &mut CallOptions) {
    if run.skills.view().scope.is_open() {
        return;
    }
    let mut hidden = HashSet::new();
    call.request.tools.retain(|tool| {
        let is_shown = run.is_in_view(&tool.name, tool.namespace.as_deref());
        if !is_shown {
            hidden.insert(tool.name.clone());
        }
        is_shown
    });
    if let Some(shown) = &mut call.native_tools {
        shown.change(|shown| {
            shown.retain(|tool| {
                let name = tool["name"].as_str().or(tool["function"]["name"].as_str());
                !name.is_some_and(|name| hidden.contains(name))
            });
        });
    }
}

/// The task ledger is shown with each call and never becomes history.
fn add_ledger(run: &Run<'_>, call: &mut CallOptions) {
    let ledger = run.session.read(|state| {
        let ledger = &state.run.ledger;
        (!ledger.is_empty()).then(|| ledger.render())
    });
    if let Some(ledger) = ledger {
        let message = texts::injection("task_ledger", &ledger);
        call.request.messages.push(message);
    }
}

/// Lets the program shape what the model sees, for this call only.
async fn shape_context(run: &Run<'_>, turn: &Turn, call: &mut CallOptions) -> Result<(), Thrown> {
    let Some(callback) = &run.options.context else {
        return Ok(());
    };
    let payload = context_payload(run, turn, call);
    match callback.call(vec![payload]).await? {
        Value::Array(messages) => call.request.messages = messages.into(),
        Value::Object(mut changes) => {
            if let Some(Value::Array(messages)) = changes.remove("messages") {
                call.request.messages = messages.into();
            }
            match changes.remove("system") {
                Some(Value::String(system)) => call.request.system = Some(system),
                Some(Value::Null) | None => {}
                Some(other) => {
                    let system = harn_llm::options::value::display(&other);
                    call.request.system = Some(system);
                }
            }
        }
        _ => {}
    }
    Ok(())
}

fn context_payload(run: &Run<'_>, turn: &Turn, call: &CallOptions) -> Value {
    let recorded = run.session.read(|state| state.recorded.clone());
    let visible = &call.request.messages;
    let recent = |messages: &Messages| {
        let from = messages.len().saturating_sub(RECENT_MESSAGES);
        json!(messages.iter_from(from).collect::<Vec<&Value>>())
    };
    let latest = |messages: &Messages, role: &str| {
        let mut newest_first = messages.iter().rev();
        json!(newest_first.find(|message| message["role"] == role))
    };
    json!({
        "iteration": turn.iteration,
        "system": call.request.system,
        "messages": visible,
        "visible_messages": visible,
        "recorded_messages": recorded,
        "recent_visible_messages": recent(visible),
        "recent_recorded_messages": recent(&recorded),
        "latest_visible_user_message": latest(visible, "user"),
        "latest_visible_assistant_message": latest(visible, "assistant"),
        "latest_recorded_user_message": latest(&recorded, "user"),
        "latest_recorded_assistant_message": latest(&recorded, "assistant"),
        "latest_tool_result": latest_result(visible),
        "latest_recorded_tool_result": latest_result(&recorded),
    })
}

/// The message with the latest result of a tool, whatever shape it has.
fn latest_result(messages: &Messages) -> Value {
    let is_result = |message: &&Value| {
        let role = message["role"].as_str().unwrap_or_default();
        let content = &message["content"];
        matches!(role, "tool" | "tool_result")
            || content[0]["type"] == "tool_result"
            || content
                .as_str()
                .is_some_and(|text| text.starts_with(TEXT_RESULTS))
    };
    json!(messages.iter().rev().find(is_result))
}

async fn experiment(run: &Run<'_>, turn: &Turn, call: &mut CallOptions) -> Result<(), Thrown> {
    match &run.experiment {
        None => Ok(()),
        Some(Experiment::Named(spec)) => {
            let request = &mut call.request;
            let mut messages = request.messages.to_vec();
            let applied = harn_llm::experiment::apply(spec, &mut request.system, &mut messages);
            request.messages = messages.into();
            call.structural_experiment =
                applied.map_err(|invalid| Thrown::Plain(invalid.to_string()))?;
            Ok(())
        }
        Some(Experiment::Function(function, spec)) => {
            let text = |key: &str| spec[key].as_str().map(str::to_owned);
            let name = text("name").or_else(|| text("experiment"));
            let name = name.unwrap_or_else(|| "custom".to_owned());
            let label = text("label").unwrap_or_else(|| name.clone());
            let arguments = spec.get("args").cloned().unwrap_or_else(|| json!({}));
            let asked = json!({
                "messages": call.request.messages,
                "system": call.request.system,
                "iteration": turn.iteration,
                "label": label,
                "name": name,
                "args": arguments,
            });
            let answer = function.call(vec![asked]).await?;
            apply_transform(call, answer, (name, label, arguments))
        }
    }
}

fn apply_transform(
    call: &mut CallOptions,
    answer: Value,
    (name, label, arguments): (String, String, Value),
) -> Result<(), Thrown> {
    let changes = match answer {
        Value::Null => Map::new(),
        Value::Array(messages) => Map::from_iter([("messages".to_owned(), json!(messages))]),
        Value::Object(changes) => changes,
        _ => {
            return Err(Thrown::Plain(
                "structural_experiment transform must return nil, a message list, or a dict"
                    .to_owned(),
            ));
        }
    };
    if let Some(Value::Array(messages)) = changes.get("messages") {
        call.request.messages = messages.clone().into();
    }
    if let Some(Value::String(system)) = changes.get("system") {
        call.request.system = Some(system.clone());
    }
    call.structural_experiment = Some(json!({
        "label": changes.get("label").cloned().unwrap_or_else(|| json!(label)),
        "name": changes.get("name").cloned().unwrap_or_else(|| json!(name)),
        "args": arguments,
        "metadata": changes.get("metadata").cloned().unwrap_or_else(|| json!({})),
    }));
    Ok(())
}
