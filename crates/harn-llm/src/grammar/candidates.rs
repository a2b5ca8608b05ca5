//! Announces calls while an answer is still arriving.
//!
//! A candidate runs nothing; the parse of the whole answer decides. What is announced does not
//! depend on how the answer is cut into pieces: nothing is decided before enough of it is there.

use serde_json::Value;

use super::bare;
use super::body::{self, BlockEnd, BlockReader, Body};
use super::call::{CallReader, CallStep};
use super::fenced::{self, FenceSearch};
use super::names::leading_name;
use super::split::PATIENCE;
use super::tags::{self, Block};
use super::{Parsed, ToolNames, prose, texts};

/// Names longer than this are none; waiting for their end would never stop.
const NAME_BYTES_MAX: usize = 256;
/// Text that was dealt with is forgotten once there is so much of it.
const FORGET_BYTES: usize = 16 * 1024;

/// How calls are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channel {
    /// `<tool_call>` and bare calls: the `text` format, and what falls back on it.
    Tagged,
    /// Fenced blocks: the `json` format.
    Fenced,
}

/// Something to announce.
#[derive(Clone, Debug, PartialEq)]
pub enum Candidate {
    /// A call may have begun.
    Opened {
        /// Its number.
        n: u64,
        /// Which tool, where that is known.
        tool: Option<String>,
    },
    /// It is a call.
    Promoted {
        /// Its number.
        n: u64,
        /// Which tool.
        name: String,
        /// With what.
        arguments: Value,
    },
    /// It is none.
    Aborted {
        /// Its number.
        n: u64,
        /// Why.
        message: String,
    },
}

/// Watches an answer for calls.
#[derive(Debug)]
pub struct Candidates {
    tools: ToolNames,
    channel: Channel,
    /// The number of the next candidate.
    next: u64,
    /// What has arrived and may still matter.
    text: String,
    /// Everything before this was dealt with.
    at: usize,
    state: State,
    is_line_start: bool,
    is_fenced: bool,
    /// Set inside a block of prose, where nothing is a call.
    prose: Option<Block>,
    patience: usize,
    found: Vec<Candidate>,
}

#[derive(Debug)]
enum State {
    Scanning,
    InBlock {
        n: u64,
        from: usize,
        reader: BlockReader,
    },
    InCall {
        n: u64,
        reader: CallReader,
    },
    InFence {
        n: u64,
        from: usize,
        search: FenceSearch,
    },
}

/// Whether there is more to do with what has arrived.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Go {
    On,
    Wait,
}

impl Candidates {
    /// A watch whose first candidate gets the number `first`.
    pub fn new(tools: ToolNames, channel: Channel, first: u64) -> Self {
        Self {
            tools,
            channel,
            next: first,
            text: String::new(),
            at: 0,
            state: State::Scanning,
            is_line_start: true,
            is_fenced: false,
            prose: None,
            patience: PATIENCE,
            found: Vec::new(),
        }
    }

    /// The number that the next candidate will get.
    pub fn next_number(&self) -> u64 {
        self.next
    }

    /// Takes the next piece of the answer.
    pub fn push(&mut self, piece: &str) -> Vec<Candidate> {
        if matches!(self.state, State::Scanning) && self.at > FORGET_BYTES {
            self.text.drain(..self.at);
            self.at = 0;
        }
        self.text.push_str(piece);
        self.run(false)
    }

    /// The answer is over: what is open is withdrawn.
    pub fn finish(&mut self) -> Vec<Candidate> {
        self.run(true)
    }

    fn run(&mut self, ended: bool) -> Vec<Candidate> {
        let text = std::mem::take(&mut self.text);
        while self.step(&text, ended) == Go::On {}
        self.text = text;
        std::mem::take(&mut self.found)
    }

    fn step(&mut self, text: &str, ended: bool) -> Go {
        match std::mem::replace(&mut self.state, State::Scanning) {
            State::Scanning if self.at >= text.len() => Go::Wait,
            State::Scanning => match self.channel {
                Channel::Tagged => self.scan(text, ended),
                Channel::Fenced => self.scan_for_fence(text, ended),
            },
            State::InBlock { n, from, reader } => self.block(text, ended, n, from, reader),
            State::InCall { n, reader } => self.call(text, ended, n, reader),
            State::InFence { n, from, search } => self.fence(text, ended, n, from, search),
        }
    }

    fn open(&mut self, tool: Option<&str>) -> u64 {
        let n = self.next;
        self.next += 1;
        self.found.push(Candidate::Opened {
            n,
            tool: tool.map(str::to_owned),
        });
        n
    }

    fn scan(&mut self, text: &str, ended: bool) -> Go {
        if self.is_line_start {
            return self.line_start(text, ended);
        }
        let Some(found) = text[self.at..].find(['<', '\n']) else {
            self.at = text.len();
            return Go::Wait;
        };
        self.at += found;
        if text[self.at..].starts_with('\n') {
            self.at += 1;
            self.is_line_start = true;
            return Go::On;
        }
        self.tag(text, ended).unwrap_or_else(|| {
            self.at += 1;
            Go::On
        })
    }

