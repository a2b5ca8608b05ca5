//! Spans of what a program does: its calls, tasks and questions to models.
//!
//! ```text
//! the compiler, llm_call: __span_open ─► open, by task ─► __span_close ─► finished
//!                                                                           │
//!                                             trace_spans, trace_summary ◄──┘
//! ```
//!
//! They are kept from `enable_tracing` on. What was begun before is not seen.

use std::collections::{BTreeMap, HashMap, HashSet};

use harn_machine::value::{Dict, Text};
use harn_machine::{Context, Failure, Registry, Value, argument};

use crate::expect::text;

pub(super) fn register(registry: &mut Registry) {
    registry.plain(&[
        ("__span_close", close),
        ("__span_open", open),
        ("__trace", |context, arguments| {
            let on = !matches!(argument(arguments, 0), Value::Bool(false));
            context.state::<Spans>().is_on = on;
            Ok(Value::Nil)
        }),
        ("trace_spans", trace_spans),
        ("trace_summary", trace_summary),
    ]);
}

/// Spans kept; what comes after them is not, so that a program that runs for weeks does not
/// drown.
const SPANS_MAX: usize = 100_000;

/// The spans of a run.
#[derive(Default)]
struct Spans {
    is_on: bool,
    /// The number of the last one.
    last: i64,
    /// Those that are open, by task, the innermost last.
    open: HashMap<String, Vec<Span>>,
    /// Those that are over, in the order of their ends.
    finished: Vec<Span>,
}

#[derive(Clone, Debug)]
struct Span {
    id: i64,
    parent: Option<i64>,
    kind: Text,
    name: Text,
    start_ms: i64,
    duration_ms: i64,
    metadata: Option<Dict>,
}

impl Spans {
    /// The innermost span around what a task does. Ids of tasks begin with that of the task
    /// that started them.
    fn around(&self, task: &str) -> Option<i64> {
        let mut task = task;
        loop {
            if let Some(span) = self.open.get(task).and_then(|spans| spans.last()) {
                return Some(span.id);
            }
            task = task.rsplit_once(':')?.0;
        }
    }

    /// Takes a span that is open, and those that were opened in it and never closed.
    fn take(&mut self, task: &str, id: i64) -> Option<Span> {
        let spans = self.open.get_mut(task)?;
        let at = spans.iter().rposition(|span| span.id == id)?;
        let span = spans.drain(at..).next();
        if spans.is_empty() {
            self.open.remove(task);
        }
        span
    }
}

fn task(context: &mut Context<'_>) -> Text {
    context.strand().facts.id.clone()
}

/// Begins a span if somebody wants to see it, and gives its number.
pub fn begin(context: &mut Context<'_>, kind: Text, name: Text) -> Option<i64> {
    if !context.state::<Spans>().is_on {
        return None;
    }
    let (task, start_ms) = (task(context), context.elapsed());
    let spans = context.state::<Spans>();
    let parent = spans.around(&task);
    spans.last += 1;
    let span = Span {
        id: spans.last,
        parent,
        kind,
        name,
        start_ms,
        duration_ms: 0,
        metadata: None,
    };
    let id = span.id;
    spans.open.entry(task.to_string()).or_default().push(span);
    Some(id)
}

/// `__span_open(kind, name)`
fn open(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let (kind, name) = (text(arguments, 0), text(arguments, 1));
    let span = begin(context, kind, name);
    Ok(span.map_or(Value::Nil, Value::Int))
}

/// Ends a span, with what is to be noted about it.
pub fn end(context: &mut Context<'_>, id: i64, metadata: Option<Dict>) {
    let (task, now) = (task(context), context.elapsed());
    let spans = context.state::<Spans>();
    if let Some(mut span) = spans.take(&task, id)
        && spans.finished.len() < SPANS_MAX
    {
        span.duration_ms = now.saturating_sub(span.start_ms).max(0);
        span.metadata = metadata;
        spans.finished.push(span);
    }
}

/// `__span_close(span)`
fn close(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    if let Value::Int(id) = *argument(arguments, 0) {
        end(context, id, None);
    }
    Ok(Value::Nil)
}

