//! Sessions whose process died somewhere in the middle of a turn: whatever the journal has is
//! known to the process that goes on.

use std::sync::Arc;

use harn_agent::llm::desk::Desk;
use harn_agent::llm::scenario::Scenario;
use harn_agent::session::{Change, SessionState, journal_topic, load_session, session_records};
use harn_agent::verify::check_journal;
use harn_agent::{FunctionTool, LoopRequest, Runtime, RuntimeOptions};
use harn_log::{AnyEventLog, EventLog, LogEvent, MemoryEventLog, Topic};
use serde_json::{Value, json};

const NATIVE: &str = r#"
[[turn]]
text = "I look and send."
call = [
  { tool = "look", id = "1", arguments = {} },
  { tool = "send", id = "2", arguments = {} },
]

[[turn]]
text = "Done."
"#;

const TEXT: &str = r#"
[[turn]]
text = """I look and send.
<tool_call>look({})</tool_call>
<tool_call>send({})</tool_call>"""

[[turn]]
text = "<user_response>Done.</user_response>"
"#;

const INTERRUPTED: &str = "Error: the call was interrupted before it had a result. It may or may \
                           not have taken effect; check before you repeat it.";
const NOT_MADE: &str = "Error: the call was not made, because the program ended before. Nothing \
                        has happened; make it again if it is still wanted.";

fn log() -> Arc<AnyEventLog> {
    Arc::new(AnyEventLog::Memory(MemoryEventLog::new(16)))
}

/// A process that goes on with the session.
async fn run(log: &Arc<AnyEventLog>, script: &str, format: &str, prompt: &str) {
    let desk = Desk::staged(Scenario::parse("talking", script).unwrap());
    let options = RuntimeOptions {
        log: Some(Arc::clone(log)),
        resumes: Some("talk".to_owned()),
        ..RuntimeOptions::default()
    };
    let runtime = Runtime::new(Arc::new(desk), options);
    let tool = |name: &str, result: &'static str| {
        FunctionTool::new(name, "Does something.", json!({}), move |_| {
            Box::pin(async move { Ok(result.to_owned()) })
        })
    };
    let request = LoopRequest::new(prompt)
        .option("session_id", "talk")
        .option("tool_format", format)
        .tool(tool("look", "a lamp"))
        .tool(tool("send", "sent"));
    runtime.run(request).await.unwrap();
}

/// The records of the session's journal, as they are stored.
async fn stored(log: &AnyEventLog) -> Vec<LogEvent> {
    let topic = Topic::new(journal_topic("talk")).unwrap();
    let records = log.read_range(&topic, None, usize::MAX).await.unwrap();
    records.into_iter().map(|(_, record)| record).collect()
}

/// What the journal of the process that died says.
struct Known {
    has_answer: bool,
    /// For each call, whether it has begun, and its result.
    calls: [(&'static str, bool, Option<&'static str>); 2],
}

impl Known {
    fn of(records: &[LogEvent]) -> Self {
        let changes: Vec<Change> = records
            .iter()
            .map(|record| serde_json::from_value(record.payload.clone()).unwrap())
            .collect();
        let has_begun = |tool: &str| {
            let is_start = |change: &Change| matches!(change, Change::CallStarted { name, .. } if name == tool);
            changes.iter().any(is_start)
        };
        let has_ended = |tool: &str| {
            let is_end = |change: &Change| matches!(change, Change::CallFinished { name, .. } if name == tool);
            changes.iter().any(is_end)
        };
        let answered = |change: &Change| matches!(change, Change::Answered { .. });
        Self {
            has_answer: changes.iter().any(answered),
            calls: [("look", "a lamp"), ("send", "sent")]
                .map(|(tool, result)| (tool, has_begun(tool), has_ended(tool).then_some(result))),
        }
    }

    fn text_of(&self, at: usize) -> &'static str {
        match self.calls[at] {
            (_, _, Some(result)) => result,
            (_, true, None) => INTERRUPTED,
            (_, false, None) => NOT_MADE,
        }
    }
}

