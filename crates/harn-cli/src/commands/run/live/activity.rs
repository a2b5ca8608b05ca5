//! Which loops run, and what they do: what the events say, folded.

use harn_events::{AgentEvent, ToolCallStatus};
use serde_json::Value;

use super::prices::Prices;
use super::wording;

/// A loop that is between two turns for longer than this waits for somebody, as a daemon does.
const BETWEEN_TURNS_MS_MAX: u64 = 2000;

/// The loops that run; whichever did something last is the last.
#[derive(Default)]
pub(super) struct Activity {
    loops: Vec<Loop>,
}

struct Loop {
    session_id: String,
    turn: usize,
    model: String,
    started_ms: u64,
    turn_started_ms: u64,
    /// When the last turn ended, unless one is under way.
    rests_since_ms: Option<u64>,
    calls: Vec<Call>,
    spent: Spent,
}

/// A call that runs.
struct Call {
    id: String,
    name: String,
    told: String,
    is_running: bool,
}

/// What something took.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Spent {
    pub(super) input_tokens: u64,
    pub(super) output_tokens: u64,
    pub(super) cost_usd: f64,
}

/// A call that has ended.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct EndedCall {
    pub(super) name: String,
    /// Its arguments, in short.
    pub(super) told: String,
    pub(super) took_ms: Option<u64>,
    /// Why it failed, if it did.
    pub(super) error: Option<String>,
}

/// Something a person may want to know.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum News {
    /// The status line says something else now.
    Changed,
    CallEnded(EndedCall),
    /// A person is asked, and the program waits for the answer.
    Asked {
        request_id: String,
        prompt: String,
    },
    TurnEnded {
        turn: usize,
        took_ms: u64,
        spent: Spent,
    },
    LoopEnded {
        turns: usize,
        took_ms: u64,
        spent: Spent,
    },
}

/// What is going on.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Current {
    pub(super) turn: usize,
    /// The tool that runs, or the model that is asked.
    pub(super) doing: String,
    pub(super) ran_ms: u64,
    pub(super) spent: Spent,
    /// How many loops run besides this one.
    pub(super) others: usize,
}

impl Activity {
    /// Takes note of an event; `None` if it changes nothing that is shown.
    pub(super) fn apply(
        &mut self,
        event: &AgentEvent,
        now_ms: u64,
        prices: &Prices,
    ) -> Option<News> {
        match event {
            AgentEvent::IterationStart {
                session_id,
                iteration,
                model,
                ..
            } => {
                let one = self.touch(session_id, now_ms);
                one.turn = *iteration;
                one.model.clone_from(model);
                one.turn_started_ms = now_ms;
                one.rests_since_ms = None;
                Some(News::Changed)
            }
            AgentEvent::IterationEnd {
                session_id,
                iteration_info,
                ..
            } => {
                let spent = spent_in(iteration_info.facts(), prices);
                Some(self.touch(session_id, now_ms).end_turn(spent, now_ms))
            }
            AgentEvent::LoopCheckpoint {
                session_id, kind, ..
            } if kind == "loop_exit" => self.end_loop(session_id, now_ms),
            AgentEvent::SessionClosed { session_id, .. } => self.end_loop(session_id, now_ms),
            AgentEvent::HitlRequested {
                request_id,
                payload,
                ..
            } => Some(News::Asked {
                request_id: request_id.clone(),
                prompt: payload["prompt"].as_str().unwrap_or_default().to_owned(),
            }),
            _ => self.apply_call(event, now_ms),
        }
    }

    fn apply_call(&mut self, event: &AgentEvent, now_ms: u64) -> Option<News> {
        match event {
            // What looks like a call while the answer is arriving may become none.
            AgentEvent::ToolCall {
                parsing: Some(_), ..
            }
            | AgentEvent::ToolCallUpdate {
                parsing: Some(_), ..
            } => None,
            AgentEvent::ToolCall {
                session_id,
                tool_call_id,
                tool_name,
                raw_input,
                ..
            } => {
                let one = self.touch(session_id, now_ms);
                one.call(tool_call_id, tool_name, Some(raw_input));
                None
            }
            AgentEvent::ToolCallUpdate {
                session_id,
                tool_call_id,
                tool_name,
                status,
                raw_input,
                error,
                duration_ms,
                ..
            } => {
                let one = self.touch(session_id, now_ms);
                let call = one.call(tool_call_id, tool_name, raw_input.as_ref());
                match status {
                    ToolCallStatus::Pending => None,
                    ToolCallStatus::InProgress => {
                        call.is_running = true;
                        Some(News::Changed)
                    }
                    ToolCallStatus::Completed | ToolCallStatus::Failed => {
                        let is_failed = *status == ToolCallStatus::Failed;
                        let error = is_failed.then(|| error.clone().unwrap_or_default());
                        one.end_call(tool_call_id, error, *duration_ms)
                    }
                }
            }
            _ => None,
        }
    }

