//! What a model is asked when it is to sum up.

use harn_llm::desk::Thrown;
use harn_llm::options::value::display;
use serde_json::{Value, json};

use super::engine::Summarizer;
use super::policy::Policy;

/// The question of `transcript_summarize`, if the program has none of its own.
pub(super) const SUMMARIZE: &str = "Summarize this conversation so that another agent can continue the work. \
Keep goals, constraints, decisions, open questions and the next steps. Be brief, but leave nothing important out.";

/// The whole message that asks for a summary of archived messages.
pub(super) async fn of_archived(
    archived: &[Value],
    count: usize,
    policy: &Policy,
    summarizer: &dyn Summarizer,
) -> Result<String, Thrown> {
    let conversation = conversation(archived);
    if let Some(path) = &policy.summarize_prompt {
        let template = summarizer.template(path)?;
        let variables = json!({"formatted_messages": conversation, "archived_count": count});
        return match &policy.render {
            Some(render) => {
                let rendered = render.call(vec![json!(template.path), variables]).await?;
                Ok(display(&rendered))
            }
            None => Ok(filled(template.text, &variables)),
        };
    }
    Ok(format!(
        "Write a summary of these archived messages of a conversation, so that the agent can continue without them. \
Keep goals, constraints, decisions, what tools were used for and what they gave, open problems and the next steps. \
Be brief. Answer with the summary only.\n\nArchived message count: {count}\n\nConversation:\n{conversation}"
    ))
}

/// A template without anybody who could run more of it than its names.
fn filled(mut text: String, variables: &Value) -> String {
    for (name, value) in variables.as_object().into_iter().flatten() {
        let value = display(value);
        text = text.replace(&format!("{{{{ {name} }}}}"), &value);
        text = text.replace(&format!("{{{{{name}}}}}"), &value);
    }
    text
}

/// Messages as lines `ROLE: content`. Content that is no text shows the message as it is.
pub(super) fn conversation(messages: &[Value]) -> String {
    let line = |message: &Value| {
        let role = message["role"].as_str().unwrap_or("user").to_uppercase();
        match message["content"].as_str() {
            Some(content) => format!("{role}: {content}"),
            None => format!("{role}: {message}"),
        }
    };
    messages.iter().map(line).collect::<Vec<_>>().join("\n")
}
