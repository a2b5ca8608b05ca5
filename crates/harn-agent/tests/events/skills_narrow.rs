//! Skills take tools away and never give any back.
//!
//! The union of what skills allow may be wider than what one of them allows: a skill with `*`,
//! or one that a model loads, lifts the narrowing of another. What a policy forbids stays
//! forbidden whatever skills say, and that is what is shown here.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::stage::{Stage, calling, request, saying, tool_doing};

const TOOLS: [&str; 5] = ["a", "b", "c", "d", "e"];

/// What a skill may say about tools.
const ALLOWED: [&str; 9] = [
    "a",
    "b",
    "c",
    "d",
    "e",
    "*",
    "namespace:x",
    "nobody",
    "load_skill",
];

/// A list of what a skill allows.
fn allowed() -> impl Strategy<Value = Vec<&'static str>> {
    prop::collection::vec(prop::sample::select(&ALLOWED[..]), 0..4)
}

/// A skill with what it allows, and whether its words fit the prompt.
fn skill() -> impl Strategy<Value = (Vec<&'static str>, bool)> {
    (allowed(), any::<bool>())
}

/// Everything about a run.
#[derive(Clone, Debug)]
struct Case {
    /// What the policy leaves; `None`: there is no policy.
    policy: Option<Vec<&'static str>>,
    skills: Vec<(Vec<&'static str>, bool)>,
    /// Which skill is loaded, and which tool is called, turn by turn.
    turns: Vec<(Option<usize>, &'static str)>,
    top_n: usize,
}

fn case() -> impl Strategy<Value = Case> {
    let policy = prop::collection::vec(prop::sample::select(&TOOLS[..]), 1..4);
    let turn = (
        prop::option::of(0..3_usize),
        prop::sample::select(&TOOLS[..]),
    );
    (
        prop::option::of(policy),
        prop::collection::vec(skill(), 0..3),
        prop::collection::vec(turn, 1..6),
        1..3_usize,
    )
        .prop_map(|(policy, skills, turns, top_n)| Case {
            policy,
            skills,
            turns,
            top_n,
        })
}

/// The tools that ran.
async fn run(case: &Case, with_skills: bool) -> BTreeSet<String> {
    let mut answers = Vec::new();
    for (load, tool) in &case.turns {
        if let Some(skill) = load {
            answers.push(calling("load_skill", json!({"name": format!("s{skill}")})));
        }
        answers.push(calling(tool, json!({})));
    }
    answers.push(saying("Fine."));
    let stage = Stage::proving(&[], &answers);
    let skills = case.skills.iter().enumerate().map(|(at, (allowed, fits))| {
        let description = if *fits { "Ship" } else { "Nothing" };
        json!({"name": format!("s{at}"), "description": description, "allowed_tools": allowed})
    });
    let skills: Vec<Value> = skills.filter(|_| with_skills).collect();
    let mut options = json!({
        "tool_format": "native", "skills": skills, "loop_detect_warn": 0,
        "skill_match": {"top_n": case.top_n},
    });
    if let Some(policy) = &case.policy {
        options["policy"] = json!({"tools": policy});
    }
    let mut request = request(options);
    request.prompt = "ship".to_owned();
    let ran: Arc<Mutex<BTreeSet<String>>> = Arc::default();
    for name in TOOLS {
        let ran = Arc::clone(&ran);
        request.tools.push(tool_doing(name, move || {
            ran.lock().unwrap().insert(name.to_owned());
            Ok("done".to_owned())
        }));
    }
    stage.run_with(request).await.unwrap();
    drop(stage);
    let ran = ran.lock().unwrap();
    ran.clone()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// Whatever skills are active or loaded, no tool runs that the policy forbids, and none
    /// that would not have run without skills.
    #[test]
    fn a_skill_never_widens_a_policy(case in case()) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .unwrap();
        let with = runtime.block_on(run(&case, true));
        let without = runtime.block_on(run(&case, false));
        prop_assert!(with.is_subset(&without), "{with:?} is more than {without:?}");
        if let Some(policy) = &case.policy {
            prop_assert!(with.iter().all(|name| policy.contains(&&**name)));
        }
    }
}
