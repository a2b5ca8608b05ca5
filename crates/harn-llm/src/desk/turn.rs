//! What an agent loop asks of the desk: one answer at a time, and facts about who answers.

use serde_json::Value;

use super::asking::{Answered, Refusal};
use super::result::interpret;
use super::{Desk, LoopComplete, Ports, Question, Thrown, ToolExecution};
use crate::catalog::capabilities::Capability;
use crate::catalog::route::{self, Style};
use crate::exchange::Listener;
use crate::options::CallOptions;
use crate::wire::Wire;
use crate::{Reply, nudge};

/// An answer, and who gave it.
#[derive(Clone, Debug)]
pub struct TurnAnswer {
    /// The answer.
    pub reply: Reply,
    /// Who answered.
    pub provider: String,
    /// Which model.
    pub model: String,
    /// How long it took.
    pub took_ms: i64,
    /// What it cost.
    pub cost_usd: f64,
}

impl Desk {
    /// Reads the options of a loop's calls.
    ///
    /// # Errors
    /// They are not understood, or not possible.
    pub fn prepare(&self, question: &Question) -> Result<CallOptions, Thrown> {
        self.read(question)
    }

    /// Asks once, with retries and fallbacks as the options say.
    ///
    /// # Errors
    /// Nobody answered; what the program catches.
    pub async fn turn(
        &self,
        call: &CallOptions,
        listener: &mut Listener<'_>,
    ) -> Result<TurnAnswer, Thrown> {
        let answered = self.ask(call, listener).await?;
        if answered.call_id.is_some() {
            self.log_interpreted(call, &answered, &interpret(&answered.reply, call));
        }
        let Answered {
            reply,
            provider,
            model,
            took_ms,
            cost_usd,
            ..
        } = answered;
        Ok(TurnAnswer {
            reply,
            provider,
            model,
            took_ms,
            cost_usd,
        })
    }

    /// Why a call may not be made: it would cost too much.
    pub fn over_budget(&self, call: &CallOptions) -> Option<Thrown> {
        match self.check_budget(&call.provider, call) {
            Err(Refusal::Forbidden(thrown)) => Some(thrown),
            _ => None,
        }
    }

    /// What is wrong with an answer that was to have a structure, with what to tell the model.
    pub fn structure_errors(
        &self,
        call: &CallOptions,
        answer: &TurnAnswer,
    ) -> Option<(Vec<String>, Option<String>)> {
        if !call.expects_structure() {
            return None;
        }
        let read = interpret(&answer.reply, call);
        let errors = self.errors(call, &read, &answer.reply);
        let schema = call.structured.schema.as_ref();
        let correction = nudge::text(&call.structured.nudge, schema, &errors);
        (!errors.is_empty()).then_some((errors, correction))
    }

    /// What becomes of an answer that does not fit.
    ///
    /// # Errors
    /// The caller asked for a failure in that case.
    pub fn settle_structure(&self, call: &CallOptions, errors: &[String]) -> Result<(), Thrown> {
        self.settle_errors(call, errors)
    }

    /// Whether the mock answers instead of a provider.
    pub fn is_mocked(&self, provider: &str) -> bool {
        self.state().is_mocked(provider)
    }

    /// What a model can do.
    pub fn capability(&self, provider: &str, model: &str) -> Capability {
        self.state().capabilities.of(provider, model)
    }

    /// How many tokens a model reads, if that is known.
    pub fn context_window(&self, model: &str) -> Option<u64> {
        let state = self.state();
        let listed = state.config.models.get(model);
        listed
            .map(|model| model.context_window)
            .filter(|size| *size > 0)
    }

    /// In which shape a provider takes tools.
    pub fn style(&self, provider: &str) -> Style {
        route::style(&self.state().config, provider)
    }

    /// The language a provider speaks; `None` for one that is not configured.
    pub fn wire(&self, provider: &str) -> Option<Wire> {
        let state = self.state();
        let entry = state.config.providers.get(provider)?;
        Some(route::wire(provider, entry))
    }

    /// The format of tool calls that the catalog has for a provider.
    pub fn catalog_tool_format(&self, call: &CallOptions) -> String {
        let state = self.state();
        let alias = call.alias.as_deref();
        crate::catalog::resolve::tool_format(&state.config, &call.provider, alias)
    }

    /// Notes something in the trace of the program.
    pub fn note(&self, event: Value) {
        self.state().trace.push(event);
    }

    /// Notes in the trace that a tool was run.
    pub fn note_execution(&self, execution: ToolExecution) {
        self.state().trace.tool_execution(execution);
    }

    /// Notes in the trace that a loop ended.
    pub fn note_completion(&self, complete: LoopComplete) {
        self.state().trace.loop_complete(complete);
    }

    /// Writes into the log of calls, if there is one.
    pub fn log_event(&self, call: &CallOptions, event: Value) {
        self.log(call.transcript.as_ref(), vec![event]);
    }

    /// `agent_trace_summary()`
    pub fn trace_summary(&self) -> Value {
        self.state().trace.summary()
    }

    /// What it knows of the world.
    pub fn ports(&self) -> &Ports {
        &self.ports
    }
}
