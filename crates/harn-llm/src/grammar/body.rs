//! The inside of a `<tool_call>` block: exactly one call.

use super::call::{CallReader, CallStep};
use super::close::{Close, CloseSearch};
use super::json_calls::{self, Unmade};
use super::names::leading_name;
use super::tags::Block;
use super::{ParsedCall, Repair, ToolNames, bare, texts};

/// What a body is.
#[derive(Debug)]
pub(super) enum Body {
    Call(ParsedCall),
    Empty,
    /// No call at all.
    Other,
    Unknown(String),
    /// A name we know without the parenthesis that must follow it.
    NoParenthesis(String),
    Several(usize),
    Broken(Vec<String>),
}

impl Body {
    /// What the model is told; empty for a call.
    pub(super) fn errors(&self, text: &str, tools: &ToolNames) -> Vec<String> {
        match self {
            Body::Call(_) => Vec::new(),
            Body::Empty | Body::Other => vec![texts::no_call(text.trim())],
            Body::Unknown(name) => vec![texts::unknown_tool(name, tools)],
            Body::NoParenthesis(name) => vec![texts::no_parenthesis(name)],
            Body::Several(count) => vec![texts::several_calls(*count)],
            Body::Broken(errors) => errors.clone(),
        }
    }

    /// Why a candidate is withdrawn.
    pub(super) fn withdrawal(&self) -> String {
        match self {
            Body::Call(_) => String::new(),
            Body::Empty => texts::CANDIDATE_EMPTY.to_owned(),
            Body::Other => texts::CANDIDATE_NO_NAME.to_owned(),
            Body::Unknown(name) => texts::candidate_unknown(name),
            Body::NoParenthesis(name) => texts::candidate_no_parenthesis(name),
            Body::Several(count) => texts::several_calls(*count),
            Body::Broken(errors) => errors.join(" "),
        }
    }
}

/// Reads the body that stands from here to there.
pub(super) fn read(text: &str, from: usize, to: usize, tools: &ToolNames) -> (Body, Vec<Repair>) {
    let body = &text[from..to];
    if body.trim().is_empty() {
        return (Body::Empty, Vec::new());
    }
    let mut scan = bare::lines(text, from, to, tools);
    if !scan.errors.is_empty() {
        return (Body::Broken(scan.errors), scan.repairs);
    }
    match scan.calls.len() {
        0 => {}
        1 => {
            if !scan.prose.is_empty() {
                scan.repairs.push(Repair::new("text around a call", from));
            }
            return (Body::Call(scan.calls.remove(0)), scan.repairs);
        }
        count => return (Body::Several(count), scan.repairs),
    }
    let mut found = json_calls::in_block(text, from, to, tools);
    let body = match found.calls.len() {
        0 => without_call(text, from, to, tools),
        1 => match found.calls.remove(0) {
            Ok(call) => Body::Call(call),
            Err(Unmade::Unknown(name)) => Body::Unknown(name),
            Err(unmade) => Body::Broken(vec![unmade.error(tools)]),
        },
        count => Body::Several(count),
    };
    (body, found.repairs)
}

/// Names what is missing from a body without a call.
fn without_call(text: &str, from: usize, to: usize, tools: &ToolNames) -> Body {
    let text = &text[..to];
    let begin = first_line(text, from);
    let at = bare::unlabelled(text, begin);
    let name = leading_name(&text[at..]);
    let after = &text[at + name.len()..];
    if name.is_empty() {
        Body::Other
    } else if tools.knows(name) {
        Body::NoParenthesis(name.to_owned())
    } else if after.starts_with('(') {
        Body::Unknown(name.to_owned())
    } else {
        Body::Other
    }
}

/// Where the first line begins that is neither blank nor a fence.
fn first_line(text: &str, from: usize) -> usize {
    let rest = text[from..].trim_start();
    if !super::prose::is_fence(rest) {
        return text.len() - rest.len();
    }
    let inside = rest.split_once('\n').map_or("", |(_, inside)| inside);
    text.len() - inside.trim_start().len()
}

/// Finds the end of a block that may still be arriving.
///
/// The first closing tag outside heredocs ends it. If that leaves a string open, the tag may
/// have stood inside the string; then the call decides, provided that it comes to an end and
/// the block's end follows.
#[derive(Debug)]
pub(super) struct BlockReader {
    from: usize,
    search: CloseSearch,
    /// Whether strings may hide a closing tag.
    believes_strings: bool,
    first: Option<(usize, usize)>,
    call: Option<CallReader>,
    call_end: Option<usize>,
    was_in_vain: bool,
}

/// Where a block ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BlockEnd {
    More,
    Closed { body_end: usize, next: usize },
    Unclosed,
}

impl BlockReader {
    /// A block whose body begins there. Without patience, nothing is followed to the end of
    /// the text that may turn out to have no end.
    pub(super) fn new(from: usize, is_patient: bool) -> Self {
        let search = CloseSearch::new(Block::ToolCall.closers(), from);
        Self {
            from,
            search: if is_patient {
                search
            } else {
                search.without_heredocs()
            },
            believes_strings: is_patient,
            first: None,
            call: None,
            call_end: None,
            was_in_vain: false,
        }
    }

    /// Whether something was followed to its end for nothing, which costs time.
    pub(super) fn was_in_vain(&self) -> bool {
        self.was_in_vain || (self.believes_strings && self.search.was_in_vain())
    }

    /// Reads on; `text` must begin with what it was before.
    pub(super) fn advance(&mut self, text: &str, ended: bool, tools: &ToolNames) -> BlockEnd {
        if self.first.is_none() {
            match self.search.advance(text, ended) {
                Close::More => return BlockEnd::More,
                Close::Missing => return BlockEnd::Unclosed,
                Close::Found { from, to } => self.first = Some((from, to)),
            }
            self.call = self.doubtful_call(text, tools);
        }
        let (body_end, next) = self.first.expect("found above or before");
        let plain = BlockEnd::Closed { body_end, next };
        if let Some(call) = &mut self.call {
            match call.advance(text, ended) {
                CallStep::More => return BlockEnd::More,
                CallStep::Failed(_) => self.was_in_vain = true,
                CallStep::Done { end, .. } => self.call_end = Some(end),
            }
            self.call = None;
        }
        let Some(call_end) = self.call_end else {
            return plain;
        };
        let rest = text[call_end..].trim_start();
        let closers = Block::ToolCall.closers();
        if let Some(closer) = closers.iter().find(|closer| rest.starts_with(**closer)) {
            let body_end = text.len() - rest.len();
            return BlockEnd::Closed {
                body_end,
                next: body_end + closer.len(),
            };
        }
        if !ended && closers.iter().any(|closer| closer.starts_with(rest)) {
            return BlockEnd::More;
        }
        self.was_in_vain = true;
        plain
    }

    /// The call of the body, if the closing tag cuts it off inside a string.
    fn doubtful_call(&self, text: &str, tools: &ToolNames) -> Option<CallReader> {
        let (body_end, _) = self.first.filter(|_| self.believes_strings)?;
        let body = &text[..body_end];
        let start = bare::call_start(body, first_line(body, self.from), tools)?;
        let call = || CallReader::new(start.name, start.after_parenthesis);
        match call().advance(body, true) {
            CallStep::Failed(broken) if broken.is_inside_text => Some(call()),
            _ => None,
        }
    }
}
