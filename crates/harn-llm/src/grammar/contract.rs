//! What a model is told about calling tools.
//!
//! The fixed wording names no tool and uses no word that may be one: programs look for the
//! names of their tools in this text.

mod signature;
#[cfg(test)]
mod tests;

use std::fmt::Write as _;

use serde_json::Value;

use crate::{ToolSpec, sorted_json};

/// How calls travel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// As tagged text.
    #[default]
    Text,
    /// Over the provider's own channel.
    Native,
    /// As JSON in fenced blocks.
    Json,
}

/// A tool on offer.
#[derive(Clone, Copy, Debug)]
pub struct Offer<'a> {
    /// The tool.
    pub tool: &'a ToolSpec,
    /// Whether a line about it is enough.
    pub is_compact: bool,
}

/// Everything that decides what the model is told.
#[derive(Clone, Debug, Default)]
pub struct Contract<'a> {
    /// How calls travel.
    pub mode: Mode,
    /// The tools on offer, in their order.
    pub tools: Vec<Offer<'a>>,
    /// Examples the program wants shown.
    pub tool_examples: Option<&'a str>,
    /// The task ledger as text, when there is one.
    pub ledger: Option<&'a str>,
    /// What signals completion; `##DONE##` if nothing else is configured.
    pub sentinel: Option<&'a str>,
    /// Whether each turn must act or yield.
    pub require_action_or_yield: bool,
}

const SENTINEL: &str = "##DONE##";

const TEXT_PROTOCOL: &str = "\
Compose every response of these four blocks and nothing else. No text may stand outside them.

- `<tool_call>` holds exactly one call expression. Use one block per call; several blocks in one response form a batch.
- `<assistant_prose>` holds short narration.
- `<user_response>` holds the text meant for the user.
- `<done>` signals completion. Emit it only when the whole task is complete.

A call is `name({ key: value })`: the name of a function declared below, then a TypeScript object literal in parentheses.

<tool_call>
name({ key: \"value\", count: 2 })
</tool_call>

Pass multi-line text as a heredoc, which needs no escaping. It ends at a line that starts with its tag:

<tool_call>
name({ key: <<TAG
first line
second line
TAG
})
</tool_call>

Results arrive in the next message. Never invent them.";

const JSON_PROTOCOL: &str = "\
Emit calls in blocks opened by a line that is exactly ```tool and closed by a line that is exactly ```. A block holds one or more JSON objects in sequence, never an array:

```tool
{\"name\": \"NAME\", \"args\": {\"key\": \"value\"}}
```

Pass multi-line text verbatim: give the value \"<<TAG\", and after the object, inside the block, put a line <<TAG, the text, and a line TAG. Nothing in it is escaped.

```tool
{\"name\": \"NAME\", \"args\": {\"key\": \"<<TAG\"}}
<<TAG
first line
second line
TAG
```

Several blocks or objects form one ordered batch. Everything outside the blocks is prose. Results arrive in the next message. Never invent them.";

const NATIVE_PROTOCOL: &str = "\
Invoke tools through the provider's native tool channel only. Never spell out a call as text, as JSON or in tags: such text is not a call. Several native calls in one response form a batch. Results arrive in the next message. Never invent them.";

const ACTION_OR_YIELD: &str = "\
Every turn must take an action or explicitly yield: make at least one tool call, answer the user, or signal completion. A turn of narration alone is not accepted.";

impl Contract<'_> {
    /// The section of the system prompt.
    pub fn render(&self) -> String {
        let mode = match self.mode {
            Mode::Text => "text",
            Mode::Native => "native",
            Mode::Json => "json",
        };
        let mut out = format!("## Tool Calling Contract\nActive mode: `{mode}`.");
        match self.mode {
            Mode::Native => section(&mut out, "Native tool protocol", NATIVE_PROTOCOL),
            Mode::Text | Mode::Json => section(&mut out, "Response protocol", &self.protocol()),
        }
        if self.require_action_or_yield {
            let _ = write!(out, "\n\n{ACTION_OR_YIELD}");
        }
        let examples = self.tool_examples.map(str::trim);
        if let Some(examples) =
            examples.filter(|text| !text.is_empty() && self.mode != Mode::Native)
        {
            section(&mut out, "Tool call examples", examples);
        }
        if let Some(ledger) = self.ledger.map(str::trim).filter(|text| !text.is_empty()) {
            section(&mut out, "Task ledger", ledger);
        }
        if self.mode != Mode::Native {
            self.write_tools(&mut out);
        }
        out
    }

    fn protocol(&self) -> String {
        let sentinel = self.sentinel.unwrap_or(SENTINEL);
        match self.mode {
            Mode::Json => format!(
                "{JSON_PROTOCOL}\n\nWhen the whole task is complete, say {sentinel} as plain text outside every block."
            ),
            Mode::Text | Mode::Native => format!(
                "{TEXT_PROTOCOL}\n\nWhen the whole task is complete, emit `<done>{sentinel}</done>` literally."
            ),
        }
    }

    fn write_tools(&self, out: &mut String) {
        let (compact, full): (Vec<&Offer<'_>>, Vec<_>) =
            self.tools.iter().partition(|offer| offer.is_compact);
        let types = signature::shared_types(full.iter().map(|offer| &offer.tool.parameters));
        if !types.is_empty() {
            section(out, "Shared types", &types.join("\n"));
        }
        if !full.is_empty() {
            let declared: Vec<String> = full
                .iter()
                .map(|offer| signature::declaration(offer.tool))
                .collect();
            section(out, "Available tools", &declared.join("\n\n"));
        }
        if !compact.is_empty() {
            let lines: Vec<String> = compact
                .iter()
                .map(|offer| compact_line(offer.tool))
                .collect();
            section(out, "Other tools", &lines.join("\n"));
        }
    }
}

fn section(out: &mut String, heading: &str, text: &str) {
    let _ = write!(out, "\n\n## {heading}\n\n{text}");
}

/// The name and the first line of the description.
fn compact_line(tool: &ToolSpec) -> String {
    match tool.description.trim().lines().next() {
        Some(description) => format!("- `{}`: {description}", tool.name),
        None => format!("- `{}`", tool.name),
    }
}

/// A value as it is shown in a comment.
fn shown(value: &Value) -> String {
    sorted_json(value)
}
