//! The options of a loop, from what a program wrote to what the phases read.

use std::sync::Arc;

use harn_llm::desk::Thrown;
use harn_llm::options::value::{Options, display, truthy};
use serde_json::{Map, Value, json};

use crate::callback::{Callback, Functions};
use crate::ledger::TaskLedger;
use crate::loop_detector::LoopThresholds;

/// What signals completion unless something else is configured.
pub const DONE_SENTINEL: &str = "##DONE##";

/// How long the result of a tool may be unless something else is configured.
const TOOL_OUTPUT_CHARS_DEFAULT: usize = 16_000;

/// The options of a loop.
#[derive(Clone)]
pub struct LoopOptions {
    /// How many iterations there may be; 0 runs none.
    pub max_iterations: usize,
    /// How many turns in a row may have no call in persistent mode.
    pub max_nudges: usize,
    /// How often a failed backend is tried again.
    pub tool_retries: u64,
    /// How long to wait before the first of these.
    pub tool_backoff_ms: u64,
    /// Whether the loop goes on until the model signals completion.
    pub persistent: bool,
    /// What a model is told that goes on talking.
    pub nudge: Option<String>,
    /// What signals completion.
    pub done_sentinel: String,
    /// The loop ends when the model names another phase.
    pub break_unless_phase: Option<String>,
    /// Whether completion counts only after the tool `run` succeeded.
    pub exit_when_verified: bool,
    /// How calls travel, if the caller said so.
    pub tool_format: Option<String>,
    /// What to do with calls that come as text although there is a channel for them.
    pub native_tool_fallback: NativeFallback,
    /// The session to work on; `None`: one that nobody can name.
    pub session_id: Option<String>,
    /// Whether and how the loop waits for something to do.
    pub daemon: Option<DaemonOptions>,
    /// How long the result of a tool may be.
    pub tool_output_max_chars: usize,
    /// Shortens results instead of the runtime.
    pub compress: Option<Arc<dyn Callback>>,
    /// How many tokens the loop may read and write.
    pub token_budget: Option<u64>,
    /// When a call counts as repeated.
    pub loop_detection: LoopThresholds,
    /// Examples of calls for the model.
    pub tool_examples: Option<String>,
    /// What a turn has to be.
    pub turn_policy: TurnPolicy,
    /// Success of one of these ends the loop.
    pub stop_after_successful_tools: Vec<String>,
    /// What must have succeeded for the loop to be done.
    pub require_successful_tools: RequiredTools,
    /// What is to be done.
    pub ledger: TaskLedger,
    /// Called after each turn with calls.
    pub post_turn: Option<Arc<dyn Callback>>,
    /// Shapes what the model sees in each call.
    pub context: Option<Arc<dyn Callback>>,
}

/// What to do with calls that come as text although there is a channel for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NativeFallback {
    /// Make them.
    Allow,
    /// Make those of the first such turn.
    AllowOnce,
    /// Tell the model to use the channel.
    Reject,
}

impl NativeFallback {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::AllowOnce => "allow_once",
            Self::Reject => "reject",
        }
    }
}

/// What a turn has to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TurnPolicy {
    /// A turn must act or say that it has nothing to do.
    pub require_action_or_yield: bool,
    /// The model may signal completion.
    pub allow_done_sentinel: bool,
    /// How long prose may be.
    pub max_prose_chars: Option<usize>,
}

/// What must have succeeded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequiredTools {
    /// Each a group of which one is enough.
    groups: Vec<Vec<String>>,
    /// Whether all groups count, or one.
    needs_all: bool,
}

impl RequiredTools {
    fn parse(value: Option<&Value>) -> Self {
        let Some(Value::Array(entries)) = value else {
            return Self::default();
        };
        let group = |entry: &Value| match entry {
            Value::Array(names) => names.iter().map(display).collect(),
            name => vec![display(name)],
        };
        Self {
            groups: entries.iter().map(group).collect(),
            needs_all: entries.iter().any(Value::is_array),
        }
    }

    /// The names that have not succeeded.
    pub fn missing(&self, successful: &[String]) -> Vec<String> {
        let names = self.groups.iter().flatten();
        let missing = names.filter(|name| !successful.contains(name));
        missing.cloned().collect()
    }

    /// Whether what has succeeded is enough.
    pub fn are_satisfied(&self, successful: &[String]) -> bool {
        let succeeded = |group: &Vec<String>| group.iter().any(|name| successful.contains(name));
        match self.needs_all {
            _ if self.groups.is_empty() => true,
            true => self.groups.iter().all(succeeded),
            false => self.groups.iter().any(succeeded),
        }
    }
}

