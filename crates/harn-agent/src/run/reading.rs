//! The phase that reads an answer: which calls to make, what people see, whether it is the end.

use harn_events::{AgentEvent, ToolCallErrorCategory, ToolCallStatus, ToolExecutor, ToolKind};
use harn_llm::catalog::route::Style;
use harn_llm::desk::Thrown;
use harn_llm::grammar::contract::Mode;
use harn_llm::grammar::{self, Parsed, ParsedCall, ToolNames, fenced};
use harn_llm::tool_search::head_style;
use serde_json::{Value, json};

use super::turn::{Call, Turn};
use super::{Run, dispatch, texts};
use crate::loop_options::NativeFallback;
use crate::session::Change;

/// Reads the answer.
pub(super) async fn read(run: &Run<'_>, mut turn: Turn) -> Result<Turn, Thrown> {
    mirror_provider_search(run, &turn).await;
    let parsed = parse(run, &turn.answer().reply.text);
    let calls = take_calls(run, &turn, &parsed);
    if run.has_tools {
        turn.parse_errors.clone_from(&parsed.errors);
    }
    let written = history_parts(&turn, &parsed, &calls);
    if !turn.parse_errors.is_empty() {
        let text = texts::parse_guidance(&parsed.errors, calls.len());
        run.tell_later(&mut turn, "parse_guidance", text);
    }
    turn.prose_chars = parsed.prose.trim().chars().count();
    turn.prose = texts::bounded_prose(&parsed.prose, run.options.turn_policy.max_prose_chars);
    run.session.record(Change::TurnRead {
        last_text: with_done(&turn.prose, parsed.done_marker.as_deref()),
    });
    if run.mode == Mode::Text && run.has_tools && !parsed.violations.is_empty() {
        let sentinel = &run.options.done_sentinel;
        let text = texts::protocol_violations(&parsed.violations, sentinel);
        run.tell_later(&mut turn, "protocol_violation", text);
        turn.violations.clone_from(&parsed.violations);
    }
    turn.has_done_marker = has_done_marker(run, &turn, &parsed);
    turn.is_complete = judge_completion(run, &mut turn, &parsed, !calls.is_empty());
    turn.calls = apply_ledger_calls(run, &mut turn, calls).await;
    turn.had_calls = !turn.calls.is_empty();
    turn.history = written;
    Ok(turn)
}

/// Reads an answer that an earlier process has received: what it says and which calls it wants.
/// What was to be decided about it was for that process to decide.
pub(super) fn read_unread(run: &Run<'_>, mut turn: Turn) -> Turn {
    let parsed = parse(run, &turn.answer().reply.text);
    let is_fallback = run.mode == Mode::Native && turn.answer().reply.tool_calls.is_empty();
    let mut calls = match is_fallback {
        true => Vec::new(),
        false => take_calls(run, &turn, &parsed),
    };
    calls.retain(|call| call.name != "ledger");
    if run.has_tools {
        turn.parse_errors.clone_from(&parsed.errors);
    }
    turn.history = history_parts(&turn, &parsed, &calls);
    turn.calls = calls;
    turn
}

impl Run<'_> {
    /// Feedback that belongs after the turn it is about.
    fn tell_later(&self, turn: &mut Turn, kind: &str, content: String) {
        turn.feedback.push(texts::feedback(kind, &content));
    }
}

/// Reads what a model wrote.
pub(super) fn parse(run: &Run<'_>, text: &str) -> Parsed {
    let names: ToolNames = match run.has_tools {
        true => run.offered_names().collect(),
        false => ToolNames::default(),
    };
    let sentinel = Some(&*run.options.done_sentinel);
    match run.mode {
        Mode::Json if run.has_tools => fenced::parse(text, &names, sentinel),
        _ => grammar::parse(text, &names, sentinel),
    }
}

