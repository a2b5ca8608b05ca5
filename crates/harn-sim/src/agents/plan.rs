//! What a seed decides before anything happens.

use serde_json::{Map, Value, json};

use crate::disk::{Fault, FaultKind};
use crate::random::Random;

/// What a seed decides before anything happens.
pub(super) struct Plan {
    pub(super) sessions: Vec<SessionPlan>,
    pub(super) log: Option<LogPlan>,
    /// Whether there is a host.
    pub(super) has_host: bool,
    /// Whether hooks see the calls.
    pub(super) has_hooks: bool,
    /// Whether agents start agents.
    pub(super) has_children: bool,
}

/// Where sessions are kept.
#[derive(Clone, Debug)]
pub(super) enum LogPlan {
    Memory,
    /// On a disk that breaks.
    Disk(Vec<Fault>),
}

/// What happens in a session before its good run.
pub(super) struct SessionPlan {
    pub(super) id: String,
    pub(super) runs: Vec<RunPlan>,
    /// The options of the run that has to end well.
    pub(super) last: RunPlan,
    pub(super) readers: usize,
}

/// One loop.
#[derive(Clone, Debug)]
pub(super) struct RunPlan {
    pub(super) provider: &'static str,
    pub(super) format: &'static str,
    pub(super) options: Map<String, Value>,
    pub(super) has_tools: bool,
    pub(super) callback: bool,
    /// The run is dropped when it has waited that often.
    pub(super) cancel_at: Option<u64>,
}

const PROVIDERS: [&str; 3] = ["openai", "anthropic", "ollama"];
const FORMATS: [&str; 3] = ["native", "text", "json"];

impl Plan {
    pub(super) fn new(seed: u64) -> Self {
        let random = &mut Random::new(seed ^ 0x51_6d_00_00);
        let log = match random.below(10) {
            0..=5 => None,
            6..=7 => Some(LogPlan::Memory),
            _ => Some(LogPlan::Disk(faults(random))),
        };
        let sessions = random.between(1, 3);
        Self {
            sessions: (0..sessions).map(|at| session(at, random)).collect(),
            log,
            has_host: random.percent(25),
            has_hooks: random.percent(40),
            has_children: false,
        }
    }
}

fn faults(random: &mut Random) -> Vec<Fault> {
    // No crashes: those have to be looked at by the next process, which the log's own
    // campaign does.
    let kinds = [
        FaultKind::Fail,
        FaultKind::FailAfter,
        FaultKind::Short,
        FaultKind::ShortThenFail,
        FaultKind::FailForAWhile,
    ];
    let count = random.below(4);
    let fault = |_| Fault {
        at: random.between(8, 120),
        kind: *random.pick(&kinds),
    };
    (0..count).map(fault).collect()
}

fn session(at: u64, random: &mut Random) -> SessionPlan {
    // A session stays with its provider most of the time, as sessions do.
    let provider = random.pick(&PROVIDERS);
    let runs = random.between(1, 3);
    SessionPlan {
        id: format!("s{at}"),
        runs: (0..runs).map(|_| run(provider, random)).collect(),
        last: last_run(provider, random),
        readers: usize::try_from(random.below(3)).unwrap_or(0),
    }
}

fn run(provider: &'static str, random: &mut Random) -> RunPlan {
    let provider = match random.percent(10) {
        true => random.pick(&PROVIDERS),
        false => provider,
    };
    let format = random.pick(&FORMATS);
    let mut options = json!({
        "max_iterations": random.between(1, 6),
        "max_nudges": random.below(4),
        "llm_retries": random.below(3),
        "tool_retries": random.below(2),
        "native_tool_fallback": random.pick(&["allow", "allow_once", "reject"]),
    });
    let chances: [(u64, &str, Value); 8] = [
        (60, "persistent", json!(true)),
        (20, "turn_policy", json!({"require_action_or_yield": true})),
        (15, "stop_after_successful_tools", json!(["look"])),
        (10, "token_budget", json!(60)),
        (10, "exit_when_verified", json!(true)),
        (20, "tool_output_max_chars", json!(300)),
        (10, "require_successful_tools", json!(["change"])),
        (
            20,
            "task_ledger",
            json!({"root_task": "all", "deliverables": ["one"]}),
        ),
    ];
    for (chance, key, value) in chances {
        if random.percent(chance) {
            options[key] = value;
        }
    }
    if random.percent(25) {
        options["auto_compact"] = json!(true);
        options["compact_threshold"] = json!(random.between(60, 400));
        options["compact_keep_last"] = json!(random.below(6));
        options["compact_strategy"] = json!(random.pick(&["truncate", "observation_mask", "llm"]));
    }
    if random.percent(10) {
        options["daemon"] = json!(true);
        options["wake_interval_ms"] = json!(100);
        options["idle_watchdog_attempts"] = json!(2);
    }
    RunPlan {
        provider,
        format,
        options: options.as_object().cloned().unwrap_or_default(),
        has_tools: random.percent(90),
        callback: random.percent(15),
        cancel_at: random.percent(45).then(|| random.between(0, 60)),
    }
}

fn last_run(provider: &'static str, random: &mut Random) -> RunPlan {
    let format: &&'static str = random.pick(&FORMATS);
    RunPlan {
        provider,
        format,
        options: Map::new(),
        has_tools: true,
        callback: false,
        cancel_at: None,
    }
}
