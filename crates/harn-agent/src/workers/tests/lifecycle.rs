use harn_events::{WorkerEvent, WorkerLifecycle};
use serde_json::json;

use super::*;
use crate::verify::check_events;

#[test]
fn a_worker_that_is_closed_gives_its_call_up_before_closing_returns() {
    run(async {
        let program = Program::default();
        let hold = Hold::new();
        program.mock_call("hold");
        let handle = program.start(json!({"tools": tools(&["hold"])}), hold.functions());
        let handle = handle.await;
        hold.called.notified().await;
        let closed = program.done("close_agent", json!([handle])).await;
        assert_eq!(closed["status"], "cancelled");
        assert_eq!(closed["error"], "worker cancelled");
        assert_eq!(*hold.dropped.lock().unwrap(), 1);
        assert!(!program.runtime.sessions().is_running("s"));
    });
}

#[test]
fn closing_a_worker_closes_the_workers_it_has_started() {
    run(async {
        let program = Arc::new(Program::default());
        let hold = Hold::new();
        let (inner_hold, runtime) = (hold.clone(), Arc::clone(&program.runtime));
        // A tool of the outer worker that starts an inner one, from inside its session.
        struct Delegate(Arc<crate::Runtime>, Hold);
        impl Callback for Delegate {
            fn call(&self, _: Vec<Value>) -> BoxFuture<'_, Result<Value, Thrown>> {
                Box::pin(async move {
                    let mut functions = self.1.functions();
                    functions.extend(Functions::default());
                    let options = json!({
                        "provider": "mock", "background": true, "tool_format": "native",
                        "carry": {"persist_state": false}, "tools": tools(&["hold"]),
                    });
                    let asked = Asked {
                        builtin: "sub_agent_run".to_owned(),
                        arguments: vec![json!("deeper"), options],
                        functions,
                        session_id: Some("outer".to_owned()),
                        ..Asked::default()
                    };
                    let inner = self.0.answer(asked).await?;
                    Ok(inner["parent_worker_id"].clone())
                })
            }
        }
        let mut functions = Functions::default();
        let delegate = Arc::new(Delegate(runtime, inner_hold)) as Arc<dyn Callback>;
        functions.insert("/1/tools/tools/0/handler", delegate);
        let outer_hold = Hold::new();
        let again = Arc::new(outer_hold.clone()) as Arc<dyn Callback>;
        functions.insert("/1/tools/tools/1/handler", again);
        program.mock_call("delegate");
        program.mock_call("hold");
        program.mock_call("hold");
        let options = json!({"session_id": "outer", "tools": tools(&["delegate", "hold"])});
        let outer = program.start(options, functions).await;
        hold.called.notified().await;
        outer_hold.called.notified().await;
        program.done("close_agent", json!([outer])).await;
        let all = program.done("list_agents", json!([])).await;
        let statuses: Vec<&Value> = all
            .as_array()
            .unwrap()
            .iter()
            .map(|worker| &worker["status"])
            .collect();
        assert_eq!(statuses, [&json!("cancelled"), &json!("cancelled")]);
        assert_eq!(*hold.dropped.lock().unwrap(), 1);
        let parents: Vec<&Value> = all
            .as_array()
            .unwrap()
            .iter()
            .map(|worker| &worker["parent_worker_id"])
            .collect();
        assert!(parents.contains(&&outer["id"]));
    });
}

#[test]
fn a_worker_that_closes_itself_is_closed_and_told_of() {
    run(async {
        let program = Program::default();
        program.runtime.open_session("parent").await.unwrap();
        let watch = program.watch("parent");
        struct Quit(Arc<crate::Runtime>);
        impl Callback for Quit {
            fn call(&self, _: Vec<Value>) -> BoxFuture<'_, Result<Value, Thrown>> {
                Box::pin(async move {
                    let id = self.0.workers.all()[0].summary()["id"].clone();
                    let asked = Asked {
                        builtin: "close_agent".to_owned(),
                        arguments: vec![id],
                        ..Asked::default()
                    };
                    self.0.answer(asked).await
                })
            }
        }
        let mut functions = Functions::default();
        let quit = Arc::new(Quit(Arc::clone(&program.runtime))) as Arc<dyn Callback>;
        functions.insert("/1/tools/tools/0/handler", quit);
        program.mock_call("quit");
        let options = json!({
            "tools": tools(&["quit"]), "audit": {"parent_session_id": "parent"},
        });
        let handle = program.start(options, functions).await;
        let closed = program.done("wait_agent", json!([handle])).await;
        assert_eq!(closed["status"], "cancelled");
        let told = watch.take();
        assert_eq!(told[told.len() - 1]["event"], "WorkerCancelled");
    });
}