    /// What is going on; `None` if nothing is.
    pub(super) fn current(&self, now_ms: u64) -> Option<Current> {
        let mut running = self.loops.iter().filter(|one| one.is_running(now_ms));
        let one = running.next_back()?;
        Some(Current {
            turn: one.turn,
            doing: one.doing(),
            ran_ms: now_ms.saturating_sub(one.started_ms),
            spent: one.spent,
            others: running.count(),
        })
    }

    /// The loop of a session, which becomes the last one.
    fn touch(&mut self, session_id: &str, now_ms: u64) -> &mut Loop {
        let known = self
            .loops
            .iter()
            .position(|one| one.session_id == session_id);
        let one = match known {
            Some(at) => self.loops.remove(at),
            None => Loop {
                session_id: session_id.to_owned(),
                turn: 0,
                model: String::new(),
                started_ms: now_ms,
                turn_started_ms: now_ms,
                rests_since_ms: None,
                calls: Vec::new(),
                spent: Spent::default(),
            },
        };
        self.loops.push(one);
        self.loops.last_mut().expect("one was added")
    }

    fn end_loop(&mut self, session_id: &str, now_ms: u64) -> Option<News> {
        let at = self
            .loops
            .iter()
            .position(|one| one.session_id == session_id)?;
        let one = self.loops.remove(at);
        Some(News::LoopEnded {
            turns: one.turn,
            took_ms: now_ms.saturating_sub(one.started_ms),
            spent: one.spent,
        })
    }
}

impl Loop {
    fn is_running(&self, now_ms: u64) -> bool {
        let rests = self.rests_since_ms;
        self.turn > 0
            && rests.is_none_or(|since| now_ms.saturating_sub(since) <= BETWEEN_TURNS_MS_MAX)
    }

    fn doing(&self) -> String {
        let running = self.calls.iter().filter(|call| call.is_running);
        match running.clone().next_back() {
            Some(call) => {
                let told = format!("{} {}", call.name, call.told);
                match running.count() {
                    1 => told.trim_end().to_owned(),
                    count => format!("{count} calls: {}", told.trim_end()),
                }
            }
            None if self.model.is_empty() => "asking the model".to_owned(),
            None => format!("asking {}", self.model),
        }
    }

    /// A call, with what is known about it now.
    fn call(&mut self, id: &str, name: &str, arguments: Option<&Value>) -> &mut Call {
        let known = self.calls.iter().position(|call| call.id == id);
        let at = known.unwrap_or_else(|| {
            self.calls.push(Call {
                id: id.to_owned(),
                name: name.to_owned(),
                told: String::new(),
                is_running: false,
            });
            self.calls.len() - 1
        });
        let call = &mut self.calls[at];
        if let Some(arguments) = arguments {
            call.told = wording::arguments(arguments);
        }
        call
    }

    fn end_call(&mut self, id: &str, error: Option<String>, took_ms: Option<u64>) -> Option<News> {
        let at = self.calls.iter().position(|call| call.id == id)?;
        let call = self.calls.remove(at);
        Some(News::CallEnded(EndedCall {
            name: call.name,
            told: call.told,
            took_ms,
            error,
        }))
    }

    fn end_turn(&mut self, spent: Spent, now_ms: u64) -> News {
        self.calls.clear();
        self.rests_since_ms = Some(now_ms);
        self.spent.input_tokens += spent.input_tokens;
        self.spent.output_tokens += spent.output_tokens;
        self.spent.cost_usd += spent.cost_usd;
        News::TurnEnded {
            turn: self.turn,
            took_ms: now_ms.saturating_sub(self.turn_started_ms),
            spent,
        }
    }
}

