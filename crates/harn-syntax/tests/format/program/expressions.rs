//! Random expressions.

use super::{DEPTH_MAX, Writer};

impl Writer<'_> {
    pub(super) fn expression(&mut self) {
        self.free("");
        self.glued_expression();
    }

    /// An expression that begins on this line.
    pub(super) fn glued_expression(&mut self) {
        self.operand(1);
    }

    /// Something that binds at least as tightly as a level; in parentheses if it does not.
    pub(super) fn operand(&mut self, least: u16) {
        self.nested(|writer| writer.operand_at_depth(least));
    }

    pub(super) fn operand_at_depth(&mut self, least: u16) {
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

    pub(super) fn level(&mut self, level: u16) {
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
    pub(super) fn before_sign(&mut self, least: u16) {
        self.glued("(");
        self.operand(least);
        self.free(")");
    }

    pub(super) fn chain(&mut self, level: u16) {
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

    pub(super) fn suffixes(&mut self) {
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

    pub(super) fn argument(&mut self) {
        if self.is_chosen(6) {
            self.free("...");
        }
        self.expression();
    }

    pub(super) fn closure_parameters(&mut self) {
        for _ in 0..self.choose(3) {
            self.name();
            self.annotation();
            self.glued("=");
            self.expression();
            self.free(",");
        }
    }

    pub(super) fn entry(&mut self) {
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

    pub(super) fn primary(&mut self) {
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
