//! The skills of a loop.

use std::collections::HashMap;

use serde_json::Value;

use super::entry::Skill;
use crate::callback::Functions;

/// The skills of a loop, in the order they were given.
#[derive(Clone, Debug, Default)]
pub struct SkillRegistry {
    skills: Vec<Skill>,
    by_id: HashMap<String, usize>,
    /// For each name that is no id, who has it.
    by_name: HashMap<String, Named>,
}

/// Who has a name.
#[derive(Clone, Copy, Debug)]
enum Named {
    One(usize),
    Several,
}

/// Why a name stands for no skill.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unresolved {
    /// Nobody has it.
    #[error("skill '{0}' not found")]
    Unknown(String),
    /// Several have it.
    #[error("skill '{0}' is ambiguous; use the fully qualified id from the catalog")]
    Ambiguous(String),
}

impl SkillRegistry {
    /// Reads the option `skills`: a registry, or a list of entries and registries. Everything
    /// else means none.
    pub fn parse(skills: Option<&Value>, functions: &Functions) -> Self {
        let mut found = Vec::new();
        match skills {
            Some(Value::Array(entries)) => read_list(entries, "/skills", functions, &mut found),
            Some(registry) if is_registry(registry) => {
                if let Value::Array(entries) = &registry["skills"] {
                    read_list(entries, "/skills/skills", functions, &mut found);
                }
            }
            _ => {}
        }
        Self::of(found)
    }

    /// These skills. Of several with the same id the first counts.
    pub fn of(skills: Vec<Skill>) -> Self {
        let mut registry = Self::default();
        for skill in skills {
            let (id, at) = (skill.id(), registry.skills.len());
            if registry.by_id.contains_key(&id) {
                continue;
            }
            let named = registry.by_name.entry(skill.name.clone());
            named
                .and_modify(|named| *named = Named::Several)
                .or_insert(Named::One(at));
            registry.by_id.insert(id, at);
            registry.skills.push(skill);
        }
        registry
    }

    /// The skill that a name or an id stands for. An id that is exactly right wins.
    ///
    /// # Errors
    /// There is none, or there are several.
    pub fn resolve(&self, name: &str) -> Result<&Skill, Unresolved> {
        self.place(name).map(|at| &self.skills[at])
    }

    /// Where that skill stands.
    pub(crate) fn place(&self, name: &str) -> Result<usize, Unresolved> {
        if let Some(at) = self.by_id.get(name) {
            return Ok(*at);
        }
        match self.by_name.get(name) {
            Some(Named::One(at)) => Ok(*at),
            Some(Named::Several) => Err(Unresolved::Ambiguous(name.to_owned())),
            None => Err(Unresolved::Unknown(name.to_owned())),
        }
    }

    /// The skill with an id.
    pub fn get(&self, id: &str) -> Option<&Skill> {
        self.by_id.get(id).map(|at| &self.skills[*at])
    }

    /// All of them, in order.
    pub fn skills(&self) -> &[Skill] {
        &self.skills
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.skills.is_empty()
    }
}

fn is_registry(value: &Value) -> bool {
    value["_type"] == "skill_registry"
}

fn read_list(entries: &[Value], path: &str, functions: &Functions, found: &mut Vec<Skill>) {
    for (at, entry) in entries.iter().enumerate() {
        let path = format!("{path}/{at}");
        match &entry["skills"] {
            // One level is enough: a registry holds no registries.
            Value::Array(inner) if is_registry(entry) => {
                let inner = inner.iter().enumerate();
                found.extend(inner.filter_map(|(at, entry)| {
                    Skill::read(entry, &format!("{path}/skills/{at}"), functions)
                }));
            }
            _ => found.extend(Skill::read(entry, &path, functions)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn parse(skills: Value) -> SkillRegistry {
        SkillRegistry::parse(Some(&skills), &Functions::default())
    }

    fn ids(registry: &SkillRegistry) -> Vec<String> {
        registry.skills().iter().map(Skill::id).collect()
    }

    #[test]
    fn registries_and_lists_are_read() {
        let registry = json!({"_type": "skill_registry", "skills": [{"name": "a"}, 5, {}]});
        assert_eq!(ids(&parse(registry.clone())), ["a"]);
        assert_eq!(ids(&parse(json!([{"name": "b"}, registry]))), ["b", "a"]);
        for other in [
            json!(null),
            json!("a"),
            json!({"name": "a"}),
            json!({"skills": [{"name": "a"}]}),
        ] {
            assert!(parse(other).is_empty());
        }
    }

    #[test]
    fn names_stand_for_one_skill() {
        let registry = parse(json!([
            {"name": "paint", "namespace": "home"},
            {"name": "paint", "namespace": "yard"},
            {"name": "cook", "namespace": "home"},
            {"name": "cook", "namespace": "home", "description": "again"},
        ]));
        let resolve = |name: &str| match registry.resolve(name) {
            Ok(skill) => skill.id(),
            Err(error) => error.to_string(),
        };
        assert_eq!(resolve("cook"), "home/cook");
        assert_eq!(resolve("yard/paint"), "yard/paint");
        assert_eq!(resolve("fly"), "skill 'fly' not found");
        assert_eq!(
            resolve("paint"),
            "skill 'paint' is ambiguous; use the fully qualified id from the catalog"
        );
        let with_plain = parse(json!([{"name": "p", "namespace": "x"}, {"name": "p"}]));
        assert_eq!(with_plain.resolve("p").unwrap().id(), "p");
    }
}
