//! Evaluations: manifests that say what to check, and numbers that programs note while they run.
//!
//! Running a pack means comparing records of runs, which is not done here.

use harn_machine::value::{Dict, Text};
use harn_machine::{Context, Failure, Registry, Value, argument, take, thrown};

use crate::registries::given;

pub(crate) fn register(registry: &mut Registry) {
    registry.plain(&[
        ("eval_metric", eval_metric),
        ("eval_metrics", eval_metrics),
        ("eval_pack_manifest", eval_pack_manifest),
        ("eval_suite_manifest", eval_suite_manifest),
    ]);
}

/// `eval_pack_manifest(config)`
fn eval_pack_manifest(_: &mut Context<'_>, args: &mut [Value]) -> Result<Value, Failure> {
    let mut manifest = config("eval_pack_manifest", args)?;
    let defaults = [
        ("version", Value::Int(1)),
        ("id", "".into()),
        ("defaults", Value::dict([])),
        ("fixtures", Value::list(Vec::new())),
        ("rubrics", Value::list(Vec::new())),
        ("cases", Value::list(Vec::new())),
    ];
    complete(&mut manifest, defaults);
    Ok(manifest.into())
}

/// `eval_suite_manifest(config)`
fn eval_suite_manifest(_: &mut Context<'_>, args: &mut [Value]) -> Result<Value, Failure> {
    let mut manifest = config("eval_suite_manifest", args)?;
    complete(
        &mut manifest,
        [("id", "".into()), ("cases", Value::list(Vec::new()))],
    );
    Ok(manifest.into())
}

fn config(function: &str, args: &mut [Value]) -> Result<Dict, Failure> {
    match take(args, 0) {
        Value::Dict(config) => Ok(config),
        _ => thrown(format!("{function}: requires a config dict")),
    }
}

/// Adds what was left out.
fn complete<const N: usize>(manifest: &mut Dict, defaults: [(&str, Value); N]) {
    for (key, value) in defaults {
        if given(manifest, key).is_none() {
            manifest.insert(Text::new(key), value);
        }
    }
}

/// What was measured during a run, in order.
#[derive(Default)]
struct Metrics(Vec<Value>);

/// `eval_metric(name, value, metadata?)`
fn eval_metric(context: &mut Context<'_>, args: &mut [Value]) -> Result<Value, Failure> {
    if argument(args, 0).is_nil() {
        return thrown("eval_metric: missing name");
    }
    if args.len() < 2 {
        return thrown("eval_metric: missing value");
    }
    let name = argument(args, 0).to_text();
    let mut fields = vec![("name", name.into()), ("value", take(args, 1))];
    match take(args, 2) {
        Value::Nil => {}
        metadata => fields.push(("metadata", metadata)),
    }
    context.state::<Metrics>().0.push(Value::dict(fields));
    Ok(Value::Nil)
}

/// `eval_metrics()`
fn eval_metrics(context: &mut Context<'_>, _: &mut [Value]) -> Result<Value, Failure> {
    Ok(Value::list(context.state::<Metrics>().0.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_gets_what_was_left_out() {
        let Value::Dict(mut manifest) = Value::dict([("id", "a".into()), ("cases", Value::Nil)])
        else {
            unreachable!("it is a dict");
        };
        complete(
            &mut manifest,
            [
                ("id", "".into()),
                ("cases", Value::list(vec![])),
                ("version", Value::Int(1)),
            ],
        );
        let shown = Value::Dict(manifest).show();
        assert_eq!(shown, "{cases: [], id: a, version: 1}");
    }

    #[test]
    fn a_manifest_is_made_of_a_dict() {
        let refusal = config("f", &mut [Value::Int(1)]).unwrap_err();
        assert_eq!(refusal.text(), "Thrown: f: requires a config dict");
    }
}
