//! The search among tools that are held back, where the provider has none of its own.

use harn_events::AgentEvent;
use harn_llm::tool_search::{Found, Plan, Promoted, Strategy, query};
use serde_json::{Value, json};

use super::super::Run;
use super::super::turn::{Call, CallResult, Turn};
use super::{end_announced, tell_answer};
use crate::session::{CallOutcome, Change};

/// Whether a call is for the search.
pub(super) fn is_search(run: &Run<'_>, name: &str) -> bool {
    plan(run).is_some_and(|plan| plan.search.name == name)
}

fn plan<'a>(run: &'a Run<'_>) -> Option<&'a Plan> {
    run.call.search.as_deref().filter(|plan| !plan.native)
}

/// Searches, and offers what was found from the next turn on.
pub(super) async fn search(run: &Run<'_>, turn: &mut Turn, call: &Call) {
    let Some(plan) = plan(run) else { return };
    let strategy = plan.search.strategy();
    let id = call.model_id.clone();
    let query_metadata = json!({
        "id": id,
        "name": plan.search.event_name(),
        "query": call.arguments,
        "strategy": strategy.word(),
        "mode": "client",
    });
    run.note(
        "tool_search_query",
        "assistant",
        "internal",
        "",
        Some(query_metadata),
    );
    run.emit(AgentEvent::ToolSearchQuery {
        session_id: run.id(),
        tool_use_id: id.clone(),
        name: plan.search.event_name().to_owned(),
        query: call.arguments.clone(),
        strategy: strategy.word().to_owned(),
        mode: "client".to_owned(),
    })
    .await;
    let found = find(run, plan, strategy, &call.arguments).await;
    let promoted = promote(run, plan, &found.names);
    let references = found.names.iter().map(|name| json!({"tool_name": name}));
    let result_metadata = json!({
        "tool_use_id": id,
        "tool_references": references.collect::<Vec<Value>>(),
        "promoted": promoted,
        "strategy": strategy.word(),
        "mode": "client",
    });
    run.note(
        "tool_search_result",
        "tool",
        "internal",
        "",
        Some(result_metadata),
    );
    run.emit(AgentEvent::ToolSearchResult {
        session_id: run.id(),
        tool_use_id: id,
        promoted,
        strategy: strategy.word().to_owned(),
        mode: "client".to_owned(),
    })
    .await;
    run.session.record(Change::PseudoToolUsed {
        name: call.name.clone(),
    });
    turn.results.push(CallResult {
        name: call.name.clone(),
        outcome: CallOutcome::Ok,
    });
    let answer = found.answer().to_string();
    end_announced(run, turn, call, Ok(answer.clone())).await;
    tell_answer(run, turn, call, &answer);
}

async fn find(run: &Run<'_>, plan: &Plan, strategy: Strategy, arguments: &Value) -> Found {
    let corpus = run.corpus(plan);
    let query = query(arguments);
    let is_in_view = |name: &str| run.deferred_in_view(name);
    match strategy {
        Strategy::Bm25 | Strategy::Regex => corpus.search_among(strategy, &query, &is_in_view),
        Strategy::Semantic | Strategy::Host => {
            let Some(bridge) = &run.runtime.bridge else {
                return corpus.search(strategy, &query);
            };
            let parameters = json!({
                "strategy": strategy.word(),
                "query": query,
                "candidates": corpus.candidates_among(&is_in_view),
            });
            match bridge.request("tool_search/query", parameters).await {
                Ok(answer) => {
                    let mut found = corpus.found_by_host(&answer);
                    found.names.retain(|name| is_in_view(name));
                    found
                }
                Err(error) => Found {
                    names: Vec::new(),
                    diagnostic: Some(error.to_string()),
                },
            }
        }
    }
}

/// Takes tools in within their budget; gives those that are new.
fn promote(run: &Run<'_>, plan: &Plan, found: &[String]) -> Vec<String> {
    let style = run.runtime.desk.style(&run.call.provider);
    let known = run.session.read(|state| state.run.promoted.clone());
    let by_name = |name: &String| run.deferred(name);
    let mut promoted = Promoted::new(plan.search.budget_tokens);
    for tool in known.iter().filter_map(by_name) {
        promoted.promote(&tool.spec, style);
    }
    let mut new = Vec::new();
    for tool in found.iter().filter_map(by_name) {
        if promoted.promote(&tool.spec, style) {
            new.push(tool.spec.name.clone());
        }
    }
    let names = promoted.tools().map(|tool| tool.name.clone());
    run.session.record(Change::Promoted {
        names: names.collect(),
    });
    new
}
