//! What clients choose: modes, models, commands.

use harn_acp::Mode;
use serde_json::{Value, json};

use crate::client::{Scene, Setting};

/// A program that says which mode and model it has.
const TELLS: &str = "pipeline answer(prompt, session_id, mode) {\n\
                     let model = env(\"HARN_LLM_MODEL\")\n\
                     let thinking = env(\"HARN_LLM_THINKING\")\n\
                     return \"${mode} ${model} ${thinking}\"\n}";

fn modes() -> Vec<Mode> {
    let mode = |id: &str| Mode {
        id: id.to_owned(),
        name: id.to_uppercase(),
        description: None,
    };
    vec![mode("code"), mode("ask")]
}

fn telling() -> Scene {
    Scene::of(Setting {
        program: TELLS,
        modes: modes(),
        ..Setting::default()
    })
}

fn current(options: &Value, id: &str) -> Value {
    let mut options = options.as_array().unwrap().iter();
    options.find(|one| one["id"] == id).unwrap()["currentValue"].clone()
}

#[tokio::test]
async fn a_session_says_what_can_be_chosen() {
    let scene = telling();
    let mut client = scene.client().await;
    let parameters = json!({"cwd": scene.cwd(), "mcpServers": []});
    let session = client.call("session/new", parameters).await.unwrap();
    assert_eq!(session["modes"]["currentModeId"], "code");
    assert_eq!(
        session["modes"]["availableModes"][1],
        json!({"id": "ask", "name": "ASK"})
    );
    let options = &session["configOptions"];
    assert_eq!(current(options, "mode"), "code");
    assert_eq!(current(options, "model"), "gpt-4o");
    for option in options.as_array().unwrap() {
        assert_eq!(option["type"], "select");
        assert_eq!(option["category"], option["id"]);
        let mut values = option["options"].as_array().unwrap().iter();
        assert!(
            values.any(|one| one["value"] == option["currentValue"]),
            "{option}"
        );
    }
}

#[tokio::test]
async fn a_program_without_modes_has_none() {
    let scene = Scene::of(Setting::default());
    let mut client = scene.client().await;
    let parameters = json!({"cwd": scene.cwd(), "mcpServers": []});
    let session = client.call("session/new", parameters).await.unwrap();
    assert_eq!(session.get("modes"), None);
    let id = &session["sessionId"];
    let parameters = json!({"sessionId": id, "modeId": "code"});
    let refused = client
        .call("session/set_mode", parameters)
        .await
        .unwrap_err();
    assert_eq!(refused["code"], -32602);
}

#[tokio::test]
async fn a_mode_that_is_chosen_reaches_the_program_and_is_kept() {
    let scene = telling();
    let mut client = scene.client().await;
    let session = client.session(&scene.cwd()).await;
    let choose = |mode: &str| json!({"sessionId": session, "modeId": mode});
    client
        .call("session/set_mode", choose("ask"))
        .await
        .unwrap();
    let updates = client.updates(&session);
    assert_eq!(updates[0]["sessionUpdate"], "current_mode_update");
    assert_eq!(updates[0]["currentModeId"], "ask");
    client.prompt(&session, "?").await.unwrap();
    assert_eq!(client.said(&session), "ask gpt-4o nil");
    let refused = client
        .call("session/set_mode", choose("dance"))
        .await
        .unwrap_err();
    assert_eq!(refused["code"], -32602);
    client.leave().await.unwrap();
    let mut later = scene.client().await;
    let parameters = json!({"sessionId": session, "cwd": scene.cwd(), "mcpServers": []});
    let resumed = later.call("session/resume", parameters).await.unwrap();
    assert_eq!(resumed["modes"]["currentModeId"], "ask");
}

