//! The walk that finds out what names mean.

use std::collections::{HashMap, HashSet};

use harn_syntax::Span;
use harn_syntax::tree::{
    Argument, Attribute, AttributeValue, Binding as BindingStatement, Block, Call, Closure,
    EvalPack, EvalPackEntry, EvalPackName, Expression, ExpressionKind, For, Function, Interface,
    InterfaceMember, Item, ItemKind, LoopPattern, MatchArm, Module, Name, Parallel, Parameter,
    PatternKind, SelectArm, Statement, StatementKind, Tool, Try, Type, TypeKind, TypeParameter,
};
use harn_syntax::visit::{self, Visit};
use smol_str::SmolStr;

use super::super::{facts, gates, taint};
use super::{Binding, BindingKind, FunctionFacts, Mentions, Names, TypeFacts, Use, patterns};

/// Attributes that change nothing about who can reach a function.
const HARMLESS: &[&str] = &["deprecated", "complexity"];

pub(super) fn collect(module: &Module) -> Names {
    let mut collector = Collector::default();
    collector.open(true);
    collector.declare_top_level(module);
    visit::walk_module(&mut collector, module);
    collector.names
}

#[derive(Default)]
struct Collector {
    names: Names,
    scopes: Vec<Scope>,
    /// The bindings of the top level that the walk has not reached yet, by where they are.
    ahead: HashMap<u32, usize>,
    /// The functions and tools around, innermost last.
    inside: Vec<SmolStr>,
}

#[derive(Default)]
struct Scope {
    names: HashMap<SmolStr, usize>,
    /// Whether it is the outermost of a function: what is further out is not hidden by it.
    is_function: bool,
}

impl Collector {
    fn open(&mut self, is_function: bool) {
        let names = HashMap::new();
        self.scopes.push(Scope { names, is_function });
    }

    fn scoped(&mut self, is_function: bool, walk: impl FnOnce(&mut Self)) {
        self.open(is_function);
        walk(self);
        self.scopes.pop();
    }

    /// The variables of the top level are there before any function runs.
    fn declare_top_level(&mut self, module: &Module) {
        for statement in &module.statements {
            if let StatementKind::Binding(binding) = &statement.kind {
                self.declare_binding(binding, statement.span);
            }
        }
        let bindings = self.names.bindings.iter().enumerate();
        self.ahead = bindings
            .map(|(at, binding)| (binding.name.span.start, at))
            .collect();
    }

    fn declare_binding(&mut self, binding: &BindingStatement, statement: Span) {
        let kind = match binding.mutable {
            true => BindingKind::Var(statement),
            false => BindingKind::Let,
        };
        let names = patterns::bound(&binding.pattern);
        let whole = names.len() == 1 && binding.pattern.span == names[0].span;
        for name in names {
            let Some(at) = self.declare(name, kind) else {
                continue;
            };
            let made_by = self.origin(&binding.value);
            let value = self.value(binding, whole);
            let mixes = taint::mixed(&binding.value, &self.names);
            let one = &mut self.names.bindings[at];
            one.is_typed = binding.ty.as_ref().is_some_and(facts::says_something);
            one.is_whole = whole && matches!(binding.value.kind, ExpressionKind::Call(_));
            one.made_by = made_by;
            one.mixes = mixes;
            one.is_field = matches!(binding.pattern.kind, PatternKind::Dict { .. });
            one.value = value;
        }
    }

    /// What is known about the value of a binding; nothing if it can change.
    fn value(&self, binding: &BindingStatement, whole: bool) -> Option<facts::Kind> {
        if !whole || binding.mutable {
            return None;
        }
        match &binding.ty {
            Some(ty) => facts::declared(ty),
            None => facts::kind(&binding.value, &self.names),
        }
    }

    /// The function a value comes from, also through members and other variables.
    fn origin(&self, value: &Expression) -> Option<SmolStr> {
        match &value.kind {
            ExpressionKind::Call(call) => Some(call.name.text.clone()),
            ExpressionKind::Name(name) => {
                let at = self.find(&name.text)?;
                self.names.bindings[at].made_by.clone()
            }
            ExpressionKind::Postfix(postfix) if facts::only_members(postfix) => {
                self.origin(&postfix.base)
            }
            _ => None,
        }
    }

