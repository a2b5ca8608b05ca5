//! The official SDKs for Python, as judges: what we send must fit their types without loss,
//! and what they read in an answer must be what we read.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use harn_llm::wire::frames::Frames;
use harn_llm::wire::{Framing, Wire, decoder, encode};
use harn_llm::{
    Collector, Effort, Output, Reply, Request, SearchVariant, Thinking, ToolSearch, ToolSpec,
};
use serde_json::{Value, json};

use crate::asking::{Asked, WIRES, question, tool, with_results};
use crate::servers::{installed, script};

/// Recorded answers that no server here can give, or that must be as the provider gives them.
const VALID: &[&str] = &[
    "anthropic/cut_call",
    "anthropic/json_response",
    "anthropic/pause_turn",
    "anthropic/redacted_thinking",
    "anthropic/refusal",
    "anthropic/text",
    "anthropic/thinking",
    "anthropic/tool_call",
    "anthropic/tool_search",
    "chat/parallel_interleaved",
    "chat/refusal",
    "chat/text",
    "gemini/calls",
    "gemini/text",
    "gemini/thinking",
    "ollama/text",
    "ollama/thinking",
    "responses/refusal",
    "responses/tool_search",
];

/// Answers in which an SDK reads something else than we do, and why.
const READ_DIFFERENTLY: &[(&str, &str)] = &[
    ("anthropic/cut_call", "it keeps half of a call"),
    (
        "anthropic/json_response",
        "it does not know the tool that stands for JSON",
    ),
    ("anthropic/two_calls", "it does not take no input for `{}`"),
    ("chat/legacy_function_call", "it does not look for those"),
    ("chat/repeated_ids", "it appends repeated names"),
    ("gemini/cut_call", "it keeps half of a call"),
    ("gemini/partial_arguments", "it does not merge the pieces"),
    (
        "responses/announced_only",
        "it takes the last snapshot, which is empty",
    ),
    (
        "responses/content_filter",
        "it takes the last snapshot, which is empty",
    ),
];

/// Requests that cannot fit the types of an SDK, and why.
const UNFIT: &[(&str, &str)] = &[
    (
        "sampling on anthropic",
        "the SDK has no such parameters any more; models before Claude 4.7 take them",
    ),
    ("search on chat", "OpenAI has it for Responses only"),
    (
        "after responses/tool_search",
        "a tool of the recorded search is not whole, and it goes back to the letter",
    ),
];

/// A recorded answer, and what we make of it if it is whole.
struct Recorded {
    name: String,
    wire: Wire,
    text: String,
    reply: Option<Reply>,
}

impl Recorded {
    fn all() -> Vec<Recorded> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
        let mut recorded = Vec::new();
        for wire in WIRES {
            let ending = match wire.framing() {
                Framing::Sse => "sse",
                Framing::Lines => "ndjson",
            };
            let folder = root.join(wire.name());
            let entries = folder.read_dir().expect("every wire has recorded answers");
            let mut paths: Vec<PathBuf> = entries
                .map(|entry| entry.expect("the folder can be read").path())
                .filter(|path| path.extension().is_some_and(|have| have == ending))
                .collect();
            paths.sort();
            recorded.extend(paths.iter().map(|path| Recorded::open(wire, path)));
        }
        recorded
    }

    fn open(wire: Wire, path: &Path) -> Recorded {
        let bytes = std::fs::read(path).expect("the answer can be read");
        let stem = path.file_stem().expect("a file has a name");
        Recorded {
            name: format!("{}/{}", wire.name(), stem.display()),
            wire,
            text: String::from_utf8_lossy(&bytes).into_owned(),
            reply: read(wire, &bytes),
        }
    }
}

/// What we make of an answer; nothing if it fails.
fn read(wire: Wire, bytes: &[u8]) -> Option<Reply> {
    let mut frames = Frames::new(wire.framing());
    let mut decoder = decoder(wire);
    let mut events = Vec::new();
    let mut each = |frame: harn_llm::wire::Frame<'_>| decoder.frame(frame, &mut events);
    frames.push(bytes, &mut each).ok()?;
    frames.finish(&mut each).ok()?;
    decoder.finish(&mut events).ok()?;
    let mut collector = Collector::default();
    events.into_iter().for_each(|event| collector.push(event));
    Some(collector.finish())
}

