//! A worker that is one node of a workflow.

use std::sync::Arc;

use harn_llm::desk::Thrown;
use harn_llm::options::value::{Options, truthy};
use serde_json::{Map, Value, json};

use super::artifacts;
use super::child::Child;
use super::requested::{fail, text_of};
use crate::callback::Functions;
use crate::frames;
use crate::runtime::{Ambient, LoopRequest, Runtime};

/// What a stage calls itself in messages.
const LABEL: &str = "spawn_agent";

/// A node of a workflow, as it was asked for.
#[derive(Clone)]
pub(crate) struct Stage {
    /// The config of the worker.
    config: Map<String, Value>,
    /// The functions in it.
    functions: Functions,
}

/// What came of a stage.
pub(crate) struct StageDone {
    /// What the loop gave.
    pub(crate) result: Value,
    /// What the stage has made.
    pub(crate) artifact: Value,
}

impl Stage {
    /// Reads the config of a worker.
    ///
    /// # Errors
    /// It has no node.
    pub(crate) fn read(config: Map<String, Value>, functions: Functions) -> Result<Self, Thrown> {
        match config.get("node") {
            Some(Value::Object(_)) => Ok(Self { config, functions }),
            _ => fail("config requires either graph or node"),
        }
    }

    fn node(&self) -> &Value {
        self.config.get("node").unwrap_or(&Value::Null)
    }

    fn node_text(&self, key: &str) -> Option<String> {
        text_of(self.node().as_object()?, key)
    }

    /// The id of the node.
    pub(crate) fn node_id(&self) -> String {
        self.node_text("id").unwrap_or_else(|| "stage".to_owned())
    }

    /// The system prompt.
    pub(crate) fn system(&self) -> Option<String> {
        self.node_text("system")
    }

    /// The artifacts that the first cycle is given.
    pub(crate) fn given_artifacts(&self) -> Vec<Value> {
        let given = self.config.get("artifacts").and_then(Value::as_array);
        given.cloned().unwrap_or_default()
    }

    /// The transcript that the first cycle goes on with.
    pub(crate) fn given_transcript(&self) -> Option<Value> {
        let given = self.config.get("transcript");
        given.filter(|transcript| transcript.is_object()).cloned()
    }

    /// Runs the stage to its end.
    ///
    /// # Errors
    /// What the loop throws.
    pub(crate) async fn run(
        &self,
        runtime: &Arc<Runtime>,
        task: &str,
        inputs: &[Value],
        child: &Child,
        ambient: Ambient,
    ) -> Result<StageDone, Thrown> {
        self.check_inputs(inputs)?;
        let request = LoopRequest {
            prompt: self.prompt(runtime, task, inputs),
            system: self.system(),
            options: self.options(child.session.id()),
            functions: self.loop_functions(),
            label: Some(LABEL),
            pause: child.pause.clone(),
            ambient,
            ..LoopRequest::default()
        };
        let result = Box::pin(runtime.run(request)).await?;
        let artifact = self.artifact(runtime, &result.visible_text);
        Ok(StageDone {
            result: result.to_value(),
            artifact,
        })
    }

    fn is_agent(&self) -> bool {
        let tools = &self.node()["tools"];
        let entries = tools.as_array().or_else(|| tools["tools"].as_array());
        self.node()["mode"] == "agent" || entries.is_some_and(|entries| !entries.is_empty())
    }

    /// A stage with tools goes on until it says that it is done; one without is asked once.
    fn options(&self, session_id: &str) -> Map<String, Value> {
        let node = self.node();
        let mut options = node["model_policy"]
            .as_object()
            .cloned()
            .unwrap_or_default();
        let defaults = match self.is_agent() {
            true => vec![
                ("persistent", json!(true)),
                ("max_iterations", json!(16)),
                ("max_nudges", json!(3)),
                ("llm_retries", json!(2)),
            ],
            false => vec![("max_iterations", json!(1)), ("llm_retries", json!(2))],
        };
        for (key, value) in defaults {
            let slot = options.entry(key).or_insert(Value::Null);
            if slot.is_null() {
                *slot = value;
            }
        }
        let of_node = [
            ("tools", "tools"),
            ("done_sentinel", "done_sentinel"),
            ("exit_when_verified", "exit_when_verified"),
            ("policy", "capability_policy"),
            ("approval_policy", "approval_policy"),
        ];
        for (option, key) in of_node {
            if let Some(value) = node.get(key).filter(|value| !value.is_null()) {
                options.insert(option.to_owned(), value.clone());
            }
        }
        if let Some(permissions) = Options(&self.config).given("permissions") {
            options.insert("permissions".to_owned(), permissions.clone());
        }
        let compacts = node.get("auto_compact").is_some_and(truthy);
        options.insert("auto_compact".to_owned(), json!(compacts));
        options.insert("session_id".to_owned(), json!(session_id));
        options
    }

    fn loop_functions(&self) -> Functions {
        let mut functions = self.functions.moved("/node/model_policy", "");
        functions.extend(self.functions.moved("/node/tools", "/tools"));
        functions.extend(self.functions.moved("/permissions", "/permissions"));
        functions
    }

    /// Fails if the stage has fewer inputs than it needs, or more than it takes.
    fn check_inputs(&self, inputs: &[Value]) -> Result<(), Thrown> {
        let contract = &self.node()["input_contract"];
        let (id, count) = (self.node_id(), inputs.len());
        let count = u64::try_from(count).unwrap_or(u64::MAX);
        if let Some(least) = contract["min_inputs"].as_u64().filter(|n| count < *n) {
            return Err(Thrown::Runtime(format!(
                "workflow stage {id} requires at least {least} input artifacts"
            )));
        }
        if let Some(most) = contract["max_inputs"].as_u64().filter(|n| count > *n) {
            return Err(Thrown::Runtime(format!(
                "workflow stage {id} accepts at most {most} input artifacts"
            )));
        }
        Ok(())
    }

    /// What the model is told: the task, and what there is to know for it.
    fn prompt(&self, runtime: &Runtime, task: &str, inputs: &[Value]) -> String {
        let label = self.node_text("task_label");
        let label = label.unwrap_or_else(|| "Task".to_owned());
        let instructions = match self.node_text("prompt") {
            Some(prompt) => format!("{prompt}\n\n{task}"),
            None => task.to_owned(),
        };
        let instructions =
            frames::inside_elements(&instructions, &["instructions>", "workflow_task"]);
        let mut prompt = format!(
            "<workflow_task>\n<label>{label}</label>\n<instructions>\n{instructions}\n\
             </instructions>\n</workflow_task>"
        );
        let context = artifacts::render(runtime, inputs, &self.node()["context_policy"]);
        if !context.is_empty() {
            prompt.push_str("\n\n<workflow_context>\n");
            prompt.push_str(&context);
            prompt.push_str("\n</workflow_context>");
        }
        prompt
    }

    /// What the stage has made, as an artifact.
    fn artifact(&self, runtime: &Runtime, text: &str) -> Value {
        let kinds = &self.node()["output_contract"]["output_kinds"];
        let kind = kinds[0].as_str().unwrap_or("artifact");
        let id = self.node_id();
        let title = format!("stage {id} output");
        artifacts::record(runtime, kind, &title, text, &id)
    }
}
