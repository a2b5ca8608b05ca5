//! Every option of a loop is read: each of them changes something that one can see.
//!
//! A loop is run twice on the same script, with an option and without it. What the model is
//! asked, what is told, what comes of it and how long it takes must differ, or the option is
//! taken and ignored.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use harn_llm::Category;
use harn_llm::desk::Thrown;
use harn_options::{AGENT_LOOP, Holds, OptionDict, Status};
use serde_json::{Value, json};

use super::refuse_unknown;
use crate::callback::{Callback, Functions};
use crate::runtime::LoopRequest;
use crate::testing::Program;
use crate::tool::{FunctionTool, Tool, ToolError};

const HOUR: Duration = Duration::from_secs(3600);

/// An option, what has to stand beside it, and a value that makes a difference.
struct Probe {
    key: &'static str,
    beside: Value,
    value: Value,
    script: Script,
}

/// What the model says. Afterwards it says what the mock says by itself.
#[derive(Clone, Copy)]
enum Script {
    /// It calls a tool twice in the same way, and is done.
    Calls,
    /// It only talks.
    Talks,
    /// It calls a tool that cannot be reached.
    CallsInVain,
    /// It writes a call down although there is a channel for calls.
    WritesCalls,
    /// It cannot be asked at first.
    Fails,
}

impl Script {
    fn answers(self) -> Vec<Value> {
        let call = |name: &str| json!({"tool_calls": [{"name": name, "arguments": {}}]});
        match self {
            Self::Calls => vec![call("look"), call("look"), json!({"text": "I looked."})],
            Self::Talks => vec![json!({"text": "Well.\nnext_phase: other"})],
            Self::CallsInVain => vec![call("reach"), json!({"text": "No luck."})],
            Self::Fails => {
                let fails = || json!({"error": {"category": "rate_limit", "message": "Later."}});
                vec![fails(), fails(), fails(), json!({"text": "Here I am."})]
            }
            Self::WritesCalls => vec![json!({"text": "<tool_call>\nlook({})\n</tool_call>"})],
        }
    }
}

fn probe(key: &'static str, value: Value) -> Probe {
    Probe {
        key,
        beside: json!({}),
        value,
        script: Script::Calls,
    }
}

impl Probe {
    fn beside(mut self, options: Value) -> Self {
        self.beside = options;
        self
    }

    fn says(mut self, script: Script) -> Self {
        self.script = script;
        self
    }
}

/// A function that always gives this.
fn giving(value: Value) -> Value {
    json!({"function that gives": value})
}

/// Options that another test looks at: what they do takes files, hosts or a whole program.
const ELSEWHERE: &[(&str, &str)] = &[
    ("command_policy", "conformance/command-policy"),
    (
        "consolidate_on_idle",
        "conformance/agents/daemon-consolidates-on-idle.harn",
    ),
    (
        "tool_format_override_reason",
        "crates/harn-agent/tests/events/options.rs",
    ),
    (
        "watch_paths",
        "conformance/agents/daemon-watches-paths.harn",
    ),
];

fn probes() -> Vec<Probe> {
    let mut probes = turns();
    probes.extend(endings());
    probes.extend(compactions());
    probes.extend(contents());
    probes.extend(limits());
    probes.extend(judges());
    probes
}

/// How many turns there are, and what is done between them.
fn turns() -> Vec<Probe> {
    let persistent = || json!({"persistent": true});
    let daemon = || json!({"daemon": true, "max_iterations": 3});
    vec![
        probe("profile", json!("completer")),
        probe("max_iterations", json!(1)),
        probe("max_nudges", json!(0))
            .beside(persistent())
            .says(Script::Talks),
        probe("tool_retries", json!(2)).says(Script::CallsInVain),
        probe("tool_backoff_ms", json!(5))
            .beside(json!({"tool_retries": 2}))
            .says(Script::CallsInVain),
        probe("persistent", json!(true)).says(Script::Talks),
        probe("loop_until_done", json!(true)).says(Script::Talks),
        probe("nudge", json!("Move on."))
            .beside(persistent())
            .says(Script::Talks),
        probe("done_sentinel", json!("FIN")).beside(persistent()),
        probe("break_unless_phase", json!("this"))
            .beside(persistent())
            .says(Script::Talks),
        probe("exit_when_verified", json!(true)).beside(persistent()),
        probe("native_tool_fallback", json!("reject")).says(Script::WritesCalls),
        probe("daemon", json!(true)),
        probe("persist_path", json!("/dev/null/daemon.json")).beside(daemon()),
        probe("resume_path", json!("target/no-such-daemon.json")).beside(daemon()),
        probe("wake_interval_ms", json!(10)).beside(daemon()),
        probe("idle_watchdog_attempts", json!(1))
            .beside(json!({"daemon": true, "watch_paths": ["target/nothing"]})),
        probe("post_turn_callback", giving(json!("Look again."))),
        probe("context_callback", giving(json!({"system": "Be brief."}))),
        probe("context_filter", giving(json!({"system": "Be brief."}))),
        probe("agent_await_resumption", json!(true)),
        probe("progress_tool", json!(true)),
        probe(
            "tool_caller",
            giving(json!({"ok": true, "result": "other"})),
        ),
    ]
}

