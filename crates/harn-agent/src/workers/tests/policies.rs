use harn_llm::desk::Thrown;
use proptest::prelude::*;
use serde_json::json;

use super::*;

/// What a parent may do, and what its child asks for.
#[derive(Clone, Debug)]
struct Case {
    parent: Vec<&'static str>,
    allowed: Option<Vec<&'static str>>,
    policy: Option<Vec<&'static str>>,
    deny: Vec<&'static str>,
    allow: Option<Vec<&'static str>>,
    is_worker: bool,
}

const TOOLS: [&str; 3] = ["a", "b", "c"];

fn names() -> impl Strategy<Value = Vec<&'static str>> {
    prop::sample::subsequence(TOOLS.to_vec(), 0..=3)
}

fn case() -> impl Strategy<Value = Case> {
    (
        names(),
        prop::option::of(names()),
        prop::option::of(names()),
        names(),
        prop::option::of(names()),
        any::<bool>(),
    )
        .prop_map(|(parent, allowed, policy, deny, allow, is_worker)| Case {
            parent,
            allowed,
            policy,
            deny,
            allow,
            is_worker,
        })
}

/// Runs a parent whose tool starts a child that calls everything; gives what ran in the child.
async fn ran_in_child(case: &Case) -> Vec<String> {
    let program = Program::default();
    let ran: Arc<Mutex<Vec<String>>> = Arc::default();
    let calls: Vec<Value> = TOOLS
        .iter()
        .map(|name| json!({"name": name, "arguments": {}}))
        .collect();
    let desk = program.runtime.desk();
    program.mock_call("delegate");
    desk.answer("llm_mock", &[json!({"tool_calls": calls})]);
    desk.answer("llm_mock", &[json!({"match": "*", "text": "So."})]);
    let mut functions = Functions::default();
    let delegate = Arc::new(Delegate {
        runtime: Arc::clone(&program.runtime),
        ran: Arc::clone(&ran),
        case: case.clone(),
    });
    functions.insert("/2/tools/tools/0/handler", delegate as Arc<dyn Callback>);
    let limit: Vec<&str> = ["delegate"]
        .into_iter()
        .chain(case.parent.clone())
        .collect();
    let options = json!({
        "provider": "mock", "session_id": "parent", "tool_format": "native",
        "tools": tools(&["delegate"]), "policy": {"tools": limit},
        "permissions": {"deny": case.deny}, "max_iterations": 1,
    });
    let arguments = json!(["go", null, options]);
    let answer = program.answer("agent_loop", arguments, None, functions);
    answer.await.expect("the parent runs");
    let ran = ran.lock().expect("nobody panics");
    ran.clone()
}

struct Delegate {
    runtime: Arc<crate::Runtime>,
    ran: Arc<Mutex<Vec<String>>>,
    case: Case,
}

impl Callback for Delegate {
    fn call(&self, _: Vec<Value>) -> BoxFuture<'_, Result<Value, Thrown>> {
        Box::pin(async move {
            let case = &self.case;
            let mut functions = Functions::default();
            for (at, name) in TOOLS.iter().enumerate() {
                let ran = Arc::clone(&self.ran);
                let tool = move |_: Vec<Value>| {
                    ran.lock().expect("nobody panics").push((*name).to_owned());
                    Ok(json!("ran"))
                };
                let place = format!("/1/tools/tools/{at}/handler");
                functions.insert(place, Arc::new(tool) as Arc<dyn Callback>);
            }
            let options = json!({
                "provider": "mock", "tool_format": "native", "tools": tools(&TOOLS),
                "allowed_tools": case.allowed,
                "policy": case.policy.as_ref().map(|tools| json!({"tools": tools})),
                "permissions": {"allow": case.allow},
                "background": case.is_worker,
                "carry": {"persist_state": false},
            });
            let asked = Asked {
                builtin: "sub_agent_run".to_owned(),
                arguments: vec![json!("dig"), options],
                functions,
                session_id: Some("parent".to_owned()),
                ..Asked::default()
            };
            let started = self.runtime.answer(asked).await?;
            if case.is_worker {
                let asked = Asked {
                    builtin: "wait_agent".to_owned(),
                    arguments: vec![started],
                    ..Asked::default()
                };
                self.runtime.answer(asked).await?;
            }
            Ok(json!("back"))
        })
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn no_child_ever_does_what_its_parent_may_not(case in case()) {
        let ran = run(ran_in_child(&case));
        for name in &ran {
            prop_assert!(case.parent.contains(&&**name), "{name} ran: {case:?}");
            prop_assert!(!case.deny.contains(&&**name), "{name} ran: {case:?}");
            if let Some(allow) = &case.allow {
                prop_assert!(allow.contains(&&**name), "{name} ran: {case:?}");
            }
        }
        // Nothing is refused for no reason either.
        let is_plain = case.allowed.is_none() && case.policy.is_none() && case.allow.is_none();
        if is_plain {
            let expected = case.parent.iter().filter(|name| !case.deny.contains(name)).count();
            prop_assert_eq!(ran.len(), expected);
        }
    }
}

