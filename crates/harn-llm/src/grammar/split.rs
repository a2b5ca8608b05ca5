//! Cuts an answer into its blocks.

use super::body::{self, BlockEnd, BlockReader, Body};
use super::call::{CallReader, CallStep};
use super::close::{Close, CloseSearch};
use super::names::leading_name;
use super::tags::{self, Block, Opener};
use crate::sorted_json_pretty;

use super::{Parsed, ParsedCall, Repair, ToolNames, bare, prose, texts, think};

/// How often something without an end is followed to the end of the text before we stop
/// looking for it. It bounds the time that a text written to waste it can cost.
pub(super) const PATIENCE: usize = 16;

/// Reads a whole answer. `sentinel` is what `<done>` should contain.
///
/// Text without any of the tags is searched for bare calls only, and the rest of it is prose.
pub fn parse(text: &str, tools: &ToolNames, sentinel: Option<&str>) -> Parsed {
    if is_only_prose(text) {
        return Parsed {
            prose: prose::tidy(text),
            ..Parsed::default()
        };
    }
    read(text, tools, sentinel)
}

/// Whether nothing in a text can be anything but prose, as in most answers of models that have
/// a channel for calls: every tag begins with `<`, every call written out has a parenthesis, and
/// every call in JSON is an object or stands in a list.
fn is_only_prose(text: &str) -> bool {
    let may_begin_something = |byte| matches!(byte, b'<' | b'(' | b'{' | b'[');
    !text.bytes().any(may_begin_something)
}

/// Looks for everything that an answer can be made of.
fn read(text: &str, tools: &ToolNames, sentinel: Option<&str>) -> Parsed {
    let text = think::without_reasoning(text);
    if !tags::any_opener(&text) {
        return untagged(&text, tools);
    }
    let mut splitter = Splitter {
        text: &text,
        tools,
        sentinel,
        stray_from: 0,
        patience: PATIENCE,
        never_closed: Vec::new(),
        unknown_open: Vec::new(),
        blocks: Vec::new(),
        prose: Vec::new(),
        responses: None,
        parsed: Parsed::default(),
    };
    let mut at = 0;
    while at < text.len() {
        at = splitter.step(at);
    }
    splitter.flush(text.len());
    splitter.finish()
}

fn untagged(text: &str, tools: &ToolNames) -> Parsed {
    let scan = bare::scan(text, 0, text.len(), tools);
    let mut parsed = Parsed {
        calls: scan.calls,
        errors: scan.errors,
        prose: scan.prose,
        repairs: scan.repairs,
        ..Parsed::default()
    };
    // Closing tags whose opening ones were forgotten must not be shown.
    for closer in Block::ToolCall.closers() {
        if let Some(at) = text.find(closer).filter(|_| !parsed.calls.is_empty()) {
            parsed.prose = prose::tidy(&parsed.prose.replace(closer, ""));
            parsed
                .repairs
                .push(Repair::new("closing tag without opening tag", at));
        }
    }
    note_repeats(&mut parsed);
    parsed
}

/// Both run, because a repeated call can be meant; whoever runs them may want to know.
fn note_repeats(parsed: &mut Parsed) {
    let repeats = parsed
        .calls
        .windows(2)
        .filter(|pair| pair[0].name == pair[1].name && pair[0].arguments == pair[1].arguments)
        .count();
    for _ in 0..repeats {
        parsed.repairs.push(Repair::new("repeated call", 0));
    }
}

struct Splitter<'t> {
    text: &'t str,
    tools: &'t ToolNames,
    sentinel: Option<&'t str>,
    /// Where the text begins that belongs to no block.
    stray_from: usize,
    patience: usize,
    /// Blocks whose closing tag does not come again.
    never_closed: Vec<Block>,
    /// Tags we do not know that were opened and complained about.
    unknown_open: Vec<&'t str>,
    /// The blocks as they should have been written.
    blocks: Vec<String>,
    prose: Vec<&'t str>,
    responses: Option<Vec<&'t str>>,
    parsed: Parsed,
}

