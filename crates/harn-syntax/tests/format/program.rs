//! Random programs, laid out at random, with comments wherever they may stand.
//!
//! A program is read off a list of choices, so that a shorter list is a simpler program and
//! a failing one shrinks. Every token says what may precede it: anything, or nothing that
//! breaks the line.

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

    fn imports(&mut self) {
        for _ in 0..self.choose(3) {
            if self.is_chosen(3) {
                self.free("pub");
            }
            self.free("import");
            if self.is_chosen(2) {
                self.sequence("{", "}", |writer| writer.name());
                self.free("from");
            }
            let path = self.pick(&["\"std/json\"", "\"lib/a\"", "\"lib/b\""]);
            self.free(path);
            self.separator();
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

    fn block(&mut self) {
        self.free("{");
        self.statements();
        self.free("}");
    }

    fn statements(&mut self) {
        // An empty block would make a struct literal of a name before it.
        self.line_break();
        for _ in 0..=self.choose(3) {
            self.nested(Self::statement);
            self.separator();
        }
    }

    fn nested(&mut self, write: impl FnOnce(&mut Self)) {
        self.depth += 1;
        write(self);
        self.depth -= 1;
    }

    fn item(&mut self) {
        match self.choose(16) {
            0..4 => self.statement(),
            12 => self.pipeline(),
            13 => self.skill(),
            14 => self.eval_pack(),
            4 => {
                self.attributes();
                self.free("fn");
                self.function();
            }
            5 => {
                self.attributes();
                self.free("pub");
                self.free("gen");
                self.glued("fn");
                self.function();
            }
            6 => {
                self.free("struct");
                self.name();
                self.sequence("{", "}", |writer| {
                    writer.name();
                    writer.glued("?");
                    writer.annotation();
                });
            }
            7 => {
                self.free("enum");
                self.name();
                self.sequence("{", "}", |writer| {
                    writer.name();
                    if writer.is_chosen(2) {
                        writer.sequence("(", ")", |writer| {
                            writer.name();
                            writer.annotation();
                        });
                    }
                });
            }
            8 => {
                self.free("type");
                self.name();
                self.free("=");
                self.ty();
            }
            9 => {
                self.free("tool");
                self.name();
                self.parameters();
                self.free("{");
                self.free("description");
                self.glued("\"text\"");
                self.separator();
                self.statements();
                self.free("}");
            }
            10 => {
                self.free("impl");
                self.name();
                self.free("{");
                for _ in 0..self.choose(3) {
                    self.free("fn");
                    self.function();
                    self.separator_of_members();
                }
                self.free("}");
            }
            _ => {
                self.free("interface");
                self.name();
                self.free("{");
                for _ in 0..self.choose(3) {
                    self.free("fn");
                    self.name();
                    self.parameters();
                    self.separator_of_members();
                }
                self.free("}");
            }
        }
        self.separator();
    }

    fn pipeline(&mut self) {
        self.attributes();
        self.free("pipeline");
        self.name();
        self.sequence("(", ")", Self::name);
        if self.is_chosen(2) {
            self.glued("->");
            self.ty();
        }
        if self.is_chosen(2) {
            self.glued("extends");
            self.name();
        }
        self.block();
    }

    fn skill(&mut self) {
        self.free("skill");
        self.name();
        self.free("{");
        self.line_break();
        for _ in 0..self.choose(3) {
            self.name();
            self.expression();
            self.separator();
        }
        self.free("}");
    }

    fn eval_pack(&mut self) {
        self.free("eval_pack");
        self.name();
        if self.is_chosen(2) {
            self.glued("\"id\"");
        }
        self.free("{");
        self.line_break();
        for _ in 0..self.choose(3) {
            self.free("field");
            self.glued(":");
            self.expression();
            self.separator();
        }
        if self.is_chosen(2) {
            self.free("summarize");
            self.glued("{");
            self.statements();
            self.free("}");
            self.separator();
        }
        if self.is_chosen(2) {
            self.statement();
            self.separator();
        }
        self.free("}");
    }

    fn separator_of_members(&mut self) {
        if self.is_chosen(2) {
            self.line_comment("//");
        }
    }

    fn attributes(&mut self) {
        for _ in 0..self.choose(3) {
            self.free("@test");
            if self.is_chosen(2) {
                self.glued("(name: \"x\", [1, -2,], flag)");
            }
        }
    }

    fn function(&mut self) {
        self.name();
        if self.is_chosen(4) {
            self.glued("<T, in U>");
        }
        self.parameters();
        if self.is_chosen(4) {
            self.glued("->");
            self.ty();
        }
        if self.is_chosen(6) {
            self.glued("where");
            self.free("T: Named");
        }
        self.block();
    }

    fn parameters(&mut self) {
        self.sequence("(", ")", |writer| {
            writer.name();
            writer.annotation();
        });
    }

    fn annotation(&mut self) {
        if self.is_chosen(3) {
            self.glued(":");
            self.ty();
        }
    }

    fn ty(&mut self) {
        self.nested(Self::ty_at_depth);
    }

    fn ty_at_depth(&mut self) {
        let is_deep = self.depth >= DEPTH_MAX;
        match self.choose(if is_deep { 4 } else { 8 }) {
            0 | 1 => self.free("int"),
            2 => self.free("nil"),
            3 => self.free("\"x\""),
            4 => {
                self.free("dict");
                self.glued("<string,");
                self.ty();
                self.free(">");
            }
            5 => {
                self.free("[");
                self.ty();
                self.free("]");
            }
            6 => {
                self.free("");
                self.sequence("{", "}", |writer| {
                    writer.free("if");
                    writer.glued("?");
                    writer.free(":");
                    writer.ty();
                });
            }
            _ => {
                self.free("Name");
                self.glued("|");
                self.free("fn");
                self.sequence("(", ")", Self::ty);
                self.free("->");
                self.ty();
            }
        }
    }

    fn statement(&mut self) {
        let is_deep = self.depth >= DEPTH_MAX;
        match self.choose(if is_deep { 6 } else { 21 }) {
            0..3 => self.expression_statement(),
            18 => {
                self.free("deadline");
                self.glued("(");
                self.expression();
                self.free(")");
                self.block();
            }
            19 => {
                self.free("fn");
                self.function();
            }
            20 => {
                let word = self.pick(&["break", "continue", "return", "yield"]);
                self.free(word);
            }
            3 => {
                self.free("let");
                self.pattern();
                self.free("=");
                self.expression();
            }
            4 => {
                self.free("return");
                self.glued("");
                self.glued_expression();
            }
            5 => {
                self.free("a");
                self.glued(".b");
                let op = self.pick(&["=", "+=", "-=", "%="]);
                self.glued(op);
                self.expression();
            }
            6 => self.if_(),
            7 => {
                self.free("for");
                self.pattern();
                self.free("in");
                self.header();
                self.block();
            }
            8 => {
                self.free("while");
                self.free("(");
                self.expression();
                self.free(")");
                self.block();
            }
            9 => {
                self.free("select");
                self.free("{");
                self.free("a");
                self.glued("from");
                self.header();
                self.block();
                self.free("timeout");
                self.header();
                self.block();
                self.free("}");
            }
            10 => {
                self.free("guard");
                self.header();
                self.free("else");
                self.block();
            }
            11 => {
                self.free("require");
                self.expression();
                self.glued(",");
                self.expression();
            }
            12 => {
                let word = self.pick(&["mutex", "defer"]);
                self.free(word);
                self.block();
            }
            13 => {
                let word = self.pick(&["throw", "emit"]);
                self.free(word);
                self.expression();
            }
            14 => self.match_(),
            15 => self.try_(),
            16 => {
                self.free("var");
                self.glued_name();
                self.annotation();
                self.free("=");
                self.expression();
            }
            _ => self.parallel(),
        }
    }

    /// An expression that is not taken for something else at the start of a statement.
    fn expression_statement(&mut self) {
        match self.choose(3) {
            0 => {
                self.free("f");
                self.sequence("(", ")", Self::argument);
            }
            1 => {
                self.free("(");
                self.expression();
                self.free(")");
                self.suffixes();
            }
            _ => {
                self.free("a");
                self.glued("|>");
                self.operand(2);
            }
        }
    }

    fn pattern(&mut self) {
        match self.choose(4) {
            0 | 1 => self.name(),
            2 => {
                self.free("");
                self.sequence("{", "}", |writer| {
                    writer.name();
                    if writer.is_chosen(2) {
                        writer.glued(":");
                        writer.name();
                    }
                    if writer.is_chosen(3) {
                        writer.glued("=");
                        writer.expression();
                    }
                });
            }
            _ => {
                self.free("[");
                self.name();
                self.free(",");
                self.free("...");
                self.name();
                self.free("]");
            }
        }
    }

    fn if_(&mut self) {
        self.glued("if");
        self.header();
        self.block();
        if self.is_chosen(2) {
            self.free("else");
            self.free("if");
            self.header();
            self.block();
        }
        if self.is_chosen(2) {
            self.free("else");
            self.block();
        }
    }

    fn match_(&mut self) {
        self.glued("match");
        self.header();
        self.free("{");
        for _ in 0..=self.choose(3) {
            self.expression();
            if self.is_chosen(3) {
                self.glued("|");
                self.expression();
            }
            if self.is_chosen(3) {
                self.glued("if");
                self.expression();
            }
            self.free("->");
            self.block();
        }
        self.free("}");
    }

    fn try_(&mut self) {
        self.free("try");
        self.block();
        match self.choose(4) {
            0 => {
                self.free("catch");
                self.block();
            }
            1 => {
                self.free("catch");
                self.free("e");
                self.free("{");
                self.free("}");
            }
            2 => {
                self.free("catch");
                self.free("(");
                self.free("e");
                self.glued(":");
                self.ty();
                self.free(")");
                self.block();
            }
            _ => {}
        }
        if self.is_chosen(2) {
            self.free("finally");
            self.free("{");
            self.free("}");
        }
    }

    fn parallel(&mut self) {
        let word = self.pick(&["parallel each", "parallel settle", "parallel"]);
        self.free(word);
        self.header();
        if self.is_chosen(3) {
            self.glued("with");
            self.free("{");
            self.free("max_concurrent");
            self.free(":");
            self.expression();
            self.free("}");
        }
        self.free("{");
        self.free("x");
        self.glued("->");
        self.statements();
        self.free("}");
        if word == "parallel each" && self.is_chosen(2) {
            self.glued("as");
            self.glued("stream");
        }
    }

    /// An expression before a block, in parentheses so that the brace is not taken for its
    /// own.
    fn header(&mut self) {
        self.free("(");
        self.expression();
        self.free(")");
    }

    fn expression(&mut self) {
        self.free("");
        self.glued_expression();
    }

    /// An expression that begins on this line.
    fn glued_expression(&mut self) {
        self.operand(1);
    }

    /// Something that binds at least as tightly as a level; in parentheses if it does not.
    fn operand(&mut self, least: u16) {
        self.nested(|writer| writer.operand_at_depth(least));
    }

    fn operand_at_depth(&mut self, least: u16) {
        let is_deep = self.depth >= DEPTH_MAX;
        let level = match is_deep {
            true => 14,
            false => [14, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13][usize::from(self.choose(14))],
        };
        let is_wrapped = level < least || self.is_chosen(6);
        if is_wrapped {
            self.glued("(");
            self.free("");
        }
        self.level(level);
        if is_wrapped {
            self.free(")");
        }
    }

    fn level(&mut self, level: u16) {
        match level {
            2 => {
                self.operand(3);
                self.glued("to");
                self.operand(3);
                if self.is_chosen(2) {
                    self.glued("exclusive");
                }
            }
            3 => {
                self.before_sign(4);
                self.glued("?");
                self.glued("(");
                self.expression();
                self.free(")");
                self.free(":");
                self.operand(4);
            }
            11 => {
                self.operand(12);
                self.free("**");
                self.free("");
                self.operand(11);
            }
            12 => {
                let op = self.pick(&["!", "-", "try*"]);
                self.glued(op);
                self.operand(12);
            }
            13 => {
                self.primary();
                self.suffixes();
            }
            14 => self.primary(),
            _ => self.chain(level),
        }
    }

    /// An operand before a sign that a `?` at its end would take for its own.
    fn before_sign(&mut self, least: u16) {
        self.glued("(");
        self.operand(least);
        self.free(")");
    }

    fn chain(&mut self, level: u16) {
        let ops: &[&'static str] = match level {
            1 => &["|>"],
            4 => &["||"],
            5 => &["&&"],
            6 => &["==", "!="],
            7 => &["<", ">", "<=", ">=", "in", "not in"],
            8 => &["+", "-"],
            9 => &["??"],
            _ => &["*", "/", "%"],
        };
        self.before_sign(level);
        for _ in 0..=self.choose(2) {
            let op = self.pick(ops);
            match op {
                "-" | "in" | "not in" => self.glued(op),
                op => self.free(op),
            }
            self.free("");
            self.before_sign(level + 1);
        }
    }

    fn suffixes(&mut self) {
        for _ in 0..=self.choose(3) {
            match self.choose(8) {
                0 | 1 => {
                    self.free(".");
                    self.name();
                }
                2 | 3 => {
                    self.free("?.");
                    self.free("map");
                    self.sequence("(", ")", Self::argument);
                }
                4 => {
                    self.glued("[");
                    self.expression();
                    self.free("]");
                }
                5 => {
                    self.glued("[");
                    self.expression();
                    self.free(":");
                    self.expression();
                    self.free("]");
                }
                6 => {
                    self.glued("?[");
                    self.expression();
                    self.free("]");
                }
                // Nothing else can follow it directly.
                _ => return self.glued("? "),
            }
        }
    }

    fn argument(&mut self) {
        if self.is_chosen(6) {
            self.free("...");
        }
        self.expression();
    }

    fn closure_parameters(&mut self) {
        for _ in 0..self.choose(3) {
            self.name();
            self.annotation();
            self.glued("=");
            self.expression();
            self.free(",");
        }
    }

    fn entry(&mut self) {
        match self.choose(7) {
            6 => {
                self.free("...");
                return self.expression();
            }
            0 => self.free("key"),
            1 => self.free("\"key\""),
            2 => self.free("\"x-y\""),
            3 => self.free("\"finally\""),
            4 => self.free("else"),
            _ => {
                self.free("[");
                self.expression();
                self.free("]");
            }
        }
        self.free(":");
        self.expression();
    }

    fn primary(&mut self) {
        let is_deep = self.depth >= DEPTH_MAX;
        match self.choose(if is_deep { 8 } else { 22 }) {
            0 | 1 => self.glued_name(),
            2 => {
                let number = self.pick(&["0", "42", "1.50", "99999999999999999999"]);
                self.glued(number);
            }
            3 => {
                let time = self.pick(&["90s", "3600000ms", "2d", "0ms", "1500ms"]);
                self.glued(time);
            }
            4 => {
                let text = self.pick(&["\"text\"", "r\"raw\\\"", "\"a ${b + \"c\"} d\"", "nil"]);
                self.glued(text);
            }
            5 => self.glued("\"\"\"\n   many\n  lines\n\"\"\""),
            6 => self.glued("true"),
            7 => self.glued("[]"),
            8 | 9 => self.sequence("[", "]", Self::argument),
            10 | 11 => self.sequence("{", "}", Self::entry),
            12 => {
                self.glued("Point");
                self.glued("{");
                let key = self.pick(&["x", "\"x\"", "\"if\"", "\"x-y\""]);
                self.free(key);
                self.glued(":");
                self.expression();
                self.free(",");
                self.entry();
                self.free("}");
            }
            13 | 14 => {
                self.glued("{");
                self.closure_parameters();
                self.free("->");
                match self.is_chosen(6) {
                    true => {}
                    false => self.statements(),
                }
                self.free("}");
            }
            15 => {
                self.glued("fn");
                self.parameters();
                self.block();
            }
            16 => {
                self.glued("f");
                self.sequence("(", ")", Self::argument);
            }
            17 => {
                // In a dict, the arrow would make it a closure.
                self.glued("(f<fn(int) -> int>");
                self.sequence("(", ")", Self::argument);
                self.free(")");
            }
            18 => {
                self.glued("");
                self.if_();
            }
            19 => {
                self.glued("");
                self.match_();
            }
            20 => {
                self.glued("retry");
                self.glued("(");
                self.expression();
                self.free(")");
                self.block();
            }
            _ => {
                self.glued("spawn");
                self.block();
            }
        }
    }
}