/// Whether and how a loop waits for something to do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DaemonOptions {
    /// Where its state is saved.
    pub persist_path: Option<String>,
    /// Where its state comes from.
    pub resume_path: Option<String>,
    /// How often it looks for work by itself.
    pub wake_interval_ms: Option<u64>,
    /// Files whose change wakes it.
    pub watch_paths: Vec<String>,
    /// Whether the conversation is shortened when it idles.
    pub consolidate_on_idle: bool,
    /// After how many looks in vain it gives up.
    pub idle_watchdog_attempts: Option<u64>,
}

/// The numbers that a profile picks.
struct Profile {
    max_iterations: usize,
    max_nudges: usize,
    schema_retries: u64,
}

/// The transport retries of every profile.
const LLM_RETRIES: u64 = 2;

/// How long a loop waits before it asks a model again.
const LLM_BACKOFF_MS: u64 = 2000;

/// How long it waits before it calls a backend again.
const TOOL_BACKOFF_MS: u64 = 1000;

impl LoopOptions {
    /// Reads options. `label` is what calls itself a loop: `agent_loop`, a sub-agent, a stage.
    ///
    /// # Errors
    /// An option is not understood.
    pub fn parse(
        options: &Map<String, Value>,
        functions: &Functions,
        label: &str,
    ) -> Result<Self, Thrown> {
        let given = Options(options);
        let profile = profile(given, label)?;
        let count = |key: &str| {
            given
                .count(key)
                .and_then(|count| usize::try_from(count).ok())
        };
        let is_daemon = given.flag("daemon");
        let function = |key: &str| functions.at(key).cloned();
        Ok(Self {
            max_iterations: count("max_iterations").unwrap_or(profile.max_iterations),
            max_nudges: count("max_nudges").unwrap_or(profile.max_nudges),
            tool_retries: given.count("tool_retries").unwrap_or(0),
            tool_backoff_ms: given.count("tool_backoff_ms").unwrap_or(TOOL_BACKOFF_MS),
            persistent: given.flag("persistent") || given.flag("loop_until_done"),
            nudge: given.given_text("nudge"),
            done_sentinel: given
                .given_text("done_sentinel")
                .unwrap_or_else(|| DONE_SENTINEL.to_owned()),
            break_unless_phase: given.given_text("break_unless_phase"),
            exit_when_verified: given.flag("exit_when_verified"),
            tool_format: tool_format(given)?,
            native_tool_fallback: native_fallback(given, label)?,
            session_id: given
                .given_text("session_id")
                .filter(|session_id| !session_id.is_empty()),
            daemon: is_daemon.then(|| daemon(given)),
            tool_output_max_chars: count("tool_output_max_chars")
                .unwrap_or(TOOL_OUTPUT_CHARS_DEFAULT),
            compress: function("/compress_callback"),
            token_budget: given.count("token_budget"),
            loop_detection: LoopThresholds::read(given),
            tool_examples: given.given_text("tool_examples"),
            turn_policy: turn_policy(given),
            stop_after_successful_tools: given.texts("stop_after_successful_tools"),
            require_successful_tools: RequiredTools::parse(given.given("require_successful_tools")),
            ledger: TaskLedger::from_options(options),
            post_turn: function("/post_turn_callback"),
            context: function("/context_callback").or_else(|| function("/context_filter")),
        })
    }
}

/// The options of the model calls of a loop, with the defaults of its profile.
///
/// # Errors
/// The profile is unknown.
pub(crate) fn call_options(
    options: &Map<String, Value>,
    label: &str,
) -> Result<Map<String, Value>, Thrown> {
    let given = Options(options);
    let profile = profile(given, label)?;
    let mut call = options.clone();
    let defaults = [
        ("llm_retries", LLM_RETRIES),
        ("llm_backoff_ms", LLM_BACKOFF_MS),
        ("schema_retries", profile.schema_retries),
    ];
    for (key, value) in defaults {
        if given.given(key).is_none() {
            call.insert(key.to_owned(), json!(value));
        }
    }
    // The loop decides the format, and what the provider does not know it must not see.
    call.remove("tool_format");
    Ok(call)
}

fn profile(options: Options<'_>, label: &str) -> Result<Profile, Thrown> {
    let (max_iterations, max_nudges, schema_retries) =
        match options.given_text("profile").as_deref() {
            None | Some("tool_using") => (50, 8, 0),
            Some("researcher") => (30, 4, 0),
            Some("verifier") => (5, 0, 3),
            Some("completer") => (1, 0, 0),
            Some(other) => {
                return Err(Thrown::Runtime(format!(
                    "{label}: profile must be one of tool_using, researcher, verifier, completer; \
                 got `{other}`"
                )));
            }
        };
    Ok(Profile {
        max_iterations,
        max_nudges,
        schema_retries,
    })
}

