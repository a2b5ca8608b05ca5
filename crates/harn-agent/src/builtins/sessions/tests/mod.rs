//! Sessions, asked as a program asks.

mod arguments;
mod clients;
mod compacting;
mod forks;
mod lifecycle;
mod messages;
mod more;
mod undo;
mod workspace;

use serde_json::{Value, json};

use crate::testing::Program;

/// A program with a session in which users have said these texts.
fn said(id: &str, texts: &[&str]) -> Program {
    let program = Program::default();
    program.get("agent_session_open", json!([id]));
    for text in texts {
        let message = json!({"role": "user", "content": text});
        program.get("agent_session_inject", json!([id, message]));
    }
    program
}

fn snapshot(program: &Program, id: &str) -> Value {
    program.get("agent_session_snapshot", json!([id]))
}

/// What was said in a session.
fn texts(program: &Program, id: &str) -> Vec<String> {
    contents(&snapshot(program, id)["messages"], "content")
}

fn contents(list: &Value, key: &str) -> Vec<String> {
    let list = list.as_array().unwrap().iter();
    list.map(|item| item[key].as_str().unwrap().to_owned())
        .collect()
}
