//! Whether a loop that would end may end.

use std::sync::Arc;

use harn_events::AgentEvent;
use harn_llm::desk::Thrown;
use harn_llm::grammar::visible;
use serde_json::{Map, Value, json};

use super::super::Run;
use super::options::{Config, Given, whole};
use super::rhythm::{Beat, Rhythm};
use super::{Facts, judge};
use crate::callback::Callback;

/// How often all judges together may refuse an end.
const VETOES_MAX: u64 = 20;

/// How often one model may.
const VETOES_OF_A_JUDGE_MAX: u64 = 5;

/// How much of a conversation a judge reads.
const TRANSCRIPT_CHARS_MAX: usize = 60_000;

/// Who has a say.
pub(super) struct Judges {
    verify: Option<Arc<dyn Callback>>,
    models: Vec<ModelJudge>,
    vetoes_max: u64,
}

struct ModelJudge {
    name: &'static str,
    /// Why the loop ends when it has refused too often.
    cap_reason: &'static str,
    vetoes_max: u64,
    config: Map<String, Value>,
    timeout_ms: Option<u64>,
    /// When it is asked although the model does not propose to end.
    rhythm: Option<Rhythm>,
}

/// What came of asking them.
#[derive(Default)]
pub(super) struct Ruling {
    /// Whether the model proposed to end.
    pub(super) is_proposed: bool,
    pub(super) is_vetoed: bool,
    pub(super) verdict: Option<String>,
    pub(super) feedback: Option<String>,
    /// The status with which the loop ends although it was refused.
    pub(super) end: Option<String>,
}

/// What one of them said.
struct Verdict {
    is_done: bool,
    reasoning: String,
    next_step: Option<String>,
    /// Whether it comes from whom was asked.
    was_heard: bool,
}

impl Judges {
    pub(super) fn read(given: Given<'_>) -> Result<Self, Thrown> {
        let mut models = Vec::new();
        let known = [
            (
                ["verify_completion_judge"].as_slice(),
                "completion_judge_cap_reached",
            ),
            (
                ["turn_end_condition", "done_judge"].as_slice(),
                "done_judge_cap_reached",
            ),
        ];
        for (keys, cap_reason) in known {
            for key in keys {
                let Some(config) = given.config(key)? else {
                    continue;
                };
                if given.is_on(key)? {
                    models.push(ModelJudge::read(key, (keys[0], cap_reason), config)?);
                }
                break;
            }
        }
        models.retain(|judge| judge.vetoes_max > 0);
        Ok(Self {
            verify: given.closure("verify_completion")?,
            models,
            vetoes_max: given.positive("max_verify_attempts")?.unwrap_or(VETOES_MAX),
        })
    }

    /// Those that are asked although the model does not propose to end.
    fn with_rhythm(&self) -> impl Iterator<Item = (&ModelJudge, &Rhythm)> {
        let judges = self.models.iter();
        judges.filter_map(|judge| Some((judge, judge.rhythm.as_ref()?)))
    }

    pub(super) fn is_on(&self) -> bool {
        self.verify.is_some() || !self.models.is_empty()
    }
}

impl ModelJudge {
    fn read(
        key: &str,
        (name, cap_reason): (&'static str, &'static str),
        config: Config,
    ) -> Result<Self, Thrown> {
        let vetoes_max = whole(&config.options, key, "max_invocations", 0)?;
        Ok(Self {
            name,
            cap_reason,
            vetoes_max: vetoes_max.unwrap_or(VETOES_OF_A_JUDGE_MAX),
            timeout_ms: whole(&config.options, key, "timeout_ms", 1)?,
            rhythm: Rhythm::read(key, &config)?,
            config: config.options,
        })
    }
}

/// Asks the judges whose time has come although the loop would go on. Gives the one that ends it.
/// What such a judge says against an end is no veto, because nobody has proposed one.
pub(super) async fn ended_by_rhythm(
    run: &Run<'_>,
    facts: &Facts,
) -> Result<Option<&'static str>, Thrown> {
    for (judge, rhythm) in run.controls.completion.with_rhythm() {
        let beat = beat(run, facts, judge);
        if !rhythm.is_due(beat, || payload(run, facts)).await? {
            continue;
        }
        let began = run.runtime.now_ms();
        let verdict = ask_model(run, facts, judge).await;
        told(run, facts, (judge.name, began, true), &verdict).await;
        if verdict.is_done && verdict.was_heard {
            return Ok(Some(judge.name));
        }
    }
    Ok(None)
}

