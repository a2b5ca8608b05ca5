//! Which artifacts a model gets to see.

use std::cmp::Reverse;
use std::collections::HashSet;

use chrono::{DateTime, Utc};
use serde_json::{Number, Value};

use super::Artifact;
use super::record::texts;
use crate::microcompact::microcompact;

/// Which artifacts are wanted, in which order, and how many of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ContextPolicy {
    /// Only these kinds; empty: all.
    pub include_kinds: Vec<String>,
    /// Not these kinds.
    pub exclude_kinds: Vec<String>,
    /// Only what belongs to these stages; empty: all.
    pub include_stages: Vec<String>,
    /// These come first.
    pub pinned_ids: Vec<String>,
    /// These kinds come next.
    pub prioritize_kinds: Vec<String>,
    /// Whether what is new comes before what is not.
    pub prefer_fresh: bool,
    /// Whether what was made later comes first.
    pub prefer_recent: bool,
    /// How many at most.
    pub max_artifacts: Option<u64>,
    /// How many tokens they may take together.
    pub max_tokens: Option<u64>,
    /// How many of those are for something else.
    pub reserve_tokens: u64,
    /// How they are written: `json`, or as text.
    pub render: Option<String>,
}

impl ContextPolicy {
    /// The policy that a dict describes; nil wants everything.
    pub fn read(policy: &Value) -> Self {
        let list = |key: &str| texts(policy.get(key));
        let holds = |key: &str| policy[key].as_bool().unwrap_or(false);
        let count = |key: &str| match &policy[key] {
            Value::Number(count) => Some(whole(count)),
            _ => None,
        };
        Self {
            include_kinds: list("include_kinds"),
            exclude_kinds: list("exclude_kinds"),
            include_stages: list("include_stages"),
            pinned_ids: list("pinned_ids"),
            prioritize_kinds: list("prioritize_kinds"),
            prefer_fresh: holds("prefer_fresh"),
            prefer_recent: holds("prefer_recent"),
            max_artifacts: count("max_artifacts"),
            max_tokens: count("max_tokens"),
            reserve_tokens: count("reserve_tokens").unwrap_or(0),
            render: policy["render"].as_str().map(str::to_owned),
        }
    }

    fn allows(&self, artifact: &Artifact) -> bool {
        let named = |names: &[String], name: &str| names.iter().any(|one| one == name);
        let stage = artifact.stage.as_deref();
        (self.include_kinds.is_empty() || named(&self.include_kinds, &artifact.kind))
            && !named(&self.exclude_kinds, &artifact.kind)
            && (self.include_stages.is_empty()
                || stage.is_some_and(|stage| named(&self.include_stages, stage)))
    }
}

/// A count that cannot be negative.
fn whole(count: &Number) -> u64 {
    let float = || count.as_f64().unwrap_or(0.0).max(0.0) as u64;
    count.as_u64().unwrap_or_else(float)
}

/// The artifacts that a policy wants, in its order, as many as fit.
///
/// What does not fit is skipped, and something smaller that follows may fit. Pinned artifacts
/// come first, yet filters and limits hold for them as well.
pub fn select(mut artifacts: Vec<Artifact>, policy: &ContextPolicy) -> Vec<Artifact> {
    artifacts.retain(|artifact| policy.allows(artifact));
    let mut artifacts = sorted(artifacts, policy);
    let budget = policy
        .max_tokens
        .map(|tokens| tokens.saturating_sub(policy.reserve_tokens));
    let (mut count, mut tokens) = (0_u64, 0_u64);
    artifacts.retain(|artifact| {
        let with_it = tokens.saturating_add(artifact.tokens());
        let fits = policy.max_artifacts.is_none_or(|most| count < most)
            && budget.is_none_or(|budget| with_it <= budget);
        if fits {
            (count, tokens) = (count + 1, with_it);
        }
        fits
    });
    artifacts
}

/// What decides the order: the smaller, the earlier.
#[derive(PartialEq, PartialOrd)]
struct Rank {
    is_not_pinned: bool,
    is_not_preferred: bool,
    priority: f64,
    freshness: Reverse<u8>,
    created_at: Reverse<Option<DateTime<Utc>>>,
    relevance: f64,
    tokens: u64,
}