/// The format that was asked for. `auto` stays, because it means the catalog's.
fn tool_format(options: Options<'_>) -> Result<Option<String>, Thrown> {
    match options.given_text("tool_format") {
        None => Ok(None),
        Some(format) if matches!(&*format, "native" | "text" | "json" | "auto") => Ok(Some(format)),
        Some(other) => Err(Thrown::Runtime(format!(
            "agent_loop: `tool_format` must be one of native, text, json, auto (or omitted); got \
             {other}"
        ))),
    }
}

fn native_fallback(options: Options<'_>, label: &str) -> Result<NativeFallback, Thrown> {
    match options.given_text("native_tool_fallback").as_deref() {
        None | Some("allow") => Ok(NativeFallback::Allow),
        Some("allow_once") => Ok(NativeFallback::AllowOnce),
        Some("reject") => Ok(NativeFallback::Reject),
        Some(other) => Err(Thrown::Runtime(format!(
            "{label}: native_tool_fallback must be one of allow, allow_once, reject; got `{other}`"
        ))),
    }
}

fn turn_policy(options: Options<'_>) -> TurnPolicy {
    let empty = Map::new();
    let policy = options.given("turn_policy").and_then(Value::as_object);
    let policy = Options(policy.unwrap_or(&empty));
    TurnPolicy {
        require_action_or_yield: policy.flag("require_action_or_yield"),
        allow_done_sentinel: policy.given("allow_done_sentinel").is_none_or(truthy),
        max_prose_chars: policy
            .count("max_prose_chars")
            .and_then(|count| usize::try_from(count).ok()),
    }
}

fn daemon(options: Options<'_>) -> DaemonOptions {
    DaemonOptions {
        persist_path: options.given_text("persist_path"),
        resume_path: options.given_text("resume_path"),
        wake_interval_ms: options.count("wake_interval_ms"),
        watch_paths: options.texts("watch_paths"),
        consolidate_on_idle: options.flag("consolidate_on_idle"),
        idle_watchdog_attempts: options.count("idle_watchdog_attempts"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(options: Value) -> Result<LoopOptions, Thrown> {
        let options = options.as_object().cloned().unwrap_or_default();
        LoopOptions::parse(&options, &Functions::default(), "agent_loop")
    }

    #[test]
    fn profiles_pick_the_numbers() {
        let rows = [
            ("tool_using", 50, 8, 0),
            ("researcher", 30, 4, 0),
            ("verifier", 5, 0, 3),
            ("completer", 1, 0, 0),
        ];
        for (profile, iterations, nudges, schema_retries) in rows {
            let options = json!({"profile": profile});
            let parsed = parse(options.clone()).unwrap();
            assert_eq!(parsed.max_iterations, iterations, "{profile}");
            assert_eq!(parsed.max_nudges, nudges, "{profile}");
            let call = call_options(options.as_object().unwrap(), "agent_loop").unwrap();
            assert_eq!(call["schema_retries"], schema_retries, "{profile}");
            assert_eq!(call["llm_retries"], 2);
            assert_eq!(call["llm_backoff_ms"], 2000);
        }
    }

    #[test]
    fn mistakes_have_their_texts() {
        let rows = [
            (
                json!({"profile": "x"}),
                "agent_loop: profile must be one of tool_using, researcher, verifier, completer; got `x`",
            ),
            (
                json!({"native_tool_fallback": "x"}),
                "agent_loop: native_tool_fallback must be one of allow, allow_once, reject; got `x`",
            ),
            (
                json!({"tool_format": "x"}),
                "agent_loop: `tool_format` must be one of native, text, json, auto (or omitted); got x",
            ),
        ];
        for (options, text) in rows {
            let error = parse(options).err();
            assert_eq!(error, Some(Thrown::Runtime(text.to_owned())));
        }
    }

    #[test]
    fn required_tools_may_be_groups() {
        let satisfied = |required: Value, successful: &[&str]| {
            let successful: Vec<String> =
                successful.iter().map(|name| (*name).to_owned()).collect();
            RequiredTools::parse(Some(&required)).are_satisfied(&successful)
        };
        assert!(satisfied(json!(["a", "b"]), &["b"]));
        assert!(!satisfied(json!(["a", "b"]), &["c"]));
        assert!(satisfied(json!([["a", "b"], "c"]), &["c", "a"]));
        assert!(!satisfied(json!([["a", "b"], "c"]), &["a", "b"]));
        assert!(satisfied(json!([]), &[]));
    }
}
