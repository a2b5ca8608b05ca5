//! The phase that decides which skills are active, and what follows from it for the turn.
//!
//! ```text
//! last words of the user ─► candidates ─► the best ─┬─ left: deactivate
//!                                                   └─ came: activate
//! active + loaded ─► View: what the prompt says, which tools are in view
//! ```

mod activation;
mod bodies;
mod renewal;
mod view;

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use harn_llm::Messages;
use harn_llm::desk::Thrown;
use serde_json::{Value, json};

use super::Run;
use super::turn::Turn;
use crate::runtime::Runtime;
use crate::session::Change;
use crate::skills::{Candidate, Matcher, Skill, SkillOptions, Strategy, host};
use bodies::Bodies;

pub(super) use renewal::renew;
pub(super) use view::View;

/// The skills of a loop.
pub(super) struct RunSkills {
    pub(super) options: SkillOptions,
    /// Made when it is first asked: a loop that goes on with skills may never ask.
    matcher: OnceLock<Matcher>,
    /// What was read so far.
    bodies: Bodies,
    /// What the turn that runs sees. It follows from the session as it was when the turn
    /// began: a skill that is loaded in a turn counts from the next one on.
    view: Mutex<Arc<View>>,
    /// The version of the host's skills that it knows.
    host_version: u64,
    /// Whether it was given all skills there are. Then it has those too that come later.
    has_all: bool,
}

impl RunSkills {
    pub(super) fn new(options: SkillOptions, runtime: &Runtime) -> Self {
        let library = runtime.skill_library();
        let mut ids = library.ids();
        let bridge = runtime.lending_host();
        Self {
            has_all: options.is_given && ids.all(|id| options.registry.get(id).is_some()),
            host_version: bridge.map_or(0, |bridge| bridge.skills_version()),
            matcher: OnceLock::new(),
            options,
            bodies: Bodies::default(),
            view: Mutex::default(),
        }
    }

    /// What the turn that runs sees.
    pub(super) fn view(&self) -> Arc<View> {
        let view = self.view.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&view)
    }

    fn set_view(&self, view: View) {
        let mut current = self.view.lock().unwrap_or_else(PoisonError::into_inner);
        *current = Arc::new(view);
    }

    /// The skills with these ids.
    fn with_ids<'a>(&'a self, ids: &'a [String]) -> impl Iterator<Item = &'a Skill> {
        ids.iter().filter_map(|id| self.options.registry.get(id))
    }
}

/// A loop begins: it starts with the skills that were active at the end of the last one, as far
/// as it still has them.
pub(super) async fn restore(run: &Run<'_>) {
    let stored = run.session.read(|state| state.active_skills.clone());
    if stored.is_empty() {
        return;
    }
    let kept: Vec<String> = run.skills.with_ids(&stored).map(Skill::id).collect();
    for skill in run.skills.with_ids(&kept) {
        activation::bind_servers(run, skill).await;
    }
    if kept != stored {
        run.session.record(Change::SkillsSet { names: kept });
    }
}

/// Decides which skills are active, and what the turn sees because of them.
pub(super) async fn match_skills(run: &Run<'_>, turn: Turn) -> Result<Turn, Thrown> {
    activation::let_go(run, &turn).await;
    if run.skills.options.registry.is_empty() {
        run.skills.set_view(View::default());
        return Ok(turn);
    }
    if is_due(run, &turn) {
        let (candidates, strategy) = candidates(run).await;
        note_match(run, &turn, &candidates, strategy);
        activation::change_to(run, &turn, &candidates).await;
    }
    let view = view::of_turn(run).await;
    run.skills.set_view(view);
    Ok(turn)
}

/// Whether this turn matches: the first one unless skills were restored, later ones only if a
/// choice is not meant to last.
fn is_due(run: &Run<'_>, turn: &Turn) -> bool {
    if !run.skills.options.is_sticky {
        return true;
    }
    turn.iteration == 0 && run.session.read(|state| state.active_skills.is_empty())
}

/// The skills that fit, the best first, and how that was decided.
async fn candidates(run: &Run<'_>) -> (Vec<Candidate>, Strategy) {
    let options = &run.skills.options;
    let prompt = run.session.read(|state| last_words(&state.messages));
    let by_host = match options.strategy {
        Strategy::Host | Strategy::Embedding => ask_host(run, &prompt).await,
        Strategy::Metadata | Strategy::Bm25 => None,
    };
    let (mut candidates, strategy) = match (by_host, options.strategy) {
        (Some(candidates), strategy) => (candidates, strategy),
        (None, Strategy::Bm25) => (rank(run, &prompt), Strategy::Bm25),
        (None, _) => (rank(run, &prompt), Strategy::Metadata),
    };
    if let Some(least) = options.min_score {
        candidates.retain(|candidate| candidate.score >= least);
    }
    (candidates, strategy)
}

fn rank(run: &Run<'_>, prompt: &str) -> Vec<Candidate> {
    let RunSkills {
        options, matcher, ..
    } = &run.skills;
    let matcher = matcher.get_or_init(|| Matcher::new(&options.registry, options.strategy));
    matcher.rank(prompt, &options.working_files)
}

/// What the host finds fitting; `None` if there is no host, or none that knows.
async fn ask_host(run: &Run<'_>, prompt: &str) -> Option<Vec<Candidate>> {
    let options = &run.skills.options;
    let fall_back = |why: &str| {
        let text = format!("the host matched no skills ({why}); \"metadata\" is used instead");
        run.runtime.warn("agent.skill_match", &text);
    };
    let Some(bridge) = &run.runtime.bridge else {
        fall_back("there is none");
        return None;
    };
    let question = host::question(options, prompt);
    match bridge.request("skill/match", question).await {
        Ok(answer) => {
            let found = host::candidates(options, &answer);
            if found.is_none() {
                fall_back("its answer has no matches");
            }
            found
        }
        Err(error) => {
            fall_back(&error.to_string());
            None
        }
    }
}

/// The last message of a user that is a text.
fn last_words(messages: &Messages) -> String {
    let mut newest_first = messages.iter().rev();
    let words = newest_first.find_map(|message| {
        let is_user = message["role"] == "user";
        message["content"].as_str().filter(|_| is_user)
    });
    words.unwrap_or_default().to_owned()
}

fn note_match(run: &Run<'_>, turn: &Turn, candidates: &[Candidate], strategy: Strategy) {
    let options = &run.skills.options;
    let skills = options.registry.skills();
    let told = candidates.iter().map(|candidate| {
        json!({
            "name": skills[candidate.at].id(),
            "score": candidate.score,
            "reason": candidate.reason,
        })
    });
    let metadata = json!({
        "strategy": strategy.word(),
        "iteration": turn.iteration,
        "reassess": turn.iteration > 0,
        "candidates": told.collect::<Vec<Value>>(),
        "working_files": options.working_files,
    });
    run.note("skill_matched", "system", "internal", "", Some(metadata));
}