/// When a loop ends, and as what.
fn endings() -> Vec<Probe> {
    let promised = || json!({"deliverables": ["a page"], "persistent": true});
    vec![
        probe("stop_after_successful_tools", json!(["look"])),
        probe("require_successful_tools", json!(["reach"])),
        probe("turn_policy", json!({"require_action_or_yield": true})),
        probe("task_ledger", json!({"deliverables": ["a page"]})),
        probe("root_task", json!("Write.")).beside(promised()),
        probe("deliverables", json!(["a page"])),
        probe("rationale", json!("It is short.")).beside(promised()),
        probe("observations", json!(["It is late."])).beside(promised()),
        probe("loop_control", giving(json!({"action": "stop"}))),
        probe(
            "iteration_budget",
            json!({"mode": "fixed", "total_cost_usd": 0}),
        ),
        probe("deadline_ms", json!(0)),
        probe("final_wrapup", json!(true)).beside(json!({"max_iterations": 1})),
        probe("token_budget", json!(1)),
    ]
}

fn compactions() -> Vec<Probe> {
    let legacy = || json!({"auto_compact": true});
    let long = "a long story ".repeat(80);
    let masked = json!({
        "auto_compact": true, "compact_threshold": 1, "compact_keep_last": 1,
        "messages": [
            {"role": "user", "content": long}, {"role": "tool", "content": long},
            {"role": "user", "content": "And now?"},
        ],
    });
    let summarised = json!({"compaction": "summarize_all", "compact_threshold": 1});
    vec![
        probe("auto_compact", json!(true)).beside(json!({"compact_strategy": "bogus"})),
        probe("compaction", json!("bogus")),
        probe("compact_threshold", json!(-1)),
        probe("compact_strategy", json!("bogus")).beside(legacy()),
        probe("compact_callback", json!(5)).beside(legacy()),
        probe("compact_keep_first", json!(-1)),
        probe("compact_keep_last", json!(-1)),
        probe("hard_limit_tokens", json!(-1)),
        probe("hard_limit_strategy", json!("bogus")).beside(legacy()),
        probe("tool_output_max_chars", json!(-1)),
        probe("summarize_prompt", json!("target/no-such-prompt.txt")).beside(summarised),
        probe(
            "mask_callback",
            giving(json!(["[masked]", "[masked]", "[masked]"])),
        )
        .beside(masked)
        .says(Script::Talks),
        probe("compress_callback", giving(json!("short")))
            .beside(json!({"tool_output_max_chars": 1})),
    ]
}

/// What the model sees.
fn contents() -> Vec<Probe> {
    let skill = json!({"name": "look", "description": "look around", "paths": ["*.md"]});
    let skills = json!({"_type": "skill_registry", "skills": [skill]});
    let with_skills = || json!({"skills": skills});
    vec![
        probe("tool_examples", json!("look({})")).beside(json!({"tool_format": "text"})),
        probe("skills", skills.clone()),
        probe("skill_match", json!({"strategy": "bm25"})).beside(with_skills()),
        probe("working_files", json!(["a.md"])).beside(with_skills()),
        probe("mcp_servers", json!(["nobody"])),
        probe("mutation_scope", json!("apply_workspace")),
        probe("audit", json!({"run_id": "r"})),
        probe("transcript_projection", json!("bogus")),
        probe("llm_transcript_dir", json!("/dev/null/nowhere")),
    ]
}

