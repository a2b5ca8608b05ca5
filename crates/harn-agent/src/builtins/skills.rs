//! `load_skill`, and what `skill_render` cannot know.

use harn_llm::desk::Thrown;
use harn_llm::options::value::display;
use serde_json::{Value, json};

use super::{Asked, plain};
use crate::callback::Functions;
use crate::runtime::Runtime;
use crate::skills::Skill;

/// Answers, if it is about skills.
pub(super) async fn answer(runtime: &Runtime, asked: &Asked) -> Option<Result<Value, Thrown>> {
    match &*asked.builtin {
        "load_skill" => Some(load(runtime, asked).await),
        "__skill_render" => Some(render(runtime, asked).await),
        _ => None,
    }
}

/// `load_skill(name)`: what a skill says that was discovered. People may load what models may
/// not, but what must be signed must be signed for them too.
async fn load(runtime: &Runtime, asked: &Asked) -> Result<Value, Thrown> {
    let name = asked.text(0).unwrap_or_default();
    if name.trim().is_empty() {
        return plain("load_skill: requires a non-empty skill name");
    }
    let library = runtime.skill_library();
    if library.is_empty() {
        return plain(
            "load_skill: no skill registry is bound to this scope. \
             Start the VM with discovered skills first.",
        );
    }
    let skill = match library.resolve(name) {
        Ok(skill) => skill,
        Err(error) => return plain(error.to_string()),
    };
    body(runtime, asked, skill, &[]).await
}

/// `skill_render(card, arguments)`: the entry and the arguments were looked at already.
async fn render(runtime: &Runtime, asked: &Asked) -> Result<Value, Thrown> {
    let Some(skill) = Skill::read(asked.argument(0), "", &Functions::default()) else {
        return Ok(json!(""));
    };
    let arguments = asked.argument(1).as_array();
    let arguments: Vec<String> = arguments.into_iter().flatten().map(display).collect();
    body(runtime, asked, &skill, &arguments).await
}

async fn body(
    runtime: &Runtime,
    asked: &Asked,
    skill: &Skill,
    arguments: &[String],
) -> Result<Value, Thrown> {
    if let Err(error) = skill.check_signature(runtime.requires_signed_skills()) {
        return plain(error.message());
    }
    let session = asked.session_id.as_deref();
    match runtime.skill_body(skill, arguments, session).await {
        Ok(body) => Ok(json!(body)),
        Err(why) => plain(why),
    }
}
