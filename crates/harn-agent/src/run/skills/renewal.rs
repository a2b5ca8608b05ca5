//! The skills of the host, which may be others than when the loop began.

use std::collections::HashSet;
use std::sync::OnceLock;

use harn_llm::desk::Thrown;
use serde_json::{Value, json};

use super::super::{Run, servers};
use super::RunSkills;
use crate::host::HostError;
use crate::skills::{Skill, SkillLibrary, SkillRegistry};

/// Asks the host for its skills if it has said that they are not what they were. From this seam
/// on they are what it says now.
///
/// # Errors
/// The tools cannot be offered any more.
pub(in crate::run) async fn renew(run: &mut Run<'_>) -> Result<(), Thrown> {
    let Some(bridge) = run.runtime.lending_host() else {
        return Ok(());
    };
    let version = bridge.skills_version();
    if version == run.skills.host_version {
        return Ok(());
    }
    let told = match bridge.request("skills/list", json!({})).await {
        Ok(answer) => listed(answer),
        Err(HostError::Lacking(_)) => Vec::new(),
        Err(error) => {
            let text = format!("the host does not tell its skills: {error}");
            run.runtime.warn("agent.skills", &text);
            run.skills.host_version = version;
            return Ok(());
        }
    };
    let library = run.runtime.renew_host_skills(&told);
    run.skills.host_version = version;
    let was_empty = run.skills.options.registry.is_empty();
    run.skills.take_lent(&library);
    // The tool that loads skills is offered where there are any.
    match was_empty == run.skills.options.registry.is_empty() {
        true => Ok(()),
        false => {
            let tools = run.tools.clone();
            servers::offer_anew(run, tools)
        }
    }
}

/// A list, or a list in a dict.
fn listed(mut answer: Value) -> Vec<Value> {
    let skills = match &mut answer {
        Value::Object(fields) => fields.get_mut("skills").map(Value::take),
        answer => Some(answer.take()),
    };
    match skills {
        Some(Value::Array(skills)) => skills,
        _ => Vec::new(),
    }
}

impl RunSkills {
    /// Takes the skills that the host lends now in the place of those that it lent. A loop that
    /// was given a choice of skills gets none besides.
    fn take_lent(&mut self, library: &SkillLibrary) {
        let (lent, others): (Vec<&Skill>, Vec<&Skill>) = {
            let skills = self.options.registry.skills().iter();
            skills.partition(|skill| skill.is_lent())
        };
        let before: HashSet<String> = lent.into_iter().map(Skill::id).collect();
        let mut skills: Vec<Skill> = others.into_iter().cloned().collect();
        let now = library.lent();
        let now = now.filter(|skill| self.has_all || before.contains(&skill.id()));
        skills.extend(now.cloned());
        self.bodies.forget(|id| before.contains(id));
        self.options.registry = SkillRegistry::of(skills);
        self.matcher = OnceLock::new();
    }
}
