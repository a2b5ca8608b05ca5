//! What a model is asked when it is to sum up.

use harn_llm::desk::Thrown;
use serde_json::{Value, json};

use super::engine::Summarizer;

/// The question of `transcript_summarize`, if the program has none of its own.
pub(super) const SUMMARIZE: &str = "Summarize this conversation so that another agent can continue the work. \
Keep goals, constraints, decisions, open questions and the next steps. Be brief, but leave nothing important out.";

/// The whole message that asks for a summary of archived messages.
pub(super) fn of_archived(
    archived: &[Value],
    count: usize,
    template: Option<&str>,
    summarizer: &dyn Summarizer,
) -> Result<String, Thrown> {
    let conversation = conversation(archived);
    if let Some(path) = template {
        let variables = json!({"formatted_messages": conversation, "archived_count": count});
        return summarizer.render_template(path, variables);
    }
    Ok(format!(
        "Write a summary of these archived messages of a conversation, so that the agent can continue without them. \
Keep goals, constraints, decisions, what tools were used for and what they gave, open problems and the next steps. \
Be brief. Answer with the summary only.\n\nArchived message count: {count}\n\nConversation:\n{conversation}"
    ))
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
