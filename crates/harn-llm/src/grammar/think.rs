//! Takes what a model thinks out of what it says.

use std::borrow::Cow;

/// The tags that enclose thoughts.
const TAGS: [(&str, &str); 5] = [
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("<reflection>", "</reflection>"),
];

/// Inside a call, a tag is part of an argument.
const CALL: (&str, &str) = ("<tool_call>", "</tool_call>");

/// A piece of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Something said.
    Text(String),
    /// Something thought.
    Thought(String),
}

/// Splits an answer while it arrives. It holds back only what may be the beginning of a tag.
#[derive(Clone, Debug, Default)]
pub struct ThinkSplitter {
    /// What may be the beginning of a tag.
    held: String,
    inside: Inside,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Inside {
    #[default]
    Text,
    Call,
    /// A thought that ends with that tag.
    Thought(&'static str),
}

impl ThinkSplitter {
    /// Takes the next piece of the answer.
    pub fn push(&mut self, text: &str) -> Vec<Piece> {
        self.held.push_str(text);
        let whole = std::mem::take(&mut self.held);
        let mut pieces = Vec::new();
        let mut rest = whole.as_str();
        loop {
            match self.next_tag(rest) {
                Found::Tag { at, length, inside } => {
                    // The tags of a call are part of the text, those of a thought of nothing.
                    let is_call = inside == Inside::Call || self.inside == Inside::Call;
                    let shown = if is_call { at + length } else { at };
                    self.emit(&mut pieces, &rest[..shown]);
                    self.inside = inside;
                    rest = &rest[at + length..];
                }
                Found::Nothing { held_from } => {
                    self.emit(&mut pieces, &rest[..held_from]);
                    rest[held_from..].clone_into(&mut self.held);
                    return pieces;
                }
            }
        }
    }

    /// Whether a piece can only be text, whatever came before and comes after it. Nearly all
    /// are, and need not be taken apart.
    pub fn lets_pass(&self, text: &str) -> bool {
        self.held.is_empty() && self.inside == Inside::Text && !text.contains('<')
    }

    /// The answer is over: what was held back was no tag.
    pub fn finish(mut self) -> Vec<Piece> {
        let mut pieces = Vec::new();
        let held = std::mem::take(&mut self.held);
        self.emit(&mut pieces, &held);
        pieces
    }

    fn next_tag(&self, text: &str) -> Found {
        for (at, _) in text.match_indices('<') {
            let rest = &text[at..];
            let tag = |tag: &str, inside| {
                rest.starts_with(tag).then_some(Found::Tag {
                    at,
                    length: tag.len(),
                    inside,
                })
            };
            let found = match self.inside {
                Inside::Thought(close) => tag(close, Inside::Text),
                Inside::Call => tag(CALL.1, Inside::Text),
                Inside::Text => TAGS
                    .iter()
                    .find_map(|(open, close)| tag(open, Inside::Thought(close)))
                    .or_else(|| tag(CALL.0, Inside::Call)),
            };
            if let Some(found) = found {
                return found;
            }
            let may_become = match self.inside {
                Inside::Thought(close) => close.starts_with(rest),
                Inside::Call => CALL.1.starts_with(rest),
                Inside::Text => {
                    CALL.0.starts_with(rest) || TAGS.iter().any(|(open, _)| open.starts_with(rest))
                }
            };
            if may_become {
                return Found::Nothing { held_from: at };
            }
        }
        Found::Nothing {
            held_from: text.len(),
        }
    }

    fn emit(&self, pieces: &mut Vec<Piece>, text: &str) {
        if text.is_empty() {
            return;
        }
        let is_thought = matches!(self.inside, Inside::Thought(_));
        match pieces.last_mut() {
            Some(Piece::Thought(last)) if is_thought => last.push_str(text),
            Some(Piece::Text(last)) if !is_thought => last.push_str(text),
            _ if is_thought => pieces.push(Piece::Thought(text.to_owned())),
            _ => pieces.push(Piece::Text(text.to_owned())),
        }
    }
}

enum Found {
    Tag {
        at: usize,
        length: usize,
        inside: Inside,
    },
    Nothing {
        held_from: usize,
    },
}

/// What a whole answer says, without what it thinks. Some models only close a thought, because
/// the prompt has opened it for them; what stands before that is thought as well.
pub(super) fn without_reasoning(text: &str) -> Cow<'_, str> {
    if !text.contains('<') {
        return Cow::Borrowed(text);
    }
    let mut splitter = ThinkSplitter::default();
    let mut said = String::new();
    let mut pieces = splitter.push(text);
    pieces.extend(splitter.finish());
    for piece in pieces {
        if let Piece::Text(text) = piece {
            said.push_str(&text);
        }
    }
    match end_of_thought(&said) {
        Some(end) => Cow::Owned(without_tags(&said[end..])),
        None => Cow::Owned(said),
    }
}

/// Where a thought ends that was never opened: after the first closing tag that stands at an
/// end of its line, and not in a call.
fn end_of_thought(said: &str) -> Option<usize> {
    let before_calls = said.find(CALL.0).unwrap_or(said.len());
    let mut tags = said[..before_calls].match_indices("</");
    tags.find_map(|(at, _)| {
        let mut closers = TAGS.iter().map(|(_, close)| *close);
        let close = closers.find(|close| said[at..].starts_with(close))?;
        let end = at + close.len();
        is_at_line_end(said, at, end).then_some(end)
    })
}

/// A tag that neither begins nor ends a thought must not be taken for one that does when the
/// text is read again.
pub(super) fn without_tags(said: &str) -> String {
    let (before, from_call) = said.split_at(said.find(CALL.0).unwrap_or(said.len()));
    let tags = TAGS.iter().flat_map(|(open, close)| [open, close]);
    let before = tags.fold(before.to_owned(), |text, tag| text.replace(tag, ""));
    before + from_call
}

fn is_at_line_end(said: &str, from: usize, to: usize) -> bool {
    let (before, after) = (&said[..from], &said[to..]);
    let begins_line = before.trim_end_matches([' ', '\t']).ends_with('\n') || before.is_empty();
    begins_line || after.starts_with(['\n', '\r']) || after.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(pieces: &[&str]) -> (String, String) {
        let mut splitter = ThinkSplitter::default();
        let mut found = Vec::new();
        for piece in pieces {
            found.extend(splitter.push(piece));
            assert!(splitter.held.len() < "</reflection>".len());
        }
        found.extend(splitter.finish());
        let (mut text, mut thought) = (String::new(), String::new());
        for piece in found {
            match piece {
                Piece::Text(piece) => text.push_str(&piece),
                Piece::Thought(piece) => thought.push_str(&piece),
            }
        }
        (text, thought)
    }

    #[test]
    fn only_what_can_be_nothing_else_passes_as_text() {
        let mut splitter = ThinkSplitter::default();
        assert!(splitter.lets_pass("a > b"));
        assert!(!splitter.lets_pass("a < b"));
        splitter.push("a <th");
        assert!(!splitter.lets_pass("ink>"));
        splitter.push("ink>");
        assert!(!splitter.lets_pass("hm"));
        splitter.push("</think>");
        assert!(splitter.lets_pass("b"));
    }

    #[test]
    fn a_thought_that_is_closed_twice_ends_once() {
        assert_eq!(without_reasoning("hm</think>\na</think>\nb"), "\na\nb");
        let call = "hm</think>\n<tool_call>t({a: \"</think>\n\"})</tool_call>";
        assert_eq!(without_reasoning(call), call[10..]);
    }

    #[test]
    fn thoughts_are_split_out_whole_or_in_pieces() {
        for (whole, text, thought) in [
            ("<think>a</think>b", "b", "a"),
            ("x<thinking>a < b</thinking>y", "xy", "a < b"),
            ("a <thin b", "a <thin b", ""),
            ("a <thin", "a <thin", ""),
            ("<think>never closed", "", "never closed"),
            ("<think>a</thinking></think>b", "b", "a</thinking>"),
            (
                "<tool_call>w({a: \"<think>x</think>\"})</tool_call><think>t</think>",
                "<tool_call>w({a: \"<think>x</think>\"})</tool_call>",
                "t",
            ),
            ("é<think>ü</think>ö", "éö", "ü"),
        ] {
            let expected = (text.to_owned(), thought.to_owned());
            assert_eq!(split(&[whole]), expected, "{whole}");
            let pieces: Vec<String> = whole.chars().map(String::from).collect();
            let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
            assert_eq!(split(&pieces), expected, "{whole} in pieces");
        }
    }

    #[test]
    fn a_thought_that_the_prompt_opened_ends_all_the_same() {
        assert_eq!(without_reasoning("hmm\n</think>\nyes"), "\nyes");
        assert_eq!(without_reasoning("hmm</think>\nyes"), "\nyes");
        for kept in [
            "yes",
            "w({a: \"</think>\"})",
            "<tool_call>w({a: `\n</think>\n`})</tool_call>",
        ] {
            assert_eq!(without_reasoning(kept), kept);
        }
    }
}
