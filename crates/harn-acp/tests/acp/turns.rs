//! Turns: what is written, what comes back, and why it ends.

use serde_json::json;

use crate::client::{Scene, Setting};

#[tokio::test]
async fn a_prompt_is_answered_after_all_of_its_updates() {
    let scene = Scene::new("[[turn]]\ntext = \"Good morning to you.\"\n");
    let mut client = scene.client().await;
    let session = client.session(&scene.cwd()).await;
    let answer = client.prompt(&session, "Hi").await.unwrap();
    assert_eq!(answer["stopReason"], "end_turn");
    assert_eq!(answer["_meta"]["harn"]["outcome"], "completed");
    assert_eq!(client.said(&session), "Good morning to you.");
    let seen = client.seen.len();
    client.leave().await.unwrap();
    assert_eq!(client.seen.len(), seen, "nothing comes after the answer");
}

#[tokio::test]
async fn updates_have_indexes_that_grow() {
    let scene = Scene::new(
        "[[turn]]\ntext = \"I look.\"\ncall = [{ tool = \"list\", arguments = {} }]\n\
         [[turn]]\ntext = \"One file.\"\n",
    );
    let mut client = scene.client().await;
    let session = client.session(&scene.cwd()).await;
    client.prompt(&session, "Look").await.unwrap();
    let updates = client.updates(&session);
    let indexes = updates
        .iter()
        .map(|one| one["_meta"]["harn"]["index"].as_u64().unwrap());
    let indexes: Vec<u64> = indexes.collect();
    assert!(indexes.is_sorted() && indexes.len() > 3, "{indexes:?}");
    assert_eq!(client.said(&session), "I look.One file.");
}

#[tokio::test]
async fn the_conversation_goes_on_from_turn_to_turn() {
    let scene = Scene::new(
        "[[turn]]\nwhen = \"one\"\ntext = \"First.\"\n[[turn]]\nwhen = \"two\"\ntext = \"Second.\"\n",
    );
    let mut client = scene.client().await;
    let session = client.session(&scene.cwd()).await;
    client.prompt(&session, "one").await.unwrap();
    client.prompt(&session, "two").await.unwrap();
    assert_eq!(client.said(&session), "First.Second.");
}

#[tokio::test]
async fn what_a_program_gives_is_said_if_its_agent_says_nothing() {
    let scene = Scene::of(Setting {
        program: "pipeline answer(prompt) {\nprintln(\"aside\")\nreturn \"You said ${prompt}.\"\n}",
        ..Setting::default()
    });
    let mut client = scene.client().await;
    let session = client.session(&scene.cwd()).await;
    client.prompt(&session, "moo").await.unwrap();
    assert_eq!(client.said(&session), "You said moo.");
    let printed = scene.printed.lock().unwrap().clone();
    assert_eq!(
        printed, "aside\n",
        "what it prints is no part of the protocol"
    );
}

#[tokio::test]
async fn the_title_is_what_was_said_first() {
    let scene = Scene::of(Setting::default());
    let mut client = scene.client().await;
    let session = client.session(&scene.cwd()).await;
    client
        .prompt(&session, "Mend the fence\nplease")
        .await
        .unwrap();
    client.prompt(&session, "And the gate").await.unwrap();
    let updates = client.updates(&session);
    let titles = updates
        .iter()
        .filter(|one| one["sessionUpdate"] == "session_info_update");
    let titles: Vec<_> = titles.map(|one| &one["title"]).collect();
    assert_eq!(titles, [&json!("Mend the fence")]);
}

#[tokio::test]
async fn why_a_turn_has_ended_is_told() {
    let rows = [
        (
            "[[turn]]\ntext = \"As far as\"\nstop = \"max_tokens\"\n",
            "max_tokens",
            "length",
        ),
        (
            "[[turn]]\nrefusal = \"I will not.\"\n",
            "refusal",
            "refused",
        ),
        (
            "[[turn]]\ncall = [{ tool = \"list\", arguments = {} }]\nrepeat = true\n",
            "max_turn_requests",
            "budget_exhausted",
        ),
    ];
    for (scenario, stop_reason, outcome) in rows {
        let scene = Scene::of(Setting {
            scenario,
            program: "pipeline answer(prompt, session_id) {\n\
                      agent_loop(prompt, \"You talk.\", {session_id: session_id, \
                      tools: coding_tools(), max_iterations: 2, loop_detect_warn: 50, \
                      loop_detect_block: 60, loop_detect_skip: 70})\n}",
            ..Setting::default()
        });
        let mut client = scene.client().await;
        let session = client.session(&scene.cwd()).await;
        let answer = client.prompt(&session, "Go").await.unwrap();
        assert_eq!(answer["stopReason"], stop_reason, "{answer}");
        assert_eq!(answer["_meta"]["harn"]["outcome"], outcome);
    }
}

#[tokio::test]
async fn two_hundred_sessions_keep_their_order() {
    let scene = Scene::new("[[turn]]\ntext = \"one two three four five\"\nrepeat = true\n");
    let mut client = scene.client().await;
    let mut sessions = Vec::new();
    for _ in 0..200 {
        sessions.push(client.session(&scene.cwd()).await);
    }
    let mut asked = Vec::new();
    for session in &sessions {
        asked.push(client.begin(session, "Count").await);
    }
    for id in asked {
        assert_eq!(client.answer(id).await.unwrap()["stopReason"], "end_turn");
    }
    for session in &sessions {
        assert_eq!(client.said(session), "one two three four five", "{session}");
    }
}