/// How often and when a judge was asked by its rhythm.
fn beat(run: &Run<'_>, facts: &Facts, judge: &ModelJudge) -> Beat {
    let verdicts = run.control_state().verdicts;
    let by_rhythm = |noted: &&Value| noted["cadence"] == true && noted["trigger"] == judge.name;
    let asked: Vec<&Value> = verdicts.iter().filter(by_rhythm).collect();
    Beat {
        iterations: u64::try_from(facts.iteration + 1).unwrap_or(u64::MAX),
        last: asked.last().and_then(|noted| noted["iteration"].as_u64()),
        asked: u64::try_from(asked.len()).unwrap_or(u64::MAX),
        is_stalled: facts.successful.is_empty(),
    }
}

/// Asks everybody who has a say, until somebody refuses. `asked` has said that the loop may end.
pub(super) async fn rule(
    run: &Run<'_>,
    facts: &Facts,
    asked: Option<&str>,
) -> Result<Ruling, Thrown> {
    let judges = &run.controls.completion;
    let mut ruling = Ruling {
        is_proposed: true,
        ..Ruling::default()
    };
    if let Some(verify) = &judges.verify {
        let began = run.runtime.now_ms();
        let answer = verify.call(vec![payload(run, facts)]).await?;
        let verdict = of_function(&answer);
        told(run, facts, ("verify_completion", began, false), &verdict).await;
        ruling.take(&verdict);
        if !verdict.is_done {
            refuse(run, &mut ruling, ("verify_completion", None), &verdict);
            return Ok(ruling);
        }
    }
    for judge in judges
        .models
        .iter()
        .filter(|judge| asked != Some(judge.name))
    {
        let began = run.runtime.now_ms();
        let verdict = ask_model(run, facts, judge).await;
        told(run, facts, (judge.name, began, false), &verdict).await;
        ruling.take(&verdict);
        if !verdict.is_done {
            refuse(run, &mut ruling, (judge.name, Some(judge)), &verdict);
            return Ok(ruling);
        }
    }
    Ok(ruling)
}

impl Ruling {
    fn take(&mut self, verdict: &Verdict) {
        self.verdict = Some(verdict.word().to_owned());
    }
}

impl Verdict {
    fn word(&self) -> &'static str {
        match self.is_done {
            true => "done",
            false => "continue",
        }
    }

    /// What the model is told.
    fn feedback(&self) -> String {
        let parts = [Some(&self.reasoning), self.next_step.as_ref()];
        let parts = parts.into_iter().flatten();
        let parts: Vec<&str> = parts
            .map(|part| part.trim())
            .filter(|part| !part.is_empty())
            .collect();
        match parts.is_empty() {
            true => "The task is not finished yet. Go on until it is.".to_owned(),
            false => parts.join("\n"),
        }
    }
}

/// The loop goes on, or ends because it was refused too often.
fn refuse(
    run: &Run<'_>,
    ruling: &mut Ruling,
    (name, judge): (&str, Option<&ModelJudge>),
    verdict: &Verdict,
) {
    let judges = &run.controls.completion;
    run.set_controls(|state| *state.vetoes.entry(name.to_owned()).or_default() += 1);
    let vetoes = run.control_state().vetoes;
    let own = vetoes.get(name).copied().unwrap_or(0);
    let all: u64 = vetoes.values().sum();
    ruling.is_vetoed = true;
    let cap = match judge {
        Some(judge) if own >= judge.vetoes_max => Some(judge.cap_reason),
        _ if all >= judges.vetoes_max => Some("completion_judge_cap_reached"),
        _ => None,
    };
    if let Some(reason) = cap {
        run.stop_because(reason);
        ruling.end = Some("completion_unverified".to_owned());
        return;
    }
    let feedback = verdict.feedback();
    run.tell(name, &feedback);
    ruling.feedback = Some(feedback);
}

