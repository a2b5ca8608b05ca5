//! Programs that are run.

use std::path::PathBuf;
use std::task::Poll;

use harn_machine::{
    Answer, Context, Failure, ProcessEnd, ProcessRequest, Registry, Request, Value, Waiting,
    argument, thrown,
};

use crate::expect::text;
use crate::files::root::{program_root, source_folder};
use crate::files::{read_text, status};
use crate::surroundings;

pub(crate) fn register(registry: &mut Registry) {
    // A policy may decide about commands first; see `command_policy`.
    registry.plain(&[("__process_params", process_params)]);
    registry.waiting(&[("__process", process)]);
}

/// `__process_params(builtin, arguments)`: what is to be started, as policies see it.
fn process_params(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let builtin = text(arguments, 0);
    let words: Vec<Value> = match argument(arguments, 1) {
        Value::List(words) => words.iter().cloned().collect(),
        _ => Vec::new(),
    };
    let (takes_folder, takes_line, missing) = match builtin.as_str() {
        "exec" => (false, false, "exec: command is required"),
        "exec_at" => (true, false, "exec_at: directory and command are required"),
        "shell" => (false, true, "shell: command string is required"),
        _ => (
            true,
            true,
            "shell_at: directory and command string are required",
        ),
    };
    if words.len() < 1 + usize::from(takes_folder) {
        return thrown(missing);
    }
    let folder = match takes_folder {
        true => folder(context, &words).display().to_string().into(),
        false => Value::Nil,
    };
    let words = &words[usize::from(takes_folder)..];
    if takes_line {
        let shell = default_shell(context);
        return Ok(Value::dict([
            ("mode", "shell".into()),
            ("command", text(words, 0).into()),
            ("shell", shell.into()),
            ("cwd", folder),
        ]));
    }
    let words: Vec<Value> = words.iter().map(|word| word.to_text().into()).collect();
    Ok(Value::dict([
        ("mode", "argv".into()),
        ("argv", Value::list(words)),
        ("cwd", folder),
    ]))
}

/// `__process(builtin, params)`
fn process(
    context: &mut Context<'_>,
    arguments: &mut [Value],
    waiting: &mut Waiting,
) -> Result<Poll<Value>, Failure> {
    let what = match text(arguments, 0).starts_with("exec") {
        true => "exec",
        false => "shell",
    };
    let Value::Dict(params) = argument(arguments, 1) else {
        return thrown(format!("{what} failed"));
    };
    let params = params.clone();
    let field = |key: &str| params.get(key).filter(|value| !value.is_nil());
    let folder = field("cwd").map(|folder| PathBuf::from(folder.to_text().as_str()));
    let is_line = field("mode").is_some_and(|mode| mode.to_text().as_str() == "shell");
    let mut request = match field("argv").filter(|_| !is_line) {
        Some(Value::List(words)) => {
            let words: Vec<Value> = words.iter().cloned().collect();
            program(&words, folder)
        }
        _ => {
            let command = field("command").map(Value::to_text).unwrap_or_default();
            line(context, &command, folder)
        }
    };
    // A hook of a policy may have added variables.
    if let Some(Value::Dict(variables)) = field("env") {
        let variables = variables.iter();
        let variables =
            variables.map(|(name, value)| (name.to_string(), value.to_text().to_string()));
        request.environment = variables.collect();
    }
    run(context, waiting, what, request)
}

/// The folder of the first argument. It starts at the source file, unlike paths of files.
fn folder(context: &mut Context<'_>, arguments: &[Value]) -> PathBuf {
    source_folder(context).join(text(arguments, 0).as_str())
}

/// A program with its arguments.
fn program(words: &[Value], folder: Option<PathBuf>) -> ProcessRequest {
    let mut words = words.iter().map(|word| word.to_text().to_string());
    ProcessRequest {
        program: words.next().unwrap_or_default(),
        arguments: words.collect(),
        folder,
        ..ProcessRequest::default()
    }
}

/// A line for the default shell.
fn line(context: &mut Context<'_>, line: &str, folder: Option<PathBuf>) -> ProcessRequest {
    ProcessRequest {
        program: default_shell(context),
        arguments: vec!["-c".to_owned(), line.to_owned()],
        folder,
        ..ProcessRequest::default()
    }
}

fn run(
    context: &mut Context<'_>,
    waiting: &mut Waiting,
    what: &str,
    request: ProcessRequest,
) -> Result<Poll<Value>, Failure> {
    let root = program_root(context);
    let request = surroundings::around(context, &root, request);
    match waiting.effect(context, || Request::Process(request)) {
        None => Ok(Poll::Pending),
        Some(Answer::Process(end)) => Ok(Poll::Ready(described(&end))),
        Some(Answer::Failed(failure)) => thrown(format!("{what} failed: {}", failure.message)),
        Some(_) => thrown(format!("{what} failed")),
    }
}

fn described(end: &ProcessEnd) -> Value {
    let lossy = |octets: &[u8]| Value::from(String::from_utf8_lossy(octets).into_owned());
    let status = end.status.unwrap_or(-1);
    Value::dict([
        ("status", Value::Int(i64::from(status))),
        ("stderr", lossy(&end.errors)),
        ("stdout", lossy(&end.output)),
        ("success", (status == 0).into()),
    ])
}

/// The default shell, once it is known.
#[derive(Default)]
struct Shell(Option<String>);

/// The first shell there is: the one that is configured, that of the environment, those that
/// the system lists, the usual ones.
fn default_shell(context: &mut Context<'_>) -> String {
    if let Some(shell) = crate::host::selected_path(context) {
        return shell;
    }
    if let Some(shell) = &context.state::<Shell>().0 {
        return shell.clone();
    }
    let mut candidates = Vec::new();
    for variable in ["HARN_DEFAULT_SHELL", "SHELL"] {
        let answer = context.perform(&Request::Environment(variable.to_owned()));
        if let Answer::Text(Some(shell)) = answer {
            candidates.push(shell);
        }
    }
    let named = candidates.clone();
    let listed = read_text(context, PathBuf::from("/etc/shells")).unwrap_or_default();
    let listed = listed
        .lines()
        .map(str::trim)
        .filter(|line| line.starts_with('/'));
    candidates.extend(listed.map(str::to_owned));
    candidates.extend(["/bin/zsh", "/bin/bash"].map(str::to_owned));
    let found = candidates.into_iter().find(|shell| {
        let facts = status(context, PathBuf::from(shell));
        // Whoever may not look has to believe what the environment says.
        let is_named = named.contains(shell) && context.refusal().is_some();
        is_named || facts.is_some_and(|facts| facts.is_file)
    });
    let shell = found.unwrap_or_else(|| "/bin/sh".to_owned());
    context.state::<Shell>().0 = Some(shell.clone());
    shell
}