/// What may be done.
fn limits() -> Vec<Probe> {
    vec![
        probe("policy", json!({"tools": ["reach"]})),
        probe("approval_policy", json!({"auto_deny": ["look"]})),
        probe("permissions", json!({"deny": ["look"]})),
        probe("loop_detect_warn", json!(1)),
        probe("loop_detect_block", json!(1)),
        probe("loop_detect_skip", json!(1)),
    ]
}

fn judges() -> Vec<Probe> {
    let refusing = || json!({"verify_completion": giving(json!("No."))});
    let outside = giving(json!({"label": "out_of_scope", "confidence": 1.0}));
    vec![
        probe("verify_completion", giving(json!("No."))),
        probe("verify_completion_judge", json!(true)),
        probe("turn_end_condition", json!(true)),
        probe("done_judge", json!(true)),
        probe("max_verify_attempts", json!(1)).beside(refusing()),
        probe("structural_validator", giving(json!("No."))),
        probe("input_guardrail", giving(json!(true))),
        probe(
            "pre_turn_scope_classifier",
            json!({"enabled": true, "classifier": outside}),
        ),
    ]
}

/// Options inside of options, with the way to them.
fn inner_probes() -> Vec<Probe> {
    let adaptive = || json!({"iteration_budget": {"mode": "adaptive", "initial": 1, "max": 9}});
    let failing = || {
        let failures = json!({"consecutive_failures": {"max": 3}});
        json!({"iteration_budget": failures, "llm_retries": 0})
    };
    let skill = |name: &str| json!({"name": name, "description": format!("{name} around")});
    let skills = json!({"_type": "skill_registry", "skills": [skill("look"), skill("looks")]});
    let skilled = || json!({"skills": skills});
    let judged = || json!({"turn_end_condition": {}});
    let verified = || json!({"verify_completion_judge": {}});
    let scoped = || {
        let classifier = giving(json!({"label": "out_of_scope", "confidence": 0.7}));
        json!({"pre_turn_scope_classifier": {"enabled": true, "classifier": classifier}})
    };
    let projecting = |key| probe(key, giving(json!([{"role": "user", "content": "cut"}])));
    let collected = |key: &str, value: u64| json!({"transcript_projection": {"policy": "reachability_gc", key: value}});
    vec![
        probe("turn_policy.require_action_or_yield", json!(true)),
        probe("turn_policy.allow_done_sentinel", json!(false)).beside(json!({"persistent": true})),
        probe("turn_policy.max_prose_chars", json!(1)).says(Script::Talks),
        probe("compaction.type", json!("bogus")),
        probe("compaction.kind", json!("bogus")),
        probe("compaction.strategy", json!("bogus")),
        probe("compaction.keep_first_n", json!(-1)),
        probe("compaction.keep_first", json!(-1)),
        probe("compaction.keep_last_n", json!(-1)),
        probe("compaction.keep_last", json!(-1)),
        probe("task_ledger.root_task", json!("Write."))
            .beside(json!({"task_ledger": {"deliverables": ["a page"]}})),
        probe("task_ledger.deliverables", json!(["a page"])),
        probe("task_ledger.rationale", json!("It is short.")),
        probe("task_ledger.observations", json!(["It is late."])),
        probe("iteration_budget.mode", json!("adaptive")),
        probe("iteration_budget.initial", json!(1)),
        probe("iteration_budget.max", json!(1)).beside(adaptive()),
        probe("iteration_budget.extend_by", json!(1)).beside(adaptive()),
        probe("iteration_budget.progress_window", json!(0)).beside(adaptive()),
        probe("iteration_budget.expose_decisions", json!(false)).beside(adaptive()),
        probe("iteration_budget.wall_clock_ms", json!(0)),
        probe("iteration_budget.total_cost_usd", json!(0)),
        probe("iteration_budget.consecutive_failures", json!({"max": 9})).says(Script::Fails),
        probe("iteration_budget.consecutive_failures.max", json!(2))
            .beside(failing())
            .says(Script::Fails),
        probe(
            "iteration_budget.consecutive_failures.kinds",
            json!(["timeout"]),
        )
        .beside(failing())
        .says(Script::Fails),
        probe(
            "iteration_budget.consecutive_failures.paused_for_ms",
            json!(50),
        )
        .beside(failing())
        .says(Script::Fails),
        probe("skill_match.strategy", json!("bm25")).beside(skilled()),
        probe("skill_match.top_n", json!(2)).beside(skilled()),
        probe("skill_match.sticky", json!(false)).beside(skilled()),
        probe("skill_match.min_score", json!(50)).beside(skilled()),
        probe("turn_end_condition.enabled", json!(false)).beside(judged()),
        probe("turn_end_condition.provider", json!("nobody")).beside(judged()),
        probe("turn_end_condition.rubric", json!("Be strict.")).beside(judged()),
        probe("turn_end_condition.max_invocations", json!(0)).beside(judged()),
        probe("turn_end_condition.timeout_ms", json!(0)).beside(judged()),
        probe("turn_end_condition.every", json!(1)).beside(judged()),
        probe("turn_end_condition.when", json!("often")).beside(judged()),
        probe("turn_end_condition.min_iterations_before_first", json!(2)).beside(judged()),
        probe("turn_end_condition.cadence", json!({})).beside(judged()),
        probe("turn_end_condition.cadence.every", json!(2)),
        probe("turn_end_condition.cadence.when", json!("stalled")),
        probe(
            "turn_end_condition.cadence.min_iterations_before_first",
            json!(2),
        ),
        probe("turn_end_condition.cadence.max_invocations", json!(0)),
        probe("pre_turn_scope_classifier.enabled", json!(false)).beside(scoped()),
        probe("pre_turn_scope_classifier.classifier", giving(json!(5))).beside(scoped()),
        probe("pre_turn_scope_classifier.confidence_threshold", json!(0.9)).beside(scoped()),
        probe("pre_turn_scope_classifier.skip_main_turn", json!(false)).beside(scoped()),
        probe("pre_turn_scope_classifier.timeout_ms", json!(0)).beside(scoped()),
        probe("pre_turn_scope_classifier.context_window", json!(1)).beside(json!({
            "pre_turn_scope_classifier": {"enabled": true},
            "messages": [
                {"role": "user", "content": "a story"}, {"role": "assistant", "content": "Yes."},
                {"role": "user", "content": "And now?"},
            ],
        })),
        probe("verify_completion_judge.enabled", json!(false)).beside(verified()),
        probe("verify_completion_judge.rubric", json!("Be strict.")).beside(verified()),
        probe("verify_completion_judge.max_invocations", json!(0)).beside(verified()),
        probe("verify_completion_judge.timeout_ms", json!(0)).beside(verified()),
        probe("progress_tool.enabled", json!(false)).beside(json!({"progress_tool": {}})),
        probe("progress_tool.description", json!("Says so.")),
        probe("transcript_projection.policy", json!("bogus")),
        probe("transcript_projection.type", json!("bogus")),
        probe("transcript_projection.kind", json!("bogus")),
        probe("transcript_projection.name", json!("bogus")),
        projecting("transcript_projection.callback"),
        projecting("transcript_projection.custom"),
        projecting("transcript_projection.closure"),
        projecting("transcript_projection.function"),
        projecting("transcript_projection.project"),
        projecting("transcript_projection.projector"),
        probe("transcript_projection.keep_last", json!(0)).beside(collected("large_bytes", 1)),
        probe("transcript_projection.large_bytes", json!(1)).beside(collected("keep_last", 0)),
        probe("policy.tools", json!(["reach"])),
        probe("policy.capabilities", json!(5)),
        probe("policy.workspace_roots", json!(5)),
        probe("policy.recursion_limit", json!("x")),
        probe("policy.tool_arg_constraints", json!(5)),
        probe("policy.tool_annotations", json!(5)),
        probe("approval_policy.auto_deny", json!(["look"])),
        probe("approval_policy.require_approval", json!(["look"])),
        probe("approval_policy.auto_approve", json!(5)),
        probe("approval_policy.write_path_allowlist", json!(5)),
        probe("permissions.allow", json!(["reach"])),
        probe("permissions.deny", json!(["look"])),
        probe("permissions.on_escalation", giving(json!(true)))
            .beside(json!({"permissions": {"deny": ["look"]}})),
    ]
}