#[tokio::test]
async fn a_model_that_is_chosen_is_asked_and_kept() {
    let scene = telling();
    let mut client = scene.client().await;
    let session = client.session(&scene.cwd()).await;
    client.prompt(&session, "?").await.unwrap();
    let choose = |option: &str, value: &str| json!({"sessionId": session, "configId": option, "value": value});
    let set = "session/set_config_option";
    let chosen = client.call(set, choose("model", "o3")).await.unwrap();
    assert_eq!(current(&chosen["configOptions"], "model"), "o3");
    let chosen = client
        .call(set, choose("thought_level", "high"))
        .await
        .unwrap();
    assert_eq!(current(&chosen["configOptions"], "thought_level"), "high");
    client.prompt(&session, "?").await.unwrap();
    assert_eq!(client.said(&session), "code gpt-4o nilcode o3 high");
    for (option, value) in [("model", ""), ("colour", "red"), ("mode", "dance")] {
        let refused = client.call(set, choose(option, value)).await.unwrap_err();
        assert_eq!(refused["code"], -32602, "{option}");
    }
    client.leave().await.unwrap();
    let mut later = scene.client().await;
    let parameters = json!({"sessionId": session, "cwd": scene.cwd(), "mcpServers": []});
    let resumed = later.call("session/resume", parameters).await.unwrap();
    assert_eq!(current(&resumed["configOptions"], "model"), "o3");
    assert_eq!(current(&resumed["configOptions"], "thought_level"), "high");
}

#[tokio::test]
async fn what_one_client_chooses_the_others_hear() {
    let scene = telling();
    let mut first = scene.client().await;
    let session = first.session(&scene.cwd()).await;
    let mut second = scene.client().await;
    let parameters = json!({"sessionId": session, "cwd": scene.cwd(), "mcpServers": []});
    second.call("session/load", parameters).await.unwrap();
    let chosen = json!({"sessionId": session, "configId": "model", "value": "o3"});
    first
        .call("session/set_config_option", chosen)
        .await
        .unwrap();
    let is_update = |message: &Value| message["method"] == "session/update";
    let heard = second.until(is_update).await;
    let update = &heard["params"]["update"];
    assert_eq!(update["sessionUpdate"], "config_option_update");
    assert_eq!(current(&update["configOptions"], "model"), "o3");
    assert_eq!(
        first.updates(&session),
        Vec::<Value>::new(),
        "it knows already"
    );
}

#[tokio::test]
async fn skills_that_people_may_start_are_commands() {
    let folder = tempfile::tempdir().unwrap();
    let skill = |name: &str, front: &str, body: &str| {
        let folder = folder.path().join(".harn/skills").join(name);
        std::fs::create_dir_all(&folder).unwrap();
        let text = format!("---\nname: {name}\n{front}---\n{body}\n");
        std::fs::write(folder.join("SKILL.md"), text).unwrap();
    };
    skill(
        "greet",
        "short: Greets\ndescription: Greets somebody\nuser-invocable: true\n",
        "Greet $1 twice.",
    );
    skill(
        "secret",
        "short: Not for people\ndescription: Not for people\n",
        "Hidden.",
    );
    let scene = Scene::in_folder(
        folder,
        Setting {
            program: "pipeline answer(prompt) { return prompt }",
            ..Setting::default()
        },
    );
    let mut client = scene.client().await;
    let session = client.session(&scene.cwd()).await;
    let is_update = |message: &Value| message["method"] == "session/update";
    let heard = client.until(is_update).await;
    let update = &heard["params"]["update"];
    assert_eq!(update["sessionUpdate"], "available_commands_update");
    let commands = update["availableCommands"].as_array().unwrap();
    assert_eq!(commands.len(), 1);
    assert_eq!(
        (&commands[0]["name"], &commands[0]["description"]),
        (&json!("greet"), &json!("Greets somebody"))
    );
    client
        .prompt(&session, "/greet Ann and others")
        .await
        .unwrap();
    assert_eq!(client.said(&session), "Greet Ann twice.");
    client.prompt(&session, "/secret").await.unwrap();
    client.prompt(&session, "/unknown x").await.unwrap();
    assert_eq!(client.said(&session), "Greet Ann twice./secret/unknown x");
}
