//! The phase after the calls: whether the loop goes on, and what the model is told.

use harn_events::{AgentEvent, IterationInfo, NameList, ToolCallErrorCategory};
use harn_llm::desk::Thrown;
use harn_llm::grammar::contract::Mode;
use harn_llm::options::value::truthy;
use serde_json::{Map, Value, json};

use super::messages::with_kept;
use super::turn::{Flow, Turn};
use super::{Delivered, Run, begin, compact, daemon, dispatch, resumption, texts};
use crate::host::Seam;
use crate::session::{CallOutcome, Change};

/// Decides whether the loop goes on.
pub(super) async fn conclude(run: &Run<'_>, turn: Turn) -> Result<Flow, Thrown> {
    match (turn.had_calls, turn.skipped) {
        (true, None) => after_calls(run, turn).await,
        (true, Some(reason)) => {
            for call in &turn.calls {
                let skipped = format!("the call was not made: {reason}");
                let outcome = Err((skipped, ToolCallErrorCategory::Cancelled));
                dispatch::end_announced(run, &turn, call, outcome).await;
            }
            close_without_dispatch(run, &turn, reason).await;
            Ok(Flow::Continue)
        }
        (false, _) => without_calls(run, turn).await,
    }
}

/// Tells the model what the host says in the middle of its turn. The turn becomes history before
/// that, if it does at all: nobody answers what was not said yet.
pub(super) async fn interrupt(run: &Run<'_>, turn: &mut Turn, said: Vec<Value>) {
    if turn.had_calls || turn.is_complete || !turn.parse_errors.is_empty() || !must_act(run) {
        record_assistant(run, turn);
        turn.is_recorded = true;
    }
    turn.feedback.extend(said);
    say_feedback(run, turn).await;
    turn.feedback.clear();
}

/// Closes an iteration whose calls, if there were any, are not made.
pub(super) async fn close_without_dispatch(run: &Run<'_>, turn: &Turn, reason: &str) {
    let info = || {
        let mut info = turn.info();
        info["dispatch_skipped"] = json!(true);
        info["skip_reason"] = json!(reason);
        info.into()
    };
    end_iteration(run, turn, info, "iteration_end", Delivered::default()).await;
}

/// What is told of it is put together if somebody reads it.
async fn end_iteration(
    run: &Run<'_>,
    turn: &Turn,
    info: impl FnOnce() -> IterationInfo,
    seam: &str,
    delivered: Delivered,
) {
    let mut iteration_info = IterationInfo::default();
    if run.runtime.bus.has_readers(run.session.id()) {
        iteration_info = info();
        measure(run, turn, iteration_info.facts_mut());
    }
    run.emit(AgentEvent::IterationEnd {
        session_id: run.id(),
        iteration: turn.number(),
        iteration_info,
    })
    .await;
    run.pass(seam, turn.number(), delivered).await;
}

/// Adds what is known about the model that has answered: how much it can read at once, and
/// what the session has cost, if the model has a price.
fn measure(run: &Run<'_>, turn: &Turn, info: &mut Value) {
    let Some(answer) = &turn.answer else {
        return;
    };
    if let Some(tokens) = run.runtime.desk.context_window(&answer.model) {
        info["context_window"] = json!(tokens);
    }
    let spent_usd = run.session.read(|state| state.spent_usd);
    if spent_usd > 0.0 {
        info["session_cost_usd"] = json!(spent_usd);
    }
}

