//! Random statements.

use super::{DEPTH_MAX, Writer};

impl Writer<'_> {
    pub(super) fn block(&mut self) {
        self.free("{");
        self.statements();
        self.free("}");
    }

    pub(super) fn statements(&mut self) {
        // An empty block would make a struct literal of a name before it.
        self.line_break();
        for _ in 0..=self.choose(3) {
            self.nested(Self::statement);
            self.separator();
        }
    }

    pub(super) fn statement(&mut self) {
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
    pub(super) fn expression_statement(&mut self) {
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

    pub(super) fn pattern(&mut self) {
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

    pub(super) fn if_(&mut self) {
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

    pub(super) fn match_(&mut self) {
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

    pub(super) fn try_(&mut self) {
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

    pub(super) fn parallel(&mut self) {
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
    pub(super) fn header(&mut self) {
        self.free("(");
        self.expression();
        self.free(")");
    }
}
