//! What skills say, read when it is needed and kept for the loop.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::super::Run;
use crate::skills::Skill;

/// Rendered bodies, by the ids of their skills.
#[derive(Default)]
pub(super) struct Bodies(Mutex<HashMap<String, Arc<str>>>);

impl Bodies {
    /// Forgets what some skills say.
    pub(super) fn forget(&self, is_forgotten: impl Fn(&str) -> bool) {
        let mut bodies = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        bodies.retain(|id, _| !is_forgotten(id));
    }
}

impl Run<'_> {
    /// What a skill says, rendered for this session. Each is read once in a loop, so that the
    /// prompt does not change while it runs.
    pub(in crate::run) async fn skill_body(&self, skill: &Skill) -> Result<Arc<str>, String> {
        let bodies = &self.skills.bodies.0;
        let lock = || bodies.lock().unwrap_or_else(PoisonError::into_inner);
        let id = skill.id();
        if let Some(known) = lock().get(&id) {
            return Ok(Arc::clone(known));
        }
        let body = self
            .runtime
            .skill_body(skill, &[], Some(self.session.id()))
            .await;
        let body: Arc<str> = body?.into();
        lock().insert(id, Arc::clone(&body));
        Ok(body)
    }
}