#[test]
fn what_a_loop_leaves_behind_is_not_free() {
    run(async {
        let program = Program::default();
        program.mock("So.");
        let options = json!({
            "provider": "mock", "session_id": "parent", "policy": {"tools": ["look"]},
        });
        program
            .done("agent_loop", json!(["go", null, options]))
            .await;
        // A task of that loop which is still there asks for a child.
        let asked = program.answer(
            "spawn_agent",
            json!([{"task": "dig", "node": {"id": "s"}, "policy": {"tools": ["shell"]}}]),
            Some("parent"),
            Functions::default(),
        );
        let refused = asked.await;
        let text = "spawn_agent: requested tools exceed host ceiling: shell";
        assert_eq!(refused, Err(Thrown::Runtime(text.to_owned())));
    });
}

#[test]
fn a_grant_of_a_session_says_nothing_to_the_level_of_its_parent() {
    run(async {
        let program = Program::default();
        let calls = Arc::new(Mutex::new(0));
        let counted = Arc::clone(&calls);
        let write = move |_: Vec<Value>| {
            *counted.lock().expect("nobody panics") += 1;
            Ok(json!("written"))
        };
        let mut functions = Functions::default();
        let write = Arc::new(write) as Arc<dyn Callback>;
        functions.insert("/1/tools/tools/0/handler", Arc::clone(&write));
        let grant = |_: Vec<Value>| Ok(json!("session"));
        functions.insert(
            "/1/permissions/on_escalation",
            Arc::new(grant) as Arc<dyn Callback>,
        );
        let options = json!({
            "provider": "mock", "session_id": "kid", "tool_format": "native",
            "tools": tools(&["write"]), "permissions": {"deny": ["write"]},
        });
        program.mock_call("write");
        program.mock("So.");
        let alone = program.answer("sub_agent_run", json!(["dig", options]), None, functions);
        assert_eq!(alone.await.unwrap()["ok"], true);
        assert_eq!(*calls.lock().unwrap(), 1);
        // The same session, below a parent whose only level denies the same call.
        let ambient = crate::Ambient {
            permissions: vec![
                crate::policy::Permissions::read(
                    "permissions",
                    &json!({"deny": ["write"]}),
                    &Functions::default(),
                )
                .unwrap()
                .unwrap()
                .of("parent"),
            ],
            ..crate::Ambient::default()
        };
        program.runtime.enter("parent", &ambient);
        program.mock_call("write");
        program.mock("So.");
        let mut functions = Functions::default();
        functions.insert("/1/tools/tools/0/handler", write);
        let options = json!({
            "provider": "mock", "session_id": "kid", "tool_format": "native",
            "tools": tools(&["write"]),
        });
        let arguments = json!(["dig", options]);
        let below = program.answer("sub_agent_run", arguments, Some("parent"), functions);
        assert_eq!(
            below.await.unwrap()["error"]["category"],
            "permission_denied"
        );
        assert_eq!(*calls.lock().unwrap(), 1);
    });
}
