//! What a program says, and what it is told.
//!
//! ```text
//! writing    print, println, log; eprint, eprintln, which tests can capture
//! colour     color, bold, dim, if the terminal shows it
//! progress   lines about how far something has come, and timers
//! logging    lines of JSON with a level
//! input      lines of the standard input, or what a test puts in its place
//! ```

mod colour;
mod input;
pub(crate) mod logging;
mod progress;

use harn_machine::value::Text;
use harn_machine::{Answer, Context, Failure, Registry, Request, Value, thrown};

use crate::expect::text;

pub(crate) fn register(registry: &mut Registry) {
    registry.plain(&[
        ("capture_stderr_start", capture_start),
        ("capture_stderr_take", capture_take),
        ("eprint", eprint),
        ("eprintln", eprintln),
        ("is_stderr_tty", |context, _| {
            Ok(is_terminal(context, 2).into())
        }),
        ("is_stdin_tty", |context, _| {
            Ok(is_terminal(context, 0).into())
        }),
        ("is_stdout_tty", |context, _| {
            Ok(is_terminal(context, 1).into())
        }),
        ("log", log),
        ("mock_tty", mock_tty),
        ("print", print),
        ("println", println),
        ("unmock_tty", unmock_tty),
    ]);
    colour::register(registry);
    input::register(registry);
    logging::register(registry);
    progress::register(registry);
}

/// What tests decide about the standard streams.
#[derive(Default)]
struct Streams {
    /// Whether each counts as a terminal, if a test has decided that.
    terminals: [Option<bool>; 3],
    /// What was written to standard error since a test began to capture it.
    captured: Option<String>,
}

fn print(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let text = match arguments.first() {
        Some(value) => value.to_text_within(context.budget())?,
        None => Text::default(),
    };
    context.write(&text);
    Ok(Value::Nil)
}

fn println(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let line = line(context, "", arguments)?;
    context.write(&line);
    Ok(Value::Nil)
}

fn log(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let line = line(context, "[harn] ", arguments)?;
    context.write(&line);
    Ok(Value::Nil)
}

/// The first argument as a line. It is written in one go, so that lines of others stay apart.
fn line(context: &mut Context<'_>, prefix: &str, arguments: &[Value]) -> Result<String, Failure> {
    let mut line = prefix.to_owned();
    if let Some(value) = arguments.first() {
        value.show_into_within(&mut line, context.budget())?;
    }
    line.push('\n');
    Ok(line)
}

fn eprint(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let text = text(arguments, 0);
    write_error(context, &text);
    Ok(Value::Nil)
}

fn eprintln(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let line = line(context, "", arguments)?;
    write_error(context, &line);
    Ok(Value::Nil)
}

/// Writes to standard error, or to what a test captures of it.
pub(crate) fn write_error(context: &mut Context<'_>, text: &str) {
    match &mut context.state::<Streams>().captured {
        Some(captured) => captured.push_str(text),
        None => context.write_error(text),
    }
}

fn capture_start(context: &mut Context<'_>, _: &mut [Value]) -> Result<Value, Failure> {
    context.state::<Streams>().captured = Some(String::new());
    Ok(Value::Nil)
}

fn capture_take(context: &mut Context<'_>, _: &mut [Value]) -> Result<Value, Failure> {
    let captured = context.state::<Streams>().captured.take();
    Ok(captured.unwrap_or_default().into())
}

/// Whether a standard stream is a terminal, or counts as one in a test.
fn is_terminal(context: &mut Context<'_>, stream: u8) -> bool {
    if let Some(decided) = context.state::<Streams>().terminals[usize::from(stream)] {
        return decided;
    }
    matches!(
        context.perform(&Request::IsTerminal(stream)),
        Answer::Truth(true)
    )
}

fn mock_tty(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let name = text(arguments, 0);
    let streams = ["stdin", "stdout", "stderr"];
    let Some(stream) = streams.iter().position(|stream| *stream == name.as_str()) else {
        return thrown(format!(
            "mock_tty: invalid stream '{name}'. Expected 'stdin', 'stdout', or 'stderr'."
        ));
    };
    let decided = harn_machine::argument(arguments, 1).is_truthy();
    context.state::<Streams>().terminals[stream] = Some(decided);
    Ok(Value::Nil)
}

fn unmock_tty(context: &mut Context<'_>, _: &mut [Value]) -> Result<Value, Failure> {
    context.state::<Streams>().terminals = [None; 3];
    Ok(Value::Nil)
}
