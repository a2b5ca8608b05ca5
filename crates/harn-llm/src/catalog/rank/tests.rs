use super::*;

#[test]
fn every_policy_is_read() {
    let cheap = Policy::Cheapest("mid".to_owned());
    let rows = [
        (json!(null), Policy::Manual),
        (json!("manual"), Policy::Manual),
        (
            json!("always(openai:gpt-4o)"),
            Policy::Always("openai:gpt-4o".to_owned()),
        ),
        (json!("always( \"mid\" )"), Policy::Always("mid".to_owned())),
        (json!("cheapest_over_quality(mid)"), cheap.clone()),
        (
            json!("fastest_over_quality(small)"),
            Policy::Fastest("small".to_owned()),
        ),
        (json!({}), Policy::Manual),
        (json!({"mode": "manual"}), Policy::Manual),
        (
            json!({"mode": "always", "id": "mid"}),
            Policy::Always("mid".to_owned()),
        ),
        (
            json!({"mode": "always", "target": "mid"}),
            Policy::Always("mid".to_owned()),
        ),
        (
            json!({"mode": "cheapest_over_quality", "quality": "mid"}),
            cheap,
        ),
    ];
    for (value, expected) in rows {
        assert_eq!(Policy::parse(&value), Ok(expected), "{value}");
    }
}

#[test]
fn every_mistake_has_its_text() {
    let empty = "route_policy: target must not be empty";
    let rows = [
        (
            json!("best"),
            "route_policy: expected manual, always(id), cheapest_over_quality(t), or fastest_over_quality(t), got \"best\"",
        ),
        (
            json!("always(x"),
            "route_policy: expected manual, always(id), cheapest_over_quality(t), or fastest_over_quality(t), got \"always(x\"",
        ),
        (json!("always()"), empty),
        (json!("cheapest_over_quality( )"), empty),
        (json!({"mode": "always"}), empty),
        (
            json!({"mode": "best", "id": "x"}),
            "route_policy.mode: unsupported value \"best\"",
        ),
        (json!(5), "route_policy: expected string or dict"),
        (json!(["manual"]), "route_policy: expected string or dict"),
    ];
    for (value, expected) in rows {
        assert_eq!(Policy::parse(&value).unwrap_err().to_string(), expected);
    }
}

fn decided(environment: &dyn Environment, policy: &str) -> Decision {
    let policy = Policy::parse(&json!(policy)).unwrap();
    decide(&Config::built_in(), environment, &policy)
        .unwrap()
        .unwrap()
}

#[test]
fn always_takes_what_it_names() {
    let rows = [
        ("always(groq:llama-3)", "groq", "llama-3"),
        ("always(mid)", "openai", "gpt-4o-mini"),
        ("always(ollama:llama3:8b)", "ollama", "llama3:8b"),
        ("always(claude-opus-4-6)", "anthropic", "claude-opus-4-6"),
    ];
    for (policy, provider, model) in rows {
        let decision = decided(&[], policy);
        assert_eq!((&*decision.provider, &*decision.model), (provider, model));
        assert_eq!(decision.record["policy"], json!(policy));
        assert_eq!(decision.record["requested_quality"], json!(null));
    }
}

#[test]
fn the_cheapest_and_the_fastest_that_are_good_enough_win() {
    let keys = [
        ("ANTHROPIC_API_KEY", "k"),
        ("OPENAI_API_KEY", "k"),
        ("OPENROUTER_API_KEY", "k"),
    ];
    let rows = [
        // Free ones first; among those that cost nothing, by provider and then by model.
        ("cheapest_over_quality(small)", "local", "gemma-4-26b"),
        ("cheapest_over_quality(frontier)", "local", "gemma-4-31b"),
        // Unknown tiers rank like `mid`.
        ("cheapest_over_quality(decent)", "local", "gemma-4-26b"),
        // Local servers say nothing of their latency.
        ("fastest_over_quality(small)", "ollama", "gemma4:26b"),
        (
            "fastest_over_quality(frontier)",
            "anthropic",
            "claude-sonnet-4-20250514",
        ),
    ];
    for (policy, provider, model) in rows {
        let decision = decided(&keys, policy);
        assert_eq!(
            (&*decision.provider, &*decision.model),
            (provider, model),
            "{policy}"
        );
    }
    let without = decided(&[], "fastest_over_quality(frontier)");
    assert_eq!(without.provider, "local");
}

#[test]
fn the_decision_shows_all_that_were_good_enough() {
    let keys = [("ANTHROPIC_API_KEY", "k")];
    let record = decided(&keys, "fastest_over_quality(frontier)").record;
    assert_eq!(record["policy"], "fastest_over_quality(frontier)");
    assert_eq!(record["requested_quality"], "frontier");
    assert_eq!(record["selected_provider"], "anthropic");
    assert_eq!(record["selected_model"], "claude-sonnet-4-20250514");
    let alternatives = record["alternatives"].as_array().unwrap();
    let names: Vec<(&str, bool)> = alternatives
        .iter()
        .map(|row| {
            (
                row["model"].as_str().unwrap(),
                row["selected"].as_bool().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        names,
        [("claude-sonnet-4-20250514", true), ("gemma-4-31b", false)]
    );
    assert_eq!(
        alternatives[0],
        json!({
            "provider": "anthropic",
            "model": "claude-sonnet-4-20250514",
            "quality_tier": "frontier",
            "available": true,
            "cost_per_1k_in": 0.003,
            "cost_per_1k_out": 0.015,
            "latency_p50_ms": 2500,
            "selected": true,
            "reason": "best of the available candidates",
        })
    );
}

#[test]
fn when_nothing_can_be_asked_the_policy_fails() {
    let text = "[providers.x]\nauth_env = \"K\"\n[aliases.a]\nid = \"m\"\nprovider = \"x\"\n";
    let source = crate::catalog::Source { path: "p", text };
    let config = Config::load(Some(source), None).unwrap();
    let policy = Policy::Cheapest("mid".to_owned());
    let error = decide(&config, &[], &policy).unwrap_err();
    assert_eq!(
        error.to_string(),
        "route_policy: no available model satisfies cheapest_over_quality(mid)"
    );
}

#[test]
fn the_callers_chain_comes_before_the_entrys_own() {
    let mut config = Config::built_in();
    config.providers.get_mut("openai").unwrap().fallback = Some("ollama".to_owned());
    let chain = ["groq", "mock", "openai", "nobody", "mock"].map(str::to_owned);
    assert_eq!(
        fallbacks(&config, &[], false, "openai", &chain),
        ["mock", "ollama"]
    );
    let keys = [("GROQ_API_KEY", "k")];
    assert_eq!(
        fallbacks(&config, &keys, false, "openai", &chain),
        ["groq", "mock", "ollama"]
    );
    assert_eq!(
        fallbacks(&config, &[], true, "openai", &chain),
        ["groq", "mock", "ollama"]
    );
    assert!(fallbacks(&config, &[], true, "anthropic", &[]).is_empty());
}
