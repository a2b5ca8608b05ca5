//! Programs that are run.

use std::path::PathBuf;
use std::task::Poll;

use harn_machine::{
    Answer, Context, Failure, ProcessEnd, ProcessRequest, Registry, Request, Value, Waiting, thrown,
};

use crate::expect::text;
use crate::files::root::{program_root, source_folder};
use crate::files::{read_text, status};
use crate::surroundings;

pub(crate) fn register(registry: &mut Registry) {
    registry.waiting(&[
        ("exec", exec),
        ("exec_at", exec_at),
        ("shell", shell),
        ("shell_at", shell_at),
    ]);
}

fn exec(
    context: &mut Context<'_>,
    arguments: &mut [Value],
    waiting: &mut Waiting,
) -> Result<Poll<Value>, Failure> {
    if arguments.is_empty() {
        return thrown("exec: command is required");
    }
    let request = program(arguments, None);
    run(context, waiting, "exec", request)
}

fn exec_at(
    context: &mut Context<'_>,
    arguments: &mut [Value],
    waiting: &mut Waiting,
) -> Result<Poll<Value>, Failure> {
    if arguments.len() < 2 {
        return thrown("exec_at: directory and command are required");
    }
    let folder = folder(context, arguments);
    let request = program(&arguments[1..], Some(folder));
    run(context, waiting, "exec", request)
}

fn shell(
    context: &mut Context<'_>,
    arguments: &mut [Value],
    waiting: &mut Waiting,
) -> Result<Poll<Value>, Failure> {
    if arguments.is_empty() {
        return thrown("shell: command string is required");
    }
    let request = line(context, &text(arguments, 0), None);
    run(context, waiting, "shell", request)
}

fn shell_at(
    context: &mut Context<'_>,
    arguments: &mut [Value],
    waiting: &mut Waiting,
) -> Result<Poll<Value>, Failure> {
    if arguments.len() < 2 {
        return thrown("shell_at: directory and command string are required");
    }
    let folder = folder(context, arguments);
    let request = line(context, &text(arguments, 1), Some(folder));
    run(context, waiting, "shell", request)
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
