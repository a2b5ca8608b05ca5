//! What a turn sees because of its skills.

use std::sync::Arc;

use super::super::{Run, archive};
use crate::registry::Entry;
use crate::skills::{Scope, Skill, prompt_block};

/// What a turn sees because of its skills.
#[derive(Clone, Default, PartialEq)]
pub(in crate::run) struct View {
    /// What the prompt says about them.
    pub(in crate::run) block: Option<String>,
    /// Which tools are in view.
    pub(in crate::run) scope: Scope,
}

/// What the turn that begins sees: the active skills in their order, then those that were
/// loaded besides. A skill that was matched and loaded stands there once.
pub(super) async fn of_turn(run: &Run<'_>) -> View {
    let (mut ids, loaded) = run
        .session
        .read(|state| (state.active_skills.clone(), state.run.loaded_skills.clone()));
    for id in loaded {
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    let skills: Vec<&Skill> = run.skills.with_ids(&ids).collect();
    let mut bodies: Vec<Option<Arc<str>>> = Vec::new();
    for skill in &skills {
        bodies.push(body(run, skill).await);
    }
    let told = skills.iter().copied().zip(&bodies);
    View {
        block: prompt_block(told.map(|(skill, body)| (skill, body.as_deref()))),
        scope: Scope::of(skills.iter().copied()),
    }
}

/// The body of a skill for the prompt. One that cannot be read, or that must be signed and is
/// not, is left out and the operator is told: what nobody vouches for reaches no model.
async fn body(run: &Run<'_>, skill: &Skill) -> Option<Arc<str>> {
    let is_asked = run.runtime.requires_signed_skills();
    let read = match skill.check_signature(is_asked) {
        Ok(()) => run.skill_body(skill).await,
        Err(error) => Err(error.message().to_owned()),
    };
    read.map_err(|why| {
        let text = format!("the body of skill '{}' is left out: {why}", skill.id());
        run.runtime.warn("agent.skills", &text);
    })
    .ok()
}

impl Run<'_> {
    /// A tool that is in view in this turn.
    pub(in crate::run) fn tool(&self, name: &str) -> Option<&Entry> {
        let entry = self.tools.get(name)?;
        let namespace = entry.declared["namespace"].as_str();
        self.is_in_view(name, namespace).then_some(entry)
    }

    /// Whether a tool is in view in this turn. What the runtime adds for its own purposes is.
    pub(in crate::run) fn is_in_view(&self, name: &str, namespace: Option<&str>) -> bool {
        let scope = &self.skills.view().scope;
        scope.allows(name, namespace)
            || name == archive::NAME
            || self
                .call
                .search
                .as_ref()
                .is_some_and(|plan| plan.search.name == name)
    }
}
