//! A text whose line breaks are not decided yet.
//!
//! Formatting happens in two steps: the tree is written as a flat list of [`Op`]s, and the
//! [`printer`](super::printer) turns that list into lines. A group knows how wide it would be
//! on one line as soon as it ends, because widths are sums that only grow:
//!
//! ```text
//! open ─► "(" Line "a" "," Line "b" Line ")" ─► close
//!   width before: 10                              width after: 16, so the group is 6 wide
//! ```
//!
//! So nothing is ever measured twice and the work is linear in the size of the program.

use std::borrow::Cow;

/// A piece of a layout.
#[derive(Clone, Debug)]
pub(super) enum Op<'a> {
    /// Text on one line, and how many characters it has.
    Text(&'a str, u32),
    /// Likewise, made for the layout.
    Made(Box<str>, u32),
    /// Text of several lines that is kept as it is.
    Verbatim(&'a str),
    /// Likewise, made for the layout.
    MadeVerbatim(Box<str>),
    /// A comment after something on its line. It may be as long as it likes.
    Trailing(&'a str),
    /// A line comment of dashes up to a column.
    Bar,
    /// A space, unless a line begins or a closer follows.
    Space,
    /// A space if the group is on one line, else a line break.
    Line,
    /// Nothing if the group is on one line, else a line break.
    SoftLine,
    /// A space if the group is on one line, else a line break behind a backslash.
    BackslashLine,
    /// A line break. Several in a row are one.
    HardLine,
    /// An empty line.
    BlankLine,
    /// A comma if the group is on several lines.
    TrailingComma,
    /// Lines that begin from here on are one level deeper.
    Indent,
    /// The end of the last indent.
    Dedent,
    /// Likewise, if the group is on several lines.
    IndentIfBroken,
    /// The end of the last indent of that kind, in the same group.
    DedentIfBroken,
    /// What belongs together.
    Open(Group),
    /// The end of the last group.
    Close,
}

/// What is known about a group.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group {
    /// When it is broken.
    pub(super) rule: Rule,
    /// How many characters it has on one line.
    pub(super) width: u32,
    /// Whether there is a line break in it whatever happens.
    pub(super) has_break: bool,
    /// How many operations it consists of, its `Close` included.
    pub(super) length: u32,
}

/// When a group is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// When it does not fit or contains a line break: a comma sequence.
    Whole,
    /// When it does not fit: operators. If something in it has several lines anyway, only
    /// the first line counts.
    Chain,
    /// Always: operators that stood on several lines.
    Broken,
    /// Never, but what is in it may be: a single call.
    Inline,
}

/// A group that was opened.
#[derive(Clone, Copy, Debug)]
pub(super) struct Opened {
    at: usize,
    width: u32,
    breaks: u32,
}

/// A list of operations that grows.
#[derive(Debug, Default)]
pub(super) struct Layout<'a> {
    ops: Vec<Op<'a>>,
    /// How wide everything so far would be on one line.
    width: u32,
    /// How many line breaks there are so far that cannot be avoided.
    breaks: u32,
}

impl<'a> Layout<'a> {
    pub(super) fn text(&mut self, text: impl Into<Cow<'a, str>>) {
        let text = text.into();
        if text.is_empty() {
            return;
        }
        if text.contains('\n') {
            self.breaks += 1;
            return self.ops.push(match text {
                Cow::Borrowed(text) => Op::Verbatim(text),
                Cow::Owned(text) => Op::MadeVerbatim(text.into()),
            });
        }
        let width = width_of(&text);
        self.width += width;
        self.ops.push(match text {
            Cow::Borrowed(text) => Op::Text(text, width),
            Cow::Owned(text) => Op::Made(text.into(), width),
        });
    }

    pub(super) fn trailing(&mut self, text: &'a str) {
        self.ops.push(Op::Trailing(text));
    }

    pub(super) fn bar(&mut self) {
        self.ops.push(Op::Bar);
    }

    pub(super) fn space(&mut self) {
        self.width += 1;
        self.ops.push(Op::Space);
    }

    pub(super) fn line(&mut self) {
        self.width += 1;
        self.ops.push(Op::Line);
    }

    pub(super) fn soft_line(&mut self) {
        self.ops.push(Op::SoftLine);
    }

    pub(super) fn backslash_line(&mut self) {
        self.width += 1;
        self.ops.push(Op::BackslashLine);
    }

    pub(super) fn hard_line(&mut self) {
        self.breaks += 1;
        self.ops.push(Op::HardLine);
    }

    pub(super) fn blank_line(&mut self) {
        self.breaks += 1;
        self.ops.push(Op::BlankLine);
    }

    /// Keeps the groups that are open from being on one line.
    pub(super) fn force_break(&mut self) {
        self.breaks += 1;
    }

    pub(super) fn trailing_comma(&mut self) {
        self.ops.push(Op::TrailingComma);
    }

    pub(super) fn indent(&mut self) {
        self.ops.push(Op::Indent);
    }

    pub(super) fn dedent(&mut self) {
        self.ops.push(Op::Dedent);
    }

    pub(super) fn indent_if_broken(&mut self) {
        self.ops.push(Op::IndentIfBroken);
    }

    pub(super) fn dedent_if_broken(&mut self) {
        self.ops.push(Op::DedentIfBroken);
    }

    /// Begins a group. Its rule may be decided when it ends.
    pub(super) fn open(&mut self) -> Opened {
        let opened = Opened {
            at: self.ops.len(),
            width: self.width,
            breaks: self.breaks,
        };
        self.ops.push(Op::Close);
        opened
    }

    pub(super) fn close(&mut self, opened: Opened, rule: Rule) {
        self.ops.push(Op::Close);
        if rule == Rule::Broken {
            self.breaks += 1;
        }
        self.ops[opened.at] = Op::Open(Group {
            rule,
            width: self.width - opened.width,
            has_break: self.breaks > opened.breaks,
            length: narrow(self.ops.len() - opened.at - 1),
        });
    }

    /// Where the next operation will be.
    pub(super) fn here(&self) -> usize {
        self.ops.len()
    }

    /// Takes out what was added since `start`. It may be put back later with
    /// [`append`](Self::append), before the groups around it are closed.
    pub(super) fn split_off(&mut self, start: usize) -> Vec<Op<'a>> {
        self.ops.split_off(start)
    }

    pub(super) fn append(&mut self, mut ops: Vec<Op<'a>>) {
        self.ops.append(&mut ops);
    }

    /// Everything so far.
    pub(super) fn ops(&self) -> &[Op<'a>] {
        &self.ops
    }

    /// Begins anew.
    pub(super) fn clear(&mut self) {
        (self.width, self.breaks) = (0, 0);
        self.ops.clear();
    }
}

/// How many characters a text has.
pub(super) fn width_of(text: &str) -> u32 {
    match text.is_ascii() {
        true => narrow(text.len()),
        false => narrow(text.chars().count()),
    }
}

fn narrow(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
