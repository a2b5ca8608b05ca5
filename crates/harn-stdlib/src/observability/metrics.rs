//! Measurements that a program notes while it is evaluated.

use harn_machine::value::Dict;
use harn_machine::{Context, Failure, Registry, Value, argument, take};

use crate::expect::text;

pub(super) fn register(registry: &mut Registry) {
    registry.plain(&[("eval_metric", eval_metric), ("eval_metrics", eval_metrics)]);
}

/// What was noted, in order.
#[derive(Default)]
struct Metrics(Vec<Value>);

impl harn_machine::Holds for Metrics {
    fn each_value(&self, each: &mut dyn FnMut(&Value)) {
        self.0.iter().for_each(each);
    }
}

/// `eval_metric(name, value, metadata?)`
fn eval_metric(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let mut metric: Dict = [
        ("name".into(), text(arguments, 0).into()),
        ("value".into(), argument(arguments, 1).clone()),
    ]
    .into_iter()
    .collect();
    let metadata = take(arguments, 2);
    if !metadata.is_nil() {
        metric.insert("metadata".into(), metadata);
    }
    context.holding::<Metrics>().0.push(metric.into());
    Ok(Value::Nil)
}

/// `eval_metrics()`
fn eval_metrics(context: &mut Context<'_>, _: &mut [Value]) -> Result<Value, Failure> {
    Ok(Value::list(context.holding::<Metrics>().0.clone()))
}