fn sorted(artifacts: Vec<Artifact>, policy: &ContextPolicy) -> Vec<Artifact> {
    let set = |names: &[String]| names.iter().cloned().collect::<HashSet<_>>();
    let (pinned, preferred) = (set(&policy.pinned_ids), set(&policy.prioritize_kinds));
    let float = |number: &Number| number.as_f64().unwrap_or(0.0);
    let rank = |artifact: &Artifact| Rank {
        is_not_pinned: !pinned.contains(&artifact.id),
        is_not_preferred: !preferred.contains(&artifact.kind),
        priority: -float(&artifact.priority),
        freshness: Reverse(if policy.prefer_fresh {
            freshness(artifact)
        } else {
            0
        }),
        created_at: Reverse(policy.prefer_recent.then(|| made_at(artifact)).flatten()),
        relevance: -artifact.relevance.as_ref().map_or(0.0, float),
        tokens: artifact.tokens(),
    };
    let mut ranked: Vec<(Rank, Artifact)> = artifacts
        .into_iter()
        .map(|artifact| (rank(&artifact), artifact))
        .collect();
    // JSON has no numbers that cannot be compared.
    ranked.sort_by(|(one, _), (other, _)| {
        one.partial_cmp(other).unwrap_or(std::cmp::Ordering::Equal)
    });
    ranked.into_iter().map(|(_, artifact)| artifact).collect()
}

/// When an artifact was made; what is no time is before all times.
fn made_at(artifact: &Artifact) -> Option<DateTime<Utc>> {
    let moment = DateTime::parse_from_rfc3339(&artifact.created_at).ok()?;
    Some(moment.to_utc())
}

/// How new an artifact says it is.
fn freshness(artifact: &Artifact) -> u8 {
    match artifact.freshness.as_deref() {
        Some("fresh" | "live") => 3,
        Some("recent") => 2,
        Some("stale") => 0,
        _ => 1,
    }
}

/// Whether what an artifact says is of now.
fn is_new(artifact: &Artifact) -> bool {
    freshness(artifact) >= 2
}

/// The tokens that an artifact may take however many there are.
const SHARE_TOKENS_LEAST: u64 = 500;

/// The same without what is out of date or repeated, and with what is far too long shortened.
pub fn select_adaptive(artifacts: Vec<Artifact>, policy: &ContextPolicy) -> Vec<Artifact> {
    let artifacts = without_repeated(without_outdated(artifacts));
    let artifacts = match policy.max_tokens {
        Some(most) => shortened(artifacts, most),
        None => artifacts,
    };
    select(artifacts, policy)
}

/// Without evidence about paths that something new says have changed since.
fn without_outdated(mut artifacts: Vec<Artifact>) -> Vec<Artifact> {
    let changed: HashSet<String> = artifacts
        .iter()
        .filter(|artifact| is_new(artifact))
        .flat_map(|artifact| texts(artifact.metadata.get("changed_paths")))
        .collect();
    artifacts.retain(|artifact| {
        let evidence = texts(artifact.metadata.get("evidence_paths"));
        is_new(artifact) || !evidence.iter().any(|path| changed.contains(path))
    });
    artifacts
}

/// Without those whose text another one has before them.
fn without_repeated(mut artifacts: Vec<Artifact>) -> Vec<Artifact> {
    let mut known = HashSet::new();
    artifacts.retain(|artifact| match artifact.text.as_deref() {
        None | Some("") => true,
        Some(text) => known.insert(text.to_owned()),
    });
    artifacts
}

/// With each that takes more than twice its share shortened to its share.
fn shortened(mut artifacts: Vec<Artifact>, most: u64) -> Vec<Artifact> {
    let count = (artifacts.len() as u64).max(1);
    let share = (most / count).max(SHARE_TOKENS_LEAST).min(most);
    let bytes = usize::try_from(share.saturating_mul(4)).unwrap_or(usize::MAX);
    for artifact in &mut artifacts {
        if artifact.tokens() <= share.saturating_mul(2) {
            continue;
        }
        if let Some(text) = &artifact.text {
            artifact.set_text(microcompact(text, bytes));
        }
    }
    artifacts
}
