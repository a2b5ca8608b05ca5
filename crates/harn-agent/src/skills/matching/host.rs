//! What a host finds fitting.

use std::collections::HashSet;

use harn_llm::options::value::display;
use serde_json::{Value, json};

use super::{Candidate, best_first};
use crate::skills::options::SkillOptions;

/// What a skill scores of which the host says nothing.
const SCORE: f64 = 1.0;

/// What the host is asked.
pub(crate) fn question(options: &SkillOptions, prompt: &str) -> Value {
    let skills = options.registry.skills().iter();
    let candidates = skills.filter(|skill| !skill.is_gated).map(|skill| {
        json!({
            "name": skill.id(),
            "description": skill.description,
            "when_to_use": skill.when_to_use,
            "paths": skill.paths,
        })
    });
    json!({
        "strategy": options.strategy.word(),
        "prompt": prompt,
        "working_files": options.working_files,
        "candidates": candidates.collect::<Vec<Value>>(),
    })
}

/// What it answered: a list of matches, also inside `matches`, `skills` or `result`. What is no
/// skill that models may use is left out, and one that is named again. `None` if it is no such
/// answer.
pub(crate) fn candidates(options: &SkillOptions, answer: &Value) -> Option<Vec<Candidate>> {
    let lists = ["matches", "skills", "result"];
    let list = answer
        .as_array()
        .or_else(|| lists.iter().find_map(|key| answer[*key].as_array()))?;
    let skills = options.registry.skills();
    let (mut found, mut known) = (Vec::new(), HashSet::new());
    for one in list {
        let name = match one {
            Value::String(name) => name,
            one => one["name"].as_str().unwrap_or_default(),
        };
        let Ok(at) = options.registry.place(name) else {
            continue;
        };
        if !skills[at].is_gated && known.insert(at) {
            found.push(Candidate {
                at,
                score: one["score"].as_f64().unwrap_or(SCORE),
                reason: match &one["reason"] {
                    Value::Null => "host match".to_owned(),
                    reason => display(reason),
                },
            });
        }
    }
    Some(best_first(found))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::callback::Functions;

    fn options() -> SkillOptions {
        let skills = json!([
            {"name": "a"}, {"name": "b", "namespace": "team"},
            {"name": "c", "disable_model_invocation": true},
        ]);
        let options = json!({"skills": skills, "skill_match": {"strategy": "host"}});
        let options = options.as_object().cloned().unwrap();
        SkillOptions::parse(&options, &Functions::default(), &|_| {})
    }

    #[test]
    fn a_question_names_what_can_be_chosen() {
        let asked = question(&options(), "go");
        assert_eq!(asked["candidates"][1]["name"], "team/b");
        assert_eq!(asked["candidates"].as_array().unwrap().len(), 2);
        assert_eq!(
            (&asked["strategy"], &asked["prompt"]),
            (&json!("host"), &json!("go"))
        );
    }

    #[test]
    fn answers_have_several_forms() {
        let list = json!([{"name": "x"}, {"name": "a"}, {"name": "b", "score": 2, "reason": "r"},
                          {"name": "c", "score": 9}, {"name": "a", "score": 9}]);
        for answer in [
            list.clone(),
            json!({"matches": list}),
            json!({"skills": list}),
            json!({"result": list}),
        ] {
            let found = candidates(&options(), &answer).unwrap();
            let told: Vec<_> = found
                .iter()
                .map(|one| (one.at, one.score, &*one.reason))
                .collect();
            assert_eq!(told, [(1, 2.0, "r"), (0, 1.0, "host match")]);
        }
        assert_eq!(candidates(&options(), &json!(["a"])).unwrap().len(), 1);
        assert_eq!(
            candidates(&options(), &json!({"matches": []})),
            Some(vec![])
        );
        assert_eq!(candidates(&options(), &json!(null)), None);
    }
}
