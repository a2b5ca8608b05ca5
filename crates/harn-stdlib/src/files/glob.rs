//! Files found by patterns.

use globset::{Candidate, Glob, GlobSet, GlobSetBuilder};
use harn_machine::value::Dict;
use harn_machine::{Context, Failure, Registry, Value, argument, thrown};

use super::folders::begun;
use super::root::resolve;
use super::walk::{Walk, walk};
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
    let matcher = match matcher(&pattern) {
        Ok(matcher) => matcher,
        Err(error) => return thrown(format!("glob: {error}")),
    };
    if options.get("long_running").is_some_and(Value::is_truthy) {
        return Ok(begun(context, "glob", &format!("glob {pattern}")));
    }
    let base = resolve(context, &base);
    let everything = Walk {
        builtin: "glob",
        depth_max: usize::MAX,
        follows_links: false,
    };
    let top = base.display().to_string();
    let inside = top.len() + usize::from(!top.ends_with('/'));
    let mut paths = Vec::new();
    walk(context, &base, everything, |one| {
        if one.depth > 0 && matcher.is_match_candidate(&Candidate::new(&one.path[inside..])) {
            paths.push(one.path);
        }
    })?;
    paths.sort_unstable();
    Ok(paths.into_iter().map(Value::from).collect())
}

/// A set of one, because sets know faster ways than regular expressions for usual patterns.
fn matcher(pattern: &str) -> Result<GlobSet, globset::Error> {
    GlobSetBuilder::new().add(Glob::new(pattern)?).build()
}
