//! Functions, closures and everything else that runs on its own.

use std::rc::Rc;

use harn_check::resolve::{Declared, FrameId, Place};
use harn_check::{Ty, schema_of_parameter};
use harn_syntax::tree::{
    self, Block, Closure, Expression, Name, Parameter, Statement, StatementKind, Type, TypeKind,
};
use smol_str::SmolStr;

use super::attempt::finally_guard;
use super::block::never_ends;
use super::body::{Body, Deferred, DeferredBlock, Held};
use super::exits::{Exit, FAILED, Finally, GuardKind};
use super::rounds::kept;
use super::search;
use super::unit::Compiler;
use crate::code::{
    CaptureFrom, Expected, Function, FunctionKind, Op, ParameterCheck, Raised, mark_last_uses,
};
use crate::registry::not_built;

/// What is to be compiled.
pub(super) struct Spec<'t> {
    pub(super) name: Option<SmolStr>,
    pub(super) kind: FunctionKind,
    pub(super) parameters: Vec<Taking<'t>>,
    /// The bodies, one after the other; several only if pipelines extend each other.
    pub(super) blocks: Vec<&'t Block>,
    /// Whether it gives the value of its last statement.
    pub(super) gives_value: bool,
    /// Where the function itself will be, if that is in a block.
    pub(super) own: Option<Place>,
    /// Whether it is what a `tool` declaration runs.
    pub(super) is_tool: bool,
    /// As which kind of span its calls show.
    pub(super) span: Option<&'static str>,
}

/// A parameter.
#[derive(Clone, Copy)]
pub(super) struct Taking<'t> {
    pub(super) name: &'t Name,
    pub(super) ty: Option<&'t Type>,
    pub(super) default: Option<&'t Expression>,
    pub(super) rest: bool,
}

impl<'t> From<&'t Parameter> for Taking<'t> {
    fn from(parameter: &'t Parameter) -> Self {
        Self {
            name: &parameter.name,
            ty: parameter.ty.as_ref().filter(|_| !parameter.rest),
            default: parameter.default.as_ref(),
            rest: parameter.rest,
        }
    }
}

impl<'t> Spec<'t> {
    /// Something that takes nothing and gives the value of its last statement.
    pub(super) fn task(body: &'t Block) -> Self {
        Self {
            name: None,
            kind: kind_of(body),
            parameters: Vec::new(),
            blocks: vec![body],
            gives_value: true,
            own: None,
            is_tool: false,
            span: None,
        }
    }

    /// A function with a name.
    pub(super) fn function(function: &'t tree::Function, own: Option<Place>) -> Self {
        Self {
            name: Some(function.name.text.clone()),
            kind: match function.kind {
                tree::FunctionKind::Stream => FunctionKind::Stream,
                tree::FunctionKind::Plain => kind_of(&function.body),
            },
            parameters: function.parameters.iter().map(Taking::from).collect(),
            blocks: vec![&function.body],
            gives_value: false,
            is_tool: false,
            span: Some("fn_call"),
            own,
        }
    }
}

fn kind_of(body: &Block) -> FunctionKind {
    match body.yields {
        true => FunctionKind::Generator,
        false => FunctionKind::Plain,
    }
}