impl<'t> Splitter<'t> {
    /// Looks at what stands here; says where to look next.
    fn step(&mut self, at: usize) -> usize {
        let text = self.text;
        let is_line_start = at == self.stray_from || text[..at].ends_with('\n');
        if is_line_start && let Some(end) = self.bare_call_end(at) {
            return end;
        }
        let Some(found) = text[at..].find(['<', '\n']) else {
            return text.len();
        };
        let at = at + found;
        let rest = &text[at..];
        if rest.starts_with('\n') {
            return at + 1;
        }
        if let Some(opener) = tags::opener(rest) {
            self.flush(at);
            let end = self.block(at, opener);
            self.stray_from = end;
            return end;
        }
        self.angle_call(at)
            .or_else(|| self.other_tag(at))
            .unwrap_or(at + 1)
    }

    /// Arguments of a bare call may contain tags, which are not ours to look at.
    fn bare_call_end(&mut self, at: usize) -> Option<usize> {
        if self.text[at..].trim_start().starts_with('<') || self.patience == 0 {
            return None;
        }
        let start = bare::call_start(self.text, at, self.tools)?;
        let mut reader = CallReader::new(start.name, start.after_parenthesis);
        match reader.advance(self.text, true) {
            CallStep::Done { end, .. } => Some(end),
            CallStep::More | CallStep::Failed(_) => {
                self.patience -= 1;
                None
            }
        }
    }

    /// `<name({...})>`
    fn angle_call(&mut self, at: usize) -> Option<usize> {
        let text = self.text;
        let name = leading_name(&text[at + 1..]);
        let end = at + 1 + name.len();
        if self.patience == 0 || !self.tools.knows(name) || !text[end..].starts_with('(') {
            return None;
        }
        let CallStep::Done {
            arguments,
            end,
            repairs,
        } = CallReader::new(name, end + 1).advance(text, true)
        else {
            self.patience -= 1;
            return None;
        };
        let rest = text[end..].trim_start();
        let rest = rest.strip_prefix('/').unwrap_or(rest);
        let Some(rest) = rest.strip_prefix('>') else {
            // The bare scanner takes the `<` off.
            return Some(end);
        };
        self.flush(at);
        self.parsed.repairs.extend(repairs);
        self.parsed.violations.push(texts::angle_call(name));
        let id = format!("tc_angle_{}", self.parsed.calls.len());
        self.accept(ParsedCall {
            id,
            name: name.to_owned(),
            arguments,
        });
        self.stray_from = text.len() - rest.len();
        Some(self.stray_from)
    }

    /// A tag that is none of the four.
    fn other_tag(&mut self, at: usize) -> Option<usize> {
        let text = self.text;
        let inside = &text[at + 1..];
        let is_closing = inside.starts_with('/');
        let name = leading_name(inside.trim_start_matches(['/', '|']));
        // `Vec<String>` has no tag in it.
        let follows_word = !is_closing && text[..at].ends_with(|c: char| c.is_alphanumeric());
        if name.is_empty() || follows_word {
            return None;
        }
        let line = &inside[..inside.find('\n').unwrap_or(inside.len())];
        let Some(close) = line
            .find(['>', '<'])
            .filter(|close| line[*close..].starts_with('>'))
        else {
            let begins_line = text[..at].trim_end_matches([' ', '\t']).ends_with('\n') || at == 0;
            if !begins_line || line.contains('<') {
                return None;
            }
            self.flush(at);
            self.parsed
                .violations
                .push(texts::unclosed_tag(&text[at..]));
            self.stray_from = at + 1 + line.len();
            return Some(self.stray_from);
        };
        self.flush(at);
        self.stray_from = at + 1 + close + 1;
        let reported = self.unknown_open.iter().rposition(|open| *open == name);
        match reported.filter(|_| is_closing) {
            Some(index) => {
                self.unknown_open.remove(index);
            }
            None => {
                let tag = &text[at..self.stray_from];
                self.parsed.violations.push(texts::unknown_tag(tag));
                if !is_closing {
                    self.unknown_open.push(name);
                }
            }
        }
        Some(self.stray_from)
    }