    /// Binds a name in the innermost scope.
    fn declare(&mut self, name: &Name, kind: BindingKind) -> Option<usize> {
        if name.is_discard() {
            return None;
        }
        if let Some(at) = self.ahead.remove(&name.span.start) {
            self.scopes.last_mut()?.names.insert(name.text.clone(), at);
            return Some(at);
        }
        let shadows = self.hidden(&name.text);
        let at = self.names.bindings.len();
        let scope = self.scopes.last_mut()?;
        let before = scope.names.insert(name.text.clone(), at);
        if let Some(before) = before {
            self.names.bindings[before].is_rebound = true;
        }
        self.names.declared.insert(name.text.clone());
        self.names.bindings.push(Binding {
            name: name.clone(),
            kind,
            value: None,
            is_typed: false,
            made_by: None,
            is_whole: false,
            mixes: None,
            is_field: false,
            uses: Vec::new(),
            is_assigned: false,
            is_rebound: before.is_some(),
            shadows,
        });
        Some(at)
    }

    fn declare_other(&mut self, name: &Name) {
        self.declare(name, BindingKind::Other);
    }

    /// The variable of an outer scope of the same function that a new one would hide.
    fn hidden(&self, name: &str) -> Option<Span> {
        let (innermost, outer) = self.scopes.split_last()?;
        if innermost.is_function {
            return None;
        }
        for scope in outer.iter().rev() {
            if let Some(at) = scope.names.get(name) {
                let span = self.names.bindings[*at].name.span;
                return (!self.ahead.contains_key(&span.start)).then_some(span);
            }
            if scope.is_function {
                return None;
            }
        }
        None
    }

    fn find(&self, name: &str) -> Option<usize> {
        let found = |scope: &Scope| scope.names.get(name).copied();
        self.scopes.iter().rev().find_map(found)
    }

    fn mention(&mut self, name: &Name, as_value: bool) {
        if name.is_discard() {
            return;
        }
        let at = name.span.start;
        let first = Mentions {
            first: at,
            last: at,
            as_value: false,
        };
        let mentions = self
            .names
            .mentions
            .entry(name.text.clone())
            .or_insert(first);
        mentions.first = mentions.first.min(at);
        mentions.last = mentions.last.max(at);
        mentions.as_value |= as_value;
    }

    /// A name as a value.
    fn read(&mut self, name: &Name, passed_to: Option<&SmolStr>) {
        self.mention(name, true);
        if let Some(at) = self.find(&name.text) {
            self.names.resolved.insert(name.span.start, at);
            let passed_to = passed_to.cloned();
            self.names.bindings[at].uses.push(Use { passed_to });
        }
    }

    fn assign(&mut self, target: &Expression) {
        let root = match &target.kind {
            ExpressionKind::Postfix(postfix) => {
                for suffix in &postfix.suffixes {
                    visit::walk_suffix(self, &suffix.kind);
                }
                &postfix.base
            }
            _ => target,
        };
        let ExpressionKind::Name(name) = &root.kind else {
            return self.expression(root);
        };
        self.mention(name, true);
        match self.find(&name.text) {
            Some(at) => self.names.bindings[at].is_assigned = true,
            None => {
                self.names.assigned_elsewhere.insert(name.text.clone());
            }
        }
    }

    fn call(&mut self, call: &Call) {
        self.mention(&call.name, false);
        self.names.calls.push(call.name.clone());
        if gates::SCANS.contains(&call.name.text.as_str()) {
            self.names.scanners.extend(self.inside.iter().cloned());
        }
        if gates::ASKS.contains(&call.name.text.as_str()) {
            self.names.askers.extend(self.inside.iter().cloned());
        }
        if let Some(at) = self.find(&call.name.text) {
            self.names.resolved.insert(call.name.span.start, at);
            self.names.bindings[at].uses.push(Use { passed_to: None });
        }
        for ty in &call.type_arguments {
            self.ty(ty);
        }
        for argument in &call.arguments {
            match argument {
                Argument::One(Expression {
                    kind: ExpressionKind::Name(name),
                    ..
                }) => self.read(name, Some(&call.name.text)),
                _ => self.expression(argument.expression()),
            }
        }
    }