async fn told(
    run: &Run<'_>,
    facts: &Facts,
    (trigger, began, by_rhythm): (&str, i64, bool),
    verdict: &Verdict,
) {
    let took = run.runtime.now_ms() - began;
    let judge_duration_ms = u64::try_from(took).unwrap_or(0);
    let mut noted = json!({
        "iteration": facts.iteration + 1,
        "verdict": verdict.word(),
        "reasoning": verdict.reasoning,
        "next_step": verdict.next_step,
        "judge_duration_ms": judge_duration_ms,
        "trigger": trigger,
    });
    if by_rhythm {
        noted["cadence"] = json!(true);
    }
    run.set_controls(|state| state.verdicts.push(noted));
    run.emit(AgentEvent::JudgeDecision {
        session_id: run.id(),
        iteration: facts.iteration + 1,
        verdict: verdict.word().to_owned(),
        reasoning: verdict.reasoning.clone(),
        next_step: verdict.next_step.clone(),
        judge_duration_ms,
        trigger: Some(trigger.to_owned()),
    })
    .await;
}

/// What a function of the program said: nil, an empty text and true accept.
fn of_function(answer: &Value) -> Verdict {
    let (is_done, reasoning) = match answer {
        Value::Bool(accepted) => (*accepted, ""),
        Value::String(feedback) => (feedback.is_empty(), feedback.as_str()),
        _ => (true, ""),
    };
    Verdict {
        is_done,
        reasoning: reasoning.to_owned(),
        next_step: None,
        was_heard: true,
    }
}

/// What is asked about.
fn payload(run: &Run<'_>, facts: &Facts) -> Value {
    let mut new_id = || run.runtime.new_id();
    let transcript = run.session.transcript(&mut new_id).to_string();
    run.session.read(|state| {
        json!({
            "session_id": run.session.id(),
            "task": run.task(),
            "stop_reason": "done",
            "text": state.run.total_text,
            "visible_text": visible::sanitize(&state.run.last_text),
            "last_text": state.run.last_text,
            "transcript": transcript,
            "all_tools_used": state.run.tools_used,
            "successful_tools_used": state.run.successful_tools,
            "iteration": facts.iteration,
        })
    })
}

/// A judge that cannot be asked does not hold the loop up.
async fn ask_model(run: &Run<'_>, facts: &Facts, judge: &ModelJudge) -> Verdict {
    let payload = payload(run, facts);
    let text = |key: &str| payload[key].as_str().unwrap_or_default();
    let rubric = judge.config.get("rubric").and_then(Value::as_str);
    let mut system = "You decide whether an agent has finished its task. Look at what was asked \
                      and at what the agent did, not at what it claims. Answer with the verdict \
                      `done` or `continue`, your reasoning in one or two sentences, and, if it \
                      has to go on, the next step."
        .to_owned();
    if let Some(rubric) = rubric.filter(|rubric| !rubric.is_empty()) {
        system.push_str("\n\n");
        system.push_str(rubric);
    }
    let transcript = tail(text("transcript"), TRANSCRIPT_CHARS_MAX);
    let prompt = format!(
        "Task:\n{}\n\nTranscript:\n{transcript}\n\nLast answer:\n{}",
        text("task"),
        text("last_text")
    );
    let case = judge::Case {
        system,
        prompt,
        schema: json!({
            "type": "object",
            "properties": {
                "verdict": {"type": "string", "enum": ["done", "continue"]},
                "reasoning": {"type": "string"},
                "next_step": {"type": "string"},
            },
            "required": ["verdict", "reasoning"],
        }),
        config: &judge.config,
        timeout_ms: judge.timeout_ms,
    };
    match judge::ask(run, case).await {
        Ok(said) => {
            let text = |key: &str| said[key].as_str().unwrap_or_default().trim().to_owned();
            Verdict {
                is_done: text("verdict") != "continue",
                reasoning: text("reasoning"),
                next_step: Some(text("next_step")).filter(|step| !step.is_empty()),
                was_heard: true,
            }
        }
        Err(error) => Verdict {
            is_done: true,
            reasoning: format!("the judge could not be asked: {error}"),
            next_step: None,
            was_heard: false,
        },
    }
}

/// The end of a text that is too long.
fn tail(text: &str, chars_max: usize) -> &str {
    let start = text.char_indices().rev().nth(chars_max.saturating_sub(1));
    start.map_or(text, |(at, _)| &text[at..])
}