/// The turn had calls.
async fn after_calls(run: &Run<'_>, turn: Turn) -> Result<Flow, Thrown> {
    if run.rides_on_text() && !turn.observations.is_empty() {
        run.tell(texts::TOOL_RESULTS, turn.observations.trim_end());
    }
    for message in &turn.late_feedback {
        run.say(message.clone()).await;
    }
    let host = begin::deliver_host_messages(run, Seam::PostToolDispatch).await;
    run.session.record(Change::ToolTurnEnded {
        calls: turn.calls.len(),
    });
    // It names every call of the session, so it is written out for those only who read it.
    let turn_info = is_told_to_program(run).then(|| {
        let (facts, lists) = (turn_facts(run, &turn), SessionTools::of(run));
        lists.written_into(facts)
    });
    if let Some(turn_info) = &turn_info {
        post_turn_hooks(run, turn_info).await?;
    }
    let told = turn_info.filter(|_| run.options.post_turn.is_some());
    let info = || {
        let mut info = turn.info();
        if let (Some(info), Value::Object(more)) = (info.as_object_mut(), turn_facts(run, &turn)) {
            info.extend(more);
        }
        let SessionTools { used, successful } = SessionTools::of(run);
        IterationInfo::from(info).with_session_tools(used, successful)
    };
    let delivered = Delivered {
        host,
        ..Delivered::default()
    };
    end_iteration(run, &turn, info, "post_tool_dispatch", delivered).await;
    if let Some(flow) = resumption::suspended(run) {
        return Ok(flow);
    }
    let succeeded = |name: &String| {
        let results = turn.results.iter();
        let mut results = results.filter(|result| result.outcome == CallOutcome::Ok);
        results.any(|result| result.name == *name)
    };
    if run
        .options
        .stop_after_successful_tools
        .iter()
        .any(succeeded)
    {
        return Ok(Flow::done());
    }
    if let Some(turn_info) = told
        && call_back(run, turn_info).await?
    {
        return Ok(Flow::done());
    }
    compact::after_turn(run).await?;
    if !turn.parse_errors.is_empty() {
        run.tell("parse_error", &turn.parse_errors.join("\n\n"));
    }
    Ok(match turn.is_complete {
        true => Flow::done(),
        false => Flow::Continue,
    })
}

/// Whether callbacks or hooks are told about turns.
fn is_told_to_program(run: &Run<'_>) -> bool {
    run.options.post_turn.is_some() || run.runtime.hooks().hears_of_turns()
}

/// The tools of a session: one for each call, and those that went well, each once.
struct SessionTools {
    used: NameList,
    successful: NameList,
}

impl SessionTools {
    fn of(run: &Run<'_>) -> Self {
        run.session.read(|state| Self {
            used: state.run.tools_used.clone(),
            successful: state.run.successful_tools.clone(),
        })
    }

    fn written_into(&self, mut facts: Value) -> Value {
        facts["session_tools_used"] = json!(self.used);
        facts["session_successful_tools"] = json!(self.successful);
        facts
    }
}

/// What is told about a turn with calls, but for the tools of the session.
fn turn_facts(run: &Run<'_>, turn: &Turn) -> Value {
    let names: Vec<&str> = turn.calls.iter().map(|call| &*call.name).collect();
    let results: Vec<Value> = turn
        .results
        .iter()
        .map(|result| result.to_value())
        .collect();
    let mut successful: Vec<&str> = Vec::new();
    for result in &turn.results {
        if result.outcome == CallOutcome::Ok && !successful.contains(&&*result.name) {
            successful.push(&result.name);
        }
    }
    let has_failed = turn.had_refusal
        || !turn.parse_errors.is_empty()
        || turn
            .results
            .iter()
            .any(|result| result.outcome != CallOutcome::Ok);
    let single_tool_turns = run.session.read(|state| state.run.single_tool_turns);
    json!({
        "tool_names": names,
        "tool_results": results,
        "successful_tool_names": successful,
        "tool_count": turn.calls.len(),
        "iteration": turn.iteration,
        "failed": has_failed,
        "consecutive_single_tool_turns": single_tool_turns,
    })
}

async fn post_turn_hooks(run: &Run<'_>, turn: &Value) -> Result<(), Thrown> {
    let hooks = run.runtime.hook_chain();
    if !hooks.hears_of_turns() {
        return Ok(());
    }
    let payload = json!({
        "event": "PostAgentTurn",
        "session": run.session_payload(),
        "turn": turn,
    });
    hooks.post_turn(&payload).await
}

