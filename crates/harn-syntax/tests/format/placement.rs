//! To which statement each comment belongs.

use harn_syntax::tree::Statement;
use harn_syntax::visit::{Visit, walk_module, walk_statement};
use harn_syntax::{Span, parse};

/// Panics unless every comment is still in its statement, or directly beside it. Statements
/// must be in the same order, and every comment must consist of words of its own.
#[track_caller]
pub(crate) fn check_placement(source: &str, formatted: &str) {
    let (before, after) = (Places::of(source), Places::of(formatted));
    for (word, place) in &before.comments {
        let Some((_, new)) = after.comments.iter().find(|(other, _)| other == word) else {
            panic!("{word} is lost\n{source}\n=>\n{formatted}");
        };
        // It may move up within its statement, above the element it stands in.
        let is_same = new.statement == place.statement && new.rank <= place.rank;
        let parent = place.statement.map(|at| before.statements[at]);
        let is_beside = parent.is_some_and(|(_, parent, rank)| {
            new.statement == parent && (new.rank == rank || new.rank == rank + 1)
        });
        assert!(
            is_same || is_beside,
            "{word} moved from {place:?} to {new:?}\n{source}\n=>\n{formatted}"
        );
    }
}

/// Where a comment is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    /// The innermost statement around it, by number.
    statement: Option<usize>,
    /// How many statements directly in that one precede it.
    rank: usize,
}

#[derive(Default)]
struct Places {
    /// Each statement's place, the number of the one around it, and its rank there.
    statements: Vec<(Span, Option<usize>, usize)>,
    comments: Vec<(String, Place)>,
    open: Vec<usize>,
}

impl Places {
    fn of(source: &str) -> Self {
        let module = parse(source).module;
        let mut places = Self::default();
        walk_module(&mut places, &module);
        for comment in &module.comments {
            let text = comment.span.of(source);
            let place = places.place(comment.span.start);
            let words = text.split(|part: char| !part.is_alphanumeric());
            let words = words.filter(|word| !word.is_empty());
            places
                .comments
                .extend(words.map(|word| (word.to_owned(), place)));
        }
        places
    }

    fn place(&self, offset: u32) -> Place {
        let contains = |span: &Span| span.start <= offset && offset < span.end;
        let statement = self
            .statements
            .iter()
            .rposition(|(span, ..)| contains(span));
        let children = self
            .statements
            .iter()
            .filter(|(span, parent, _)| *parent == statement && span.end <= offset);
        Place {
            statement,
            rank: children.count(),
        }
    }
}

impl Visit for Places {
    fn statement(&mut self, statement: &Statement) {
        let parent = self.open.last().copied();
        let rank = self
            .statements
            .iter()
            .filter(|(_, other, _)| *other == parent)
            .count();
        self.open.push(self.statements.len());
        self.statements.push((statement.span, parent, rank));
        walk_statement(self, statement);
        self.open.pop();
    }
}