fn spent_in(info: &Value, prices: &Prices) -> Spent {
    let count = |key: &str| info[key].as_u64().unwrap_or(0);
    let text = |key: &str| info[key].as_str().unwrap_or_default();
    let (input_tokens, output_tokens) = (count("input_tokens"), count("output_tokens"));
    Spent {
        input_tokens,
        output_tokens,
        cost_usd: prices.cost(text("provider"), text("model"), input_tokens, output_tokens),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn event(fields: Value) -> AgentEvent {
        serde_json::from_value(fields).unwrap()
    }

    fn start(session: &str, turn: u64) -> AgentEvent {
        event(
            json!({"type": "iteration_start", "session_id": session, "iteration": turn,
            "model": "m"}),
        )
    }

    fn end(session: &str, turn: u64, input: u64) -> AgentEvent {
        event(
            json!({"type": "iteration_end", "session_id": session, "iteration": turn,
            "iteration_info": {"input_tokens": input, "output_tokens": 1}}),
        )
    }

    fn update(id: &str, status: &str) -> AgentEvent {
        event(
            json!({"type": "tool_call_update", "session_id": "s", "tool_call_id": id,
            "tool_name": "read", "status": status, "raw_output": null, "error": "no such file",
            "duration_ms": 7}),
        )
    }

    fn call(id: &str) -> AgentEvent {
        event(
            json!({"type": "tool_call", "session_id": "s", "tool_call_id": id,
            "tool_name": "read", "kind": null, "status": "pending",
            "raw_input": {"path": "a.rs"}}),
        )
    }

    fn exit(session: &str) -> AgentEvent {
        event(
            json!({"type": "loop_checkpoint", "session_id": session, "iteration": 1,
            "kind": "loop_exit", "delivered": 0, "inbox_delivered": 0,
            "dispatch_skipped": false}),
        )
    }

    fn apply(activity: &mut Activity, event: &AgentEvent, now_ms: u64) -> Option<News> {
        activity.apply(event, now_ms, &Prices::none())
    }

    #[test]
    fn a_loop_is_told_from_its_first_turn_to_its_last_seam() {
        let mut activity = Activity::default();
        assert_eq!(activity.current(0), None);
        apply(&mut activity, &start("s", 1), 1000);
        let current = activity.current(3000).unwrap();
        assert_eq!((current.turn, current.ran_ms), (1, 2000));
        assert_eq!(current.doing, "asking m");
        apply(&mut activity, &end("s", 1, 10), 4000);
        apply(&mut activity, &start("s", 2), 4000);
        let ended = apply(&mut activity, &end("s", 2, 5), 6000).unwrap();
        let spent = |input_tokens, output_tokens| Spent {
            input_tokens,
            output_tokens,
            cost_usd: 0.0,
        };
        let turn = News::TurnEnded {
            turn: 2,
            took_ms: 2000,
            spent: spent(5, 1),
        };
        assert_eq!(ended, turn);
        let ended = apply(&mut activity, &exit("s"), 6500).unwrap();
        let whole = News::LoopEnded {
            turns: 2,
            took_ms: 5500,
            spent: spent(15, 2),
        };
        assert_eq!(ended, whole);
        assert_eq!(activity.current(6500), None);
    }

    #[test]
    fn calls_are_shown_while_they_run_and_told_when_they_end() {
        let mut activity = Activity::default();
        apply(&mut activity, &start("s", 1), 0);
        assert_eq!(apply(&mut activity, &call("1"), 1), None);
        assert_eq!(activity.current(1).unwrap().doing, "asking m");
        assert_eq!(
            apply(&mut activity, &update("1", "in_progress"), 2),
            Some(News::Changed)
        );
        assert_eq!(activity.current(2).unwrap().doing, "read a.rs");
        apply(&mut activity, &call("2"), 3);
        apply(&mut activity, &update("2", "in_progress"), 3);
        assert_eq!(activity.current(3).unwrap().doing, "2 calls: read a.rs");
        let ended = |error: Option<&str>| {
            Some(News::CallEnded(EndedCall {
                name: "read".to_owned(),
                told: "a.rs".to_owned(),
                took_ms: Some(7),
                error: error.map(str::to_owned),
            }))
        };
        assert_eq!(
            apply(&mut activity, &update("1", "completed"), 4),
            ended(None)
        );
        let failed = apply(&mut activity, &update("2", "failed"), 5);
        assert_eq!(failed, ended(Some("no such file")));
        assert_eq!(activity.current(5).unwrap().doing, "asking m");
    }

    #[test]
    fn whichever_did_something_last_is_shown_and_the_others_are_counted() {
        let mut activity = Activity::default();
        for session in ["a", "b", "c"] {
            apply(&mut activity, &start(session, 1), 0);
        }
        apply(&mut activity, &start("a", 7), 1);
        let current = activity.current(1).unwrap();
        assert_eq!((current.turn, current.others), (7, 2));
    }

    #[test]
    fn a_loop_that_waits_between_turns_is_not_shown_for_long() {
        let mut activity = Activity::default();
        apply(&mut activity, &start("s", 1), 0);
        apply(&mut activity, &end("s", 1, 1), 100);
        assert!(activity.current(2100).is_some());
        assert!(activity.current(2101).is_none());
    }

    #[test]
    fn candidates_are_no_calls() {
        let mut activity = Activity::default();
        apply(&mut activity, &start("s", 1), 0);
        let aborted = event(json!({"type": "tool_call_update", "session_id": "s",
            "tool_call_id": "c", "tool_name": "", "status": "failed", "raw_output": null,
            "error": "no", "parsing": false}));
        assert_eq!(apply(&mut activity, &aborted, 1), None);
    }
}