/// Puts an option where its path leads.
fn insert(options: &mut Value, path: &str, value: Value) {
    let (way, key) = path.rsplit_once('.').unwrap_or(("", path));
    let steps = way.split('.').filter(|step| !step.is_empty());
    let place = steps.fold(options, |place, step| {
        if !place[step].is_object() {
            place[step] = json!({});
        }
        &mut place[step]
    });
    place[key] = value;
}

/// Takes the functions out of options.
fn without_functions(value: &Value, path: &str, functions: &mut Functions) -> Value {
    match value {
        Value::Object(fields) => {
            if let Some(given) = fields.get("function that gives") {
                let given = given.clone();
                let body = move |_: Vec<Value>| -> Result<Value, Thrown> { Ok(given.clone()) };
                functions.insert(path, Arc::new(body) as Arc<dyn Callback>);
                return Value::Null;
            }
            let field = |(key, value): (&String, &Value)| {
                let path = format!("{path}/{key}");
                (key.clone(), without_functions(value, &path, functions))
            };
            fields.iter().map(field).collect()
        }
        Value::Array(items) => items.clone().into(),
        other => other.clone(),
    }
}

/// Everything that can be seen of a loop with these options.
fn seen(options: &Value, script: Script) -> String {
    let executor = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("it needs only memory");
    executor.block_on(async {
        let program = Program::default();
        let desk = program.runtime.desk();
        for answer in script.answers() {
            assert!(
                desk.answer("llm_mock", &[answer]).is_some(),
                "the desk has a mock"
            );
        }
        let watch = program.watch("s");
        let reached = Arc::new(AtomicU64::new(0));
        let mut functions = Functions::default();
        let given = without_functions(options, "", &mut functions);
        let request = LoopRequest {
            options: given.as_object().expect("options are a dict").clone(),
            functions,
            tools: vec![look(), unreachable(&reached)],
            ..LoopRequest::new("look")
        };
        let began = tokio::time::Instant::now();
        // One that waits for ever has been seen for long enough.
        let running = tokio::time::timeout(HOUR, program.runtime.run(request)).await;
        let took = began.elapsed().as_millis();
        let result = match running {
            Ok(Ok(result)) => result.to_value(),
            Ok(Err(thrown)) => json!({"thrown": thrown.to_string()}),
            Err(_) => json!("it waits"),
        };
        let asked = desk.answer("llm_mock_calls", &[]);
        let asked = asked.and_then(Result::ok).expect("the mock keeps a log");
        let reached = reached.load(Ordering::SeqCst);
        json!([result, watch.take(), asked, took, reached]).to_string()
    })
}

