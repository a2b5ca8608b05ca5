//! Tasks: `spawn`, `parallel`, `select`.

use harn_syntax::tree::{Block, Expression, Parallel, ParallelMode, Select, SelectArm};

use super::function::{Spec, Taking};
use super::unit::Compiler;
use crate::code::Op;

impl Compiler<'_> {
    /// `spawn { … }`
    pub(super) fn spawn(&mut self, at: u32, body: &Block, d: u16) {
        let closure = self.intermediate(d);
        let spec = Spec {
            span: Some("spawn"),
            ..Spec::task(body)
        };
        self.make_closure(spec, closure);
        self.op(at, Op::Spawn, d, closure, 0);
    }

    /// `parallel each xs { x -> … }`
    pub(super) fn parallel(&mut self, at: u32, item: &Parallel, d: u16) {
        let window = self.window(3);
        let (limit, closure) = (window.saturating_add(1), window.saturating_add(2));
        self.evaluate(&item.source, window);
        self.load_nil(at, limit);
        for value in &item.max_concurrent {
            self.evaluate(value, limit);
        }
        let parameters = item.variable.iter().map(|name| Taking {
            name,
            ty: None,
            default: None,
            rest: false,
        });
        let spec = Spec {
            parameters: parameters.collect(),
            ..Spec::task(&item.body)
        };
        self.make_closure(spec, closure);
        let mode = match (item.mode, item.as_stream) {
            (ParallelMode::Count, _) => 0,
            (ParallelMode::Each, false) => 1,
            (ParallelMode::Settle, _) => 2,
            (ParallelMode::Each, true) => 3,
        };
        self.with_span(at, Some("parallel"), "parallel", |compiler| {
            compiler.op_n(at, Op::Parallel, mode, d, window, 0);
        });
    }

    /// `select { … }`
    pub(super) fn select(&mut self, at: u32, select: &Select, d: Option<u16>) {
        let channels = select.arms.iter().filter(|arm| is_receive(arm)).count();
        let time = select.arms.iter().find_map(|arm| match arm {
            SelectArm::Timeout(time, _) => Some(time),
            _ => None,
        });
        let has_default = select
            .arms
            .iter()
            .any(|arm| matches!(arm, SelectArm::Default(_)));
        let result = self.window(2);
        let mark = self.mark();
        let window = self.window(channels + usize::from(time.is_some()));
        self.select_operands(select, window, channels, time);
        let how = match (time.is_some(), has_default) {
            (true, _) => 1,
            (false, true) => 2,
            (false, false) => 0,
        };
        let count = self.small(channels);
        self.op_n(at, Op::Select, how, result, window, count);
        self.release(mark);
        self.select_arms(at, select, result, d);
    }

    fn select_operands(
        &mut self,
        select: &Select,
        window: u16,
        channels: usize,
        time: Option<&Expression>,
    ) {
        let mut next = window;
        let after = window.saturating_add(self.narrow(channels));
        for arm in &select.arms {
            match arm {
                SelectArm::Receive(_, channel, _) => {
                    self.evaluate(channel, next);
                    next = next.saturating_add(1);
                }
                SelectArm::Timeout(one, _) if time.is_some_and(|time| std::ptr::eq(time, one)) => {
                    self.evaluate(one, after);
                }
                SelectArm::Timeout(..) | SelectArm::Default(_) => {}
            }
        }
    }

    fn select_arms(&mut self, at: u32, select: &Select, result: u16, d: Option<u16>) {
        let mut ends = Vec::new();
        let mut channel = 0;
        for arm in &select.arms {
            let number = match arm {
                SelectArm::Receive(..) => {
                    channel += 1;
                    self.small(channel - 1)
                }
                SelectArm::Timeout(..) | SelectArm::Default(_) => -1_i16 as u16,
            };
            let next = self.branch(at, Op::JumpNotEqualInt, result, number);
            let visible = self.visible.len();
            match arm {
                SelectArm::Receive(name, _, body) => {
                    self.bind_register(name, result.saturating_add(1));
                    self.block(body, d);
                }
                SelectArm::Timeout(_, body) | SelectArm::Default(body) => self.block(body, d),
            }
            self.visible.truncate(visible);
            ends.push(self.jump(at, Op::Jump, 0));
            self.land(next);
        }
        if let Some(d) = d {
            self.load_nil(at, d);
        }
        self.land_all(ends);
    }
}

fn is_receive(arm: &SelectArm) -> bool {
    matches!(arm, SelectArm::Receive(..))
}
