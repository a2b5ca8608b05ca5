//! What a skill says, wherever that is.

use harn_llm::options::value::display;
use serde_json::{Value, json};

use super::entry::Skill;
use super::library::{Body, BodyError};
use super::substitution::Substitution;
use crate::runtime::Runtime;

impl Runtime {
    /// Whether every skill that is used must be signed.
    pub(crate) fn requires_signed_skills(&self) -> bool {
        self.skills.requires_signatures
    }

    /// What a skill says, with arguments and what is known about its place put in.
    ///
    /// # Errors
    /// It cannot be read any more.
    pub(crate) async fn skill_body(
        &self,
        skill: &Skill,
        arguments: &[String],
        session_id: Option<&str>,
    ) -> Result<String, String> {
        let library = self.skill_library();
        let discovered = skill.source.as_deref();
        let discovered = discovered.and_then(|source| library.get(&skill.id(), Some(source)));
        let body = match (&skill.body, discovered) {
            (Some(text), known) => Body {
                text: text.clone(),
                folder: known.and_then(super::library::Discovered::folder),
            },
            (None, None) => return Ok(String::new()),
            (None, Some(known)) => match known.body() {
                Ok(body) => body,
                Err(BodyError::OnHost(id)) => self.fetch(skill, &id).await?,
                Err(error) => return Err(error.to_string()),
            },
        };
        let known = Substitution {
            arguments,
            folder: body.folder.as_deref(),
            session_id,
        };
        let variables = &self.skills.variables;
        Ok(known.apply(&body.text, &mut |name| variables.get(name).cloned()))
    }

    /// Asks the host for a body.
    async fn fetch(&self, skill: &Skill, id: &str) -> Result<Body, String> {
        let Some(bridge) = &self.bridge else {
            let id = skill.id();
            return Err(format!(
                "load_skill: skill '{id}' is not lazily loadable in this scope"
            ));
        };
        let answer = bridge.request("skills/fetch", json!({"id": id})).await;
        let answer = answer.map_err(|error| error.to_string())?;
        let text = match &answer {
            Value::String(text) => text.clone(),
            answer => match &answer["body"] {
                Value::Null => return Err(format!("the host has no body of skill '{id}'")),
                body => display(body),
            },
        };
        Ok(Body { text, folder: None })
    }
}
