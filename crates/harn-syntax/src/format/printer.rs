//! From a layout to lines.

use super::comment_text::BAR_DASHES_MIN;
use super::layout::{Group, Op, Rule, width_of};

/// What a level is indented by.
const INDENT: &str = "  ";

/// Up to which column a bar goes.
const BAR_COLUMN: usize = 80;

/// Writes lines. White space is written only once something follows it, so that no line
/// ends in any.
pub(super) struct Printer {
    out: String,
    /// How many characters a line may have.
    width: u32,
    /// How many characters the last line has so far.
    column: u32,
    /// How many levels deep we are.
    level: usize,
    pending: Pending,
    /// How the groups around are written, the innermost last.
    modes: Vec<Mode>,
}

/// White space that is not written yet. The larger one wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Pending {
    Nothing,
    Space,
    Newline,
    Blank,
}

/// How a group is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// On one line, and so is everything in it.
    Flat,
    /// Its own lines are not broken, but something in it has several lines.
    Inline,
    /// Its own lines are broken.
    Broken,
}

impl Printer {
    pub(super) fn new(out: String, width: usize) -> Self {
        Self {
            out,
            width: u32::try_from(width).unwrap_or(u32::MAX),
            column: 0,
            level: 0,
            pending: Pending::Nothing,
            modes: Vec::new(),
        }
    }

    /// The text, with a line break at its end unless it is empty.
    pub(super) fn finish(mut self) -> String {
        if !self.out.is_empty() && !self.out.ends_with('\n') {
            self.out.push('\n');
        }
        self.out
    }