/// The calls of the answer: those of the provider's channel, or those written in the text.
fn take_calls(run: &Run<'_>, turn: &Turn, parsed: &Parsed) -> Vec<Call> {
    let native = &turn.answer().reply.tool_calls;
    let mut announced = turn.announced.clone();
    let mut event_id = |model_id: &str, at: usize, is_own: bool| {
        event_id(turn, &mut announced, (model_id, is_own), at)
    };
    if !native.is_empty() {
        let calls = native.iter().enumerate().map(|(at, call)| Call {
            id: event_id(&call.id, at, !call.id.is_empty()),
            model_id: call.id.clone(),
            name: call.name.clone(),
            arguments: call.arguments.clone(),
        });
        return calls.collect();
    }
    if !run.has_tools || parsed.calls.is_empty() {
        return Vec::new();
    }
    if run.mode == Mode::Native && !accept_fallback(run, parsed) {
        return Vec::new();
    }
    let written = |(at, call): (usize, &ParsedCall)| Call {
        id: event_id(&call.id, at, is_its_own(turn, call, at)),
        model_id: call.id.clone(),
        name: call.name.clone(),
        arguments: call.arguments.clone(),
    };
    parsed.calls.iter().enumerate().map(written).collect()
}

/// The id that events of a call carry: the one it was announced with, or one of its own. It may
/// be that of an earlier call: many models and servers number their calls from the start in every
/// answer.
/// Models give two calls one id now and then, so each announcement stands for one of them.
fn event_id(
    turn: &Turn,
    announced: &mut Vec<(String, String)>,
    (model_id, is_own): (&str, bool),
    at: usize,
) -> String {
    let known = announced.iter().position(|(known, _)| known == model_id);
    match known {
        Some(known) => announced.remove(known).1,
        None if is_own => format!("tool-{model_id}"),
        None => format!("tool-iter-{}-{at}", turn.iteration),
    }
}

/// Whether a call that was written as text is known by its id. Calls that a model writes without
/// one are numbered by the parser, in each body from 0 on, so beyond the first body of a loop the
/// number stands for several of them.
fn is_its_own(turn: &Turn, call: &ParsedCall, at: usize) -> bool {
    match call.id.strip_prefix("tc_") {
        Some(number) => turn.iteration == 0 && number == at.to_string(),
        None => true,
    }
}

/// Whether calls are made that came as text although there is a channel for them.
fn accept_fallback(run: &Run<'_>, parsed: &Parsed) -> bool {
    let index = run.session.read(|state| state.run.native_fallbacks) + 1;
    let policy = run.options.native_tool_fallback;
    let accepted = match policy {
        NativeFallback::Allow => true,
        NativeFallback::AllowOnce => index == 1,
        NativeFallback::Reject => false,
    };
    run.session.record(Change::FellBack { accepted });
    let metadata = json!({
        "accepted": accepted,
        "policy": policy.word(),
        "fallback_index": index,
        "tool_call_count": parsed.calls.len(),
        "tool_parse_error_count": parsed.errors.len(),
    });
    let mut event = metadata.clone();
    event["type"] = json!("native_tool_fallback");
    run.trace(event);
    run.note(
        "native_tool_fallback",
        "assistant",
        "internal",
        "",
        Some(metadata),
    );
    if !accepted {
        run.tell(
            "native_tool_contract",
            &texts::native_contract(policy, index),
        );
    }
    accepted
}

/// The turn as the history keeps it.
fn history_parts(turn: &Turn, parsed: &Parsed, calls: &[Call]) -> String {
    if !turn.parse_errors.is_empty() {
        let names: Vec<String> = calls.iter().map(|call| call.name.clone()).collect();
        return texts::elided(&names, parsed.errors.len());
    }
    let canonical = parsed.canonical.as_deref().map(str::trim);
    let text = match canonical.filter(|text| !text.is_empty()) {
        Some(canonical) => canonical,
        None => turn.answer().reply.text.trim(),
    };
    texts::bounded_history(text)
}

fn with_done(prose: &str, done: Option<&str>) -> String {
    match done {
        Some(done) if prose.is_empty() => format!("<done>{done}</done>"),
        Some(done) => format!("{prose}\n\n<done>{done}</done>"),
        None => prose.to_owned(),
    }
}

