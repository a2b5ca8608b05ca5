//! How builtins compact, read from their options.

use std::sync::Arc;

use harn_llm::desk::Thrown;
use harn_llm::options::value::Options;
use harn_options::{AGENT_SESSION_COMPACT, Unknown};
use serde_json::{Map, Value};

use super::policy::{Custom, Policy, RENDER, Strategy};
use crate::callback::{Callback, Functions};

impl Policy {
    /// How `agent_session_compact(id, opts?)` compacts. The functions are those of `opts`.
    pub fn for_session(opts: &Value, functions: &Functions) -> Result<Self, Thrown> {
        let empty = Map::new();
        let fields = match opts {
            Value::Null => &empty,
            Value::Object(fields) => fields,
            _ => return Err(session_error("`opts` must be a dict or nil")),
        };
        refuse_unknown(fields)?;
        let options = Options(fields);
        let mut policy = Self::usual();
        if let Some(messages) = session_count(options, "keep_last")? {
            policy.keep_last = messages;
        }
        if let Some(tokens) = session_count(options, "token_threshold")? {
            policy.threshold_tokens = tokens;
        }
        if let Some(chars) = session_count(options, "tool_output_max_chars")? {
            policy.tool_output_max_chars = chars;
        }
        policy.hard_limit_tokens = session_count(options, "hard_limit_tokens")?;
        if let Some(compactor) = session_closure(fields, functions, "custom_compactor")? {
            policy.custom = Custom::Function(compactor);
            policy.use_strategy(Strategy::Custom);
        }
        policy.mask = session_closure(fields, functions, "mask_callback")?;
        policy.compress = session_closure(fields, functions, "compress_callback")?;
        if let Some(name) = options.given_text("compact_strategy") {
            policy.use_strategy(Strategy::named(&name)?);
        }
        if let Some(name) = options.given_text("hard_limit_strategy") {
            policy.hard_limit_strategy = Strategy::named(&name)?;
        }
        Ok(policy)
    }

    /// How `transcript_auto_compact(messages, opts?)` compacts.
    pub fn for_messages(opts: &Value, functions: &Functions) -> Result<Self, Thrown> {
        let empty = Map::new();
        let fields = opts.as_object().unwrap_or(&empty);
        let options = Options(fields);
        let mut policy = Self::usual();
        let whole = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
        if let Some(messages) = options.count("keep_last") {
            policy.keep_last = whole(messages);
        }
        if let Some(tokens) = options.count("compact_threshold") {
            policy.threshold_tokens = tokens;
        }
        if let Some(chars) = options.count("tool_output_max_chars") {
            policy.tool_output_max_chars = whole(chars);
        }
        let key = "compact_callback";
        policy.custom = Custom::under(key, fields.get(key), functions);
        match options.given_text("compact_strategy") {
            Some(name) => policy.use_strategy(Strategy::named(&name)?),
            None if policy.custom.is_given() => policy.use_strategy(Strategy::Custom),
            None => {}
        }
        Ok(policy)
    }
}

fn session_error(complaint: &str) -> Thrown {
    Thrown::Plain(format!("agent_session_compact: {complaint}"))
}

fn refuse_unknown(fields: &Map<String, Value>) -> Result<(), Thrown> {
    let dict = &AGENT_SESSION_COMPACT;
    let mut keys = fields.keys();
    match keys.find_map(|key| Unknown::find(dict, "", key, |_| false)) {
        None => Ok(()),
        Some(unknown) => Err(session_error(&unknown.listed())),
    }
}

fn session_count<T: TryFrom<i64>>(options: Options<'_>, key: &str) -> Result<Option<T>, Thrown> {
    let count = options.int(key).map(T::try_from).transpose();
    count.map_err(|_| session_error(&format!("`{key}` must be >= 0")))
}

fn session_closure(
    fields: &Map<String, Value>,
    functions: &Functions,
    key: &str,
) -> Result<Option<Arc<dyn Callback>>, Thrown> {
    match Custom::under(key, fields.get(key), functions) {
        Custom::Missing => Ok(None),
        Custom::Function(function) => Ok(Some(function)),
        Custom::NotAFunction => Err(session_error(&format!("`{key}` must be a closure"))),
    }
}

/// What `transcript_compact(t, opts?)` is to do.
#[derive(Clone, Debug)]
pub struct ManualOptions {
    /// How to compact.
    pub policy: Policy,
    /// Nothing is done while there are no more tokens than this.
    pub target_tokens: Option<u64>,
    /// What the transcript keeps as its summary instead of the one that was made.
    pub summary: Option<String>,
}

impl ManualOptions {
    /// Reads `opts`.
    pub fn parse(opts: &Value, functions: &Functions) -> Result<Self, Thrown> {
        let empty = Map::new();
        let options = Options(opts.as_object().unwrap_or(&empty));
        let mut policy = Policy::usual();
        let name = options.given_text("strategy");
        if let Some(name) = name.or_else(|| options.given_text("compact_strategy")) {
            policy.use_strategy(Strategy::named(&name)?);
        }
        if policy.strategy == Strategy::Custom {
            return Err(manual_error(
                "strategy 'custom' is not supported; use 'llm', 'truncate', or 'observation_mask'",
            ));
        }
        if let Some(messages) = manual_count(options, "keep_last")? {
            policy.keep_last = messages;
        }
        let target_tokens = manual_count(options, "target_tokens")?;
        policy.summarize_prompt = options.given_text("summarize_prompt");
        policy.render = functions.at(RENDER).cloned();
        if policy.summarize_prompt.is_some() && policy.strategy != Strategy::Llm {
            return Err(manual_error(
                "summarize_prompt is only supported with strategy 'llm'",
            ));
        }
        Ok(Self {
            policy,
            target_tokens,
            summary: options.given_text("summary"),
        })
    }
}

fn manual_error(complaint: &str) -> Thrown {
    Thrown::Plain(format!("transcript_compact: {complaint}"))
}

fn manual_count<T: TryFrom<i64>>(options: Options<'_>, key: &str) -> Result<Option<T>, Thrown> {
    let count = options.int(key).map(T::try_from).transpose();
    count.map_err(|_| manual_error(&format!("{key} must be >= 0")))
}
