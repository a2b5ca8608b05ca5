//! The four blocks of an answer and how their tags are written.

/// A block of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Block {
    ToolCall,
    AssistantProse,
    UserResponse,
    Done,
}

/// The opening tags, first as they should be, then as some models were trained to write them.
const OPENERS: [(&str, Block); 6] = [
    ("<tool_call>", Block::ToolCall),
    ("<assistant_prose>", Block::AssistantProse),
    ("<user_response>", Block::UserResponse),
    ("<done>", Block::Done),
    ("<|tool_call|>", Block::ToolCall),
    ("<|tool_call>", Block::ToolCall),
];

/// An opening tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Opener {
    pub(super) block: Block,
    pub(super) length: usize,
    /// Whether it is written as it should be.
    pub(super) is_regular: bool,
}

impl Block {
    /// How its closing tag may be written.
    pub(super) fn closers(self) -> &'static [&'static str] {
        match self {
            Block::ToolCall => &[
                "</tool_call>",
                "</|tool_call|>",
                "<|/tool_call|>",
                "<tool_call|>",
            ],
            Block::AssistantProse => &["</assistant_prose>"],
            Block::UserResponse => &["</user_response>"],
            Block::Done => &["</done>"],
        }
    }
}

/// The opening tag that a text begins with.
pub(super) fn opener(text: &str) -> Option<Opener> {
    let index = OPENERS.iter().position(|(tag, _)| text.starts_with(tag))?;
    let (tag, block) = OPENERS[index];
    Some(Opener {
        block,
        length: tag.len(),
        is_regular: index < 4,
    })
}

/// Whether a text could become an opening tag.
pub(super) fn may_become_opener(text: &str) -> bool {
    OPENERS.iter().any(|(tag, _)| tag.starts_with(text))
}

/// Whether any of the four blocks is opened in a text.
pub(super) fn any_opener(text: &str) -> bool {
    OPENERS.iter().any(|(tag, _)| text.contains(tag))
}

/// The opening tags that begin a line, not counting the text's own beginning.
pub(super) fn openers_on_lines(text: &str) -> impl Iterator<Item = (usize, Block)> {
    text.match_indices('\n').filter_map(|(at, _)| {
        let word = text[at + 1..].trim_start_matches([' ', '\t']);
        let opener = opener(word)?;
        Some((text.len() - word.len(), opener.block))
    })
}