/// Whether the loop may end with this turn. What stands in the way is told to the model.
fn judge_completion(run: &Run<'_>, turn: &mut Turn, parsed: &Parsed, has_calls: bool) -> bool {
    if !run.options.persistent {
        return false;
    }
    if changes_phase(run, &turn.answer().reply.text) {
        return true;
    }
    let policy = run.options.turn_policy;
    let is_done = turn.has_done_marker;
    let is_requested = is_done || (parsed.user_response.is_some() && policy.allow_done_sentinel);
    if !is_requested {
        return false;
    }
    let (exit_code, has_acted, ledger_feedback) = run.session.read(|state| {
        let run = &state.run;
        let blocked = run.ledger.blocks_done();
        let feedback = blocked.then(|| run.ledger.gate_feedback());
        (run.last_run_exit_code, !run.tools_used.is_empty(), feedback)
    });
    let is_verified = !run.options.exit_when_verified || exit_code == Some(0);
    let has_acted = !run.has_tools || has_acted || has_calls;
    let is_clear = ledger_feedback.is_none();
    if let Some(feedback) = ledger_feedback {
        run.session.record(Change::LedgerRejected);
        run.tell_later(turn, "ledger_not_satisfied", feedback);
    }
    if !is_verified {
        let text = texts::verification_gate(exit_code);
        run.tell_later(turn, "verification_gate", text);
    }
    if !has_acted {
        let text = texts::SENTINEL_WITHOUT_ACTION.to_owned();
        run.tell_later(turn, "sentinel_without_action", text);
    }
    is_verified && has_acted && is_clear
}

fn has_done_marker(run: &Run<'_>, turn: &Turn, parsed: &Parsed) -> bool {
    let sentinel = &run.options.done_sentinel;
    match (run.has_tools, run.mode) {
        (true, Mode::Text | Mode::Json) => parsed.done_marker.as_deref() == Some(sentinel),
        (true, Mode::Native) => turn.answer().reply.text.contains(sentinel.as_str()),
        // Without tools nobody has told the model of a block that it could put the word into.
        (false, _) => parsed.prose.contains(sentinel.as_str()),
    }
}

/// Whether the last phase that the model names is another than the expected one.
fn changes_phase(run: &Run<'_>, text: &str) -> bool {
    let Some(expected) = &run.options.break_unless_phase else {
        return false;
    };
    let mut lines = text.lines().rev();
    let named = lines.find_map(|line| line.trim().strip_prefix("next_phase:"));
    let Some(phase) = named.map(str::trim).filter(|phase| phase != expected) else {
        return false;
    };
    run.trace(json!({
        "type": "phase_change",
        "from_phase": expected,
        "to_phase": phase,
    }));
    true
}

/// Applies what the model says about the task ledger; gives the other calls.
async fn apply_ledger_calls(run: &Run<'_>, turn: &mut Turn, calls: Vec<Call>) -> Vec<Call> {
    let (ledger_calls, others): (Vec<Call>, Vec<Call>) =
        calls.into_iter().partition(|call| call.name == "ledger");
    for call in ledger_calls {
        let (said, is_applied) = apply_ledger_call(run, &call.arguments);
        let outcome = match is_applied {
            true => Ok(said.clone()),
            false => Err((said.clone(), ToolCallErrorCategory::ToolError)),
        };
        dispatch::end_announced(run, turn, &call, outcome).await;
        let said = crate::frames::inside(&said);
        let message = texts::user(format!("<tool_result>{said}</tool_result>"));
        turn.feedback.push(message);
    }
    others
}

