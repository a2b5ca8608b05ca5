//! Which braces are closures.

use crate::token::{Token, TokenKind};

/// For each `{`, whether an arrow follows before its `}` that is inside no other brackets.
/// Only then can it open a closure.
pub(super) struct Braces {
    /// The indexes of those that have one, in order.
    with_arrow: Vec<u32>,
}

impl Braces {
    pub(super) fn find(tokens: &[Token]) -> Self {
        let mut with_arrow = Vec::new();
        let mut open: Vec<Option<u32>> = Vec::new();
        for (at, token) in tokens.iter().enumerate() {
            match token.kind {
                TokenKind::LeftBrace => open.push(u32::try_from(at).ok()),
                TokenKind::LeftParenthesis | TokenKind::LeftBracket => open.push(None),
                TokenKind::RightBrace | TokenKind::RightParenthesis | TokenKind::RightBracket => {
                    open.pop();
                }
                TokenKind::Arrow => with_arrow.extend(open.last_mut().and_then(Option::take)),
                _ => {}
            }
        }
        with_arrow.sort_unstable();
        Self { with_arrow }
    }

    pub(super) fn has_arrow(&self, at: usize) -> bool {
        u32::try_from(at).is_ok_and(|at| self.with_arrow.binary_search(&at).is_ok())
    }
}
