//! How a loop compacts, read from its options.

use harn_llm::desk::Thrown;
use harn_llm::options::value::{Options, display, truthy};
use serde_json::{Map, Value};

use super::policy::{Custom, Policy, RENDER, Strategy};
use crate::callback::Functions;

/// Providers that report less are taken to be mistaken.
const CONTEXT_TOKENS_LEAST: u64 = 4096;

impl Policy {
    /// How a loop with these options compacts; `None` if it does not. `context_tokens` is how
    /// much the model takes, where its provider says so.
    ///
    /// # Errors
    /// What is wrong with the options.
    pub fn parse(
        options: &Map<String, Value>,
        functions: &Functions,
        context_tokens: Option<u64>,
    ) -> Result<Option<Self>, Thrown> {
        let Some(mut policy) = chosen(options, functions)? else {
            return Ok(None);
        };
        read_common(&mut policy, options, functions)?;
        if [policy.strategy, policy.hard_limit_strategy].contains(&Strategy::Custom) {
            // Better told now than in the middle of a long run.
            policy.custom.function()?;
        }
        if let Some(context_tokens) = context_tokens {
            let is_given = Options(options).int("compact_threshold").is_some();
            fit(&mut policy, context_tokens, is_given);
        }
        Ok(Some(policy))
    }
}

fn chosen(options: &Map<String, Value>, functions: &Functions) -> Result<Option<Policy>, Thrown> {
    match (options.get("compaction"), options.get("auto_compact")) {
        (Some(Value::Null | Value::Bool(true)), _) | (None, None) => named("hybrid"),
        (Some(Value::Bool(false)), _) => Ok(None),
        (Some(Value::String(name)), _) => named(name),
        (Some(Value::Object(choice)), _) => described(choice),
        (Some(_), _) => Err(Thrown::Runtime(
            "agent_loop: compaction must be a string, dict, bool, or nil".to_owned(),
        )),
        (None, Some(wanted)) if truthy(wanted) => legacy(options, functions).map(Some),
        (None, Some(_)) => Ok(None),
    }
}

fn named(name: &str) -> Result<Option<Policy>, Thrown> {
    let (name, keep_last, strategy, hard_limit_strategy) = match name {
        "hybrid" => ("hybrid", 10, Strategy::Llm, Strategy::Truncate),
        "truncate" => ("truncate", 10, Strategy::Truncate, Strategy::Truncate),
        "summarize_middle" | "summarize" | "llm" => {
            ("summarize_middle", 10, Strategy::Llm, Strategy::Llm)
        }
        "summarize_all" => ("summarize_all", 0, Strategy::Llm, Strategy::Llm),
        "none" => return Ok(None),
        other => {
            return Err(Thrown::Runtime(format!(
                "agent_loop: unknown compaction strategy '{other}' (expected none, truncate, summarize_middle, summarize_all, or hybrid)"
            )));
        }
    };
    Ok(Some(Policy {
        name: name.to_owned(),
        strategy,
        hard_limit_strategy,
        keep_last,
        ..Policy::usual()
    }))
}

/// A choice with its own counts.
fn described(choice: &Map<String, Value>) -> Result<Option<Policy>, Thrown> {
    let options = Options(choice);
    let name = ["type", "kind", "strategy"].into_iter();
    let name = name
        .filter_map(|key| options.given(key))
        .map(display)
        .next();
    let policy = named(name.as_deref().unwrap_or("hybrid"))?;
    let keep_first = kept(options, ["keep_first_n", "keep_first"])?;
    let keep_last = kept(options, ["keep_last_n", "keep_last"])?;
    Ok(policy.map(|policy| Policy {
        keep_first: keep_first.unwrap_or(policy.keep_first),
        keep_last: keep_last.unwrap_or(policy.keep_last),
        ..policy
    }))
}

fn kept(options: Options<'_>, keys: [&str; 2]) -> Result<Option<usize>, Thrown> {
    let count = keys.into_iter().find_map(|key| options.int(key));
    let count = count.map(usize::try_from).transpose();
    count.map_err(|_| Thrown::Runtime("agent_loop: compaction keep counts must be >= 0".to_owned()))
}

/// What `auto_compact: true` has always meant.
fn legacy(options: &Map<String, Value>, functions: &Functions) -> Result<Policy, Thrown> {
    let mut policy = Policy::usual();
    let key = "compact_callback";
    policy.custom = Custom::under(key, options.get(key), functions);
    let options = Options(options);
    match options.given_text("compact_strategy") {
        Some(name) => policy.use_strategy(Strategy::named(&name)?),
        None if policy.custom.is_given() => policy.use_strategy(Strategy::Custom),
        None => {}
    }
    if let Some(name) = options.given_text("hard_limit_strategy") {
        policy.hard_limit_strategy = Strategy::named(&name)?;
    }
    Ok(policy)
}

