//! What is told while an answer is still arriving.

use harn_agent::Seam;
use harn_events::MutationSessionRecord;
use serde_json::{Value, json};

use crate::stage::{SESSION, Stage, request, tool};

fn openai() -> Value {
    json!({"provider": "openai", "model": "gpt-4o", "tool_format": "native"})
}

fn text(text: &str) -> Value {
    json!({"choices": [{"index": 0, "delta": {"content": text}}]})
}

fn stop(reason: &str) -> Value {
    json!({
        "choices": [{"index": 0, "delta": {}, "finish_reason": reason}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5},
    })
}

fn call(id: Option<&str>, name: &str, arguments: &str) -> Value {
    let mut call = json!({"index": 0, "type": "function"});
    if let Some(id) = id {
        call["id"] = json!(id);
    }
    call["function"] = json!({"arguments": arguments});
    if !name.is_empty() {
        call["function"]["name"] = json!(name);
    }
    json!({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]})
}

#[tokio::test(start_paused = true)]
async fn a_reply_is_told_in_pieces_and_not_again() {
    let stage = Stage::proving_online(&["agent_message_chunk", "agent_thought_chunk"]);
    let thought = json!({"choices": [{"index": 0, "delta": {"reasoning_content": "Hm."}}]});
    stage
        .network
        .say(&[thought, text("Hel"), text("lo."), stop("stop")]);
    stage.run(openai()).await;
    let pieces = stage.of_type("agent_message_chunk");
    let pieces: Vec<&str> = pieces
        .iter()
        .map(|one| one["content"].as_str().unwrap())
        .collect();
    assert_eq!(pieces.concat(), "Hello.");
    assert!(pieces.len() > 1, "{pieces:?}");
    assert_eq!(stage.one("agent_thought_chunk")["content"], "Hm.");
    let plot = stage.plot();
    assert_eq!(plot[0], "agent_thought_chunk");
}

/// Whoever shows how full the context is needs to know how large it is.
#[tokio::test(start_paused = true)]
async fn the_end_of_an_iteration_tells_size_and_cost_where_they_are_known() {
    let stage = Stage::proving_online(&["iteration_end"]);
    stage.network.say(&[text("One."), stop("stop")]);
    stage.network.say(&[text("Two."), stop("stop")]);
    stage.network.say(&[text("Three."), stop("stop")]);
    let mut known = openai();
    known["model"] = json!("gpt-4o-mini");
    stage.run(known.clone()).await;
    stage.run(known).await;
    let mut unknown = openai();
    unknown["model"] = json!("nobody-knows-it");
    stage.run(unknown).await;
    let ends = stage.of_type("iteration_end");
    let info = |at: usize| &ends[at]["iteration_info"];
    assert_eq!(info(0)["context_window"], 128_000);
    assert_eq!(info(2).get("context_window"), None);
    let cost = |at: usize| info(at)["session_cost_usd"].as_f64().unwrap();
    assert!(cost(0) > 0.0);
    assert!(
        (cost(1) - 2.0 * cost(0)).abs() < 1e-12,
        "it is that of the session"
    );
}

/// One start per call although the stream and the dispatcher both announce it.
#[tokio::test(start_paused = true)]
async fn arguments_are_told_as_they_grow() {
    let stage = Stage::proving_online(&["tool_call", "tool_call_update"]);
    stage.network.say(&[
        call(Some("call_1"), "look", ""),
        call(None, "", "{\"path\""),
        call(None, "", ":\"lamp\"}"),
        stop("tool_calls"),
    ]);
    stage.network.say(&[text("Fine."), stop("stop")]);
    let request = request(openai()).tool(tool("look", Ok("a lamp")));
    stage.run_with(request).await.unwrap();
    assert_eq!(
        stage.one("tool_call"),
        json!({
            "type": "tool_call", "session_id": SESSION, "tool_call_id": "tool-call_1",
            "tool_name": "look", "kind": null, "status": "pending", "raw_input": {},
        })
    );
    let updates = stage.of_type("tool_call_update");
    let growing: Vec<&Value> = updates
        .iter()
        .filter(|update| update["status"] == "pending")
        .collect();
    assert!(growing.len() >= 2, "{growing:?}");
    let last = growing.last().unwrap();
    assert_eq!(last["raw_input"], json!({"path": "lamp"}));
    for update in &growing {
        assert!(update.get("raw_input").is_some() != update.get("raw_input_partial").is_some());
        assert_eq!(update["tool_call_id"], "tool-call_1");
        assert_eq!(update.get("parsing"), None);
    }
    // Logs leave most of what grows out, so the call says once more what it runs with.
    let is_running = |update: &&Value| update["status"] == "in_progress";
    let running = updates.iter().find(is_running).unwrap();
    assert_eq!(running["raw_input"], json!({"path": "lamp"}));
    let plot = stage.plot();
    let is_pending = |one: &&String| *one == "tool_call_update pending";
    let pending = plot.iter().filter(is_pending).count();
    assert_eq!(plot[0], "tool_call");
    assert_eq!(
        plot[1 + pending..],
        [
            "tool_call_update in_progress",
            "tool_call_update completed",
            "agent_message_chunk"
        ]
    );
    // The announcement comes before the seam, the rest after it.
    let story = stage.story();
    let seam = story
        .iter()
        .position(|one| one == "@pre_tool_dispatch")
        .unwrap();
    assert!(story[..seam].contains(&"tool_call".to_owned()));
    assert!(!story[..seam].contains(&"tool_call_update in_progress".to_owned()));
}