    pub(super) fn print(&mut self, ops: &[Op<'_>]) {
        for (at, op) in ops.iter().enumerate() {
            match op {
                Op::Text(text, width) => self.text(text, *width),
                Op::Made(text, width) => self.text(text, *width),
                Op::Verbatim(text) => self.verbatim(text),
                Op::MadeVerbatim(text) => self.verbatim(text),
                Op::Trailing(text) => self.trailing(text),
                Op::Bar => self.bar(),
                Op::Space => self.request(Pending::Space),
                Op::HardLine => self.request(Pending::Newline),
                Op::BlankLine => self.request(Pending::Blank),
                Op::Line if self.is_broken() => self.request(Pending::Newline),
                Op::Line => self.request(Pending::Space),
                Op::SoftLine if self.is_broken() => self.request(Pending::Newline),
                Op::SoftLine => {}
                Op::BackslashLine => self.backslash_line(),
                Op::TrailingComma if self.is_broken() => self.text(",", 1),
                Op::TrailingComma => {}
                Op::Indent => self.level += 1,
                Op::Dedent => self.level -= 1,
                Op::IndentIfBroken => self.level += usize::from(self.is_broken()),
                Op::DedentIfBroken => self.level -= usize::from(self.is_broken()),
                Op::Open(group) => {
                    let mode = self.mode_of(group, &ops[at + 1..]);
                    self.modes.push(mode);
                }
                Op::Close => {
                    self.modes.pop();
                }
            }
        }
    }

    fn is_broken(&self) -> bool {
        self.modes.last() == Some(&Mode::Broken)
    }

    fn request(&mut self, white_space: Pending) {
        self.pending = self.pending.max(white_space);
    }

    fn text(&mut self, text: &str, width: u32) {
        self.settle(text);
        self.out.push_str(text);
        self.column += width;
    }

    fn trailing(&mut self, text: &str) {
        if self.pending < Pending::Newline {
            self.pending = Pending::Nothing;
            self.text(" ", 1);
        }
        self.text(text, width_of(text));
    }

    fn bar(&mut self) {
        const START: &str = "// ";
        self.settle(START);
        let used = self.column as usize + START.len();
        let dashes = BAR_COLUMN.saturating_sub(used).max(BAR_DASHES_MIN);
        let bar = format!("{START}{}", "-".repeat(dashes));
        self.text(&bar, width_of(&bar));
    }

    fn verbatim(&mut self, text: &str) {
        self.settle(text);
        self.out.push_str(text);
        let last = text.rsplit('\n').next().unwrap_or(text);
        self.column = width_of(last);
    }

    fn backslash_line(&mut self) {
        if !self.is_broken() {
            return self.request(Pending::Space);
        }
        if self.pending < Pending::Newline {
            self.request(Pending::Space);
            self.text("\\", 1);
            self.request(Pending::Newline);
        }
    }

    /// Writes the white space before `next`.
    fn settle(&mut self, next: &str) {
        match std::mem::replace(&mut self.pending, Pending::Nothing) {
            _ if self.out.is_empty() => {}
            Pending::Nothing => {}
            Pending::Space => {
                let is_tight = next.starts_with([')', ']', ',']) || self.out.ends_with(['(', '[']);
                if !is_tight {
                    self.out.push(' ');
                    self.column += 1;
                }
            }
            Pending::Newline => self.begin_line("\n"),
            Pending::Blank => self.begin_line("\n\n"),
        }
    }

    fn begin_line(&mut self, breaks: &str) {
        self.out.push_str(breaks);
        for _ in 0..self.level {
            self.out.push_str(INDENT);
        }
        self.column = self.indent();
    }

    fn indent(&self) -> u32 {
        u32::try_from(self.level * INDENT.len()).unwrap_or(u32::MAX)
    }

    /// How a group is written that begins here, before `ops`.
    fn mode_of(&self, group: &Group, ops: &[Op<'_>]) -> Mode {
        if self.modes.last() == Some(&Mode::Flat) {
            return Mode::Flat;
        }
        match group.rule {
            Rule::Broken => Mode::Broken,
            Rule::Whole if group.has_break => Mode::Broken,
            Rule::Chain if group.has_break => match self.first_line_fits(ops) {
                true => Mode::Inline,
                false => Mode::Broken,
            },
            Rule::Inline => Mode::Inline,
            Rule::Whole | Rule::Chain => {
                match self.fits(group.width, &ops[group.length as usize..]) {
                    true => Mode::Flat,
                    false => Mode::Broken,
                }
            }
        }
    }

    /// Whether a group fits on the line up to the first line break in it, if its own lines
    /// are not broken.
    fn first_line_fits(&self, ops: &[Op<'_>]) -> bool {
        let mut column = self.next_column();
        let mut broken = vec![false];
        for op in ops {
            let is_broken = broken.last() == Some(&true);
            match op {
                _ if column > self.width => break,
                Op::Text(_, width) | Op::Made(_, width) => column = column.saturating_add(*width),
                Op::Verbatim(text) => {
                    let first = text.split('\n').next().unwrap_or(text);
                    column = column.saturating_add(width_of(first));
                    break;
                }
                Op::MadeVerbatim(_) => break,
                Op::Space => column += 1,
                Op::Line | Op::BackslashLine if !is_broken => column += 1,
                Op::SoftLine if !is_broken => {}
                Op::Open(group) => broken.push(group.has_break && group.rule != Rule::Chain),
                Op::Close if broken.pop().is_some() && !broken.is_empty() => {}
                Op::Indent | Op::Dedent | Op::IndentIfBroken | Op::DedentIfBroken => {}
                Op::TrailingComma if !is_broken => {}
                _ => break,
            }
        }
        column <= self.width
    }

    /// Where the next text will begin.
    fn next_column(&self) -> u32 {
        match self.pending {
            Pending::Nothing => self.column,
            Pending::Space => self.column + 1,
            Pending::Newline | Pending::Blank => self.indent(),
        }
    }

    /// Whether so many characters fit on the line, together with what follows them up to
    /// the next place where the line may break.
    fn fits(&self, width: u32, rest: &[Op<'_>]) -> bool {
        let mut column = self.next_column().saturating_add(width);
        let mut modes = self.modes.iter().rev();
        let mut is_broken = modes.next() == Some(&Mode::Broken);
        for op in rest {
            match op {
                _ if column > self.width => break,
                Op::Text(_, width) | Op::Made(_, width) => column = column.saturating_add(*width),
                Op::Space => column += 1,
                Op::TrailingComma => column += u32::from(is_broken),
                Op::BackslashLine if is_broken => column += 2,
                Op::Line | Op::BackslashLine if !is_broken => column += 1,
                Op::SoftLine if !is_broken => {}
                Op::Close => is_broken = modes.next() == Some(&Mode::Broken),
                Op::Indent | Op::Dedent | Op::IndentIfBroken | Op::DedentIfBroken => {}
                _ => break,
            }
            if matches!(op, Op::BackslashLine) && is_broken {
                break;
            }
        }
        column <= self.width
    }
}
