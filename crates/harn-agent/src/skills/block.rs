//! What a model reads of the skills that are active.

use super::entry::Skill;

/// The part of the system prompt about skills, each with its rendered body; `None` if there
/// are none.
pub fn prompt_block<'a>(
    skills: impl IntoIterator<Item = (&'a Skill, Option<&'a str>)>,
) -> Option<String> {
    let told: Vec<String> = skills
        .into_iter()
        .map(|(skill, body)| about(skill, body))
        .collect();
    (!told.is_empty()).then(|| format!("## Active skills\n\n{}", told.join("\n\n")))
}

fn about(skill: &Skill, body: Option<&str>) -> String {
    let mut lines = vec![format!("### {}", skill.id())];
    if !skill.description.is_empty() {
        lines.push(skill.description.clone());
    }
    if !skill.when_to_use.is_empty() {
        lines.push(format!("When to use: {}", skill.when_to_use));
    }
    if !skill.allowed_tools.is_empty() {
        lines.push(format!("Scoped tools: {}", skill.allowed_tools.join(", ")));
    }
    let body = body.map(str::trim).filter(|body| !body.is_empty());
    if let Some(body) = body {
        lines.push(format!("\n{body}"));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_without_a_value_are_left_out() {
        let bare = Skill {
            name: "bare".to_owned(),
            ..Skill::default()
        };
        let full = Skill {
            name: "full".to_owned(),
            namespace: Some("team".to_owned()),
            description: "D".to_owned(),
            when_to_use: "W".to_owned(),
            allowed_tools: vec!["a".to_owned(), "b".to_owned()],
            ..Skill::default()
        };
        assert_eq!(prompt_block([]), None);
        assert_eq!(
            prompt_block([(&full, Some("B\n\nC\n")), (&bare, Some("\n"))]).as_deref(),
            Some(
                "## Active skills\n\n### team/full\nD\nWhen to use: W\nScoped tools: a, b\n\n\
                 B\n\nC\n\n### bare"
            )
        );
    }
}
