//! Spans that a program opens and closes itself.
//!
//! ```text
//! trace_start("outer") ─┬─ trace_start("inner") ─ trace_end ─┬─ trace_end
//!                       └──────── one trace id ──────────────┘
//! ```
//!
//! Every task has its own spans. One without any is a part of what the task does that started
//! it, so it sees the spans of that one.

use std::collections::HashMap;

use harn_machine::value::{Dict, Text};
use harn_machine::{Answer, Context, Failure, Registry, Request, Value, argument, thrown};

use crate::expect::text;
use crate::output::logging::log_span_end;

pub(super) fn register(registry: &mut Registry) {
    registry.plain(&[
        ("trace_end", trace_end),
        ("trace_id", trace_id),
        ("trace_start", trace_start),
    ]);
}

/// The spans that are open, by task.
#[derive(Default)]
struct OpenSpans(HashMap<String, Vec<Span>>);

/// A span that is open.
#[derive(Clone)]
struct Span {
    trace: Text,
    id: Text,
}

impl OpenSpans {
    /// The innermost span around what a task does. Ids of tasks begin with that of the task
    /// that started them.
    fn around(&self, task: &str) -> Option<&Span> {
        let mut task = task;
        loop {
            if let Some(span) = self.0.get(task).and_then(|spans| spans.last()) {
                return Some(span);
            }
            task = task.rsplit_once(':')?.0;
        }
    }

    /// Closes a span if it is the innermost of its task.
    fn close(&mut self, task: &str, id: &str) {
        let Some(spans) = self.0.get_mut(task) else {
            return;
        };
        if spans.last().is_some_and(|span| &*span.id == id) {
            spans.pop();
        }
        if spans.is_empty() {
            self.0.remove(task);
        }
    }
}

/// The ids of the trace and of the span that are open where a program is.
pub(crate) fn open_span(context: &mut Context<'_>) -> Option<(Text, Text)> {
    let task = context.strand().facts.id.clone();
    let span = context.state::<OpenSpans>().around(&task);
    span.map(|span| (span.trace.clone(), span.id.clone()))
}

/// `trace_start(name)`
fn trace_start(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let name = text(arguments, 0);
    let trace = match open_span(context) {
        Some((trace, _)) => trace,
        None => new_id(context),
    };
    let id = new_id(context);
    let start = context.now();
    let task = context.strand().facts.id.clone();
    let spans = context
        .state::<OpenSpans>()
        .0
        .entry(task.to_string())
        .or_default();
    spans.push(Span {
        trace: trace.clone(),
        id: id.clone(),
    });
    Ok(Value::dict([
        ("trace_id", trace.into()),
        ("span_id", id.into()),
        ("name", name.into()),
        ("start_ms", Value::Int(start)),
    ]))
}

/// Eight hexadecimal digits that nobody else is likely to have.
fn new_id(context: &mut Context<'_>) -> Text {
    let octets = match context.perform(&Request::Random(4)) {
        Answer::Octets(octets) => octets,
        _ => Vec::new(),
    };
    let number = octets
        .iter()
        .fold(0_u32, |number, octet| number << 8 | u32::from(*octet));
    Text::from(format!("{number:08x}"))
}

/// `trace_end(span)`
fn trace_end(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let not_a_span = "trace_end: argument must be a span dict from trace_start";
    let Value::Dict(span) = argument(arguments, 0) else {
        return thrown(not_a_span);
    };
    let (Some(trace), Some(Value::Text(id)), Some(Value::Int(start))) = (
        span.get("trace_id"),
        span.get("span_id"),
        span.get("start_ms"),
    ) else {
        return thrown(not_a_span);
    };
    let took = context.now().saturating_sub(*start).max(0);
    let task = context.strand().facts.id.clone();
    context.state::<OpenSpans>().close(&task, id);
    let mut fields = Dict::default();
    for (key, value) in [
        ("duration_ms", Value::Int(took)),
        ("name", span.get("name").cloned().unwrap_or_default()),
        ("span_id", id.clone().into()),
        ("trace_id", trace.clone()),
    ] {
        fields.insert(Text::new(key), value);
    }
    log_span_end(context, &fields);
    Ok(Value::Nil)
}

/// `trace_id()`
fn trace_id(context: &mut Context<'_>, _: &mut [Value]) -> Result<Value, Failure> {
    let span = open_span(context);
    Ok(span.map_or(Value::Nil, |(trace, _)| trace.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(id: &str) -> Span {
        Span {
            trace: Text::new("trace"),
            id: Text::new(id),
        }
    }

    #[test]
    fn a_task_sees_the_spans_of_the_one_that_started_it() {
        let mut open = OpenSpans::default();
        open.0.insert("task_root".to_owned(), vec![span("a")]);
        let around = |open: &OpenSpans| {
            let span = open.around("task_root:spawn:1");
            span.map(|span| span.id.to_string())
        };
        assert_eq!(around(&open).as_deref(), Some("a"));
        open.0
            .insert("task_root:spawn:1".to_owned(), vec![span("b")]);
        assert_eq!(around(&open).as_deref(), Some("b"));
        assert!(open.around("another").is_none());
    }

    #[test]
    fn only_the_innermost_span_is_closed() {
        let mut open = OpenSpans::default();
        let task = "task_root".to_owned();
        open.0.insert(task.clone(), vec![span("a"), span("b")]);
        open.close(&task, "a");
        assert_eq!(open.0[&task].len(), 2);
        open.close(&task, "b");
        open.close(&task, "a");
        assert!(open.0.is_empty());
    }
}