/// Asks the program what it makes of the turn; says whether the loop ends.
async fn call_back(run: &Run<'_>, turn_info: Value) -> Result<bool, Thrown> {
    let Some(callback) = &run.options.post_turn else {
        return Ok(false);
    };
    Ok(match callback.call(vec![turn_info]).await? {
        Value::String(message) => {
            tell_unless_empty(run, &message);
            false
        }
        Value::Bool(stop) => stop,
        Value::Object(answer) => {
            if let Some(Value::String(message)) = answer.get("message") {
                tell_unless_empty(run, message);
            }
            let options = next_options(&answer);
            if options.is_some() {
                run.session.record(Change::NextOptionsSet { options });
            }
            answer.get("stop").is_some_and(truthy)
        }
        _ => false,
    })
}

/// What the next call is asked with, under either name; `next_options` wins over the other.
fn next_options(answer: &Map<String, Value>) -> Option<Map<String, Value>> {
    let given = ["llm_options", "next_options"].map(|key| answer.get(key)?.as_object());
    let given = given.into_iter().flatten();
    given.cloned().reduce(|mut all, more| {
        all.extend(more);
        all
    })
}

fn tell_unless_empty(run: &Run<'_>, message: &str) {
    if !message.is_empty() {
        run.tell("post_turn_callback", message);
    }
}

/// How a turn without calls is told to hooks.
struct TextTurn<'a> {
    turn: &'a Turn,
    has_failed: bool,
    /// What is said besides.
    extra: (&'static str, Value),
}

impl TextTurn<'_> {
    async fn tell_hooks(&self, run: &Run<'_>) -> Result<(), Thrown> {
        if !run.runtime.hooks().hears_of_turns() {
            return Ok(());
        }
        let mut told = json!({
            "iteration": self.turn.iteration,
            "failed": self.has_failed,
            "text": self.turn.prose,
        });
        if !self.extra.0.is_empty() {
            told[self.extra.0] = self.extra.1.clone();
        }
        post_turn_hooks(run, &told).await
    }

    async fn end(&self, run: &Run<'_>, delivered: Delivered) -> Result<(), Thrown> {
        self.tell_hooks(run).await?;
        let info = || self.turn.info().into();
        end_iteration(run, self.turn, info, "iteration_end", delivered).await;
        Ok(())
    }
}

/// The turn had no calls.
async fn without_calls(run: &Run<'_>, turn: Turn) -> Result<Flow, Thrown> {
    let nothing = ("", Value::Null);
    if turn.is_complete {
        record_assistant(run, &turn);
        say_feedback(run, &turn).await;
        end_text_turn(run, &turn, false, ("sentinel_hit", json!(true))).await?;
        return Ok(Flow::done());
    }
    if !turn.parse_errors.is_empty() {
        record_assistant(run, &turn);
        say_feedback(run, &turn).await;
        run.tell("parse_error", &turn.parse_errors.join("\n\n"));
        run.session.record(Change::TextOnlyTurns { count: 0 });
        end_text_turn(run, &turn, true, ("parse_error", json!(true))).await?;
        return Ok(Flow::Continue);
    }
    if must_act(run) {
        return demand_action(run, &turn).await;
    }
    record_assistant(run, &turn);
    say_feedback(run, &turn).await;
    if !run.options.persistent && run.options.daemon.is_none() {
        end_text_turn(run, &turn, false, nothing).await?;
        return Ok(Flow::done());
    }
    if !run.options.persistent {
        return idle(run, &turn).await;
    }
    let host = begin::deliver_host_messages(run, Seam::IterationEnd).await;
    if host > 0 {
        end_heard_turn(run, &turn, host, ("status", json!("host_input"))).await?;
        return Ok(Flow::Continue);
    }
    nudge(run, &turn).await
}