impl Compiler<'_> {
    /// `{ x -> x }`
    pub(super) fn closure(&mut self, closure: &Closure, d: u16) {
        let spec = Spec {
            parameters: closure.parameters.iter().map(Taking::from).collect(),
            ..Spec::task(&closure.body)
        };
        self.make_closure(spec, d);
    }

    /// Compiles a function and makes a closure of it.
    pub(super) fn make_closure(&mut self, spec: Spec<'_>, d: u16) {
        let at = spec.blocks.first().map_or(0, |block| block.span.start);
        let Some(frame) = self.resolved.frame_of_body(at) else {
            return self.fail("a function has no frame");
        };
        let mark = self.mark();
        let taken = self.taken_by(at, frame, spec.own);
        let function = self.function(frame, spec, taken.held, taken.from);
        self.closure_of(at, function, d);
        self.release(mark);
    }

    /// a = a closure of a function
    pub(super) fn closure_of(&mut self, at: u32, function: Function, d: u16) {
        self.body.functions.push(Rc::new(function));
        let position = self.body.functions.len() - 1;
        let position = u32::try_from(position).unwrap_or_default();
        self.wide(at, Op::MakeClosure, d, position);
    }

    fn function(
        &mut self,
        frame: FrameId,
        spec: Spec<'_>,
        held: Vec<Held>,
        captures: Vec<CaptureFrom>,
    ) -> Function {
        let outer = std::mem::take(&mut self.body);
        let visible = self.visible.len();
        let at = spec.blocks.first().map_or(0, |block| block.span.start);
        self.body.pauses = spec.kind != FunctionKind::Plain;
        self.begin(at, frame, &spec.parameters, held);
        let outer_tables = self.enter_methods(&spec);
        let statements = spec.blocks.iter().flat_map(|block| &block.statements);
        let has_defers = search::defers(statements);
        self.with_defers(at, has_defers, |compiler| {
            compiler.refuse_without_body(at, &spec);
            compiler.traced_bodies(at, &spec);
        });
        let mut function = self.finish(spec.name, spec.kind, outer);
        function.captures = captures;
        let names = spec.parameters.iter().map(|one| one.name.text.clone());
        function.parameters = names.collect();
        function.is_tool = spec.is_tool;
        function.has_rest = spec.parameters.last().is_some_and(|last| last.rest);
        function.is_simple = function.kind == FunctionKind::Plain
            && !function.has_rest
            && !function.source.is_library;
        self.visible.truncate(visible);
        self.method_tables = outer_tables;
        function
    }

    /// The bodies, in a span if somebody wants to see it. What makes generators is left at once.
    fn traced_bodies(&mut self, at: u32, spec: &Spec<'_>) {
        let span = spec.span.filter(|_| spec.kind == FunctionKind::Plain);
        let name = spec.name.as_deref().or(span).unwrap_or_default();
        self.with_span(at, span, name, |compiler| {
            compiler.bodies(&spec.blocks, spec.gives_value);
        });
        if span.is_some() && self.traces() {
            // Nobody gets here, but the code has to end.
            self.return_from_frame(at, None);
        }
    }

    /// Modules of the language declare functions that nobody has written yet. To give nil for
    /// them would be a lie.
    fn refuse_without_body(&mut self, at: u32, spec: &Spec<'_>) {
        let is_empty = spec.blocks.iter().all(|block| block.statements.is_empty());
        let module = self.unit.source.path.strip_prefix("<stdlib>/");
        if let (true, Some(module), Some(name)) = (is_empty, module, &spec.name) {
            let module = module.trim_end_matches(".harn");
            let text = not_built(&format!("std/{module}: {name}"));
            self.raise(at, Raised::Runtime, &text);
        }
    }

    /// A function that defines methods has a table of its own for them. Gives the tables that
    /// are visible around it.
    fn enter_methods(&mut self, spec: &Spec<'_>) -> Rc<[u32]> {
        let outer = self.method_tables.clone();
        let mut blocks = spec.blocks.iter().filter(|block| block.declares);
        if blocks.any(|block| search::impls(&block.statements)) {
            let own = self.interner.new_method_table();
            self.method_tables = [own].iter().chain(&*outer).copied().collect();
        }
        outer
    }

    /// The registers of a function, and its parameters.
    fn begin(&mut self, at: u32, frame: FrameId, parameters: &[Taking<'_>], held: Vec<Held>) {
        self.body.frame = frame;
        self.body.held = held;
        let slots = self.resolved.frames.get(frame.0 as usize);
        let slots = slots.map_or(0, |frame| frame.slots);
        let count = u32::try_from(parameters.len()).unwrap_or(u32::MAX);
        // Mostly the slots of parameters are the registers where arguments arrive.
        let is_in_place =
            |(parameter, slot): (&Taking<'_>, u32)| match self.declared_name(parameter.name) {
                Declared::In(place) => place == Place::Local(slot),
                Declared::Nowhere => true,
                Declared::Again => false,
            };
        if parameters.iter().zip(0..).all(is_in_place) {
            self.variables(slots.max(count));
        } else {
            self.variables(count.saturating_add(slots));
            self.body.slot_base = self.narrow(parameters.len());
        }
        self.copy_assigned(at, frame);
        for (parameter, register) in parameters.iter().zip(0..) {
            self.parameter(parameter, register);
        }
        for (parameter, register) in parameters.iter().zip(0..) {
            self.check(parameter, register);
        }
    }

    fn parameter(&mut self, parameter: &Taking<'_>, register: u16) {
        if let Some(default) = parameter.default {
            let passed = self.jump(default.span.start, Op::JumpIfPassed, register);
            self.evaluate(default, register);
            self.land(passed);
        }
        self.bind_register(parameter.name, register);
    }

    /// What a parameter is checked for when the function is called.
    fn check(&mut self, parameter: &Taking<'_>, register: u16) {
        let Some(ty) = parameter.ty else {
            return;
        };
        let expected = match &ty.kind {
            TypeKind::Named(name, _) if self.declared.interfaces.contains(&name.text) => {
                Expected::Interface(name.text.clone())
            }
            _ => match schema_of_parameter(&Ty::from(ty)) {
                Some(schema) => Expected::Schema(schema),
                None => return,
            },
        };
        let position = u32::try_from(self.body.checks.len()).unwrap_or_default();
        self.body.checks.push(ParameterCheck {
            parameter: parameter.name.text.clone(),
            expected,
        });
        self.wide(
            parameter.name.span.start,
            Op::CheckParameter,
            register,
            position,
        );
    }

    fn bodies(&mut self, blocks: &[&Block], gives_value: bool) {
        let Some((last, before)) = blocks.split_last() else {
            return self.leave(0, Exit::Return, None);
        };
        let mut scopes = Vec::new();
        for block in before {
            scopes.push(self.open(&block.statements, block.span.start));
            for statement in &block.statements {
                self.statement(statement);
            }
        }
        scopes.push(self.open(&last.statements, last.span.start));
        self.last_body(last, gives_value);
        scopes.into_iter().rev().for_each(|scope| self.close(scope));
    }

    fn last_body(&mut self, block: &Block, gives_value: bool) {
        let at = block.span.start;
        let Some((last, before)) = block.statements.split_last() else {
            return self.leave(at, Exit::Return, None);
        };
        let held = self.statements_before(before);
        match gives_value {
            true => self.result(last),
            false => {
                self.statement(last);
                if !never_ends(last) {
                    self.leave(at, Exit::Return, None);
                }
            }
        }
        if !held.is_empty() {
            self.let_go_of_all(held);
            self.leave(at, Exit::Return, None);
        }
    }

    /// The last statement of a function that gives its value.
    pub(super) fn result(&mut self, statement: &Statement) {
        let at = statement.span.start;
        let mark = self.mark();
        match &statement.kind {
            StatementKind::Expression(value) => {
                self.cover(at);
                let value = self.operand(value);
                self.leave(at, Exit::Return, Some(value));
            }
            StatementKind::Select(_) => {
                let value = self.temporary();
                self.last_statement(statement, value);
                self.leave(at, Exit::Return, Some(value));
            }
            _ => {
                self.statement(statement);
                if !never_ends(statement) {
                    self.leave(at, Exit::Return, None);
                }
            }
        }
        self.release(mark);
    }

    /// The code of a function. If it has blocks that run at its end, they come after it: when
    /// the code is left, whichever way, the list of those that were reached is worked off.
    pub(super) fn with_defers(&mut self, at: u32, has_defers: bool, code: impl FnOnce(&mut Self)) {
        if !has_defers {
            return code(self);
        }
        let list = self.temporary();
        let kind = self.temporary();
        let value = self.temporary();
        self.op(at, Op::NewList, list, list, 0);
        self.body.deferred = Some(Deferred {
            list,
            blocks: Vec::new(),
        });
        self.guard(value, finally_guard(kind));
        code(self);
        let failed = self.here();
        self.load_int(at, kind, FAILED);
        let next = self.here();
        let done = self.jump(at, Op::DeferNext, list);
        self.deferred_blocks(at, list, next);
        let Some(guarded) = self.end_guard() else {
            return;
        };
        self.handle_at(&guarded, failed);
        self.land(done);
        if let GuardKind::Finally(Finally { exits, jumps, .. }) = guarded.kind {
            jumps.into_iter().for_each(|jump| self.aim(jump, next));
            self.go_on(at, kind, value, &exits);
        }
    }

    /// The blocks that run at the end. They may register further ones.
    fn deferred_blocks(&mut self, at: u32, list: u16, next: usize) {
        let mut number = 0;
        loop {
            let deferred = self.body.deferred.as_ref();
            let block = deferred.and_then(|deferred| deferred.blocks.get(number).cloned());
            self.body.defers_end = self.here();
            let Some(DeferredBlock { block, is_in_loop }) = block else {
                return;
            };
            let start = u32::try_from(self.here()).unwrap_or(u32::MAX);
            self.body.defers.push(start);
            if is_in_loop {
                self.op(at, Op::DeferRestore, list, 0, 0);
            }
            self.block(&block, None);
            self.jump_to(at, next);
            number += 1;
        }
    }

    /// The function that was compiled. The one around it is compiled from here on.
    pub(super) fn finish(
        &mut self,
        name: Option<SmolStr>,
        kind: FunctionKind,
        outer: Body,
    ) -> Function {
        let mut unwraps = std::mem::take(&mut self.body.unwraps);
        unwraps.sort_by_key(|(_, register)| *register);
        for group in unwraps.chunk_by(|one, next| one.1 == next.1) {
            group.iter().for_each(|(jump, _)| self.land(*jump));
            self.return_from_frame(0, Some(group[0].1));
        }
        let body = std::mem::replace(&mut self.body, outer);
        let temporaries = body.temporaries;
        let mut function = Function {
            name,
            kind,
            parameters: Vec::new(),
            has_rest: false,
            is_simple: false,
            is_tool: false,
            is_library: self.unit.source.is_library,
            registers: body.registers,
            source: self.unit.source.clone(),
            module: self.unit.module,
            method_tables: self.method_tables.clone(),
            code: body.code,
            offsets: body.offsets,
            constants: body.constants,
            sites: body.sites,
            keys: body.keys,
            shapes: body.shapes,
            paths: body.paths,
            functions: body.functions,
            captures: Vec::new(),
            checks: body.checks,
            handlers: body.handlers,
            defers: body.defers,
            keeps: Vec::new(),
        };
        function.keeps = kept(&function, &body.rounds, body.defers_end);
        mark_last_uses(&mut function, temporaries);
        function
    }
}
