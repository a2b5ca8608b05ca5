//! `assemble_context`: artifacts packed into a budget of tokens.
//!
//! ```text
//! options ─► pieces ─► without duplicates ─► scores ─► order ─► as much as fits
//!            (split)   (dedup)               (a callback of the program, or rank)
//! ```
//!
//! The callback is a function of the program, so what happens before and after it are two
//! builtins, which a function in Harn joins.

mod dedup;
mod options;
mod pack;
mod rank;
mod split;

use harn_machine::value::Dict;
use harn_machine::{Context, Failure, Registry, Value, argument};
use sha2::{Digest, Sha256};

use self::options::Options;

pub(crate) fn register(registry: &mut Registry) {
    registry.file("context", include_str!("../../harn/context.harn"));
    registry.harn("context", &[("assemble_context", "assemble_context")]);
    registry.plain(&[
        ("__context_packed", pack::packed),
        ("__context_pieces", pieces),
    ]);
}

/// A piece of an artifact.
#[derive(Clone, Debug)]
struct Piece {
    id: String,
    text: String,
    /// Its artifact, by its place among all of them.
    artifact: usize,
    /// Its place among the pieces of its artifact, and how many those are.
    index: usize,
    count: usize,
}

impl Piece {
    fn tokens(&self) -> i64 {
        tokens(&self.text)
    }
}

/// How many tokens a text is taken for.
fn tokens(text: &str) -> i64 {
    i64::try_from(text.len().div_ceil(4)).unwrap_or(i64::MAX)
}

/// Something that is left out, and why.
struct Dropped {
    artifact: String,
    piece: Option<String>,
    reason: &'static str,
    detail: String,
}

impl Dropped {
    fn described(self) -> Value {
        Value::dict([
            ("artifact_id", self.artifact.into()),
            ("chunk_id", self.piece.into()),
            ("reason", self.reason.into()),
            ("detail", self.detail.into()),
        ])
    }
}

/// The pieces of all artifacts, for the callback and for whoever packs them.
fn pieces(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let options = Options::read(argument(arguments, 0))?;
    let mut dropped = Vec::new();
    let all = cut(&options, &mut dropped);
    let kept = dedup::without_duplicates(all, &options, &mut dropped);
    let chunks = kept.iter().map(|piece| piece.described(&options));
    Ok(Value::dict([
        ("ranker", options.ranker.clone()),
        ("query", options.query.as_str().into()),
        ("chunks", chunks.collect()),
        ("options", argument(arguments, 0).clone()),
        (
            "dropped",
            dropped.into_iter().map(Dropped::described).collect(),
        ),
    ]))
}

fn cut(options: &Options, dropped: &mut Vec<Dropped>) -> Vec<Piece> {
    let mut all = Vec::new();
    for (artifact, given) in options.artifacts.iter().enumerate() {
        let id = options.artifact_id(artifact);
        let mut drop = |reason: &'static str, detail: &str| {
            dropped.push(Dropped {
                artifact: id.clone(),
                piece: None,
                reason,
                detail: detail.to_owned(),
            });
        };
        let text = match given.get("text") {
            None | Some(Value::Nil) => {
                drop("no_text", "artifact has no text");
                continue;
            }
            Some(text) => text.to_text(),
        };
        if text.trim().is_empty() {
            drop("empty_text", "artifact text is empty");
            continue;
        }
        let texts = split::split(&text, options.threshold);
        let count = texts.len();
        let pieces = texts.into_iter().enumerate().map(|(index, text)| Piece {
            id: format!("{id}#{}", digest(&text)),
            text,
            artifact,
            index,
            count,
        });
        all.extend(pieces);
    }
    all
}

fn digest(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    let digits = digest.iter().take(8).map(|octet| format!("{octet:02x}"));
    digits.collect()
}

impl Piece {
    fn described(&self, options: &Options) -> Value {
        let artifact: &Dict = &options.artifacts[self.artifact];
        let field = |key: &str| artifact.get(key).cloned().unwrap_or_default();
        Value::dict([
            ("id", self.id.as_str().into()),
            ("artifact_id", options.artifact_id(self.artifact).into()),
            ("artifact_kind", field("kind")),
            ("title", field("title")),
            ("source", field("source")),
            ("text", self.text.as_str().into()),
            ("estimated_tokens", self.tokens().into()),
            ("chunk_index", self.index.into()),
            ("chunk_count", self.count.into()),
            ("score", Value::Float(0.0)),
        ])
    }
}