/// Whether a model with a channel of its own has to use it before it talks.
fn must_act(run: &Run<'_>) -> bool {
    run.mode == Mode::Native
        && run.has_tools
        && run.options.turn_policy.require_action_or_yield
        && run.session.read(|state| state.run.tools_used.is_empty())
}

/// The model talked where it must act. What it said does not become history.
async fn demand_action(run: &Run<'_>, turn: &Turn) -> Result<Flow, Thrown> {
    say_feedback(run, turn).await;
    let count = count_text_turn(run);
    if count > run.options.max_nudges {
        end_text_turn(run, turn, true, ("status", json!("stuck"))).await?;
        return Ok(stuck(run, turn).await);
    }
    let text = texts::action_nudge(&run.options, turn.prose_chars);
    run.tell("action_required", &text);
    end_text_turn(run, turn, true, ("action_required", json!(true))).await?;
    Ok(Flow::Continue)
}

async fn nudge(run: &Run<'_>, turn: &Turn) -> Result<Flow, Thrown> {
    let count = count_text_turn(run);
    if count > run.options.max_nudges {
        end_text_turn(run, turn, true, ("status", json!("stuck"))).await?;
        return Ok(stuck(run, turn).await);
    }
    let text = texts::nudge(&run.options, run.has_tools, turn.prose_chars);
    run.tell("nudge", &text);
    end_text_turn(run, turn, false, ("status", json!("continue"))).await?;
    Ok(Flow::Continue)
}

async fn idle(run: &Run<'_>, turn: &Turn) -> Result<Flow, Thrown> {
    // The iteration is over before the daemon waits; hooks learn afterwards what came of it.
    let info = || turn.info().into();
    end_iteration(run, turn, info, "iteration_end", Delivered::default()).await;
    let waited = daemon::wait(run).await?;
    TextTurn {
        turn,
        has_failed: waited.status == "watchdog",
        extra: ("status", json!(waited.status)),
    }
    .tell_hooks(run)
    .await?;
    Ok(waited.flow)
}

/// Counts a turn without calls.
fn count_text_turn(run: &Run<'_>) -> usize {
    let count = run.session.read(|state| state.run.text_only_turns) + 1;
    run.session.record(Change::TextOnlyTurns { count });
    count
}

async fn stuck(run: &Run<'_>, turn: &Turn) -> Flow {
    run.emit(AgentEvent::LoopStuck {
        session_id: run.id(),
        max_nudges: run.options.max_nudges,
        last_iteration: turn.number(),
        tail_excerpt: texts::excerpt(&turn.prose),
    })
    .await;
    Flow::Break("stuck".to_owned())
}

async fn end_text_turn(
    run: &Run<'_>,
    turn: &Turn,
    has_failed: bool,
    extra: (&'static str, Value),
) -> Result<(), Thrown> {
    let told = TextTurn {
        turn,
        has_failed,
        extra,
    };
    told.end(run, Delivered::default()).await
}

/// The same, where the host had something to say.
async fn end_heard_turn(
    run: &Run<'_>,
    turn: &Turn,
    host: usize,
    extra: (&'static str, Value),
) -> Result<(), Thrown> {
    let told = TextTurn {
        turn,
        has_failed: false,
        extra,
    };
    let delivered = Delivered {
        host,
        ..Delivered::default()
    };
    told.end(run, delivered).await
}

/// What the model said becomes history, once.
pub(super) fn record_assistant(run: &Run<'_>, turn: &Turn) {
    if turn.is_recorded {
        return;
    }
    let answer = turn.answer();
    let message = json!({"role": "assistant", "content": turn.history});
    let wire = run.runtime.desk.wire(turn.speaks_like());
    let message = with_kept(message, &answer.reply, wire);
    run.session.record(Change::MessageAdded { message });
}

/// What the model is told about its turn.
async fn say_feedback(run: &Run<'_>, turn: &Turn) {
    for message in &turn.feedback {
        run.say(message.clone()).await;
    }
}