    /// A function in a scope of its own. Its parameters and its body share it.
    fn body(
        &mut self,
        is_function: bool,
        parameters: &[Parameter],
        kind: BindingKind,
        body: &Block,
    ) {
        self.scoped(is_function, |this| {
            for parameter in parameters {
                this.parameter(parameter);
                let value = parameter.ty.as_ref().and_then(facts::declared);
                let is_typed = parameter.ty.as_ref().is_some_and(facts::says_something);
                if let Some(at) = this.declare(&parameter.name, kind) {
                    this.names.bindings[at].value = value;
                    this.names.bindings[at].is_typed = is_typed;
                }
            }
            visit::walk_block(this, body);
        });
    }

    fn type_parameters(&mut self, parameters: &[TypeParameter]) {
        let names = parameters.iter().map(|one| one.name.text.clone());
        self.names.declared.extend(names);
    }

    fn declared_function(&mut self, item: &Item, function: &Function) {
        self.names.declared.insert(function.name.text.clone());
        let at = self.names.functions.len();
        self.names.functions.push(FunctionFacts {
            name: function.name.clone(),
            span: function.name.span.to(function.body.span),
            is_public: item.public.is_some(),
            is_tool: false,
            is_top_level: self.scopes.len() == 1,
            is_registered: is_registered(&item.attributes),
            is_empty: function.body.statements.is_empty(),
        });
        self.inside.push(function.name.text.clone());
        self.any_function(function, BindingKind::Parameter(at));
        self.inside.pop();
    }

    fn any_function(&mut self, function: &Function, kind: BindingKind) {
        self.type_parameters(&function.type_parameters);
        for bound in &function.bounds {
            self.mention(&bound.interface, true);
        }
        if let Some(result) = &function.result {
            self.ty(result);
        }
        self.body(true, &function.parameters, kind, &function.body);
    }

    fn tool(&mut self, item: &Item, tool: &Tool) {
        self.names.declared.insert(tool.name.text.clone());
        let at = self.names.functions.len();
        self.names.functions.push(FunctionFacts {
            name: tool.name.clone(),
            span: tool.name.span.to(tool.body.span),
            is_public: item.public.is_some(),
            is_tool: true,
            is_top_level: self.scopes.len() == 1,
            is_registered: is_registered(&item.attributes),
            is_empty: tool.body.statements.is_empty(),
        });
        if let Some(result) = &tool.result {
            self.ty(result);
        }
        let kind = BindingKind::Parameter(at);
        self.body(true, &tool.parameters, kind, &tool.body);
    }

    fn eval_pack(&mut self, pack: &EvalPack) {
        if let EvalPackName::Name(name, _) = &pack.name {
            self.names.declared.insert(name.text.clone());
        }
        self.scoped(true, |this| {
            for entry in &pack.entries {
                match entry {
                    EvalPackEntry::Field(name, value) => {
                        this.expression(value);
                        this.declare_other(name);
                    }
                    EvalPackEntry::Summarize(block) => this.block(block),
                    EvalPackEntry::Statement(statement) => this.statement(statement),
                }
            }
        });
    }

    fn host_body(&mut self, parameters: &[Name], body: &Block) {
        self.scoped(true, |this| {
            for name in parameters {
                this.declare_other(name);
            }
            visit::walk_block(this, body);
        });
    }

    fn declared_type(&mut self, item: &Item, name: &Name, end: Span, is_always_exported: bool) {
        self.names.declared.insert(name.text.clone());
        self.names.types.push(TypeFacts {
            name: name.clone(),
            span: name.span.to(end),
            is_public: item.public.is_some(),
            is_always_exported,
        });
    }