/// `trace_spans()`
fn trace_spans(context: &mut Context<'_>, _: &mut [Value]) -> Result<Value, Failure> {
    let finished = context.state::<Spans>().finished.iter();
    Ok(finished.map(Span::described).collect())
}

impl Span {
    fn described(&self) -> Value {
        let fields = [
            ("span_id", Value::Int(self.id)),
            ("parent_id", self.parent.map_or(Value::Nil, Value::Int)),
            ("kind", self.kind.clone().into()),
            ("name", self.name.clone().into()),
            ("start_ms", self.start_ms.into()),
            ("duration_ms", self.duration_ms.into()),
        ];
        let metadata = self.metadata.clone();
        let metadata = metadata.map(|metadata| ("metadata", Value::Dict(metadata)));
        Value::dict(fields.into_iter().chain(metadata))
    }
}

/// `trace_summary()`
fn trace_summary(context: &mut Context<'_>, _: &mut [Value]) -> Result<Value, Failure> {
    Ok(summary(&context.state::<Spans>().finished).into())
}

fn summary(finished: &[Span]) -> String {
    if finished.is_empty() {
        return "No spans recorded.".to_owned();
    }
    let roots = finished.iter().filter(|span| span.parent.is_none());
    let total: i64 = roots.map(|span| span.duration_ms).sum();
    let mut text = format!("Trace: {} spans, {total}ms total\n", finished.len());
    let known: HashSet<i64> = finished.iter().map(|span| span.id).collect();
    // What is inside a span that is still open has nobody to be shown under.
    let mut inside: BTreeMap<Option<i64>, Vec<&Span>> = BTreeMap::new();
    for span in finished {
        let parent = span.parent.filter(|parent| known.contains(parent));
        inside.entry(parent).or_default().push(span);
    }
    for spans in inside.values_mut() {
        spans.sort_by_key(|span| std::cmp::Reverse(span.id));
    }
    let mut next: Vec<(&Span, usize)> = Vec::new();
    let mut add = |parent: Option<i64>, level: usize, next: &mut Vec<_>| {
        let spans = inside.remove(&parent).unwrap_or_default();
        next.extend(spans.into_iter().map(|span| (span, level)));
    };
    add(None, 0, &mut next);
    while let Some((span, level)) = next.pop() {
        text.push_str(&span.line(level));
        add(Some(span.id), level + 1, &mut next);
    }
    text
}

impl Span {
    fn line(&self, level: usize) -> String {
        let indent = "  ".repeat(level);
        let Self {
            kind,
            name,
            duration_ms,
            ..
        } = self;
        let mut line = format!("\n{indent}{kind} {name} {duration_ms}ms");
        if let Some(metadata) = self.metadata.as_ref().filter(|fields| !fields.is_empty()) {
            let fields = metadata.iter().map(|(key, value)| format!("{key}={value}"));
            let fields: Vec<String> = fields.collect();
            line.push_str(&format!(" ({})", fields.join(", ")));
        }
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(id: i64, parent: Option<i64>, duration_ms: i64) -> Span {
        Span {
            id,
            parent,
            kind: Text::new("fn_call"),
            name: Text::from(format!("f{id}")),
            start_ms: 0,
            duration_ms,
            metadata: None,
        }
    }

    #[test]
    fn a_summary_shows_what_is_inside_what() {
        let mut finished = vec![
            span(3, Some(2), 1),
            span(2, Some(1), 4),
            span(4, Some(1), 1),
            span(1, None, 7),
            span(6, Some(5), 2),
        ];
        finished[0].metadata = Some([("model".into(), "m".into())].into_iter().collect());
        assert_eq!(
            summary(&finished),
            "Trace: 5 spans, 7ms total\n\
             \nfn_call f1 7ms\
             \n  fn_call f2 4ms\
             \n    fn_call f3 1ms (model=m)\
             \n  fn_call f4 1ms\
             \nfn_call f6 2ms"
        );
        assert_eq!(summary(&[]), "No spans recorded.");
    }
}
