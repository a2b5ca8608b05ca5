//! How far something has come, and how long it took.

use harn_machine::value::Dict;
use harn_machine::{Context, Failure, Registry, Value, argument, thrown};

use crate::expect::{text, text_or};

pub(super) fn register(registry: &mut Registry) {
    registry.plain(&[
        ("progress", progress),
        ("timer_end", timer_end),
        ("timer_start", timer_start),
    ]);
}

fn progress(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let (phase, message) = (text(arguments, 0), text(arguments, 1));
    let line = match (argument(arguments, 2), argument(arguments, 3)) {
        (Value::Dict(options), _) => with_options(&phase, &message, options),
        (Value::Int(done), Value::Int(total)) => format!("[{phase}] {message} ({done}/{total})"),
        (Value::Int(percent), _) => format!("[{phase}] {message} ({percent}%)"),
        _ => format!("[{phase}] {message}"),
    };
    context.write(&format!("{line}\n"));
    Ok(Value::Nil)
}

fn with_options(phase: &str, message: &str, options: &Dict) -> String {
    let int = |key: &str| match options.get(key) {
        Some(Value::Int(number)) => Some(*number),
        _ => None,
    };
    let mode = options.get("mode").map(Value::to_text);
    match mode.as_deref() {
        Some("spinner") => {
            let step = int("step").or_else(|| int("current")).unwrap_or(0);
            let frames = ["|", "/", "-", "\\"];
            let frame = frames[usize::try_from(step.rem_euclid(4)).unwrap_or(0)];
            format!("[{phase}] {frame} {message}")
        }
        Some("bar") => {
            let (current, total) = (int("current").unwrap_or(0), int("total").unwrap_or(0));
            let bar = bar(current, total, int("width").unwrap_or(10));
            format!("[{phase}] [{bar}] {message} ({current}/{total})")
        }
        _ => format!("[{phase}] {message}"),
    }
}

fn bar(current: i64, total: i64, width: i64) -> String {
    let width = usize::try_from(width.clamp(3, 40)).unwrap_or(3);
    let filled = match total {
        1.. => (current.clamp(0, total) as f64 / total as f64 * width as f64).round() as usize,
        _ => 0,
    };
    let filled = filled.min(width);
    format!("{}{}", "#".repeat(filled), "-".repeat(width - filled))
}

fn timer_start(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let name = text_or(arguments, 0, "default");
    let start = Value::Int(context.now());
    Ok(Value::dict([("name", name.into()), ("start_ms", start)]))
}

fn timer_end(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let timer = match argument(arguments, 0) {
        Value::Dict(timer) => timer,
        _ => return not_a_timer(),
    };
    let Some(Value::Int(start)) = timer.get("start_ms") else {
        return not_a_timer();
    };
    let took = context.now().saturating_sub(*start).max(0);
    let name = timer.get("name").unwrap_or(&Value::Nil);
    context.write(&format!("[timer] {name}: {took}ms\n"));
    Ok(Value::Int(took))
}

fn not_a_timer() -> Result<Value, Failure> {
    thrown("timer_end: argument must be a timer dict from timer_start")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_filled_by_rounding() {
        for (current, total, width, expected) in [
            (3, 10, 10, "###-------"),
            (0, 10, 10, "----------"),
            (10, 10, 10, "##########"),
            (20, 10, 10, "##########"),
            (-5, 10, 10, "----------"),
            (1, 2, 5, "###--"),
            (1, 0, 10, "----------"),
            (1, 2, 1, "##-"),
            (i64::MAX, i64::MAX, 1000, &"#".repeat(40)),
        ] {
            assert_eq!(bar(current, total, width), expected);
        }
    }

    #[test]
    fn spinners_turn_by_their_step() {
        let line = |step: i64| {
            let options = [("mode", "spinner".into()), ("step", Value::Int(step))];
            let Value::Dict(options) = Value::dict(options) else {
                unreachable!("it was made as a dict");
            };
            with_options("p", "m", &options)
        };
        assert_eq!(line(0), "[p] | m");
        assert_eq!(line(1), "[p] / m");
        assert_eq!(line(2), "[p] - m");
        assert_eq!(line(7), "[p] \\ m");
    }
}