    /// Reads a block that opens here; says where it ends.
    fn block(&mut self, at: usize, opener: Opener) -> usize {
        if !opener.is_regular {
            self.repair("odd spelling of a tag", at);
        }
        let from = at + opener.length;
        let end = match opener.block {
            block if self.never_closed.contains(&block) => None,
            Block::ToolCall => self.call_block_end(from),
            block => self.prose_block_end(block, from),
        };
        if end.is_none() {
            self.never_closed.push(opener.block);
        }
        let (body_end, next) = match end.and_then(|end| self.uninterrupted(opener.block, from, end))
        {
            Some(end) => end,
            None => {
                self.parsed
                    .violations
                    .push(texts::unclosed_tag(&self.text[at..]));
                self.repair("missing closing tag", at);
                let rest = &self.text[from..];
                let next = tags::openers_on_lines(rest).next();
                let end = next.map_or(rest.len(), |(end, _)| end);
                (from + end, from + end)
            }
        };
        match opener.block {
            Block::ToolCall => self.call_block(from, body_end),
            block => self.prose_block(block, self.text[from..body_end].trim()),
        }
        next
    }

    fn call_block_end(&mut self, from: usize) -> Option<(usize, usize)> {
        let mut reader = BlockReader::new(from, self.patience > 0);
        let end = reader.advance(self.text, true, self.tools);
        if reader.was_in_vain() {
            self.patience = self.patience.saturating_sub(1);
        }
        match end {
            BlockEnd::Closed { body_end, next } => Some((body_end, next)),
            BlockEnd::Unclosed | BlockEnd::More => None,
        }
    }

    fn prose_block_end(&mut self, block: Block, from: usize) -> Option<(usize, usize)> {
        let mut search = CloseSearch::new(block.closers(), from);
        if self.patience == 0 {
            search = search.without_heredocs();
        }
        let end = search.advance(self.text, true);
        if self.patience > 0 && search.was_in_vain() {
            self.patience -= 1;
        }
        match end {
            Close::Found { from, to } => Some((from, to)),
            Close::More | Close::Missing => None,
        }
    }

    /// A closing tag that belongs to a later block of the same kind does not count. Inside the
    /// arguments of a call nothing is a tag.
    fn uninterrupted(
        &mut self,
        block: Block,
        from: usize,
        end: (usize, usize),
    ) -> Option<(usize, usize)> {
        let body = &self.text[from..end.0];
        let mut openers = tags::openers_on_lines(body).peekable();
        let first = openers.peek().map(|(at, _)| *at);
        let has_same = openers.any(|(_, other)| other == block);
        let Some(first) = first.filter(|_| has_same && self.patience > 0) else {
            return Some(end);
        };
        if block == Block::ToolCall {
            let (read, _) = body::read(self.text, from, from + first, self.tools);
            if !matches!(read, Body::Call(_)) {
                return Some(end);
            }
        }
        self.patience -= 1;
        None
    }

    fn call_block(&mut self, from: usize, to: usize) {
        let (body, repairs) = body::read(self.text, from, to, self.tools);
        self.parsed.repairs.extend(repairs);
        let errors = body.errors(&self.text[from..to], self.tools);
        self.parsed.errors.extend(errors);
        if let Body::Call(call) = body {
            self.accept(call);
        }
    }

    fn prose_block(&mut self, block: Block, body: &'t str) {
        let tag = match block {
            Block::AssistantProse => {
                self.prose.push(body);
                "assistant_prose"
            }
            Block::UserResponse => {
                self.responses.get_or_insert_default().push(body);
                "user_response"
            }
            Block::Done | Block::ToolCall => {
                self.done(body);
                "done"
            }
        };
        if !body.is_empty() {
            let body = think::without_tags(body);
            self.blocks.push(format!("<{tag}>{body}</{tag}>"));
        }
    }

