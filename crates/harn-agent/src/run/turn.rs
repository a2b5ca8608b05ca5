//! One turn of a loop, while it goes from phase to phase.

use harn_llm::desk::TurnAnswer;
use harn_llm::options::CallOptions;
use harn_llm::{Reply, StopReason};
use serde_json::{Value, json};

use crate::session::CallOutcome;

/// One turn: a question to the model, its answer, and what is made of it.
#[derive(Default)]
pub(crate) struct Turn {
    /// Its number, from 0.
    pub(crate) iteration: usize,
    /// How the answer begins, if somebody decided that.
    pub(crate) prefill: Option<String>,
    /// What the model is asked. Boxed like the answer, because a turn is handed from phase to
    /// phase.
    pub(crate) call: Option<Box<CallOptions>>,
    /// What it answered.
    pub(crate) answer: Option<Box<TurnAnswer>>,
    /// The ids under which calls were announced while the answer came, by the model's ids.
    pub(crate) announced: Vec<(String, String)>,
    /// What it says, as the history keeps it.
    pub(crate) history: String,
    /// What it says to people.
    pub(crate) prose: String,
    /// How long that was before it was cut.
    pub(crate) prose_chars: usize,
    /// The calls to make.
    pub(crate) calls: Vec<Call>,
    /// Calls that could not be read.
    pub(crate) parse_errors: Vec<String>,
    /// Where the answer does not keep to the blocks that it is to be made of.
    pub(crate) violations: Vec<String>,
    /// Whether the model says that it is done.
    pub(crate) has_done_marker: bool,
    /// Whether the model may stop now.
    pub(crate) is_complete: bool,
    /// What came of the calls that ran.
    pub(crate) results: Vec<CallResult>,
    /// The results as text, where there is no channel for them.
    pub(crate) observations: String,
    /// What the model is told about this turn, after it.
    pub(crate) feedback: Vec<Value>,
    /// The same, where results of calls come first.
    pub(crate) late_feedback: Vec<Value>,
    /// Whether a call was refused before it began.
    pub(crate) had_refusal: bool,
    /// Whether it is history already.
    pub(crate) is_recorded: bool,
    /// Whether the calls were left unmade, and why.
    pub(crate) skipped: Option<&'static str>,
    /// Whether there were calls to make.
    pub(crate) had_calls: bool,
}

/// A call of this turn.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Call {
    /// The id that the model knows it by; empty: none.
    pub(crate) model_id: String,
    /// The id that events carry.
    pub(crate) id: String,
    /// The tool.
    pub(crate) name: String,
    /// The arguments.
    pub(crate) arguments: Value,
}

/// The id of a call that is open at the same time as others: the one it should have, or one like
/// it that none of them has.
pub(super) fn free_id<'a>(wanted: &str, open: impl Iterator<Item = &'a str> + Clone) -> String {
    let is_free = |id: &String| open.clone().all(|taken| taken != id);
    let numbered = (2..).map(|number: u64| format!("{wanted}-{number}"));
    let mut ids = std::iter::once(wanted.to_owned()).chain(numbered);
    ids.find(is_free).expect("there is no end of numbers")
}

/// What came of a call.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CallResult {
    pub(crate) name: String,
    pub(crate) outcome: CallOutcome,
}

impl CallResult {
    /// As programs see it.
    pub(crate) fn to_value(&self) -> Value {
        json!({
            "tool_name": self.name,
            "status": self.outcome.word(),
            "rejected": self.outcome == CallOutcome::Rejected,
        })
    }
}

/// Whether the loop goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    /// It does.
    Continue,
    /// It ends with that status.
    Break(String),
}

impl Flow {
    /// The loop ends well.
    pub(crate) fn done() -> Self {
        Self::Break("done".to_owned())
    }
}

impl Turn {
    pub(crate) fn new(iteration: usize) -> Self {
        Self {
            iteration,
            ..Self::default()
        }
    }

    /// Its number in events, from 1.
    pub(crate) fn number(&self) -> usize {
        self.iteration + 1
    }

    /// What the model is asked.
    pub(crate) fn call(&self) -> &CallOptions {
        self.call.as_deref().expect("preflight has made it")
    }

    /// What it answered.
    pub(crate) fn answer(&self) -> &TurnAnswer {
        self.answer.as_deref().expect("the model was asked")
    }

    /// The provider in whose shape the turn is kept: the one that answered, and where the mock
    /// stood in for another one, that one.
    pub(crate) fn speaks_like(&self) -> &str {
        match &*self.answer().provider {
            harn_llm::mock::PROVIDER => &self.call().provider,
            provider => provider,
        }
    }

    /// What is told about it when it is over.
    pub(crate) fn info(&self) -> Value {
        let Some(answer) = &self.answer else {
            let call = self.call.as_ref();
            return json!({
                "tool_count": 0,
                "text": "",
                "provider": call.map_or("", |call| &call.provider),
                "model": call.map_or("", |call| &call.request.model),
                "response_ms": 0,
                "input_tokens": 0,
                "output_tokens": 0,
                "thinking_chars": 0,
            });
        };
        let thinking = answer.reply.thinking.as_deref().unwrap_or_default();
        let mut info = json!({
            "tool_count": self.calls.len(),
            "text": answer.reply.text,
            "provider": answer.provider,
            "model": answer.model,
            "response_ms": answer.took_ms,
            "input_tokens": answer.reply.usage.input,
            "output_tokens": answer.reply.usage.output,
            "thinking_chars": thinking.chars().count(),
        });
        if let Some(reason) = cut_short(&answer.reply) {
            info["stop_reason"] = json!(reason);
        }
        info
    }
}

/// Why an answer is not all that the model had to say, if it is not.
fn cut_short(reply: &Reply) -> Option<StopReason> {
    let reason = reply.stop.as_ref()?.reason;
    let is_cut = matches!(
        reason,
        StopReason::Length | StopReason::Refusal | StopReason::ContentFilter
    );
    match &reply.refusal {
        Some(_) => Some(StopReason::Refusal),
        None => is_cut.then_some(reason),
    }
}

#[cfg(test)]
mod tests {
    use super::free_id;

    #[test]
    fn an_id_is_like_the_one_that_is_taken() {
        let open = ["a", "b", "b-2"];
        let free = |wanted| free_id(wanted, open.into_iter());
        assert_eq!(free("c"), "c");
        assert_eq!(free("a"), "a-2");
        assert_eq!(free("b"), "b-3");
    }
}
