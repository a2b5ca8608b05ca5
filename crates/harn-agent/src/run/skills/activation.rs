//! Skills that become active, and skills that no longer are.

use std::collections::HashSet;
use std::sync::Arc;

use harn_events::AgentEvent;
use serde_json::{Value, json};

use super::super::turn::Turn;
use super::super::{Run, servers};
use crate::callback::Callback;
use crate::registry::told;
use crate::session::Change;
use crate::skills::{Candidate, Skill};

/// Makes the best candidates the active skills. If these are the active ones already, nothing
/// happens.
pub(super) async fn change_to(run: &Run<'_>, turn: &Turn, candidates: &[Candidate]) {
    let options = &run.skills.options;
    let chosen = &candidates[..candidates.len().min(options.top_n)];
    let skills = options.registry.skills();
    let new: Vec<String> = chosen.iter().map(|one| skills[one.at].id()).collect();
    let old = run.session.read(|state| state.active_skills.clone());
    if new == old {
        return;
    }
    // Recorded first: who is told of a change and looks finds it made.
    run.session.record(Change::SkillsSet { names: new.clone() });
    let staying: HashSet<&String> = new.iter().collect();
    for id in old.iter().filter(|id| !staying.contains(id)) {
        deactivate(run, turn, id).await;
    }
    let known: HashSet<&String> = old.iter().collect();
    for (candidate, id) in chosen.iter().zip(&new) {
        if !known.contains(id) {
            activate(run, turn, &skills[candidate.at], candidate).await;
        }
    }
}

/// A skill that was active and that the host has taken back is active no more.
pub(super) async fn let_go(run: &Run<'_>, turn: &Turn) {
    let old = run.session.read(|state| state.active_skills.clone());
    let kept: Vec<String> = run.skills.with_ids(&old).map(Skill::id).collect();
    if kept == old {
        return;
    }
    run.session.record(Change::SkillsSet {
        names: kept.clone(),
    });
    for id in old.iter().filter(|id| !kept.contains(id)) {
        deactivate(run, turn, id).await;
    }
}

async fn deactivate(run: &Run<'_>, turn: &Turn, id: &str) {
    note(
        run,
        "skill_deactivated",
        id,
        json!({"iteration": turn.iteration}),
    );
    run.emit(AgentEvent::SkillDeactivated {
        session_id: run.id(),
        skill_name: id.to_owned(),
        iteration: turn.number(),
    })
    .await;
    servers::release_of_skill(run, id);
    let skill = run.skills.options.registry.get(id);
    if let Some(hook) = skill.and_then(|skill| skill.on_deactivate.as_ref()) {
        call(run, id, "on_deactivate", hook).await;
    }
}

async fn activate(run: &Run<'_>, turn: &Turn, skill: &Skill, candidate: &Candidate) {
    let id = skill.id();
    let metadata = json!({
        "iteration": turn.iteration,
        "reason": candidate.reason,
        "score": candidate.score,
        "description": skill.description,
        "allowed_tools": skill.allowed_tools,
    });
    note(run, "skill_activated", &id, metadata);
    run.emit(AgentEvent::SkillActivated {
        session_id: run.id(),
        skill_name: id.clone(),
        iteration: turn.number(),
        reason: candidate.reason.clone(),
    })
    .await;
    if !skill.allowed_tools.is_empty() {
        let allowed = json!({"allowed_tools": skill.allowed_tools});
        note(run, "skill_scope_tools", &id, allowed);
        run.emit(AgentEvent::SkillScopeTools {
            session_id: run.id(),
            skill_name: id.clone(),
            allowed_tools: skill.allowed_tools.clone(),
        })
        .await;
    }
    bind_servers(run, skill).await;
    if let Some(hook) = &skill.on_activate {
        call(run, &id, "on_activate", hook).await;
    }
}

/// Brings up the MCP servers of a skill. What cannot be bound is recorded, and the skill does
/// without.
pub(super) async fn bind_servers(run: &Run<'_>, skill: &Skill) {
    let id = skill.id();
    for server in &skill.servers {
        match servers::bind_for_skill(run, &id, server).await {
            Ok(()) => note(run, "skill_mcp_bound", &id, json!({"server": server})),
            Err(error) => {
                let failure = json!({"server": server, "error": error.to_string()});
                note(run, "skill_mcp_bind_failed", &id, failure);
            }
        }
    }
}

/// Notes something about a skill in the transcript.
fn note(run: &Run<'_>, kind: &'static str, id: &str, mut metadata: Value) {
    metadata["name"] = json!(id);
    run.note(kind, "system", "internal", id, Some(metadata));
}

/// Calls a hook of a skill. That it fails is nobody's business but the operator's.
async fn call(run: &Run<'_>, id: &str, name: &str, hook: &Arc<dyn Callback>) {
    if let Err(thrown) = hook.call(Vec::new()).await {
        let text = format!("{name} of skill '{id}' failed: {}", told(&thrown));
        run.runtime.warn("agent.skills", &text);
    }
}