fn look() -> Arc<dyn Tool> {
    FunctionTool::new("look", "Looks around.", json!({}), |_: &Value| {
        Box::pin(async { Ok("seen\n".repeat(60)) })
    })
}

fn unreachable(reached: &Arc<AtomicU64>) -> Arc<dyn Tool> {
    let reached = Arc::clone(reached);
    FunctionTool::new(
        "reach",
        "Cannot be reached.",
        json!({}),
        move |_: &Value| {
            reached.fetch_add(1, Ordering::SeqCst);
            Box::pin(async {
                Err(ToolError::Backend {
                    category: Category::TransientNetwork,
                    message: "the line is dead".to_owned(),
                })
            })
        },
    )
}

/// The options that make none.
fn ignored(probes: Vec<Probe>) -> Vec<&'static str> {
    let makes_none = |probe: &Probe| {
        let mut options = json!({"provider": "mock", "session_id": "s", "tool_format": "native"});
        for (key, value) in probe.beside.as_object().expect("options are a dict") {
            options[key] = value.clone();
        }
        // A dict that is given at all may already mean something.
        if let Some((way, _)) = probe.key.rsplit_once('.')
            && options
                .pointer(&format!("/{}", way.replace('.', "/")))
                .is_none()
        {
            insert(&mut options, way, json!({}));
        }
        let without = seen(&options, probe.script);
        let again = seen(&options, probe.script);
        assert_eq!(without, again, "{} is not stable", probe.key);
        insert(&mut options, probe.key, probe.value.clone());
        without == seen(&options, probe.script)
    };
    let probes = probes.iter().filter(|probe| makes_none(probe));
    probes.map(|probe| probe.key).collect()
}

#[test]
fn every_option_of_a_loop_makes_a_difference() {
    assert_eq!(ignored(probes()), [""; 0], "they are taken and ignored");
}

#[test]
fn every_option_inside_of_an_option_makes_a_difference() {
    assert_eq!(
        ignored(inner_probes()),
        [""; 0],
        "they are taken and ignored"
    );
}

