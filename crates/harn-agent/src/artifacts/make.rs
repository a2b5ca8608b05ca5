//! Artifacts of what agents work with: files, checks, commands, changes, reviews.

use harn_llm::desk::Thrown;
use harn_llm::sorted_json;
use serde_json::{Map, Value, json};

use super::diff::diff;
use super::record::texts;
use super::{Artifact, Making};

/// What a maker of artifacts was called with.
pub(super) struct Call<'a> {
    pub(super) builtin: &'a str,
    pub(super) arguments: &'a [Value],
    pub(super) making: &'a Making<'a>,
}

/// What an artifact is about, before the options are looked at.
#[derive(Default)]
struct Draft {
    kind: &'static str,
    title: String,
    text: Option<String>,
    data: Value,
    metadata: Value,
    lineage: Vec<String>,
}

/// The artifact that a maker gives; `None` if the builtin makes none.
pub(super) fn make(call: &Call<'_>) -> Option<Result<Artifact, Thrown>> {
    let (draft, options) = match call.builtin {
        "artifact_workspace_file" => (call.workspace_file(), 2),
        "artifact_workspace_snapshot" => (call.workspace_snapshot(), 2),
        "artifact_editor_selection" => (call.editor_selection(), 2),
        "artifact_verification_result" => (call.result("verification_result"), 2),
        "artifact_test_result" => (call.result("test_result"), 2),
        "artifact_command_result" => (call.command_result(), 2),
        "artifact_diff" => (call.diff(), 3),
        "artifact_git_diff" => (call.git_diff(), 1),
        "artifact_diff_review" => (call.diff_review(), 2),
        "artifact_review_decision" => (call.review_decision(), 2),
        "artifact_patch_proposal" => (call.patch_proposal(), 2),
        "artifact_verification_bundle" => (call.verification_bundle(), 2),
        "artifact_apply_intent" => (call.apply_intent(), 2),
        _ => return None,
    };
    Some(draft.and_then(|draft| call.finish(draft, call.argument(options))))
}

impl Call<'_> {
    pub(super) fn argument(&self, at: usize) -> &Value {
        self.arguments.get(at).unwrap_or(&Value::Null)
    }

    pub(super) fn missing(&self, field: &str) -> Thrown {
        Thrown::Runtime(format!("{}: missing {field}", self.builtin))
    }

    /// A text that names something, so it cannot be empty.
    fn name(&self, at: usize, field: &str) -> Result<String, Thrown> {
        let name = self.argument(at).as_str().unwrap_or_default();
        match name.is_empty() {
            true => Err(self.missing(field)),
            false => Ok(name.to_owned()),
        }
    }

    /// A text that may be empty: a new file was empty before, and a command may say nothing.
    fn content(&self, at: usize, field: &str) -> Result<String, Thrown> {
        match self.argument(at) {
            Value::Null => Err(self.missing(field)),
            value => Ok(text_or_json(value)),
        }
    }

    /// The artifact that this one is about.
    pub(super) fn artifact(&self, at: usize, field: &str) -> Result<Artifact, Thrown> {
        let artifact = Artifact::read(self.argument(at), self.making);
        artifact.ok_or_else(|| self.missing(field))
    }

    fn workspace_file(&self) -> Result<Draft, Thrown> {
        let path = self.name(0, "path")?;
        let text = self.content(1, "content")?;
        Ok(Draft {
            kind: "workspace_file",
            title: path.clone(),
            text: Some(text),
            data: json!({"path": path, "content": self.argument(1)}),
            metadata: json!({"path": path}),
            ..Draft::default()
        })
    }

    fn workspace_snapshot(&self) -> Result<Draft, Thrown> {
        let paths = self.argument(0);
        if !paths.is_array() {
            return Err(self.missing("paths"));
        }
        let summary = self.argument(1).as_str().map(str::to_owned);
        Ok(Draft {
            kind: "workspace_snapshot",
            title: "workspace snapshot".to_owned(),
            text: Some(summary.unwrap_or_else(|| texts(Some(paths)).join("\n"))),
            data: json!({"paths": paths, "summary": self.argument(1)}),
            metadata: json!({"paths": paths}),
            ..Draft::default()
        })
    }

    fn editor_selection(&self) -> Result<Draft, Thrown> {
        let path = self.name(0, "path")?;
        let text = self.content(1, "text")?;
        Ok(Draft {
            kind: "editor_selection",
            title: format!("selection {path}"),
            data: json!({"path": path, "text": text}),
            text: Some(text),
            metadata: json!({"path": path}),
            ..Draft::default()
        })
    }

    fn result(&self, kind: &'static str) -> Result<Draft, Thrown> {
        let title = self.name(0, "title")?;
        let text = self.content(1, "text")?;
        Ok(Draft {
            kind,
            data: json!({"title": title, "text": text}),
            title,
            text: Some(text),
            ..Draft::default()
        })
    }

    fn command_result(&self) -> Result<Draft, Thrown> {
        let command = self.name(0, "command")?;
        let output = self.content(1, "output")?;
        Ok(Draft {
            kind: "command_result",
            title: command.clone(),
            text: Some(output),
            data: json!({"command": command, "output": self.argument(1)}),
            metadata: json!({"command": command}),
            ..Draft::default()
        })
    }

    fn diff(&self) -> Result<Draft, Thrown> {
        let path = self.name(0, "path")?;
        let before = self.content(1, "before")?;
        let after = self.content(2, "after")?;
        Ok(Draft {
            kind: "diff",
            title: format!("diff {path}"),
            text: Some(diff(&path, &before, &after)),
            data: json!({"path": path, "before": before, "after": after}),
            metadata: json!({"path": path}),
            ..Draft::default()
        })
    }

    fn git_diff(&self) -> Result<Draft, Thrown> {
        Ok(Draft {
            kind: "git_diff",
            title: "git diff".to_owned(),
            text: Some(self.content(0, "text")?),
            ..Draft::default()
        })
    }

    fn verification_bundle(&self) -> Result<Draft, Thrown> {
        let title = self.name(0, "title")?;
        let checks = self.argument(1);
        if !checks.is_array() {
            return Err(self.missing("checks"));
        }
        Ok(Draft {
            kind: "verification_bundle",
            data: json!({"title": title, "checks": checks}),
            title,
            text: Some(checks.to_string()),
            ..Draft::default()
        })
    }
}