    fn interface(&mut self, item: &Item, interface: &Interface) {
        self.type_parameters(&interface.type_parameters);
        self.declared_type(item, &interface.name, interface.body, true);
        for member in &interface.members {
            if let InterfaceMember::Method {
                type_parameters, ..
            } = member
            {
                self.type_parameters(type_parameters);
            }
        }
    }

    fn for_loop(&mut self, loop_: &For) {
        self.expression(&loop_.source);
        self.scoped(false, |this| {
            match &loop_.pattern {
                LoopPattern::One(pattern) => {
                    this.pattern(pattern);
                    let names = patterns::bound(pattern);
                    names.into_iter().for_each(|name| this.declare_other(name));
                }
                LoopPattern::Pair(first, second) => {
                    this.declare_other(first);
                    this.declare_other(second);
                }
            }
            visit::walk_block(this, &loop_.body);
        });
    }

    fn select(&mut self, arm: &SelectArm) {
        match arm {
            SelectArm::Receive(name, channel, body) => {
                self.expression(channel);
                self.scoped(false, |this| {
                    this.declare_other(name);
                    visit::walk_block(this, body);
                });
            }
            SelectArm::Timeout(time, body) => {
                self.expression(time);
                self.block(body);
            }
            SelectArm::Default(body) => self.block(body),
        }
    }

    fn arm(&mut self, arm: &MatchArm) {
        self.scoped(false, |this| {
            let bound = match &arm.patterns[..] {
                [only] => patterns::arm(only),
                _ => Vec::new(),
            };
            let starts: HashSet<u32> = bound.iter().map(|name| name.span.start).collect();
            for pattern in &arm.patterns {
                let mut values = Values {
                    collector: this,
                    bound: &starts,
                };
                values.expression(pattern);
            }
            for name in bound {
                this.declare_other(name);
            }
            if let Some(guard) = &arm.guard {
                this.expression(guard);
            }
            visit::walk_block(this, &arm.body);
        });
    }

    fn attempt(&mut self, attempt: &Try) {
        self.block(&attempt.body);
        if let Some(catch) = &attempt.catch {
            if let Some(ty) = &catch.ty {
                self.ty(ty);
            }
            self.scoped(false, |this| {
                if let Some(name) = &catch.name {
                    this.declare_other(name);
                }
                visit::walk_block(this, &catch.body);
            });
        }
        if let Some(finally) = &attempt.finally {
            self.block(finally);
        }
    }

    fn parallel(&mut self, parallel: &Parallel) {
        self.expression(&parallel.source);
        for value in &parallel.max_concurrent {
            self.expression(value);
        }
        self.scoped(false, |this| {
            if let Some(name) = &parallel.variable {
                this.declare_other(name);
            }
            visit::walk_block(this, &parallel.body);
        });
    }

    fn closure(&mut self, closure: &Closure) {
        let kind = BindingKind::Other;
        self.body(false, &closure.parameters, kind, &closure.body);
    }

    fn attribute_value(&mut self, value: &AttributeValue) {
        match value {
            AttributeValue::Name(name) => self.mention(name, true),
            AttributeValue::List(values) => {
                values.iter().for_each(|value| self.attribute_value(value));
            }
            AttributeValue::String(text) => {
                self.names.strings.insert(text.clone());
            }
            _ => {}
        }
    }
}

impl Visit for Collector {
    fn statement(&mut self, statement: &Statement) {
        match &statement.kind {
            StatementKind::Binding(binding) => {
                self.pattern(&binding.pattern);
                if let Some(ty) = &binding.ty {
                    self.ty(ty);
                }
                self.expression(&binding.value);
                self.declare_binding(binding, statement.span);
            }
            StatementKind::Assignment(assignment) => {
                self.expression(&assignment.value);
                self.assign(&assignment.target);
            }
            StatementKind::For(loop_) => self.for_loop(loop_),
            StatementKind::Select(select) => select.arms.iter().for_each(|arm| self.select(arm)),
            _ => visit::walk_statement(self, statement),
        }
    }

