//! How artifacts are written for a model.

use std::borrow::Cow;

use harn_llm::sorted_json;
use serde_json::{Value, json};

use super::Artifact;
use super::select::{ContextPolicy, select};
use crate::frames;

/// The artifacts that a policy wants, written one below the other.
pub fn artifact_context(artifacts: Vec<Artifact>, policy: &ContextPolicy) -> String {
    let write = match policy.render.as_deref() {
        Some("json") => as_json,
        _ => as_text,
    };
    let selected = select(artifacts, policy);
    let written: Vec<String> = selected.iter().map(write).collect();
    written.join("\n\n")
}

fn as_text(artifact: &Artifact) -> String {
    let title = title(artifact);
    let source = artifact.source.as_deref().unwrap_or("unknown");
    let freshness = artifact.freshness.as_deref().unwrap_or("normal");
    format!(
        "<artifact>\n<title>{}</title>\n<kind>{}</kind>\n<source>{}</source>\n\
         <freshness>{}</freshness>\n<priority>{}</priority>\n<body>\n{}\n</body>\n</artifact>",
        escaped(&title),
        escaped(&artifact.kind),
        escaped(source),
        escaped(freshness),
        artifact.priority,
        frames::inside_elements(&body(artifact), &["body>", "artifact>", "workflow_context"]),
    )
}

fn as_json(artifact: &Artifact) -> String {
    let object = json!({
        "id": artifact.id,
        "kind": artifact.kind,
        "title": title(artifact),
        "source": artifact.source,
        "freshness": artifact.freshness,
        "priority": artifact.priority,
        "text": body(artifact),
    });
    sorted_json(&object)
}

fn title(artifact: &Artifact) -> Cow<'_, str> {
    match &artifact.title {
        Some(title) => Cow::Borrowed(title),
        None => Cow::Owned(format!("{} {}", artifact.kind, artifact.id)),
    }
}

/// What there is to read: the text, or else the data.
fn body(artifact: &Artifact) -> Cow<'_, str> {
    match (&artifact.text, &artifact.data) {
        (Some(text), _) => Cow::Borrowed(text),
        (None, Value::Null) => Cow::Borrowed(""),
        (None, data) => Cow::Owned(sorted_json(data)),
    }
}

/// What stands in a header cannot end it. Bodies are written as they are but for what would end
/// them: a model should see a program as it is in its file.
fn escaped(text: &str) -> Cow<'_, str> {
    match text.contains(['&', '<', '>']) {
        true => {
            let text = text.replace('&', "&amp;");
            Cow::Owned(text.replace('<', "&lt;").replace('>', "&gt;"))
        }
        false => Cow::Borrowed(text),
    }
}