/// Artifacts about another one.
impl Call<'_> {
    /// The artifact that it is about, and what follows from that: where it comes from, and
    /// what it says about it.
    fn about(&self, kind: &'static str) -> Result<(Artifact, Draft), Thrown> {
        let target = self.artifact(0, "target")?;
        let mut lineage = target.lineage.clone();
        lineage.push(target.id.clone());
        let draft = Draft {
            kind,
            metadata: json!({"target_artifact_id": target.id, "target_kind": target.kind}),
            lineage,
            ..Draft::default()
        };
        Ok((target, draft))
    }

    fn diff_review(&self) -> Result<Draft, Thrown> {
        let (target, draft) = self.about("diff_review")?;
        Ok(Draft {
            title: format!("review {}", target.name()),
            text: self.argument(1).as_str().map(str::to_owned),
            ..draft
        })
    }

    fn review_decision(&self) -> Result<Draft, Thrown> {
        let (target, mut draft) = self.about("review_decision")?;
        let decision = self.name(1, "decision")?;
        draft.metadata["decision"] = json!(decision);
        Ok(Draft {
            title: format!("{decision} {}", target.name()),
            text: Some(decision),
            ..draft
        })
    }

    fn patch_proposal(&self) -> Result<Draft, Thrown> {
        let (target, draft) = self.about("patch_proposal")?;
        Ok(Draft {
            title: format!("patch for {}", target.name()),
            text: Some(self.content(1, "patch")?),
            ..draft
        })
    }

    fn apply_intent(&self) -> Result<Draft, Thrown> {
        let (target, mut draft) = self.about("apply_intent")?;
        let intent = self.name(1, "intent")?;
        draft.metadata["intent"] = json!(intent);
        Ok(Draft {
            title: format!("{intent} {}", target.name()),
            text: Some(intent),
            ..draft
        })
    }
}

/// What options say as they are, in place of what the maker says.
const REPLACED: [&str; 9] = [
    "id",
    "title",
    "text",
    "source",
    "stage",
    "freshness",
    "priority",
    "relevance",
    "estimated_tokens",
];

impl Call<'_> {
    /// The artifact, as its options want it.
    fn finish(&self, draft: Draft, options: &Value) -> Result<Artifact, Thrown> {
        let options = self.options(options)?;
        let mut fields = Map::new();
        fields.insert("kind".to_owned(), json!(draft.kind));
        fields.insert("title".to_owned(), json!(draft.title));
        fields.insert("text".to_owned(), json!(draft.text));
        for key in REPLACED {
            if let Some(value) = options.get(key).filter(|value| !value.is_null()) {
                fields.insert(key.to_owned(), value.clone());
            }
        }
        let merge = |own: Value, key: &str| merged(own, options.get(key));
        fields.insert("data".to_owned(), merge(draft.data, "data"));
        fields.insert("metadata".to_owned(), merge(draft.metadata, "metadata"));
        let mut lineage = draft.lineage;
        for id in texts(options.get("lineage")) {
            if !lineage.contains(&id) {
                lineage.push(id);
            }
        }
        fields.insert("lineage".to_owned(), json!(lineage));
        let artifact = Artifact::read(&Value::Object(fields), self.making);
        Ok(artifact.expect("an object is a payload"))
    }

    /// The options of a maker; none if there are none.
    pub(super) fn options(&self, options: &Value) -> Result<Map<String, Value>, Thrown> {
        match options {
            Value::Null => Ok(Map::new()),
            Value::Object(options) => Ok(options.clone()),
            _ => Err(Thrown::Runtime(
                "artifact helper options must be a dict or nil".to_owned(),
            )),
        }
    }
}

/// Objects are merged, and the program's fields count; anything else is replaced.
fn merged(own: Value, given: Option<&Value>) -> Value {
    match (own, given) {
        (own, None | Some(Value::Null)) => own,
        (Value::Object(mut own), Some(Value::Object(given))) => {
            own.extend(given.clone());
            Value::Object(own)
        }
        (_, Some(given)) => given.clone(),
    }
}

/// A text as it is, anything else as JSON.
fn text_or_json(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => sorted_json(other),
    }
}
