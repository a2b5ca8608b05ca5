//! Calls that stand in plain text, at the beginning of a line.

use super::call::{CallReader, CallStep};
use super::json_calls;
use super::names::leading_name;
use super::{ParsedCall, Repair, ToolNames, prose, texts};

/// What models write before a call without meaning anything by it.
const LABELS: [&str; 11] = [
    "tool_code:",
    "tool_call:",
    "tool_output:",
    "call:",
    "tool:",
    "use:",
    "python:",
    "javascript:",
    "typescript:",
    "shell:",
    "bash:",
];

/// What was found in a text.
#[derive(Debug, Default)]
pub(super) struct Scan {
    pub(super) calls: Vec<ParsedCall>,
    pub(super) errors: Vec<String>,
    /// Everything else.
    pub(super) prose: String,
    pub(super) repairs: Vec<Repair>,
}

/// A place where a call begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct CallStart<'t> {
    pub(super) name: &'t str,
    /// The first byte after the opening parenthesis.
    pub(super) after_parenthesis: usize,
}

/// Finds the calls in a part of a text; where there are none, a list of calls in JSON.
pub(super) fn scan(text: &str, from: usize, to: usize, tools: &ToolNames) -> Scan {
    let mut scan = lines(text, from, to, tools);
    if !scan.calls.is_empty() || !scan.errors.is_empty() {
        return scan;
    }
    let found = json_calls::in_bare_text(text, from, to, tools);
    if !found.calls.is_empty() {
        scan.prose.clear();
        scan.repairs.extend(found.repairs);
    }
    for call in found.calls {
        match call {
            Ok(call) => scan.calls.push(call),
            Err(unmade) => scan.errors.push(unmade.error(tools)),
        }
    }
    scan
}

/// Finds the call expressions in a part of a text.
pub(super) fn lines(text: &str, from: usize, to: usize, tools: &ToolNames) -> Scan {
    let mut scanner = Scanner {
        text: &text[..to],
        tools,
        found: Scan::default(),
        is_fenced: false,
    };
    let mut at = from;
    while at < to {
        at = scanner.line(at);
    }
    scanner.found.prose = prose::tidy(&scanner.found.prose);
    scanner.found
}

/// The call that a line begins with, once labels and one `<` are taken off.
pub(super) fn call_start<'t>(
    text: &'t str,
    line: usize,
    tools: &ToolNames,
) -> Option<CallStart<'t>> {
    let at = unlabelled(text, line);
    let name = leading_name(&text[at..]);
    let end = at + name.len();
    let is_call = !name.is_empty() && tools.knows(name) && text[end..].starts_with('(');
    is_call.then_some(CallStart {
        name,
        after_parenthesis: end + 1,
    })
}

/// Where a line begins once blanks, labels and one `<` are taken off.
pub(super) fn unlabelled(text: &str, line: usize) -> usize {
    let blanks = [' ', '\t', '\r'];
    let mut rest = text[line..].trim_start_matches(blanks);
    while let Some(after) = LABELS.iter().find_map(|label| rest.strip_prefix(label)) {
        rest = after.trim_start_matches(blanks);
    }
    rest = rest.strip_prefix('<').unwrap_or(rest);
    text.len() - rest.len()
}

struct Scanner<'t> {
    text: &'t str,
    tools: &'t ToolNames,
    found: Scan,
    is_fenced: bool,
}

impl Scanner<'_> {
    /// Takes one line, or the lines of one call; says where the next one begins.
    fn line(&mut self, at: usize) -> usize {
        let text = self.text;
        let end = line_end(text, at);
        let line = &text[at..end];
        if prose::is_fence(line) {
            self.is_fenced = !self.is_fenced;
        } else if let Some(start) = call_start(text, at, self.tools) {
            return self.call(at, start);
        } else if let Some((label, name)) = labelled(line, self.tools) {
            self.found.errors.push(texts::label_prefix(label, name));
        }
        self.found.prose.push_str(line);
        end
    }

    fn call(&mut self, line: usize, start: CallStart<'_>) -> usize {
        let text = self.text;
        match CallReader::new(start.name, start.after_parenthesis).advance(text, true) {
            CallStep::Done {
                arguments,
                end,
                repairs,
            } => {
                self.note_surroundings(line, start);
                self.found.repairs.extend(repairs);
                let id = format!("tc_{}", self.found.calls.len());
                self.found.calls.push(ParsedCall {
                    id,
                    name: start.name.to_owned(),
                    arguments,
                });
                let rest = text[end..].trim_start_matches([';', ',', '>']);
                let end = text.len() - rest.len();
                let next = line_end(text, end);
                self.found.prose.push_str(&text[end..next]);
                next
            }
            CallStep::Failed(broken) => {
                self.found.errors.push(broken.error);
                line_end(text, broken.resume)
            }
            CallStep::More => unreachable!("a reader that was told of the end does not wait"),
        }
    }

    fn note_surroundings(&mut self, line: usize, start: CallStart<'_>) {
        let name = start.after_parenthesis - 1 - start.name.len();
        let before = self.text[line..name].trim();
        let notes = [
            (self.is_fenced, "call inside a code fence"),
            (before.contains(':'), "label before a call"),
            (before.ends_with('<'), "`<` before a call"),
        ];
        for (_, what) in notes.into_iter().filter(|(is_so, _)| *is_so) {
            self.found.repairs.push(Repair::new(what, line));
        }
    }
}

/// The first byte of the next line.
fn line_end(text: &str, at: usize) -> usize {
    text[at..]
        .find('\n')
        .map_or(text.len(), |found| at + found + 1)
}

/// A label that is not one of ours, and the tool whose call it stands before.
fn labelled<'t>(line: &'t str, tools: &ToolNames) -> Option<(&'t str, &'t str)> {
    let line = line.trim_start();
    let label = leading_name(line);
    let call = line[label.len()..].strip_prefix(':')?.trim_start();
    let name = leading_name(call);
    let is_call = !label.is_empty() && tools.knows(name) && call[name.len()..].starts_with('(');
    is_call.then_some((label, name))
}
