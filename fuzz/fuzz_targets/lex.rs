//! Every text has tokens, and they are where they say they are.

#![no_main]

use harn_fuzz::source::program_text;
use harn_fuzz::spans::check_span;
use harn_syntax::{LineIndex, TokenKind, lex};

harn_fuzz::target!(|bytes| {
    let text = program_text(bytes);
    let lexed = lex(&text);
    let tokens = lexed.tokens.iter().map(|token| token.span);
    let comments = lexed.comments.iter().map(|comment| comment.span);
    for spans in [
        tokens.clone().collect::<Vec<_>>(),
        comments.clone().collect(),
    ] {
        assert!(
            spans.is_sorted_by_key(|span| (span.start, span.end)),
            "{text:?}"
        );
    }
    let mut all: Vec<_> = tokens.chain(comments).collect();
    all.sort_by_key(|span| (span.start, span.end));
    let mut end = 0;
    for span in all {
        check_span(&text, span);
        assert!(end <= span.start, "{span:?} overlaps in {text:?}");
        end = span.end;
    }
    let ends = lexed
        .tokens
        .iter()
        .filter(|token| token.kind == TokenKind::End);
    assert_eq!(ends.count(), 1);
    let last = lexed.tokens.last().expect("a text has an end");
    assert_eq!(
        (last.kind, last.span.range()),
        (TokenKind::End, text.len()..text.len())
    );
    let lines = LineIndex::new(&text);
    assert!(lexed.errors.is_sorted_by_key(|error| error.offset));
    for error in &lexed.errors {
        assert!(!error.message(&text, &lines).is_empty());
    }
});