    fn item(&mut self, item: &Item) {
        for attribute in &item.attributes {
            let arguments = attribute.arguments.iter().flatten();
            arguments.for_each(|argument| self.attribute_value(&argument.value));
        }
        match &item.kind {
            ItemKind::Import(_) => {}
            ItemKind::Function(function) => self.declared_function(item, function),
            ItemKind::Tool(tool) => self.tool(item, tool),
            ItemKind::Pipeline(pipeline) => {
                self.names.declared.insert(pipeline.name.text.clone());
                if let Some(parent) = &pipeline.parent {
                    self.mention(parent, true);
                }
                if let Some(result) = &pipeline.result {
                    self.ty(result);
                }
                self.host_body(&pipeline.parameters, &pipeline.body);
            }
            ItemKind::Override(item) => self.host_body(&item.parameters, &item.body),
            ItemKind::Skill(skill) => {
                self.names.declared.insert(skill.name.text.clone());
                visit::walk_item(self, item);
            }
            ItemKind::EvalPack(pack) => self.eval_pack(pack),
            ItemKind::Struct(one) => {
                self.type_parameters(&one.type_parameters);
                self.declared_type(item, &one.name, one.body, false);
                visit::walk_item(self, item);
            }
            ItemKind::Enum(one) => {
                self.type_parameters(&one.type_parameters);
                self.declared_type(item, &one.name, one.body, false);
                visit::walk_item(self, item);
            }
            ItemKind::Type(alias) => {
                self.type_parameters(&alias.type_parameters);
                self.declared_type(item, &alias.name, alias.ty.span, true);
                visit::walk_item(self, item);
            }
            ItemKind::Interface(interface) => {
                self.interface(item, interface);
                visit::walk_item(self, item);
            }
            ItemKind::Impl(one) => {
                for (_, method) in &one.methods {
                    self.names.methods.insert(method.name.text.clone());
                    self.any_function(method, BindingKind::Other);
                }
            }
        }
    }

    fn block(&mut self, block: &Block) {
        self.scoped(false, |this| visit::walk_block(this, block));
    }

    fn expression(&mut self, expression: &Expression) {
        match &expression.kind {
            ExpressionKind::Name(name) => self.read(name, None),
            ExpressionKind::Call(call) => self.call(call),
            ExpressionKind::Closure(closure) => self.closure(closure),
            ExpressionKind::Match(item) => {
                self.expression(&item.value);
                item.arms.iter().for_each(|arm| self.arm(arm));
            }
            ExpressionKind::Try(attempt) => self.attempt(attempt),
            ExpressionKind::Parallel(parallel) => self.parallel(parallel),
            ExpressionKind::Struct(literal) => {
                self.mention(&literal.name, true);
                visit::walk_expression(self, expression);
            }
            ExpressionKind::String(text) | ExpressionKind::RawString(text) => {
                self.names.strings.insert(text.clone());
            }
            _ => visit::walk_expression(self, expression),
        }
    }

    fn ty(&mut self, ty: &Type) {
        if let TypeKind::Named(name, _) = &ty.kind {
            self.mention(name, true);
        }
        visit::walk_type(self, ty);
    }
}

/// Visits the parts of a pattern that are values.
struct Values<'a> {
    collector: &'a mut Collector,
    /// Where the names begin that the pattern binds.
    bound: &'a HashSet<u32>,
}

impl Visit for Values<'_> {
    fn expression(&mut self, expression: &Expression) {
        match &expression.kind {
            ExpressionKind::Name(name) if self.bound.contains(&name.span.start) => {}
            ExpressionKind::Postfix(_) | ExpressionKind::List(_) | ExpressionKind::Dict(_) => {
                visit::walk_expression(self, expression);
            }
            _ => self.collector.expression(expression),
        }
    }
}

fn is_registered(attributes: &[Attribute]) -> bool {
    let is_harmless = |one: &Attribute| HARMLESS.contains(&one.name.text.as_str());
    !attributes.iter().all(is_harmless)
}
