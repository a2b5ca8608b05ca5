//! Files found by patterns.

use std::path::Path;

use globset::{Candidate, Glob, GlobSet, GlobSetBuilder};
use harn_machine::value::Dict;
use harn_machine::{Context, Failure, Fault, FileStatus, Registry, Value, argument, thrown};

use super::allowed;
use super::background::{self, Sought};
use super::root::resolve;
use super::walk::{Look, Walk, below, facts_about};
use crate::expect::text;
use crate::regex::reserve_pattern;

pub(super) fn register(registry: &mut Registry) {
    registry.plain(&[("glob", glob)]);
}

fn glob(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    if arguments.is_empty() {
        return thrown("glob: pattern is required");
    }
    let pattern = text(arguments, 0);
    reserve_pattern(context, &pattern)?;
    let none = Dict::default();
    let (base, options) = match (argument(arguments, 1), argument(arguments, 2)) {
        (Value::Dict(options), _) => (options.get("base"), options),
        (base, Value::Dict(options)) => (Some(base), options),
        (base, _) => (Some(base), &none),
    };
    let base = base.filter(|base| !base.is_nil());
    let base = base.map_or_else(|| ".".into(), Value::to_text);
    if let Err(error) = matcher(&pattern) {
        return thrown(format!("glob: {error}"));
    }
    let is_long_running = options.get("long_running").is_some_and(Value::is_truthy);
    let base = resolve(context, &base);
    if is_long_running {
        let sought = Sought {
            top: base,
            pattern: Some(pattern.to_string()),
            ..Sought::default()
        };
        return background::begin(context, ("glob", &format!("glob {pattern}")), &sought);
    }
    let facts = facts_about(context, base.clone());
    allowed(context, "glob")?;
    let paths = match facts {
        Some(facts) => matching(context, (&base, facts), &pattern).map_err(Fault::thrown)?,
        None => Vec::new(),
    };
    Ok(paths.into_iter().map(Value::from).collect())
}

/// The paths below a folder that match, sorted.
pub(super) fn matching(
    look: &mut impl Look,
    (base, facts): (&Path, FileStatus),
    pattern: &str,
) -> Result<Vec<String>, String> {
    let matcher = matcher(pattern).map_err(|error| format!("glob: {error}"))?;
    let everything = Walk {
        builtin: "glob",
        depth_max: usize::MAX,
        follows_links: false,
    };
    let top = base.display().to_string();
    let inside = top.len() + usize::from(!top.ends_with('/'));
    let mut paths = Vec::new();
    below(look, (base, facts), everything, |one| {
        if one.depth > 0 && matcher.is_match_candidate(&Candidate::new(&one.path[inside..])) {
            paths.push(one.path);
        }
    });
    paths.sort_unstable();
    Ok(paths)
}

/// What matches a pattern. `*` matches slashes, which is what the crate does unless it is told
/// otherwise. A set of one, because sets know faster ways than regular expressions for usual patterns.
fn matcher(pattern: &str) -> Result<GlobSet, globset::Error> {
    GlobSetBuilder::new().add(Glob::new(pattern)?).build()
}