/// What the model is told, and whether it went well.
fn apply_ledger_call(run: &Run<'_>, arguments: &Value) -> (String, bool) {
    let mut ledger = run.session.read(|state| state.run.ledger.clone());
    let name = "ledger".to_owned();
    if ledger.is_empty() && run.options.ledger.is_empty() {
        run.session.record(Change::CallRefused { name });
        let said = "ledger unavailable: no task ledger is active in this turn";
        return (said.to_owned(), false);
    }
    match ledger.apply(arguments) {
        Ok(summary) => {
            run.session.record(Change::LedgerSet { ledger });
            run.session.record(Change::PseudoToolUsed { name });
            (format!("ledger: {summary}"), true)
        }
        Err(error) => (format!("ledger error: {error}"), false),
    }
}

/// Tells readers what the provider searched for by itself.
async fn mirror_provider_search(run: &Run<'_>, turn: &Turn) {
    for block in &turn.answer().reply.blocks {
        match block["type"].as_str() {
            Some("tool_search_query") => tell_query(run, turn, block).await,
            Some("tool_search_result") => tell_result(run, turn, block).await,
            _ => {}
        }
    }
}

async fn tell_query(run: &Run<'_>, turn: &Turn, block: &Value) {
    let id = block["id"].as_str().unwrap_or_default().to_owned();
    let name = search_name(run).to_owned();
    let mode = search_mode(run, turn);
    let metadata = json!({
        "id": id,
        "name": name,
        "query": block["query"],
        "strategy": "",
        "mode": mode,
    });
    run.note(
        "tool_search_query",
        "assistant",
        "internal",
        "",
        Some(metadata),
    );
    run.emit(AgentEvent::ToolSearchQuery {
        session_id: run.id(),
        tool_use_id: id.clone(),
        name: name.clone(),
        query: block["query"].clone(),
        strategy: String::new(),
        mode: mode.to_owned(),
    })
    .await;
    run.emit(AgentEvent::ToolCall {
        session_id: run.id(),
        tool_call_id: format!("provider-{id}"),
        tool_name: name,
        kind: Some(ToolKind::Search),
        status: ToolCallStatus::InProgress,
        raw_input: block["query"].clone(),
        parsing: None,
        audit: run.audit(),
    })
    .await;
}

async fn tell_result(run: &Run<'_>, turn: &Turn, block: &Value) {
    let id = block["tool_use_id"].as_str().unwrap_or_default().to_owned();
    let references = block["tool_references"].as_array().cloned();
    let references = references.unwrap_or_default();
    let found = references.iter();
    let found = found.filter_map(|reference| reference["tool_name"].as_str());
    let promoted: Vec<String> = found.map(str::to_owned).collect();
    let mode = search_mode(run, turn);
    let metadata = json!({
        "tool_use_id": id,
        "tool_references": references,
        "promoted": promoted,
        "strategy": "",
        "mode": mode,
    });
    run.note("tool_search_result", "tool", "internal", "", Some(metadata));
    run.emit(AgentEvent::ToolSearchResult {
        session_id: run.id(),
        tool_use_id: id.clone(),
        promoted,
        strategy: String::new(),
        mode: mode.to_owned(),
    })
    .await;
    run.emit(AgentEvent::ToolCallUpdate {
        session_id: run.id(),
        tool_call_id: format!("provider-{id}"),
        tool_name: search_name(run).to_owned(),
        status: ToolCallStatus::Completed,
        raw_output: Some(json!({"tool_references": references})),
        error: None,
        duration_ms: None,
        execution_duration_ms: None,
        error_category: None,
        executor: Some(ToolExecutor::ProviderNative),
        parsing: None,
        raw_input: None,
        raw_input_partial: None,
        audit: run.audit(),
    })
    .await;
}

fn search_name(run: &Run<'_>) -> &'static str {
    let plan = run.call.search.as_ref();
    plan.map_or("tool_search_tool_bm25", |plan| plan.search.event_name())
}

/// Whose search it was. How it went about it only the provider knows.
fn search_mode(run: &Run<'_>, turn: &Turn) -> &'static str {
    let answer = turn.answer();
    let style = run.runtime.desk.style(&answer.provider);
    match head_style(style, &answer.provider, &turn.call().request.model) {
        Style::Anthropic => "anthropic",
        Style::OpenAi => "openai",
    }
}
