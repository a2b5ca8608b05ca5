//! Random programs, laid out at random, with comments wherever they may stand.
//!
//! A program is read off a list of choices, so that a shorter list is a simpler program and
//! a failing one shrinks. Every token says what may precede it: anything, or nothing that
//! breaks the line.

mod expressions;
mod items;
mod statements;

/// The program that some choices make.
pub(crate) fn program(choices: &[u16]) -> String {
    let mut writer = Writer {
        choices: choices.iter(),
        out: String::new(),
        depth: 0,
        comments: 0,
    };
    writer.imports();
    for _ in 0..=writer.choose(4) {
        writer.item();
    }
    writer.line_break();
    writer.out
}

struct Writer<'a> {
    choices: std::slice::Iter<'a, u16>,
    out: String,
    /// How deeply what is being written is nested.
    depth: u32,
    /// How many comments there are; each has its own name.
    comments: u32,
}

/// How deeply expressions and statements are nested.
const DEPTH_MAX: u32 = 5;

/// Names, some of which mean something elsewhere.
const NAMES: &[&str] = &[
    "a",
    "b",
    "xs",
    "Name",
    "MAX",
    "each",
    "settle",
    "with",
    "gen",
    "timeout",
    "not",
    "where",
    "out",
    "description",
    "r",
];

impl Writer<'_> {
    /// A number below `count`; 0 once the choices are used up.
    fn choose(&mut self, count: u16) -> u16 {
        self.choices.next().map_or(0, |choice| choice % count)
    }

    fn is_chosen(&mut self, one_in: u16) -> bool {
        self.choose(one_in) == one_in - 1
    }

    fn pick(&mut self, words: &[&'static str]) -> &'static str {
        words[usize::from(self.choose(u16::try_from(words.len()).expect("a short list")))]
    }

    /// A token that may begin a line.
    fn free(&mut self, token: &str) {
        match self.choose(24) {
            20 => self.out.push('\n'),
            21 => self.line_comment("//"),
            22 => {
                self.out.push_str("\n\n");
                self.line_comment("//");
            }
            23 => {
                let name = self.comment_name();
                self.out.push_str(&format!(" /* {name}\n  {name}b */ "));
            }
            _ => self.white_space(),
        }
        self.out.push_str(token);
    }

    /// A token on the line of the one before it.
    fn glued(&mut self, token: &str) {
        self.white_space();
        self.out.push_str(token);
    }

    fn white_space(&mut self) {
        match self.choose(24) {
            21 => self.out.push_str("   "),
            22 => self.out.push_str(" \\\n"),
            23 => {
                let name = self.comment_name();
                self.out.push_str(&format!(" /* {name} */ "));
            }
            _ => self.out.push(' '),
        }
    }

    fn comment_name(&mut self) -> String {
        self.comments += 1;
        format!("c{}", self.comments)
    }

    fn line_comment(&mut self, slashes: &str) {
        let name = self.comment_name();
        self.out.push_str(&format!(" {slashes} {name}\n"));
    }

    /// What ends a statement.
    fn separator(&mut self) {
        match self.is_chosen(12) {
            true => self.out.push_str("; "),
            false => self.line_break(),
        }
    }

    fn line_break(&mut self) {
        match self.choose(12) {
            7 => self.line_comment("//"),
            8 => {
                self.out.push_str("\n\n");
                self.line_comment("//");
            }
            9 => {
                self.out.push('\n');
                self.line_comment("///");
                self.line_comment("///");
            }
            10 => {
                let name = self.comment_name();
                self.out.push_str(&format!("\n/** {name} */"));
                self.out.push('\n');
            }
            11 => {
                let name = self.comment_name();
                self.out
                    .push_str(&format!("\n// ---- {name} ----\n// ----\n"));
            }
            _ => self.out.push('\n'),
        }
    }

    fn name(&mut self) {
        let name = self.pick(NAMES);
        self.free(name);
    }

    fn glued_name(&mut self) {
        let name = self.pick(NAMES);
        self.glued(name);
    }

    /// A comma sequence, with or without its last comma.
    fn sequence(&mut self, open: &str, close: &str, mut element: impl FnMut(&mut Self)) {
        self.glued(open);
        let count = self.choose(4);
        for at in 0..count {
            element(self);
            if at + 1 < count || self.is_chosen(2) {
                self.free(",");
            }
        }
        self.free(close);
    }

    fn nested(&mut self, write: impl FnOnce(&mut Self)) {
        self.depth += 1;
        write(self);
        self.depth -= 1;
    }
}
