//! Files found by patterns.

use globset::Glob;
use harn_machine::value::Dict;
use harn_machine::{Context, Failure, Registry, Value, argument, thrown};

use super::folders::{Walk, begun, walk};
use super::root::resolve;
use crate::expect::text;

pub(super) fn register(registry: &mut Registry) {
    registry.plain(&[("glob", glob)]);
}

fn glob(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    if arguments.is_empty() {
        return thrown("glob: pattern is required");
    }
    let pattern = text(arguments, 0);
    let none = Dict::default();
    let (base, options) = match (argument(arguments, 1), argument(arguments, 2)) {
        (Value::Dict(options), _) => (options.get("base"), options),
        (base, Value::Dict(options)) => (Some(base), options),
        (base, _) => (Some(base), &none),
    };
    let base = base.filter(|base| !base.is_nil());
    let base = base.map_or_else(|| ".".into(), Value::to_text);
    // `*` matches slashes, which is what the crate does unless it is told otherwise.
    let matcher = match Glob::new(&pattern) {
        Ok(glob) => glob.compile_matcher(),
        Err(error) => return thrown(format!("glob: {error}")),
    };
    if options.get("long_running").is_some_and(Value::is_truthy) {
        return Ok(begun(context, "glob", &format!("glob {pattern}")));
    }
    let base = resolve(context, &base);
    let everything = Walk {
        depth_max: usize::MAX,
        follows_links: false,
    };
    let found = walk(context, base.clone(), everything);
    let matching = found.into_iter().filter(|one| {
        let inside = one.path.strip_prefix(&base);
        one.depth > 0 && inside.is_ok_and(|inside| matcher.is_match(inside))
    });
    let mut paths: Vec<String> = matching.map(|one| one.path.display().to_string()).collect();
    paths.sort_unstable();
    Ok(paths.into_iter().map(Value::from).collect())
}
