//! What a worker does in each of its cycles.

use harn_llm::desk::Thrown;
use serde_json::Value;

use super::stage::Stage;
use super::sub_agent::SubAgent;
use crate::callback::Functions;

/// What a worker does in each of its cycles.
#[derive(Clone)]
pub(crate) enum Job {
    /// A child loop.
    SubAgent(Box<SubAgent>),
    /// One node of a workflow.
    Stage(Box<Stage>),
}

impl Job {
    /// Reads what the file of a worker says. Functions do not survive in files: those of tools
    /// are taken from the tools that are at hand, by their names.
    ///
    /// # Errors
    /// It says something that no worker can be made of.
    pub(crate) fn restore(
        mode: &str,
        config: &Value,
        at_hand: &Functions,
        tools_at_hand: &Value,
    ) -> Result<Self, Thrown> {
        match mode {
            "sub_agent" => {
                let options = &config["options"];
                let tools = bound(&options["tools"], "/tools", at_hand, tools_at_hand);
                let agent = SubAgent::read(options, tools)?;
                Ok(Self::SubAgent(Box::new(agent)))
            }
            _ => {
                let tools = &config["node"]["tools"];
                let tools = bound(tools, "/node/tools", at_hand, tools_at_hand);
                let fields = config.as_object().cloned().unwrap_or_default();
                Ok(Self::Stage(Box::new(Stage::read(fields, tools)?)))
            }
        }
    }

    /// `sub_agent` or `stage`.
    pub(crate) fn mode(&self) -> &'static str {
        match self {
            Self::SubAgent(_) => "sub_agent",
            Self::Stage(_) => "stage",
        }
    }
}

/// The handlers for tools that have lost theirs.
fn bound(tools: &Value, path: &str, at_hand: &Functions, tools_at_hand: &Value) -> Functions {
    let mut bound = Functions::default();
    let known = tools_at_hand["tools"].as_array();
    for (at, tool) in tools["tools"].as_array().into_iter().flatten().enumerate() {
        let mut names = known.into_iter().flatten();
        let place = names.position(|known| known["name"] == tool["name"]);
        let handler = place.and_then(|place| at_hand.at(&format!("/tools/{place}/handler")));
        if let Some(handler) = handler {
            bound.insert(format!("{path}/tools/{at}/handler"), handler.clone());
        }
    }
    bound
}
