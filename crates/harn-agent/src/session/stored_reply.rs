//! The answer of a model as the journal keeps it: all of it, each thing once.

use harn_llm::desk::TurnAnswer;
use harn_llm::{Reply, Stop, ToolCall, Usage};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// What a model answered, and which.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct StoredReply {
    /// Who answered.
    pub provider: String,
    /// Which model.
    pub model: String,
    /// The provider's id of the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// What it said.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// What it thought.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinking: Option<String>,
    /// What it thought, in short.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinking_summary: Option<String>,
    /// Why it would not answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refusal: Option<String>,
    /// The calls it wants made.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<StoredToolCall>,
    /// What the provider has searched for by itself. The other blocks say what is here already.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub searches: Vec<Value>,
    /// The blocks the provider must get back, to the letter.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<Value>,
    /// What it took.
    pub usage: StoredUsage,
    /// Why it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop: Option<Stop>,
}

/// A call that an answer wants made.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct StoredToolCall {
    /// Its id.
    pub id: String,
    /// Which tool.
    pub name: String,
    /// The arguments.
    pub arguments: Value,
    /// The arguments as the model wrote them, where they say something else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raw_arguments: Option<String>,
}

/// What an answer took, in tokens.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct StoredUsage {
    /// Of the question.
    pub input: u64,
    /// Of the answer.
    pub output: u64,
    /// Of the question, read from a cache.
    #[serde(skip_serializing_if = "is_zero")]
    pub cache_read: u64,
    /// Of the question, written to a cache.
    #[serde(skip_serializing_if = "is_zero")]
    pub cache_write: u64,
    /// Of the answer, thoughts.
    #[serde(skip_serializing_if = "is_zero")]
    pub reasoning: u64,
    /// The provider's own counts.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub provider: Value,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl StoredReply {
    /// An answer, to be stored.
    pub fn of(reply: &Reply, provider: &str, model: &str) -> Self {
        let is_search = |block: &&Value| {
            let kind = block["type"].as_str();
            matches!(kind, Some("tool_search_query" | "tool_search_result"))
        };
        Self {
            provider: provider.to_owned(),
            model: model.to_owned(),
            id: reply.id.clone(),
            text: reply.text.clone(),
            thinking: reply.thinking.clone(),
            thinking_summary: reply.thinking_summary.clone(),
            refusal: reply.refusal.clone(),
            tool_calls: reply.tool_calls.iter().map(StoredToolCall::of).collect(),
            searches: reply.blocks.iter().filter(is_search).cloned().collect(),
            kept: reply.kept.clone(),
            usage: StoredUsage::of(&reply.usage),
            stop: reply.stop.clone(),
        }
    }

    /// The answer, as if it had just come.
    pub fn into_answer(self) -> TurnAnswer {
        let calls = self.tool_calls.into_iter().map(StoredToolCall::into_call);
        TurnAnswer {
            reply: Reply {
                id: self.id,
                model: Some(self.model.clone()),
                text: self.text,
                thinking: self.thinking,
                thinking_summary: self.thinking_summary,
                refusal: self.refusal,
                tool_calls: calls.collect(),
                blocks: self.searches,
                kept: self.kept,
                usage: self.usage.into_usage(),
                stop: self.stop,
            },
            provider: self.provider,
            model: self.model,
            took_ms: 0,
            cost_usd: 0.0, // It was counted when it came.
        }
    }
}

impl StoredToolCall {
    fn of(call: &ToolCall) -> Self {
        let is_same = serde_json::from_str::<Value>(&call.raw_arguments)
            .is_ok_and(|raw| raw == call.arguments);
        Self {
            id: call.id.clone(),
            name: call.name.clone(),
            arguments: call.arguments.clone(),
            raw_arguments: (!is_same).then(|| call.raw_arguments.clone()),
        }
    }

    fn into_call(self) -> ToolCall {
        let raw_arguments = self.raw_arguments;
        ToolCall {
            id: self.id,
            name: self.name,
            raw_arguments: raw_arguments.unwrap_or_else(|| json!(self.arguments).to_string()),
            arguments: self.arguments,
        }
    }
}

impl StoredUsage {
    fn of(usage: &Usage) -> Self {
        Self {
            input: usage.input,
            output: usage.output,
            cache_read: usage.cache_read,
            cache_write: usage.cache_write,
            reasoning: usage.reasoning,
            provider: usage.provider.clone(),
        }
    }

    fn into_usage(self) -> Usage {
        Usage {
            input: self.input,
            output: self.output,
            cache_read: self.cache_read,
            cache_write: self.cache_write,
            reasoning: self.reasoning,
            provider: self.provider,
        }
    }
}

#[cfg(test)]
mod tests {
    use harn_llm::StopReason;

    use super::*;

    fn reply() -> Reply {
        let search = json!({"type": "tool_search_query", "id": "q", "query": {"text": "x"}});
        Reply {
            id: Some("r-1".to_owned()),
            model: Some("m-2".to_owned()),
            text: "I look.".to_owned(),
            thinking: Some("hm".to_owned()),
            tool_calls: vec![ToolCall {
                id: "c".to_owned(),
                name: "look".to_owned(),
                arguments: json!({"path": "a"}),
                raw_arguments: r#"{"path":"a"}"#.to_owned(),
            }],
            blocks: vec![search],
            kept: vec![json!({"type": "thinking", "signature": "s"})],
            usage: Usage {
                input: 7,
                output: 3,
                cache_read: 2,
                ..Usage::default()
            },
            stop: Some(Stop {
                reason: StopReason::ToolUse,
                word: Some("tool_use".to_owned()),
            }),
            ..Reply::default()
        }
    }

    #[test]
    fn an_answer_that_was_stored_comes_back_whole() {
        let stored = StoredReply::of(&reply(), "anthropic", "m-2");
        let text = serde_json::to_string(&stored).unwrap();
        let read: StoredReply = serde_json::from_str(&text).unwrap();
        assert_eq!(read, stored);
        let answer = read.into_answer();
        assert_eq!(answer.reply, reply());
        assert_eq!((&*answer.provider, &*answer.model), ("anthropic", "m-2"));
    }

    #[test]
    fn nothing_is_stored_twice_or_for_nothing() {
        let mut reply = reply();
        let text = json!({"type": "text", "text": "I look."});
        reply.blocks.insert(0, text);
        let stored = serde_json::to_value(StoredReply::of(&reply, "p", "m")).unwrap();
        assert_eq!(stored.to_string().matches("I look.").count(), 1);
        assert!(stored["tool_calls"][0].get("raw_arguments").is_none());
        let nothing = StoredReply::of(&Reply::default(), "p", "m");
        let nothing = serde_json::to_value(nothing).unwrap();
        let least = json!({"provider": "p", "model": "m", "usage": {"input": 0, "output": 0}});
        assert_eq!(nothing, least);
    }

    #[test]
    fn arguments_that_are_no_json_are_kept_as_they_came() {
        let mut reply = reply();
        reply.tool_calls[0].arguments = json!({"__parse_error": "no"});
        reply.tool_calls[0].raw_arguments = "{\"path\":".to_owned();
        let answer = StoredReply::of(&reply, "p", "m-2").into_answer();
        assert_eq!(answer.reply.tool_calls, reply.tool_calls);
    }
}
