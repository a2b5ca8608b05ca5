//! Prompt templates: what a program does with them.
//!
//! ```text
//! file ─► text ─► tree (harn-syntax) ─► program ─┐
//!                                     bindings ──┴─► rendering ─► text, spans
//! ```
//!
//! Rendering is done in portions, so that a long one can be interrupted and others run
//! meanwhile.

mod expression;
mod files;
mod filters;
mod json;
mod parsed;
mod program;
mod provenance;
mod rendering;
mod scope;

use std::path::PathBuf;
use std::task::Poll;

use harn_machine::value::{Dict, Text};
use harn_machine::{Context, Failure, Fault, Registry, Value, Waiting, argument, thrown};

use rendering::Rendering;

/// How many steps are taken before others have their turn.
const STEPS_AT_ONCE: usize = 10_000;

/// What the error begins with if a file cannot be read.
const MISSING: &str = "Failed to read template";

pub(crate) fn register(registry: &mut Registry) {
    registry.waiting(&[
        ("render", render),
        ("render_prompt", render),
        ("render_string", render_string),
        ("render_with_provenance", render_with_provenance),
    ]);
    registry.plain(&[
        ("prompt_mark_rendered", prompt_mark_rendered),
        ("__template_path", template_path),
    ]);
}

/// What is counted during a run.
#[derive(Default)]
struct Prompts {
    /// How many were rendered with provenance.
    rendered: i64,
    /// How many were marked.
    marked: i64,
}

type Polled = Result<Poll<Value>, Failure>;

/// `render(path, bindings = {})`
fn render(context: &mut Context<'_>, arguments: &mut [Value], waiting: &mut Waiting) -> Polled {
    let done = proceed(context, waiting, |context| {
        begin_file(context, arguments, MISSING)
    })?;
    Ok(done.map(|rendering| rendering.finish().0.into()))
}

/// A file, rendered for others than the program itself. `missing` is what the error begins
/// with if there is none.
pub(crate) fn render_file(
    context: &mut Context<'_>,
    waiting: &mut Waiting,
    path: &Text,
    given: &Value,
    missing: &str,
) -> Polled {
    let arguments = [Value::Text(path.clone()), given.clone()];
    let begin = |context: &mut Context<'_>| begin_file(context, &arguments, missing);
    let done = proceed(context, waiting, begin)?;
    Ok(done.map(|rendering| rendering.finish().0.into()))
}

/// `render_string(template, bindings = {})`
fn render_string(
    context: &mut Context<'_>,
    arguments: &mut [Value],
    waiting: &mut Waiting,
) -> Polled {
    let begin = |context: &mut Context<'_>| {
        let text = text(argument(arguments, 0));
        Rendering::new(context, &text, None, bindings(arguments))
    };
    let done = proceed(context, waiting, begin)?;
    Ok(done.map(|rendering| rendering.finish().0.into()))
}

/// `render_with_provenance(path, bindings = {})`
fn render_with_provenance(
    context: &mut Context<'_>,
    arguments: &mut [Value],
    waiting: &mut Waiting,
) -> Polled {
    let begin = |context: &mut Context<'_>| {
        let mut rendering = begin_file(context, arguments, MISSING)?;
        rendering.note_spans();
        Ok(rendering)
    };
    let Poll::Ready(rendering) = proceed(context, waiting, begin)? else {
        return Ok(Poll::Pending);
    };
    let prompts = context.state::<Prompts>();
    prompts.rendered += 1;
    let id = format!("prompt-{}", prompts.rendered);
    let uri = path_of(context, arguments)?.display().to_string();
    let (text, spans) = rendering.finish();
    Ok(Poll::Ready(Value::dict([
        ("prompt_id", id.into()),
        ("spans", spans.unwrap_or_default().to_value()),
        ("template_uri", uri.into()),
        ("text", text.into()),
    ])))
}

/// `prompt_mark_rendered(prompt_id)`: how many were marked.
fn prompt_mark_rendered(
    context: &mut Context<'_>,
    arguments: &mut [Value],
) -> Result<Value, Failure> {
    if !matches!(argument(arguments, 0), Value::Text(_)) {
        let message = "prompt_mark_rendered: prompt_id must be a string";
        return Err(Fault::type_error(message));
    }
    let prompts = context.state::<Prompts>();
    prompts.marked += 1;
    Ok(prompts.marked.into())
}

/// `__template_path(path)`: where the template is that an option names: beside the file of the
/// program, or else where its other paths start.
fn template_path(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let name = text(argument(arguments, 0));
    let path = path_of(context, arguments)?;
    let is_there = name.starts_with('@')
        || crate::files::status(context, path.clone()).is_some_and(|facts| facts.is_file);
    Ok(match is_there {
        true => path.display().to_string().into(),
        false => name.into(),
    })
}

/// Begins a rendering or goes on with it.
fn proceed(
    context: &mut Context<'_>,
    waiting: &mut Waiting,
    begin: impl FnOnce(&mut Context<'_>) -> Result<Rendering, Failure>,
) -> Result<Poll<Rendering>, Failure> {
    let begun = waiting.note.take();
    let begun = begun.and_then(|note| note.downcast::<Rendering>().ok());
    let mut rendering = match begun {
        Some(rendering) => *rendering,
        None => begin(context)?,
    };
    if rendering.advance(context, STEPS_AT_ONCE)? {
        return Ok(Poll::Ready(rendering));
    }
    waiting.note = Some(Box::new(rendering));
    waiting.until = Some(context.elapsed());
    Ok(Poll::Pending)
}

fn begin_file(
    context: &mut Context<'_>,
    arguments: &[Value],
    missing: &str,
) -> Result<Rendering, Failure> {
    let path = path_of(context, arguments)?;
    let template = files::read(context, &path).or_else(|reason| {
        let path = path.display();
        thrown(format!("{missing} {path}: {reason}"))
    })?;
    let template = template.into();
    Rendering::new(context, &template, Some(path), bindings(arguments))
}

/// Where the template is that the first argument names.
fn path_of(context: &mut Context<'_>, arguments: &[Value]) -> Result<PathBuf, Failure> {
    let folder = files::calling_folder(context);
    let name = text(argument(arguments, 0));
    let found = files::locate(context, &name, &folder, &folder);
    Ok(found.map_err(Fault::thrown)?.path)
}

fn text(value: &Value) -> Text {
    match value {
        Value::Nil => Text::new(""),
        value => value.to_text(),
    }
}

fn bindings(arguments: &[Value]) -> Dict {
    match argument(arguments, 1) {
        Value::Dict(bindings) => bindings.clone(),
        Value::Struct(value) => {
            let fields = value.fields();
            let fields = fields.map(|(name, value)| (name.clone(), value.clone()));
            fields.collect()
        }
        _ => Dict::default(),
    }
}

#[cfg(test)]
mod tests;
