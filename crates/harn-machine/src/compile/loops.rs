//! Loops.

use harn_syntax::tree::{For, LoopPattern, Name, PatternKind, While};

use super::emit::Jump;
use super::exits::{Loop, Region};
use super::name::Target;
use super::unit::Compiler;
use crate::code::Op;

impl Compiler<'_> {
    /// `while condition { … }`: the condition comes after the block, so that a round needs
    /// one jump.
    pub(super) fn while_loop(&mut self, at: u32, item: &While) {
        let enter = self.jump(at, Op::Jump, 0);
        let start = self.here();
        self.body.regions.push(Region::Loop(Loop::default()));
        self.block(&item.body, None);
        let around = self.end_loop();
        self.land_all(around.continues);
        self.land(enter);
        for jump in self.condition(&item.condition, true) {
            self.aim(jump, start);
        }
        self.land_all(around.breaks);
    }

    fn end_loop(&mut self) -> Loop {
        match self.body.regions.pop() {
            Some(Region::Loop(around)) => around,
            _ => Loop::default(),
        }
    }

    /// `for pattern in source { … }`
    pub(super) fn for_loop(&mut self, at: u32, item: &For) {
        let state = self.window(2);
        self.evaluate(&item.source, state);
        self.op(at, Op::ForPrepare, state, 0, 0);
        let start = self.here();
        let visible = self.visible.len();
        self.body.regions.push(Region::Loop(Loop::default()));
        let mark = self.mark();
        let end = match &item.pattern {
            LoopPattern::One(pattern) => match &pattern.kind {
                PatternKind::Name(name) => self.next_named(at, state, name),
                _ => {
                    let value = self.temporary();
                    let end = self.branch(at, Op::ForNext, state, value);
                    self.bind_pattern(pattern, value);
                    end
                }
            },
            LoopPattern::Pair(first, second) => {
                let value = self.temporary();
                let end = self.branch(at, Op::ForNext, state, value);
                self.bind_part(first, value, "first");
                self.bind_part(second, value, "second");
                end
            }
        };
        self.release(mark);
        self.block(&item.body, None);
        let around = self.end_loop();
        for jump in around.continues {
            self.aim(jump, start);
        }
        self.jump_to(at, start);
        if !around.breaks.is_empty() {
            self.land_all(around.breaks);
            // What was gone through may be changed in place from here on.
            self.load_nil(at, state);
        }
        self.land(end);
        self.visible.truncate(visible);
    }

    fn next_named(&mut self, at: u32, state: u16, name: &Name) -> Jump {
        match self.target(name) {
            Target::Register(register) => {
                self.visible.push(name.text.clone());
                self.branch(at, Op::ForNext, state, register)
            }
            _ => {
                let value = self.temporary();
                let end = self.branch(at, Op::ForNext, state, value);
                self.bind_register(name, value);
                end
            }
        }
    }

    fn bind_part(&mut self, name: &Name, value: u16, part: &str) {
        let at = name.span.start;
        let site = self.site(part);
        self.bind(name, |compiler, d| {
            compiler.op(at, Op::GetField, d, value, site);
        });
    }
}