#[test]
fn any_sequence_of_demands_is_told_in_order() {
    let demands = [
        "send_input",
        "close_agent",
        "suspend_agent",
        "resume_agent",
        "wait_agent",
    ];
    for seed in 0..60_usize {
        run(async {
            let program = Program::default();
            program.runtime.open_session("parent").await.unwrap();
            let watch = program.watch("parent");
            for _ in 0..8 {
                program.mock("Dug.");
            }
            let options = json!({"audit": {"parent_session_id": "parent"}});
            let handle = program.start(options, Functions::default()).await;
            let mut number = seed;
            for _ in 0..4 {
                let demand = demands[number % demands.len()];
                number /= 2;
                let arguments = match demand {
                    "send_input" => json!([handle, "more"]),
                    _ => json!([handle]),
                };
                let _refused_or_not = program
                    .answer(demand, arguments, None, Functions::default())
                    .await;
            }
            program.done("close_agent", json!([handle])).await;
            let events: Vec<harn_events::AgentEvent> = watch
                .take()
                .into_iter()
                .map(|event| serde_json::from_value(event).unwrap())
                .collect();
            let findings = check_events((0..).zip(&events));
            assert!(findings.is_sound(), "seed {seed}: {findings:?}");
            assert!(!events.is_empty());
        });
    }
}

#[test]
fn a_second_cycle_is_told_like_the_first() {
    run(async {
        let program = Program::default();
        program.runtime.open_session("parent").await.unwrap();
        let watch = program.watch("parent");
        program.mock("One.");
        program.mock("Two.");
        let options = json!({"audit": {"parent_session_id": "parent"}});
        let handle = program.start(options, Functions::default()).await;
        program.done("wait_agent", json!([handle])).await;
        program.done("send_input", json!([handle, "deeper"])).await;
        let second = program.done("wait_agent", json!([handle])).await;
        assert_eq!(second["result"]["summary"], "Two.");
        let told: Vec<String> = watch
            .take()
            .iter()
            .filter_map(|event| event["event"].as_str().map(str::to_owned))
            .collect();
        let once = ["WorkerSpawned", "WorkerCompleted"];
        assert_eq!(told, [once, once].concat());
    });
}

#[test]
fn a_session_that_was_closed_hears_nothing_under_its_old_name() {
    run(async {
        let program = Program::default();
        program.runtime.open_session("parent").await.unwrap();
        let hold = Hold::new();
        program.mock_call("hold");
        program.mock("Dug.");
        let options = json!({
            "audit": {"parent_session_id": "parent"}, "tools": tools(&["hold"]),
        });
        let handle = program.start(options, hold.functions()).await;
        hold.called.notified().await;
        program.done("agent_session_close", json!(["parent"])).await;
        program.runtime.open_session("parent").await.unwrap();
        let watch = program.watch("parent");
        hold.opened.notify_one();
        let done = program.done("wait_agent", json!([handle])).await;
        assert_eq!(done["status"], "completed");
        assert!(watch.take().is_empty());
    });
}

#[test]
fn statuses_and_their_events_agree() {
    use crate::workers::status::Status;
    for word in [
        "running",
        "awaiting",
        "suspended",
        "completed",
        "failed",
        "cancelled",
    ] {
        let status = Status::named(word).unwrap();
        assert_eq!(status.word(), word);
        let mut told = WorkerLifecycle::default();
        told.apply(WorkerEvent::WorkerSpawned).unwrap();
        assert!(told.apply(status.event()).is_ok(), "{word}");
    }
    assert_eq!(Status::named("lost"), None);
}

#[test]
fn many_children_find_their_sessions_however_few_may_rest() {
    run(async {
        let program = Program::default();
        program.runtime.sessions().set_sessions_max(4);
        let hold = Hold::new();
        let entry = json!({"match": "*", "tool_calls": [{"name": "hold", "arguments": {}}]});
        program.runtime.desk().answer("llm_mock", &[entry]);
        let mut handles = Vec::new();
        for _ in 0..20 {
            let options = json!({"tools": tools(&["hold"]), "max_iterations": 1});
            handles.push(program.start(options, hold.functions()).await);
            hold.called.notified().await;
        }
        for _ in 0..20 {
            hold.opened.notify_one();
            tokio::task::yield_now().await;
        }
        let done = program.done("wait_agent", json!([handles])).await;
        let done = done.as_array().unwrap();
        assert!(done.iter().all(|worker| worker["result"]["ok"] == true));
    });
}