/// The results that the model is told, by tool.
fn results(state: &SessionState, format: &str) -> Vec<(String, String)> {
    let mut results = Vec::new();
    for message in &state.messages {
        let content = message["content"].as_str().unwrap_or_default();
        if message["role"] == "tool" {
            let tool = message["tool_name"].as_str();
            let tool = tool.expect("the wire knows results by the names of tools");
            results.push((tool.to_owned(), content.to_owned()));
        } else if format == "text" && content.contains("tool_results") {
            for tool in ["look", "send"] {
                let begin = format!("[result of {tool}]\n");
                let Some((_, told)) = content.split_once(&begin) else {
                    continue;
                };
                let (told, _) = told.split_once("\n[end of").expect("it ends");
                results.push((tool.to_owned(), told.to_owned()));
            }
        }
    }
    results
}

fn turns(state: &SessionState) -> Vec<&Value> {
    let messages = state.messages.iter();
    messages.filter(|one| one["role"] == "assistant").collect()
}

#[tokio::test(start_paused = true)]
async fn whatever_the_journal_has_is_told_and_asked_for_no_more() {
    for (format, script) in [("native", NATIVE), ("text", TEXT)] {
        let whole = log();
        run(&whole, script, format, "Go").await;
        let records = stored(&whole).await;
        let undisturbed = load_session(&*whole, "talk", None).await.unwrap();
        let undisturbed = turns(&undisturbed)[0].clone();
        let second_question = {
            let is_second = |record: &LogEvent| record.payload["iteration"] == 1;
            records.iter().position(is_second).expect("it asks twice")
        };
        for length in 1..=second_question {
            let died = log();
            let topic = Topic::new(journal_topic("talk")).unwrap();
            for record in &records[..length] {
                died.append(&topic, record.clone()).await.unwrap();
            }
            let known = Known::of(&records[..length]);
            let script = "[[turn]]\ntext = \"Fine.\"\nrepeat = true\n";
            run(&died, script, format, "Go on").await;

            let state = load_session(&*died, "talk", None).await.unwrap();
            let told = results(&state, format);
            let last = &records[length - 1].kind;
            let place = format!("{format}, died after record {length}, `{last}`");
            let expected: Vec<(String, String)> = match known.has_answer {
                false => Vec::new(),
                true => ["look", "send"]
                    .into_iter()
                    .enumerate()
                    .map(|(at, tool)| (tool.to_owned(), known.text_of(at).to_owned()))
                    .collect(),
            };
            assert_eq!(told, expected, "{place}");
            let turns = turns(&state);
            assert_eq!(turns.len(), 1 + usize::from(known.has_answer), "{place}");
            if known.has_answer {
                assert_eq!(turns[0], &undisturbed, "{place}");
            }
            let journal = session_records(&*died, "talk").await.unwrap();
            assert_eq!(check_journal(&journal).violations, [], "{place}");
        }
    }
}

/// The answer is all there: what a provider must get back comes back from the journal as well.
#[tokio::test(start_paused = true)]
async fn the_journal_has_the_whole_answer() {
    let log = log();
    run(&log, NATIVE, "native", "Go").await;
    let records = session_records(&*log, "talk").await.unwrap();
    let replies: Vec<_> = records
        .into_iter()
        .filter_map(|record| match record.change {
            Change::Answered { reply, .. } => reply,
            _ => None,
        })
        .collect();
    let [first, second] = &replies[..] else {
        panic!("{replies:?}");
    };
    let calls: Vec<&str> = first.tool_calls.iter().map(|call| &*call.name).collect();
    assert_eq!(calls, ["look", "send"]);
    assert_eq!(first.text, "I look and send.");
    assert!(first.stop.is_some() && first.usage.output > 0, "{first:?}");
    assert_eq!(second.text, "Done.");
}