    /// If there are several, the one with the sentinel counts.
    fn done(&mut self, body: &str) {
        if body.is_empty() {
            self.parsed.violations.push(texts::EMPTY_DONE.to_owned());
            return;
        }
        let marker = &mut self.parsed.done_marker;
        if marker.is_none() || marker.as_deref() != self.sentinel {
            *marker = Some(body.to_owned());
        }
    }

    fn accept(&mut self, call: ParsedCall) {
        let arguments = sorted_json_pretty(&call.arguments);
        let name = &call.name;
        self.blocks
            .push(format!("<tool_call>\n{name}({arguments})\n</tool_call>"));
        self.parsed.calls.push(call);
    }

    /// Ends the text that belongs to no block.
    fn flush(&mut self, to: usize) {
        let from = std::mem::replace(&mut self.stray_from, to);
        let stray = &self.text[from..to];
        if stray.trim().is_empty() {
            return;
        }
        if stray
            .trim()
            .lines()
            .all(|line| prose::is_fence(line) || line.trim().is_empty())
        {
            self.repair("code fence around blocks", from);
            return;
        }
        let scan = bare::scan(self.text, from, to, self.tools);
        self.parsed.errors.extend(scan.errors);
        self.parsed.repairs.extend(scan.repairs);
        let names: Vec<&str> = scan.calls.iter().map(|call| call.name.as_str()).collect();
        self.parsed.violations.push(if names.is_empty() {
            texts::stray_text(stray.trim())
        } else {
            texts::stray_calls(&names)
        });
        for call in scan.calls {
            self.accept(call);
        }
    }

    fn repair(&mut self, what: &'static str, at: usize) {
        self.parsed.repairs.push(Repair::new(what, at));
    }

    fn finish(self) -> Parsed {
        let mut parsed = self.parsed;
        let join = |bodies: &[&str]| {
            let bodies: Vec<&str> = bodies
                .iter()
                .copied()
                .filter(|body| !body.is_empty())
                .collect();
            bodies.join("\n\n")
        };
        parsed.user_response = self.responses.as_deref().map(join);
        parsed.prose = match &parsed.user_response {
            Some(response) => response.clone(),
            None => join(&self.prose),
        };
        let is_empty = self.blocks.is_empty() && parsed.errors.is_empty();
        if is_empty && parsed.violations.is_empty() && parsed.prose.is_empty() {
            parsed.violations.push(texts::NOTHING.to_owned());
        }
        parsed.canonical = Some(self.blocks.join("\n\n")).filter(|text| !text.is_empty());
        note_repeats(&mut parsed);
        parsed
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Texts of what matters to prose, with now and then something that is none.
    fn text() -> impl Strategy<Value = String> {
        let parts = [
            "a",
            "add",
            "tool_code:",
            "Action: add",
            "add:",
            ">",
            "/think>",
            "}",
            "]",
            ")",
            "`",
            "```",
            "```json\n",
            "~~~",
            "\n",
            "\n",
            "\n\n",
            " ",
            "\t",
            "\r\n",
            "\u{a0}",
            "é",
            "\"",
            "##DONE##",
            "add(",
            "{",
            "[",
            "<",
        ];
        // The last four make it worth a closer look; most texts have none of them.
        let part = prop_oneof![
            40 => prop::sample::select(parts[..parts.len() - 4].to_vec()),
            1 => prop::sample::select(parts[parts.len() - 4..].to_vec()),
        ];
        prop::collection::vec(part, 0..16).prop_map(|parts| parts.concat())
    }

    proptest! {
        #[test]
        fn what_is_only_prose_is_read_the_same_without_looking_for_more(text in text()) {
            let tools: ToolNames = ["add", "a"].into_iter().collect();
            for sentinel in [None, Some("##DONE##")] {
                prop_assert_eq!(parse(&text, &tools, sentinel), read(&text, &tools, sentinel));
            }
        }
    }
}