/// Hands everything to the SDKs at once: importing them takes most of the time.
fn judge(requests: &[(Wire, Value)], answers: &[Recorded]) -> Value {
    let requests: Vec<Value> = requests
        .iter()
        .map(|(wire, body)| json!({"wire": wire.name(), "body": body}))
        .collect();
    let answers: Vec<Value> = answers
        .iter()
        .map(|one| json!({"wire": one.wire.name(), "text": one.text}))
        .collect();
    let task = json!({"requests": requests, "answers": answers}).to_string();
    let mut python = Command::new(installed("models/bin/python"))
        .args(["-W", "ignore"])
        .arg(script("sdk_types.py"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("Python can be started");
    let mut input = python.stdin.take().expect("it was asked for");
    // The script reads everything before it writes anything.
    input.write_all(task.as_bytes()).expect("Python listens");
    drop(input);
    let output = python.wait_with_output().expect("Python ends");
    assert!(output.status.success(), "sdk_types.py: {}", output.status);
    serde_json::from_slice(&output.stdout).expect("the script writes JSON")
}

#[test]
fn the_sdks_read_in_answers_what_we_read() {
    let recorded = Recorded::all();
    let judged = judge(&[], &recorded);
    let judged = judged["answers"].as_array().expect("a list comes back");
    let mut compared = 0;
    let mut different = Vec::new();
    for (one, theirs) in recorded.iter().zip(judged) {
        if VALID.contains(&one.name.as_str()) {
            assert_eq!(theirs["invalid"], Value::Null, "{}: {theirs}", one.name);
        }
        let differs = READ_DIFFERENTLY.iter().any(|(name, _)| *name == one.name);
        let (Some(reply), None, false) = (&one.reply, theirs.get("error"), differs) else {
            continue;
        };
        compared += 1;
        let calls = reply.tool_calls.iter();
        let calls: Vec<Value> = calls
            .map(|call| json!([call.name, call.arguments]))
            .collect();
        let ours = json!([reply.text, calls]);
        let theirs = json!([theirs["text"], theirs["calls"]]);
        if ours != theirs {
            different.push(format!("{}\n  we   {ours}\n  they {theirs}", one.name));
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
    assert!(compared > 30, "only {compared} answers were compared");
    for name in VALID {
        assert!(recorded.iter().any(|one| one.name == *name), "no {name}");
    }
}

/// Everything a request can ask for, one after the other.
fn requests() -> Vec<(&'static str, Request)> {
    let plain = || question("model-1", "hello");
    let with = |change: fn(&mut Request)| {
        let mut request = plain();
        change(&mut request);
        request
    };
    vec![
        ("plain", plain()),
        ("in one piece", with(|request| request.stream = false)),
        (
            "system",
            with(|request| request.system = Some("Be brief.".to_owned())),
        ),
        (
            "sampling",
            with(|request| {
                request.sampling.temperature = Some(0.5);
                request.sampling.top_p = Some(0.9);
                request.sampling.stop = vec!["END".to_owned()];
            }),
        ),
        ("tools", with(|request| request.tools = tools().into())),
        (
            "a tool it must call",
            with(|request| {
                request.tools = tools().into();
                request.tool_choice = Some(json!("required"));
            }),
        ),
        (
            "thinking",
            with(|request| {
                request.thinking = Thinking::Enabled {
                    budget_tokens: Some(2048),
                };
            }),
        ),
        (
            "effort",
            with(|request| {
                request.thinking = Thinking::Effort {
                    level: Effort::High,
                };
            }),
        ),
        (
            "schema",
            with(|request| {
                request.output = Output::JsonSchema {
                    schema: json!({
                        "type": "object",
                        "properties": {"a": {"type": "integer"}},
                        "required": ["a"],
                        "additionalProperties": false,
                    }),
                    strict: true,
                };
            }),
        ),
        (
            "object",
            with(|request| request.output = Output::JsonObject),
        ),
        (
            "cache",
            with(|request| {
                request.system = Some("Be brief.".to_owned());
                request.tools = tools().into();
                request.cache = true;
            }),
        ),
        (
            "search",
            with(|request| {
                request.tools = tools().into();
                request.tools[0].defer_loading = true;
                request.tool_search = Some(ToolSearch {
                    variant: SearchVariant::Bm25,
                });
            }),
        ),
        (
            "picture",
            with(|request| {
                let source = json!({"type": "base64", "media_type": "image/png", "data": "aGk="});
                let content = json!([
                    {"type": "text", "text": "What is this?"},
                    {"type": "image", "source": source},
                ]);
                request.messages = vec![json!({"role": "user", "content": content})].into();
            }),
        ),
    ]
}

fn tools() -> Vec<ToolSpec> {
    vec![
        tool("get_weather", json!({"city": {"type": "string"}})),
        tool("get_time", json!({})),
    ]
}

#[test]
fn what_we_send_fits_the_types_of_the_sdks() {
    let mut names = Vec::new();
    let mut bodies = Vec::new();
    for wire in WIRES {
        let target = Asked::at("http://127.0.0.1", wire).target;
        for (name, request) in requests() {
            names.push(format!("{} on {}", name, wire.name()));
            bodies.push((wire, encode(wire, &request, &target).body));
        }
    }
    // Conversations go on with what each provider must get back to the letter.
    for one in Recorded::all() {
        // What nobody knows cannot fit anybody's types.
        let is_known = !one.name.contains("unknown");
        let Some(reply) = one.reply.as_ref().filter(|_| is_known) else {
            continue;
        };
        let mut request = question("model-1", "hello");
        request.tools = tools().into();
        let request = with_results(request, one.wire, reply, "done");
        let target = Asked::at("http://127.0.0.1", one.wire).target;
        names.push(format!("after {}", one.name));
        bodies.push((one.wire, encode(one.wire, &request, &target).body));
    }
    let judged = judge(&bodies, &[]);
    let judged = judged["requests"].as_array().expect("a list comes back");
    let mut lost = Vec::new();
    for ((name, (_, body)), theirs) in names.iter().zip(&bodies).zip(judged) {
        let is_unfit = UNFIT.iter().any(|(unfit, _)| unfit == name);
        if !is_unfit && comparable(body) != comparable(theirs) {
            lost.push(format!("{name}\n  sent {body}\n  read {theirs}"));
        }
    }
    assert!(lost.is_empty(), "{}", lost.join("\n"));
}

/// Google's SDK writes the types of schemas in capitals and bytes in the other alphabet of
/// base 64; both mean the same.
fn comparable(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(comparable).collect(),
        Value::Object(members) => {
            let members = members.iter().map(|(name, member)| {
                let member = match (name.as_str(), member) {
                    ("type", Value::String(text)) => json!(text.to_lowercase()),
                    ("thoughtSignature", Value::String(text)) => {
                        let text = text.replace('+', "-").replace('/', "_");
                        json!(text.trim_end_matches('='))
                    }
                    (_, member) => comparable(member),
                };
                (name.clone(), member)
            });
            Value::Object(members.collect())
        }
        value => value.clone(),
    }
}