/// A stream that breaks leaves no open call behind, and a session that can be used.
#[tokio::test(start_paused = true)]
async fn a_broken_stream_closes_what_it_announced() {
    let stage = Stage::proving_online(&["tool_call_update", "iteration_end"]);
    stage
        .network
        .break_after(&[call(Some("call_1"), "look", "{\"pa")]);
    let broken = request(openai()).tool(tool("look", Ok("a lamp")));
    assert!(stage.run_with(broken).await.is_err());
    let end = stage.of_type("tool_call_update").pop().unwrap();
    assert_eq!(end["tool_call_id"], "tool-call_1");
    assert_eq!(
        (&end["status"], &end["error_category"]),
        (&json!("failed"), &json!("parse_aborted"))
    );
    stage.network.say(&[text("Fine."), stop("stop")]);
    let result = stage.run(openai()).await;
    assert_eq!(result["status"], "done");
}

/// Calls that are written in the text are candidates until they are read.
#[tokio::test(start_paused = true)]
async fn a_candidate_is_promoted_and_then_called() {
    let stage = Stage::proving_online(&["tool_call", "tool_call_update"]);
    stage.network.say(&[
        text("<tool_call>\n"),
        text("look({ path: \"lamp\" })\n"),
        text("</tool_call>\n"),
        stop("stop"),
    ]);
    stage.network.say(&[text("Fine."), stop("stop")]);
    let mut options = openai();
    options["tool_format"] = json!("text");
    let request = request(options).tool(tool("look", Ok("a lamp")));
    stage.run_with(request).await.unwrap();
    let starts = stage.of_type("tool_call");
    assert_eq!(starts.len(), 2);
    let candidate = &starts[0]["tool_call_id"];
    assert!(candidate.as_str().unwrap().starts_with("text-cand-"));
    assert_eq!(starts[0]["parsing"], true);
    assert_eq!(
        (&starts[0]["status"], &starts[0]["raw_input"]),
        (&json!("pending"), &json!({}))
    );
    assert_eq!(starts[1].get("parsing"), None);
    assert_eq!(starts[1]["raw_input"], json!({"path": "lamp"}));
    let updates = stage.of_type("tool_call_update");
    let promoted = &updates[0];
    assert_eq!(promoted["tool_call_id"], *candidate);
    assert_eq!(
        (&promoted["parsing"], &promoted["status"]),
        (&json!(false), &json!("pending"))
    );
    assert_eq!(promoted["raw_input"], json!({"path": "lamp"}));
    assert_eq!(promoted["tool_name"], "look");
    // The catalog prefers another format, which is told first.
    let plot: Vec<String> = stage.plot();
    assert_eq!(
        plot[1..6],
        [
            "tool_call",
            "tool_call_update pending",
            "tool_call",
            "tool_call_update in_progress",
            "tool_call_update completed",
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_candidate_that_is_no_call_is_withdrawn() {
    let stage = Stage::proving_online(&["tool_call", "tool_call_update"]);
    stage
        .network
        .say(&[text("<tool_call>\nlook({ path: "), stop("length")]);
    stage.network.say(&[text("Fine."), stop("stop")]);
    let mut options = openai();
    options["tool_format"] = json!("text");
    options["max_iterations"] = json!(1);
    let request = request(options).tool(tool("look", Ok("a lamp")));
    stage.run_with(request).await.unwrap();
    let start = stage.one("tool_call");
    let end = stage.one("tool_call_update");
    assert_eq!(start["parsing"], true);
    assert_eq!(end["tool_call_id"], start["tool_call_id"]);
    assert_eq!(
        (&end["parsing"], &end["status"]),
        (&json!(false), &json!("failed"))
    );
    assert_eq!(end["error_category"], "parse_aborted");
    assert!(end["error"].is_string());
}

/// Every event of a call names the mutation session, also before the call is made.
#[tokio::test(start_paused = true)]
async fn what_is_announced_names_the_mutation_session() {
    for (format, said) in [
        (
            "native",
            call(Some("call_1"), "look", "{\"path\": \"lamp\"}"),
        ),
        (
            "text",
            text("<tool_call>\nlook({ path: \"lamp\" })\n</tool_call>\n"),
        ),
    ] {
        let stage = Stage::proving_online(&[]);
        let record = MutationSessionRecord {
            session_id: "session_1".to_owned(),
            ..MutationSessionRecord::default()
        };
        let bus = stage.runtime.bus();
        let reason = match format {
            "native" => "tool_calls",
            _ => "stop",
        };
        stage.network.say(&[said, stop(reason)]);
        stage.network.say(&[text("Fine."), stop("stop")]);
        let mut options = openai();
        options["tool_format"] = json!(format);
        let request = request(options).tool(tool("look", Ok("a lamp")));
        let run = async {
            let _audit = bus.enter_mutation_session(record);
            stage.run_with(request).await
        };
        bus.scope_loop_sink(None, run).await.unwrap();
        let mut told = stage.of_type("tool_call");
        told.extend(stage.of_type("tool_call_update"));
        assert!(told.len() > 3, "{told:?}");
        for event in told {
            assert_eq!(event["audit"]["session_id"], "session_1", "{event}");
        }
    }
}

/// S23: two model calls with one candidate each have distinct ids, which rise over the session.
#[tokio::test(start_paused = true)]
async fn candidates_of_two_turns_have_distinct_ids() {
    let stage = Stage::proving_online(&["tool_call"]);
    for _ in 0..2 {
        let written = "<tool_call>\nlook({ path: \"lamp\" })\n</tool_call>\n";
        stage.network.say(&[text(written), stop("stop")]);
    }
    stage.network.say(&[text("Fine."), stop("stop")]);
    let mut options = openai();
    options["tool_format"] = json!("text");
    let request = request(options).tool(tool("look", Ok("a lamp")));
    stage.run_with(request).await.unwrap();
    let starts = stage.of_type("tool_call");
    let ids: Vec<&str> = starts
        .iter()
        .filter(|start| start["parsing"] == true)
        .map(|start| start["tool_call_id"].as_str().unwrap())
        .collect();
    assert_eq!(ids, ["text-cand-1", "text-cand-2"]);
}

/// A stream that breaks and is asked for again: what it announced ends, what comes counts.
#[tokio::test(start_paused = true)]
async fn a_stream_that_begins_again_announces_again() {
    let stage = Stage::proving_online(&["tool_call", "tool_call_update"]);
    stage
        .network
        .drop_after(&[call(Some("call_1"), "look", "{\"pa")]);
    stage.network.say(&[
        call(Some("call_2"), "look", "{\"path\":\"lamp\"}"),
        stop("tool_calls"),
    ]);
    stage.network.say(&[text("Fine."), stop("stop")]);
    let mut options = openai();
    options["llm_retries"] = json!(1);
    let request = request(options).tool(tool("look", Ok("a lamp")));
    stage.run_with(request).await.unwrap();
    let told = stage.events();
    let ends: Vec<(&str, &str)> = told
        .iter()
        .filter(|event| matches!(event["status"].as_str(), Some("completed" | "failed")))
        .map(|event| {
            let id = event["tool_call_id"].as_str().unwrap();
            (id, event["error_category"].as_str().unwrap_or_default())
        })
        .collect();
    assert_eq!(
        ends,
        [("tool-call_1", "parse_aborted"), ("tool-call_2", "")]
    );
    let mut growing = stage.of_type("tool_call_update");
    growing.retain(|update| update["tool_call_id"] == "tool-call_2");
    assert_eq!(growing[0]["raw_input"], json!({"path": "lamp"}));
}

/// An interrupt comes before the calls that the stream has announced.
#[tokio::test(start_paused = true)]
async fn an_announced_call_that_is_skipped_ends() {
    let stage = Stage::proving_online_with_host(&["tool_call", "tool_call_update"]);
    stage.host.will_say(Seam::PreToolDispatch, "Stop!");
    stage
        .network
        .say(&[call(Some("call_1"), "look", "{}"), stop("tool_calls")]);
    stage.network.say(&[text("Fine."), stop("stop")]);
    let request = request(openai()).tool(tool("look", Ok("a lamp")));
    stage.run_with(request).await.unwrap();
    let end = stage.of_type("tool_call_update").pop().unwrap();
    assert_eq!(
        (&end["status"], &end["error_category"]),
        (&json!("failed"), &json!("cancelled"))
    );
    assert_eq!(end["error"], "the call was not made: interrupt_immediate");
}

/// A streamed call that the loop answers itself must end as well.
#[tokio::test(start_paused = true)]
async fn a_streamed_call_of_the_ledger_ends() {
    let stage = Stage::proving_online(&["tool_call", "tool_call_update"]);
    let arguments = json!({"action": "note", "text": "Lamps are upstairs."}).to_string();
    stage.network.say(&[
        call(Some("call_1"), "ledger", &arguments),
        stop("tool_calls"),
    ]);
    stage.network.say(&[text("Fine."), stop("stop")]);
    let mut options = openai();
    options["max_iterations"] = json!(2);
    let request = request(options).tool(tool("look", Ok("a lamp")));
    stage.run_with(request).await.unwrap();
    let end = stage.of_type("tool_call_update").pop().unwrap();
    assert!(matches!(
        end["status"].as_str(),
        Some("completed" | "failed")
    ));
    assert_ne!(end["error_category"], "abandoned_at_loop_exit", "{end}");
}

/// A model that is so fast that nothing can be told while it writes tells its arguments at the
/// end: the dispatcher's announcement is the second one and reaches no sink.
#[tokio::test(start_paused = true)]
async fn arguments_that_come_at_once_are_told_as_well() {
    use harn_agent::llm::desk::Desk;
    use harn_agent::llm::scenario::Scenario;
    use harn_agent::{LoopRequest, Runtime, RuntimeOptions};
    use std::sync::{Arc, Mutex};

    let script = "piece_chars = 3\n\
                  [[turn]]\ncall = [{ tool = \"look\", arguments = { path = \"lamp\" } }]\n\
                  [[turn]]\ntext = \"Fine.\"\n";
    let desk = Desk::staged(Scenario::parse("fast", script).expect("it is a scenario"));
    let runtime = Runtime::new(Arc::new(desk), RuntimeOptions::default());
    let seen: Arc<Mutex<Vec<Value>>> = Arc::default();
    let watched = Arc::clone(&seen);
    let request = LoopRequest::new("Go").tool(tool("look", Ok("a lamp")));
    let request = request.watch(move |event| {
        let event = serde_json::to_value(event).expect("events are JSON");
        watched.lock().expect("nobody panics").push(event);
    });
    runtime.run(request).await.expect("it runs to its end");
    let seen = seen.lock().expect("nobody panics");
    let mut updates = seen.iter().filter(|one| one["type"] == "tool_call_update");
    let told = updates.rfind(|one| one["status"] == "pending");
    assert_eq!(told.expect("it grew")["raw_input"], json!({"path": "lamp"}));
    let starts = seen.iter().filter(|one| one["type"] == "tool_call");
    assert_eq!(starts.count(), 1);
}

/// The call that was cut off is closed, and the one that is made has a start and an end of its
/// own.
#[tokio::test(start_paused = true)]
async fn a_call_that_is_cut_off_is_asked_for_with_more_room() {
    let stage = Stage::proving_online(&["feedback_injected", "tool_call"]);
    stage.network.say(&[
        call(Some("call_1"), "look", ""),
        call(None, "", "{\"path\":\"la"),
        stop("length"),
    ]);
    stage.network.say(&[
        call(Some("call_2"), "look", "{\"path\":\"lamp\"}"),
        stop("tool_calls"),
    ]);
    stage.network.say(&[text("Fine."), stop("stop")]);
    let request = request(openai()).tool(tool("look", Ok("a lamp")));
    let result = stage.run_with(request).await.unwrap();
    assert_eq!(result["text"], "Fine.");
    assert_eq!(
        stage.one("feedback_injected"),
        json!({
            "type": "feedback_injected", "session_id": SESSION, "kind": "llm_auto_continue",
            "content": "16384->32768 (attempt 1/2)",
        })
    );
    let starts = stage.of_type("tool_call");
    let ids: Vec<&Value> = starts.iter().map(|start| &start["tool_call_id"]).collect();
    assert_eq!(ids, ["tool-call_1", "tool-call_2"]);
    let updates = stage.of_type("tool_call_update");
    let mut ends = updates
        .iter()
        .filter(|update| update["status"] != "pending");
    assert_eq!(ends.next().unwrap()["status"], "failed");
    assert_eq!(stage.of_type("iteration_end").len(), 2);
}
