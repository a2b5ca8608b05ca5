//! Models that do not do what they should. Whatever they say, the loop ends in a status, and
//! the session can be used afterwards.

use crate::language::Programs;
use crate::program::Call;

/// A loop with one tool on a session that is used once more afterwards.
const MAIN: &str = r#"
fn add(args) {
  return args.a + args.b
}

fn tools() {
  return tool_registry()
    |> tool_define(_, "add", "Adds.", {parameters: {a: "int", b: "int"}, handler: add})
}

fn attempt(format) {
  try {
    let options = {
      tools: tools(),
      tool_format: format,
      session_id: "s",
      max_iterations: 6,
      llm_retries: 0,
    }
    let result = agent_loop("add", nil, options)
    println(result.status)
    println(result.tools.calls)
    return result
  } catch (error) {
    println("thrown ${error.category}")
    return nil
  }
}

pipeline default() {
  let result = attempt(argv[0])
  let again = agent_loop("again", nil, {session_id: "s"})
  println(again.status)
  println(again.text)
}
"#;

/// Plays a scenario; the last turn is for whoever uses the session afterwards.
fn play(format: &str, turns: &str) -> Call {
    let programs = Programs::new(&[("main.harn", MAIN)]);
    let scenario =
        format!("first_pause_ms = 0\npause_ms = 0\n{turns}\n[[turn]]\ntext = \"fine\"\n");
    programs.add("main.scenario.toml", scenario);
    let arguments = [
        "run",
        "main.harn",
        "--scenario",
        "main.scenario.toml",
        "--",
        format,
    ];
    programs.harn(&arguments).exits_with(0)
}

#[track_caller]
fn check(format: &str, turns: &str, expected: &str) {
    let call = play(format, turns);
    assert_eq!(call.stdout, format!("{expected}\ndone\nfine\n"), "{call:?}");
}

#[test]
fn an_empty_answer_ends_the_loop() {
    check("native", "[[turn]]\ntext = \"\"\n", "done\n[]");
    check("text", "[[turn]]\ntext = \" \\n\"\n", "done\n[]");
}

#[test]
fn unknown_tools_are_refused_and_told() {
    check(
        "native",
        "[[turn]]\ncall = [{ tool = \"multiply\", arguments = { a = 1 } }]\n[[turn]]\nwhen = \"*not available*\"\ntext = \"So.\"\n",
        "done\n[multiply]",
    );
    check(
        "text",
        "[[turn]]\ntext = \"<tool_call>multiply({ a: 1 })</tool_call>\"\n[[turn]]\nwhen = \"*Unknown tool 'multiply'. Available tools: [add]*\"\ntext = \"<user_response>So.</user_response>\"\n",
        "done\n[]",
    );
}

#[test]
fn wrong_arguments_are_told() {
    check(
        "native",
        "[[turn]]\ncall = [{ tool = \"add\", arguments = { a = 1 } }]\n[[turn]]\nwhen = \"*missing required parameter(s): b.*\"\ntext = \"So.\"\n",
        "done\n[]",
    );
    check(
        "native",
        "[[turn]]\ncall = [{ tool = \"add\", arguments = '{\"a\": 1, ' }]\n[[turn]]\nwhen = \"*ERROR: Could not parse tool arguments*\"\ntext = \"So.\"\n",
        "done\n[]",
    );
}

#[test]
fn endless_repetition_is_noticed_and_ends() {
    let turn = "[[turn]]\ncall = [{ tool = \"add\", arguments = { a = 1, b = 1 } }]\n";
    let turns = turn.repeat(6);
    check(
        "native",
        &turns,
        "budget_exhausted\n[add, add, add, add, add, add]",
    );
}

#[test]
fn giant_answers_are_cut_in_the_history() {
    let long = "x".repeat(200_000);
    let call = play("native", &format!("[[turn]]\ntext = \"{long}\"\n"));
    assert!(
        call.stdout.starts_with("done\n[]\n"),
        "{}",
        call.stdout.len()
    );
    assert!(call.stdout.ends_with("done\nfine\n"));
}

#[test]
fn calls_in_prose_are_made() {
    check(
        "native",
        "[[turn]]\ntext = \"I will call it.\\nadd({ a: 1, b: 2 })\"\n[[turn]]\nwhen = \"3\"\ntext = \"So.\"\n",
        "done\n[add]",
    );
    check(
        "text",
        "[[turn]]\ntext = \"I will call it.\\nadd({ a: 1, b: 2 })\"\n[[turn]]\nwhen = \"*[result of add]*3*\"\ntext = \"<user_response>So.</user_response>\"\n",
        "done\n[add]",
    );
}

/// The call had begun to arrive: it is never made, and nothing of it is left.
#[test]
fn a_lost_connection_leaves_a_usable_session() {
    check(
        "native",
        "[[turn]]\ntext = \"I was about to say something long and\"\ndisconnect_after = 2\n",
        "thrown stream_truncated",
    );
    check(
        "native",
        "[[turn]]\ncall = [{ tool = \"add\", arguments = { a = 1, b = 2 } }]\ndisconnect_after = 1\n",
        "thrown stream_truncated",
    );
}
