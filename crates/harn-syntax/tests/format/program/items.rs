//! Random declarations.

use super::{DEPTH_MAX, Writer};

impl Writer<'_> {
    pub(super) fn imports(&mut self) {
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

    pub(super) fn item(&mut self) {
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

    pub(super) fn pipeline(&mut self) {
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

    pub(super) fn skill(&mut self) {
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

    pub(super) fn eval_pack(&mut self) {
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

    pub(super) fn separator_of_members(&mut self) {
        if self.is_chosen(2) {
            self.line_comment("//");
        }
    }

    pub(super) fn attributes(&mut self) {
        for _ in 0..self.choose(3) {
            self.free("@test");
            if self.is_chosen(2) {
                self.glued("(name: \"x\", [1, -2,], flag)");
            }
        }
    }

    pub(super) fn function(&mut self) {
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

    pub(super) fn parameters(&mut self) {
        self.sequence("(", ")", |writer| {
            writer.name();
            writer.annotation();
        });
    }

    pub(super) fn annotation(&mut self) {
        if self.is_chosen(3) {
            self.glued(":");
            self.ty();
        }
    }

    pub(super) fn ty(&mut self) {
        self.nested(Self::ty_at_depth);
    }

    pub(super) fn ty_at_depth(&mut self) {
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
}
