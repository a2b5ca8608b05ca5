//! `process.exec`: a command, run to its end.

use std::path::PathBuf;
use std::task::Poll;

use harn_machine::value::{Dict, Text};
use harn_machine::{
    Answer, Context, Failure, Fault, ProcessEnd, ProcessRequest, Request, Value, Waiting,
};

use super::Params;
use super::shells::{self, Manner};
use crate::dates::iso8601;
use crate::encoding::uuid_of_time;
use crate::files::root::program_root;
use crate::random::octets;
use crate::surroundings;

pub(super) fn exec(
    context: &mut Context<'_>,
    params: &Params,
    waiting: &mut Waiting,
) -> Result<Poll<Value>, Failure> {
    let request = match waiting.is_resumed() {
        // It was read when it was begun.
        true => ProcessRequest::default(),
        false => {
            let request = request(context, params)?;
            let root = program_root(context);
            let request = surroundings::around(context, &root, request);
            waiting.note = Some(Box::new(Begun::now(context)));
            request
        }
    };
    let Some(answer) = waiting.effect(context, || Request::Process(request)) else {
        return Ok(Poll::Pending);
    };
    let note = waiting.note.take();
    let begun = note.and_then(|note| note.downcast::<Begun>().ok());
    let begun = begun.map_or_else(|| Begun::now(context), |begun| *begun);
    match answer {
        Answer::Process(end) => Ok(Poll::Ready(begun.described(context, end))),
        Answer::Failed(failure) => Err(wrong(&format!(": {}", failure.message))),
        _ => Err(wrong(": it cannot be run here")),
    }
}

fn wrong(what: &str) -> Failure {
    Fault::runtime(format!("host_call process.exec{what}"))
}

/// What is to be run.
fn request(context: &mut Context<'_>, params: &Params) -> Result<ProcessRequest, Failure> {
    let mode = params.text(&["mode"]).unwrap_or_else(|| Text::new("shell"));
    let (program, arguments) = match mode.as_str() {
        "shell" => shell_command(context, params)?,
        "argv" => argv(params)?,
        mode => return Err(wrong(&format!(" unsupported mode \"{mode}\""))),
    };
    let environment = environment(params)?;
    let env_mode = params.text(&["env_mode"]);
    let replaces = env_mode.is_none_or(|mode| mode.as_str() == "replace");
    Ok(ProcessRequest {
        program,
        arguments,
        folder: params.text(&["cwd"]).map(|cwd| PathBuf::from(cwd.as_str())),
        clear_environment: environment.is_some() && replaces,
        withholds_secrets: false,
        environment: environment.unwrap_or_default(),
        input: params.text(&["stdin"]).map(|text| text.as_bytes().to_vec()),
        timeout: timeout(params),
    })
}

fn shell_command(
    context: &mut Context<'_>,
    params: &Params,
) -> Result<(String, Vec<String>), Failure> {
    let command = params.required(&["command"])?;
    let Some(shell) = shells::named(context, "host_call process.exec", params)? else {
        return Err(wrong(": shell mode requires `shell` or `shell_id`"));
    };
    let mut arguments = shell.arguments(&Manner::of(params));
    arguments.push(command.to_string());
    Ok((shell.path, arguments))
}

fn argv(params: &Params) -> Result<(String, Vec<String>), Failure> {
    let words: Option<Vec<String>> = match params.get("argv") {
        Some(Value::List(words)) => words
            .iter()
            .map(|word| match word {
                Value::Text(word) => Some(word.to_string()),
                _ => None,
            })
            .collect(),
        _ => None,
    };
    let mut words = words.ok_or_else(|| wrong(" missing argv"))?.into_iter();
    match words.next() {
        None => Err(wrong(" argv must not be empty")),
        Some(program) if program.is_empty() => Err(wrong(" argv[0] must not be empty")),
        Some(program) => Ok((program, words.collect())),
    }
}

fn environment(params: &Params) -> Result<Option<Vec<(String, String)>>, Failure> {
    let given: &Dict = match params.get("env") {
        None => return Ok(None),
        Some(Value::Dict(given)) => given,
        Some(_) => return Err(wrong(" env must be a dict")),
    };
    let pairs = given.iter().map(|(name, value)| match value {
        Value::Text(value) => Ok((name.to_string(), value.to_string())),
        _ => Err(wrong(&format!(
            " env value for \"{name}\" must be a string"
        ))),
    });
    pairs.collect::<Result<_, _>>().map(Some)
}

/// How long it may take, in milliseconds.
fn timeout(params: &Params) -> Option<u64> {
    let given = params.get("timeout_ms").or_else(|| params.get("timeout"))?;
    let milliseconds = match given {
        Value::Int(milliseconds) | Value::Duration(milliseconds) => *milliseconds,
        Value::Float(milliseconds) => *milliseconds as i64,
        _ => return None,
    };
    u64::try_from(milliseconds).ok()
}

/// A command that was begun.
struct Begun {
    id: String,
    at: i64,
}

impl Begun {
    fn now(context: &mut Context<'_>) -> Self {
        let at = context.now();
        let id = uuid_of_time(at, octets(context));
        Self {
            id: format!("cmd_{id}"),
            at,
        }
    }

    /// How it ended. What a command wrote that took too long may be cut off anywhere, so it is
    /// not given.
    fn described(&self, context: &mut Context<'_>, end: ProcessEnd) -> Value {
        let lossy = |octets: &[u8]| match end.timed_out {
            true => String::new(),
            false => String::from_utf8_lossy(octets).into_owned(),
        };
        let (output, errors) = (lossy(&end.output), lossy(&end.errors));
        let code = match end.timed_out {
            true => -1,
            false => i64::from(end.status.unwrap_or(-1)),
        };
        let status = match end.timed_out {
            true => "timed_out",
            false => "completed",
        };
        let ended = context.now().max(self.at);
        Value::dict([
            ("combined", format!("{output}{errors}").into()),
            ("command_id", self.id.as_str().into()),
            ("duration_ms", end.took.into()),
            ("ended_at", iso8601(ended).into()),
            ("exit_code", code.into()),
            ("exit_status", code.into()),
            ("handle_id", Value::Nil),
            ("legacy_status", code.into()),
            ("pid", i64::from(end.pid).into()),
            ("process_group_id", i64::from(end.pid).into()),
            ("signal", Value::Nil),
            ("started_at", iso8601(self.at).into()),
            ("status", status.into()),
            ("stderr", errors.into()),
            ("stdout", output.into()),
            ("success", (code == 0).into()),
            ("timed_out", end.timed_out.into()),
        ])
    }
}