#[test]
fn every_option_of_the_table_is_looked_at() {
    let probed: Vec<&str> = probes().iter().map(|probe| probe.key).collect();
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for key in AGENT_LOOP.keys {
        let elsewhere = ELSEWHERE.iter().find(|(name, _)| *name == key.name);
        match (key.status, elsewhere) {
            (Status::Unavailable(_), _) => assert!(!probed.contains(&key.name), "{}", key.name),
            (Status::Read, Some((_, place))) => assert!(root.join(place).exists(), "{place}"),
            (Status::Read, None) => assert!(probed.contains(&key.name), "{}", key.name),
        }
    }
    for key in probed {
        assert!(
            AGENT_LOOP.keys.iter().any(|known| known.name == key),
            "{key}"
        );
    }
}

/// Options inside of options that another test looks at.
const INNER_ELSEWHERE: &[(&[&str], &str)] = &[(
    &[
        "provider",
        "model",
        "temperature",
        "max_tokens",
        "llm_retries",
        "schema_retries",
    ],
    "crates/harn-agent/src/run/control/judge.rs",
)];

/// The dicts below the options of a loop, each with the option that holds it. What decides what is
/// allowed has tests of its own.
fn inner_dicts(dict: &'static OptionDict) -> Vec<(&'static str, &'static OptionDict)> {
    let is_rule = |dict: &OptionDict| {
        let rules = [
            &harn_options::POLICY,
            &harn_options::APPROVAL_POLICY,
            &harn_options::PERMISSIONS,
            &harn_options::COMMAND_POLICY,
        ];
        rules.iter().any(|rule| rule.name == dict.name)
    };
    let mut found = Vec::new();
    for key in dict.keys {
        let inner = match key.holds {
            Holds::Nothing => continue,
            Holds::Dict(inner) | Holds::ListOf(inner) | Holds::DictOf(inner) => inner,
        };
        if !is_rule(inner) {
            found.push((key.name, inner));
            found.extend(inner_dicts(inner));
        }
    }
    found
}

#[test]
fn every_option_inside_of_an_option_of_the_table_is_looked_at() {
    let probed: Vec<&str> = inner_probes().iter().map(|probe| probe.key).collect();
    let dicts = inner_dicts(&AGENT_LOOP);
    let mut forgotten = Vec::new();
    for (_, dict) in &dicts {
        // Two options may hold the same dict, and one of them is enough.
        let mut holders = dicts.iter().filter(|(_, held)| held.name == dict.name);
        let holders: Vec<&str> = holders.by_ref().map(|(holder, _)| *holder).collect();
        for key in dict.keys.iter().filter(|key| key.status == Status::Read) {
            let is_meant = |holder: &&str| {
                let path = format!("{holder}.{}", key.name);
                let inner = format!(".{path}");
                probed
                    .iter()
                    .any(|one| *one == path || one.ends_with(&inner))
            };
            let mut elsewhere = INNER_ELSEWHERE.iter();
            let is_elsewhere = elsewhere.any(|(names, _)| names.contains(&key.name));
            if !is_elsewhere && !holders.iter().any(is_meant) {
                forgotten.push(format!("{}.{}", dict.name, key.name));
            }
        }
    }
    assert_eq!(forgotten, [""; 0], "nothing shows that they are read");
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for (_, place) in INNER_ELSEWHERE {
        assert!(root.join(place).exists(), "{place}");
    }
}

#[test]
fn what_this_build_cannot_follow_is_refused_for_each_of_them() {
    for key in AGENT_LOOP.keys {
        let Status::Unavailable(form) = key.status else {
            continue;
        };
        let value = match form {
            harn_options::Form::Function => giving(json!(null)),
            harn_options::Form::Switch | harn_options::Form::Anything => json!(true),
        };
        let options = json!({"provider": "mock", "session_id": "s", key.name: value});
        let seen = seen(&options, Script::Talks);
        let text = format!("agent_loop: `{}` is not available in this build", key.name);
        assert!(seen.contains(&text), "{}: {seen}", key.name);
    }
}

#[test]
fn a_dict_without_providers_refuses_what_it_does_not_have() {
    let options = json!({"tolls": []});
    let refused = refuse_unknown(
        "policy",
        &harn_options::POLICY,
        options.as_object().expect("it is a dict"),
    );
    let text = "policy: unknown key 'tolls'; did you mean 'tools'?";
    assert_eq!(refused, Err(Thrown::Plain(text.to_owned())));
}
