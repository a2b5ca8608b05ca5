//! Loops.

use harn_syntax::tree::{For, LoopPattern, Name, PatternKind, While};

use super::exits::{Loop, Region};
use super::name::Target;
use super::search::defers_inside;
use super::unit::Compiler;
use crate::code::Op;

impl Compiler<'_> {
    /// `while condition { … }`: the condition comes after the block, so that a round needs
    /// one jump.
    pub(super) fn while_loop(&mut self, at: u32, item: &While) {
        if defers_inside(&item.condition) {
            return self.deferring_while_loop(at, item);
        }
        let enter = self.jump(at, Op::Jump, 0);
        let start = self.here();
        let before = self.begin_round();
        self.body.regions.push(Region::Loop(Loop::default()));
        self.block(&item.body, None);
        let around = self.end_loop();
        self.land_all(around.continues);
        self.end_round(at, &before);
        self.land(enter);
        for jump in self.condition(&item.condition, true) {
            self.aim(jump, start);
        }
        self.land_all(around.breaks);
    }

    /// The same if the condition has blocks that run at the end: its variables belong to the
    /// round that it begins, so it comes first.
    fn deferring_while_loop(&mut self, at: u32, item: &While) {
        let start = self.here();
        let before = self.begin_round();
        let ends = self.condition(&item.condition, false);
        self.body.regions.push(Region::Loop(Loop::default()));
        self.block(&item.body, None);
        let around = self.end_loop();
        self.land_all(around.continues);
        self.end_round(at, &before);
        let again = self.jump(at, Op::Jump, 0);
        self.aim(again, start);
        self.land_all(ends);
        self.land_all(around.breaks);
    }

    fn end_loop(&mut self) -> Loop {
        match self.body.regions.pop() {
            Some(Region::Loop(around)) => around,
            _ => Loop::default(),
        }
    }

    /// `for pattern in source { … }`: the next item is asked for after the block, so that a
    /// round needs one jump.
    pub(super) fn for_loop(&mut self, at: u32, item: &For) {
        let state = self.window(2);
        self.evaluate(&item.source, state);
        self.op(at, Op::ForPrepare, state, 0, 0);
        let enter = self.jump(at, Op::Jump, 0);
        let start = self.here();
        let visible = self.visible.len();
        let before = self.begin_round();
        self.body.regions.push(Region::Loop(Loop::default()));
        let mark = self.mark();
        let value = self.bind_item(&item.pattern);
        self.release(mark);
        self.block(&item.body, None);
        let around = self.end_loop();
        self.land_all(around.continues);
        self.end_round(at, &before);
        self.land(enter);
        let next = self.branch(at, Op::ForLoop, state, value);
        self.aim(next, start);
        self.land_all(around.breaks);
        // What was gone through may be changed in place from here on.
        self.load_nil(at, state);
        self.visible.truncate(visible);
    }

    /// Binds what an item is called, at the beginning of a round. Gives the register where
    /// items arrive.
    fn bind_item(&mut self, pattern: &LoopPattern) -> u16 {
        match pattern {
            LoopPattern::One(pattern) => match &pattern.kind {
                PatternKind::Name(name) => self.bind_named_item(name),
                _ => {
                    let value = self.temporary();
                    self.bind_pattern(pattern, value);
                    value
                }
            },
            LoopPattern::Pair(first, second) => {
                let value = self.temporary();
                self.bind_part(first, value, "first");
                self.bind_part(second, value, "second");
                value
            }
        }
    }

    fn bind_named_item(&mut self, name: &Name) -> u16 {
        match self.target(name) {
            Target::Register(register) => {
                self.visible.push(name.text.clone());
                register
            }
            _ => {
                let value = self.temporary();
                self.bind_register(name, value);
                value
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
