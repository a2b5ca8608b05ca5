use serde_json::{Value, json};

use super::*;

fn user(text: &str) -> Value {
    json!({"role": "user", "content": text})
}

/// What a system prompt and one message become.
fn tried(spec: Value, system: Option<&str>, messages: Vec<Value>) -> (Option<String>, Vec<Value>) {
    let (mut system, mut messages) = (system.map(str::to_owned), messages);
    apply(&spec, &mut system, &mut messages).unwrap();
    (system, messages)
}

#[test]
fn each_experiment_changes_the_latest_text_of_the_user() {
    let answer = json!({"role": "assistant", "content": "a"});
    let picture = json!({"role": "user", "content": [{"type": "image"}]});
    let before = vec![user("one"), user("two"), answer.clone(), picture.clone()];
    let (_, after) = tried(json!("doubled_prompt"), None, before.clone());
    let expected = vec![
        user("two"),
        user("one"),
        user("two"),
        answer.clone(),
        picture.clone(),
        user("two"),
    ];
    assert_eq!(after, expected);
    let (system, after) = tried(json!("inverted_system"), Some("sys"), before.clone());
    assert_eq!(system.as_deref(), Some("two"));
    assert_eq!(after[1], user("sys"));
    let (_, after) = tried(json!("chain_of_draft"), None, before);
    let text = after[1]["content"].as_str().unwrap();
    assert!(text.starts_with("two\n\n"), "{text}");
    assert!(text.contains("<draft>...</draft>"), "{text}");
    let nothing = vec![answer, picture];
    let (_, after) = tried(json!("doubled_prompt"), None, nothing.clone());
    assert_eq!(after, nothing);
}

#[test]
fn an_inverted_prompt_without_a_system_prompt_is_empty() {
    let (system, after) = tried(json!("inverted_system"), None, vec![user("p")]);
    assert_eq!((system.as_deref(), &after[0]), (Some("p"), &user("")));
}

#[test]
fn paragraphs_are_ordered_by_their_score() {
    // From the formula with 64-bit arithmetic, by another implementation.
    assert_eq!(score(0, 0), 0x18E5_72A2_CBAD_83E3);
    let rows = [
        // In order already, so they are rotated; a single one stays.
        ("only", 0, "only"),
        ("", 0, ""),
        ("a\n\nb\n\nc", 0, "b\n\nc\n\na"),
        ("a\n\nb\n\nc", 1, "b\n\na\n\nc"),
        ("a\n\nb\n\nc", 2, "b\n\nc\n\na"),
        ("a\n\nb\n\nc", 3, "c\n\na\n\nb"),
    ];
    for (text, seed, expected) in rows {
        assert_eq!(permuted(text, seed), expected);
    }
    let text = "a\n\n b \n \n\nc\nd";
    for seed in 0..20 {
        let after = permuted(text, seed);
        let mut parts: Vec<&str> = after.split("\n\n").collect();
        assert_ne!(parts, ["a", "b", "c\nd"], "seed {seed}");
        parts.sort_unstable();
        assert_eq!(parts, ["a", "b", "c\nd"], "seed {seed}");
    }
}

#[test]
fn an_experiment_tells_what_it_was() {
    let rows = [
        (
            json!("doubled_prompt"),
            json!({"label": "doubled_prompt", "name": "doubled_prompt", "args": {}, "metadata": {}}),
        ),
        (
            json!(" prompt_order_permutation( seed: 7 ) "),
            json!({
                "label": "prompt_order_permutation(seed: 7)", "name": "prompt_order_permutation",
                "args": {"seed": 7}, "metadata": {},
            }),
        ),
        (
            json!({"experiment": "chain_of_draft", "label": "mine", "args": {"a": 1}}),
            json!({"label": "mine", "name": "chain_of_draft", "args": {"a": 1}, "metadata": {}}),
        ),
        (json!({"__applied": {"name": "x"}}), json!({"name": "x"})),
    ];
    for (given, expected) in rows {
        let applied = apply(&given, &mut None, &mut vec![user("p")]).unwrap();
        assert_eq!(applied, Some(expected), "{given}");
    }
    for given in [json!(""), json!(null), json!(false)] {
        assert_eq!(apply(&given, &mut None, &mut Vec::new()), Ok(None));
    }
}

#[test]
fn every_mistake_has_its_text() {
    let dict = "structural_experiment: dict form requires `name` or `transform`";
    let rows = [
        (json!("magic"), "unknown structural experiment `magic`"),
        (
            json!("magic(a: 1)"),
            "unknown structural experiment `magic`",
        ),
        (
            json!({"name": "magic"}),
            "unknown structural experiment `magic`",
        ),
        (
            json!("doubled_prompt(a: 1"),
            "structural_experiment: missing closing `)`",
        ),
        (
            json!("doubled_prompt(3)"),
            "structural_experiment: expected `name: value`, got `3`",
        ),
        (
            json!("doubled_prompt(a: 1, b)"),
            "structural_experiment: expected `name: value`, got `b`",
        ),
        (
            json!("doubled_prompt(a: [1])"),
            "structural_experiment: unsupported argument value `[1]`",
        ),
        (
            json!("doubled_prompt(a: word)"),
            "structural_experiment: unsupported argument value `word`",
        ),
        (json!({}), dict),
        (json!({"label": "l"}), dict),
    ];
    for (given, expected) in rows {
        let mistake = apply(&given, &mut None, &mut vec![user("p")]).unwrap_err();
        assert_eq!(mistake.to_string(), expected, "{given}");
    }
}

#[test]
fn arguments_are_values_of_many_kinds() {
    let text = "doubled_prompt(a: -1, b: 2.5, c: true, d: \"x, y: z\", e: nil, f: 'q')";
    let applied = apply(&json!(text), &mut None, &mut Vec::new()).unwrap();
    let expected = json!({"a": -1, "b": 2.5, "c": true, "d": "x, y: z", "e": null, "f": "q"});
    assert_eq!(applied.unwrap()["args"], expected);
}