fn read_common(
    policy: &mut Policy,
    options: &Map<String, Value>,
    functions: &Functions,
) -> Result<(), Thrown> {
    let options = Options(options);
    if let Some(tokens) = count(options, "compact_threshold")? {
        policy.threshold_tokens = tokens;
    }
    if let Some(chars) = count(options, "tool_output_max_chars")? {
        policy.tool_output_max_chars = chars;
    }
    if let Some(messages) = count(options, "compact_keep_first")? {
        policy.keep_first = messages;
    }
    if let Some(messages) = count(options, "compact_keep_last")? {
        policy.keep_last = messages;
    }
    policy.hard_limit_tokens = count(options, "hard_limit_tokens")?;
    policy.summarize_prompt = options.given_text("summarize_prompt");
    policy.render = functions.at(RENDER).cloned();
    policy.mask = functions.at("/mask_callback").cloned();
    policy.compress = functions.at("/compress_callback").cloned();
    Ok(())
}

fn count<T: TryFrom<i64>>(options: Options<'_>, key: &str) -> Result<Option<T>, Thrown> {
    let count = options.int(key).map(T::try_from).transpose();
    count.map_err(|_| Thrown::Runtime(format!("agent_loop: {key} must be >= 0")))
}

/// Keeps the limits within what the model takes.
fn fit(policy: &mut Policy, context_tokens: u64, threshold_is_given: bool) {
    let context_tokens = context_tokens.max(CONTEXT_TOKENS_LEAST);
    let share = |percent: u64| context_tokens.saturating_mul(percent) / 100;
    let hard_limit = policy
        .hard_limit_tokens
        .map_or(share(75), |given| given.min(share(75)));
    policy.hard_limit_tokens = Some(hard_limit);
    let most = match threshold_is_given {
        true => hard_limit,
        false => share(65),
    };
    policy.threshold_tokens = policy.threshold_tokens.min(most);
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;

    fn parse(options: Value, context_tokens: Option<u64>) -> Result<Option<Policy>, Thrown> {
        let options = options.as_object().expect("options are a dict");
        Policy::parse(options, &Functions::default(), context_tokens)
    }

    #[track_caller]
    fn on(options: Value) -> Policy {
        let policy = parse(options, None).expect("they are right");
        policy.expect("it is on")
    }

    /// Name, keep_first, keep_last, first-tier and hard-limit strategy.
    type Row = (&'static str, usize, usize, &'static str, &'static str);

    #[track_caller]
    fn check(options: Value, expected: Row) {
        let policy = on(options);
        let found = (
            policy.name.as_str(),
            policy.keep_first,
            policy.keep_last,
            policy.strategy.name(),
            policy.hard_limit_strategy.name(),
        );
        assert_eq!(found, expected);
    }

    #[test]
    fn policies_have_names() {
        let hybrid = ("hybrid", 0, 10, "llm", "truncate");
        let middle = ("summarize_middle", 0, 10, "llm", "llm");
        let truncate = ("truncate", 0, 10, "truncate", "truncate");
        check(json!({}), hybrid);
        check(json!({"compaction": null}), hybrid);
        check(json!({"compaction": true}), hybrid);
        check(json!({"compaction": "hybrid"}), hybrid);
        check(json!({"compaction": {}}), hybrid);
        check(json!({"compaction": "truncate"}), truncate);
        check(json!({"compaction": {"type": "truncate"}}), truncate);
        check(json!({"compaction": {"kind": "truncate"}}), truncate);
        check(json!({"compaction": {"strategy": "truncate"}}), truncate);
        for name in ["summarize_middle", "summarize", "llm"] {
            check(json!({"compaction": name}), middle);
        }
        check(
            json!({"compaction": "summarize_all"}),
            ("summarize_all", 0, 0, "llm", "llm"),
        );
        check(
            json!({"auto_compact": true}),
            ("observation_mask", 0, 12, "observation_mask", "llm"),
        );
    }

    #[test]
    fn compaction_can_be_off() {
        for options in [
            json!({"compaction": false}),
            json!({"compaction": "none"}),
            json!({"compaction": {"type": "none"}}),
            json!({"compaction": false, "auto_compact": true}),
            json!({"auto_compact": false}),
            json!({"auto_compact": null}),
        ] {
            assert!(
                parse(options.clone(), None).expect("right").is_none(),
                "{options}"
            );
        }
    }

    #[test]
    fn counts_are_given_in_the_choice_or_beside_it() {
        check(
            json!({"compaction": {"type": "hybrid", "keep_first_n": 2, "keep_last_n": 3}}),
            ("hybrid", 2, 3, "llm", "truncate"),
        );
        check(
            json!({"compaction": {"keep_first": 1, "keep_last": 4}}),
            ("hybrid", 1, 4, "llm", "truncate"),
        );
        check(
            json!({"compaction": "truncate", "compact_keep_first": 5, "compact_keep_last": 6}),
            ("truncate", 5, 6, "truncate", "truncate"),
        );
        check(
            json!({"compaction": {"keep_last": "many"}}),
            ("hybrid", 0, 10, "llm", "truncate"),
        );
    }

    #[test]
    fn old_options_choose_strategies() {
        check(
            json!({"auto_compact": true, "compact_strategy": "truncate", "hard_limit_strategy": "llm"}),
            ("truncate", 0, 12, "truncate", "llm"),
        );
        let options = json!({"auto_compact": true, "compact_callback": null});
        let mut functions = Functions::default();
        functions.insert(
            "/compact_callback",
            Arc::new(|_: Vec<Value>| Ok(Value::Null)),
        );
        let parse = |options: &Value| {
            let options = options.as_object().expect("options are a dict");
            let policy = Policy::parse(options, &functions, None).expect("right");
            policy.expect("on").strategy
        };
        assert_eq!(parse(&options), Strategy::Custom);
        let options = json!({"auto_compact": true, "compact_strategy": "llm"});
        assert_eq!(parse(&options), Strategy::Llm);
        // They say nothing to a loop that has not asked for the old setup.
        check(
            json!({"compact_strategy": "truncate"}),
            ("hybrid", 0, 10, "llm", "truncate"),
        );
    }

    #[test]
    fn limits_have_defaults() {
        let policy = on(json!({}));
        assert_eq!(policy.threshold_tokens, 48_000);
        assert_eq!(policy.tool_output_max_chars, 16_000);
        assert_eq!(policy.hard_limit_tokens, None);
        let policy = on(json!({
            "compact_threshold": 100, "tool_output_max_chars": 300, "hard_limit_tokens": 200,
            "summarize_prompt": "sum.md",
        }));
        assert_eq!(policy.threshold_tokens, 100);
        assert_eq!(policy.tool_output_max_chars, 300);
        assert_eq!(policy.hard_limit_tokens, Some(200));
        assert_eq!(policy.summarize_prompt.as_deref(), Some("sum.md"));
    }

    #[test]
    fn limits_stay_within_what_the_model_takes() {
        // context, given threshold, given hard limit, threshold, hard limit
        let rows = [
            (200_000, None, None, 48_000, 150_000),
            (10_000, None, None, 6_500, 7_500),
            (100, None, None, 2_662, 3_072),
            (10_000, Some(9_000), None, 7_500, 7_500),
            (10_000, Some(1_000), None, 1_000, 7_500),
            (10_000, None, Some(9_000), 6_500, 7_500),
            (10_000, Some(7_000), Some(5_000), 5_000, 5_000),
        ];
        for (context, threshold, hard_limit, expected_threshold, expected_limit) in rows {
            let options = json!({"compact_threshold": threshold, "hard_limit_tokens": hard_limit});
            let policy = parse(options, Some(context)).expect("right").expect("on");
            assert_eq!(policy.threshold_tokens, expected_threshold, "{context}");
            assert_eq!(policy.hard_limit_tokens, Some(expected_limit), "{context}");
        }
    }

    #[test]
    fn mistakes_are_named() {
        let unknown = "agent_loop: unknown compaction strategy 'magic' (expected none, truncate, summarize_middle, summarize_all, or hybrid)";
        let counts = "agent_loop: compaction keep counts must be >= 0";
        let kind = "agent_loop: compaction must be a string, dict, bool, or nil";
        let strategy = "unknown compact_strategy 'magic' (expected 'llm', 'truncate', 'custom', or 'observation_mask')";
        let rows = [
            (json!({"compaction": "magic"}), unknown),
            (json!({"compaction": {"type": "magic"}}), unknown),
            (json!({"compaction": 7}), kind),
            (json!({"compaction": []}), kind),
            (json!({"compaction": {"keep_first": -1}}), counts),
            (json!({"compaction": {"keep_last_n": -1}}), counts),
            (
                json!({"auto_compact": true, "compact_strategy": "magic"}),
                strategy,
            ),
            (
                json!({"auto_compact": true, "hard_limit_strategy": "magic"}),
                strategy,
            ),
            (
                json!({"compact_threshold": -1}),
                "agent_loop: compact_threshold must be >= 0",
            ),
            (
                json!({"tool_output_max_chars": -1}),
                "agent_loop: tool_output_max_chars must be >= 0",
            ),
            (
                json!({"compact_keep_first": -1}),
                "agent_loop: compact_keep_first must be >= 0",
            ),
            (
                json!({"compact_keep_last": -2}),
                "agent_loop: compact_keep_last must be >= 0",
            ),
            (
                json!({"hard_limit_tokens": -1}),
                "agent_loop: hard_limit_tokens must be >= 0",
            ),
        ];
        for (options, expected) in rows {
            let error = parse(options.clone(), None).expect_err("it is a mistake");
            assert_eq!(error, Thrown::Runtime(expected.to_owned()), "{options}");
        }
    }
}