    /// Looks at the beginning of a line, once enough of it is there.
    fn line_start(&mut self, text: &str, ended: bool) -> Go {
        let rest = &text[self.at..];
        let word = rest.trim_start_matches([' ', '\t', '\r']);
        let may_be_fence = "```".starts_with(word) || "~~~".starts_with(word);
        if !ended && (word.is_empty() || may_be_fence) {
            return Go::Wait;
        }
        if word.starts_with('\n') {
            self.at = text.len() - word.len() + 1;
            return Go::On;
        }
        if prose::is_fence(word) {
            self.is_fenced = !self.is_fenced;
            self.is_line_start = false;
            return Go::On;
        }
        if word.starts_with('<') {
            let blank = rest.len() - word.len();
            self.at += blank;
            if let Some(go) = self.tag(text, ended) {
                return go;
            }
            self.at -= blank;
        }
        let name_at = bare::unlabelled(text, self.at);
        let name = leading_name(&text[name_at..]);
        if !ended && name_at + name.len() == text.len() && name.len() < NAME_BYTES_MAX {
            return Go::Wait;
        }
        let start = bare::call_start(text, self.at, &self.tools);
        self.is_line_start = false;
        if let Some(start) = start.filter(|_| !self.is_fenced && self.prose.is_none()) {
            let n = self.open(Some(start.name));
            self.at = start.after_parenthesis;
            let reader = CallReader::new(start.name, start.after_parenthesis);
            self.state = State::InCall { n, reader };
        }
        Go::On
    }

    /// Looks at a `<`; `None` if it means nothing.
    fn tag(&mut self, text: &str, ended: bool) -> Option<Go> {
        let rest = &text[self.at..];
        if let Some(block) = self.prose {
            let closer = block.closers()[0];
            if rest.starts_with(closer) {
                self.prose = None;
                self.at += closer.len();
                self.is_line_start = true;
                return Some(Go::On);
            }
            return (!ended && closer.starts_with(rest)).then_some(Go::Wait);
        }
        if let Some(opener) = tags::opener(rest) {
            if opener.block != Block::ToolCall {
                self.prose = Some(opener.block);
                self.at += opener.length;
                self.is_line_start = false;
                return Some(Go::On);
            }
            if !self.is_line_start {
                return None;
            }
            self.at += opener.length;
            let n = self.open(None);
            let (from, reader) = (self.at, BlockReader::new(self.at, self.patience > 0));
            self.state = State::InBlock { n, from, reader };
            return Some(Go::On);
        }
        (!ended && tags::may_become_opener(rest)).then_some(Go::Wait)
    }

    fn block(
        &mut self,
        text: &str,
        ended: bool,
        n: u64,
        from: usize,
        mut reader: BlockReader,
    ) -> Go {
        match reader.advance(text, ended, &self.tools) {
            BlockEnd::More => {
                self.state = State::InBlock { n, from, reader };
                return Go::Wait;
            }
            BlockEnd::Closed { body_end, next } => {
                let (body, _) = body::read(text, from, body_end, &self.tools);
                self.found.push(match body {
                    Body::Call(call) => Candidate::Promoted {
                        n,
                        name: call.name,
                        arguments: call.arguments,
                    },
                    body => Candidate::Aborted {
                        n,
                        message: body.withdrawal(),
                    },
                });
                self.at = next;
                self.is_line_start = true;
            }
            BlockEnd::Unclosed => {
                let message = texts::CANDIDATE_UNCLOSED.to_owned();
                self.found.push(Candidate::Aborted { n, message });
                self.at = text.len();
            }
        }
        if reader.was_in_vain() {
            self.patience = self.patience.saturating_sub(1);
        }
        Go::On
    }

    fn call(&mut self, text: &str, ended: bool, n: u64, mut reader: CallReader) -> Go {
        match reader.advance(text, ended) {
            CallStep::More => {
                self.state = State::InCall { n, reader };
                return Go::Wait;
            }
            CallStep::Done { arguments, end, .. } => {
                let name = reader.name().to_owned();
                self.found.push(Candidate::Promoted { n, name, arguments });
                self.at = end;
            }
            CallStep::Failed(broken) => {
                let message = broken.error;
                self.found.push(Candidate::Aborted { n, message });
                self.at = broken.resume;
            }
        }
        Go::On
    }

    fn scan_for_fence(&mut self, text: &str, ended: bool) -> Go {
        let rest = &text[self.at..];
        let end = match rest.find('\n') {
            Some(found) => self.at + found + 1,
            None if ended => text.len(),
            // A line that is longer than the mark is not the mark.
            None if !fenced::OPEN.starts_with(rest) && !rest.starts_with(fenced::OPEN) => {
                self.is_line_start = false;
                self.at = text.len();
                return Go::Wait;
            }
            None => return Go::Wait,
        };
        let is_open = self.is_line_start && text[self.at..end].trim_end() == fenced::OPEN;
        self.at = end;
        self.is_line_start = true;
        if is_open {
            let n = self.open(None);
            let (from, search) = (end, FenceSearch::new(end));
            self.state = State::InFence { n, from, search };
        }
        Go::On
    }

    /// The candidate stands for the first object; each further one gets its own.
    fn fence(
        &mut self,
        text: &str,
        ended: bool,
        n: u64,
        from: usize,
        mut search: FenceSearch,
    ) -> Go {
        let (body_end, next) = match search.advance(text, ended) {
            Some(close) => close,
            None if ended => (text.len(), text.len()),
            None => {
                self.state = State::InFence { n, from, search };
                return Go::Wait;
            }
        };
        self.at = next;
        let mut parsed = Parsed::default();
        fenced::read_block(text, from, body_end, &self.tools, &mut parsed);
        if parsed.calls.is_empty() {
            let error = parsed.errors.into_iter().next();
            let message = error.unwrap_or_else(|| texts::CANDIDATE_EMPTY.to_owned());
            self.found.push(Candidate::Aborted { n, message });
        }
        for (index, call) in parsed.calls.into_iter().enumerate() {
            let n = if index == 0 {
                n
            } else {
                self.open(Some(&call.name))
            };
            self.found.push(Candidate::Promoted {
                n,
                name: call.name,
                arguments: call.arguments,
            });
        }
        Go::On
    }
}
