//! The one walk over a tree.
//!
//! Implement the methods for the nodes you care about and call the `walk_…` function of the
//! same node to go on below it. Everything is visited in source order.

use crate::tree::{
    Argument, Block, Entry, EvalPackEntry, Expression, ExpressionKind, Function, InterfaceMember,
    Item, ItemKind, Key, LoopPattern, Module, Parameter, Pattern, PatternKind, Segment, SelectArm,
    Statement, StatementKind, SuffixKind, Type, TypeKind,
};

/// Sees every node of a tree.
pub trait Visit {
    /// A statement.
    fn statement(&mut self, statement: &Statement) {
        walk_statement(self, statement);
    }

    /// A declaration.
    fn item(&mut self, item: &Item) {
        walk_item(self, item);
    }

    /// A function with a name: declared, or a method of an `impl`.
    fn function(&mut self, function: &Function) {
        walk_function(self, function);
    }

    /// A block.
    fn block(&mut self, block: &Block) {
        walk_block(self, block);
    }

    /// An expression.
    fn expression(&mut self, expression: &Expression) {
        walk_expression(self, expression);
    }

    /// What a `let`, a `var` or a `for` binds.
    fn pattern(&mut self, pattern: &Pattern) {
        walk_pattern(self, pattern);
    }

    /// A parameter.
    fn parameter(&mut self, parameter: &Parameter) {
        walk_parameter(self, parameter);
    }

    /// A type.
    fn ty(&mut self, ty: &Type) {
        walk_type(self, ty);
    }
}

/// Visits everything in a file.
pub fn walk_module<V: Visit + ?Sized>(visitor: &mut V, module: &Module) {
    for statement in &module.statements {
        visitor.statement(statement);
    }
}

/// Visits what is in a block.
pub fn walk_block<V: Visit + ?Sized>(visitor: &mut V, block: &Block) {
    for statement in &block.statements {
        visitor.statement(statement);
    }
}

/// Visits what is in a statement.
pub fn walk_statement<V: Visit + ?Sized>(visitor: &mut V, statement: &Statement) {
    match &statement.kind {
        StatementKind::Expression(value)
        | StatementKind::Throw(value)
        | StatementKind::Emit(value) => visitor.expression(value),
        StatementKind::Item(item) => visitor.item(item),
        StatementKind::Binding(binding) => {
            visitor.pattern(&binding.pattern);
            each(&binding.ty, |ty| visitor.ty(ty));
            visitor.expression(&binding.value);
        }
        StatementKind::Assignment(assignment) => {
            visitor.expression(&assignment.target);
            visitor.expression(&assignment.value);
        }
        StatementKind::For(loop_) => {
            if let LoopPattern::One(pattern) = &loop_.pattern {
                visitor.pattern(pattern);
            }
            visitor.expression(&loop_.source);
            visitor.block(&loop_.body);
        }
        StatementKind::While(loop_) => {
            visitor.expression(&loop_.condition);
            visitor.block(&loop_.body);
        }
        StatementKind::Select(select) => walk_select(visitor, &select.arms),
        StatementKind::Guard(guard) => {
            visitor.expression(&guard.condition);
            visitor.block(&guard.otherwise);
        }
        StatementKind::Require(require) => {
            visitor.expression(&require.condition);
            each(&require.message, |message| visitor.expression(message));
        }
        StatementKind::Mutex(block) | StatementKind::Defer(block) => visitor.block(block),
        StatementKind::Return(value) | StatementKind::Yield(value) => {
            each(value, |value| visitor.expression(value));
        }
        StatementKind::Break | StatementKind::Continue => {}
    }
}

fn walk_select<V: Visit + ?Sized>(visitor: &mut V, arms: &[SelectArm]) {
    for arm in arms {
        match arm {
            SelectArm::Receive(_, value, block) | SelectArm::Timeout(value, block) => {
                visitor.expression(value);
                visitor.block(block);
            }
            SelectArm::Default(block) => visitor.block(block),
        }
    }
}

/// Visits what is in a declaration.
pub fn walk_item<V: Visit + ?Sized>(visitor: &mut V, item: &Item) {
    match &item.kind {
        ItemKind::Import(_) => {}
        ItemKind::Pipeline(pipeline) => {
            each(&pipeline.result, |ty| visitor.ty(ty));
            visitor.block(&pipeline.body);
        }
        ItemKind::Override(item) => visitor.block(&item.body),
        ItemKind::Function(function) => visitor.function(function),
        ItemKind::Tool(tool) => {
            each(&tool.parameters, |parameter| visitor.parameter(parameter));
            each(&tool.result, |ty| visitor.ty(ty));
            visitor.block(&tool.body);
        }
        ItemKind::Skill(skill) => each(&skill.fields, |field| visitor.expression(&field.value)),
        ItemKind::EvalPack(pack) => each(&pack.entries, |entry| match entry {
            EvalPackEntry::Field(_, value) => visitor.expression(value),
            EvalPackEntry::Summarize(block) => visitor.block(block),
            EvalPackEntry::Statement(statement) => visitor.statement(statement),
        }),
        ItemKind::Struct(item) => {
            let types = item.fields.iter().filter_map(|field| field.ty.as_ref());
            types.for_each(|ty| visitor.ty(ty));
        }
        ItemKind::Enum(item) => {
            let parameters = item.variants.iter().flat_map(|variant| &variant.parameters);
            parameters.flatten().for_each(|one| visitor.parameter(one));
        }
        ItemKind::Type(alias) => visitor.ty(&alias.ty),
        ItemKind::Interface(interface) => walk_interface(visitor, &interface.members),
        ItemKind::Impl(item) => each(&item.methods, |(_, method)| visitor.function(method)),
    }
}

fn walk_interface<V: Visit + ?Sized>(visitor: &mut V, members: &[InterfaceMember]) {
    for member in members {
        match member {
            InterfaceMember::Type { ty, .. } => each(ty, |ty| visitor.ty(ty)),
            InterfaceMember::Method {
                parameters, result, ..
            } => {
                each(parameters, |parameter| visitor.parameter(parameter));
                each(result, |ty| visitor.ty(ty));
            }
        }
    }
}

/// Visits what is in a function.
pub fn walk_function<V: Visit + ?Sized>(visitor: &mut V, function: &Function) {
    each(&function.parameters, |one| visitor.parameter(one));
    each(&function.result, |ty| visitor.ty(ty));
    visitor.block(&function.body);
}

/// Visits what is in a parameter.
pub fn walk_parameter<V: Visit + ?Sized>(visitor: &mut V, parameter: &Parameter) {
    each(&parameter.ty, |ty| visitor.ty(ty));
    each(&parameter.default, |value| visitor.expression(value));
}

/// Visits what is in a pattern.
pub fn walk_pattern<V: Visit + ?Sized>(visitor: &mut V, pattern: &Pattern) {
    match &pattern.kind {
        PatternKind::Name(_) => {}
        PatternKind::Dict { fields, .. } => {
            let defaults = fields.iter().filter_map(|field| field.default.as_ref());
            defaults.for_each(|value| visitor.expression(value));
        }
        PatternKind::List { elements, .. } => {
            let defaults = elements.iter().filter_map(|one| one.default.as_ref());
            defaults.for_each(|value| visitor.expression(value));
        }
    }
}

/// Visits what is in an expression.
pub fn walk_expression<V: Visit + ?Sized>(visitor: &mut V, expression: &Expression) {
    match &expression.kind {
        ExpressionKind::Nil
        | ExpressionKind::Bool(_)
        | ExpressionKind::Int(_)
        | ExpressionKind::Float(_)
        | ExpressionKind::Duration(_)
        | ExpressionKind::String(_)
        | ExpressionKind::RawString(_)
        | ExpressionKind::Name(_) => {}
        ExpressionKind::Interpolated(segments) => each(segments, |segment| {
            if let Segment::Expression(value) = segment {
                visitor.expression(value);
            }
        }),
        ExpressionKind::List(elements) => walk_arguments(visitor, elements),
        ExpressionKind::Dict(entries) => walk_entries(visitor, entries),
        ExpressionKind::Struct(literal) => walk_entries(visitor, &literal.entries),
        ExpressionKind::Closure(closure) => {
            each(&closure.parameters, |one| visitor.parameter(one));
            visitor.block(&closure.body);
        }
        ExpressionKind::Call(call) => {
            each(&call.type_arguments, |ty| visitor.ty(ty));
            walk_arguments(visitor, &call.arguments);
        }
        ExpressionKind::Postfix(postfix) => {
            visitor.expression(&postfix.base);
            each(&postfix.suffixes, |suffix| {
                walk_suffix(visitor, &suffix.kind);
            });
        }
        ExpressionKind::Unary(_, value) | ExpressionKind::TryStar(value) => {
            visitor.expression(value);
        }
        ExpressionKind::Binary(binary) => {
            visitor.expression(&binary.first);
            each(&binary.rest, |operand| visitor.expression(&operand.value));
        }
        ExpressionKind::Range(range) => {
            visitor.expression(&range.start);
            visitor.expression(&range.end);
        }
        ExpressionKind::Ternary(ternary) => {
            visitor.expression(&ternary.condition);
            visitor.expression(&ternary.then);
            visitor.expression(&ternary.otherwise);
        }
        _ => walk_block_expression(visitor, &expression.kind),
    }
}

/// The expressions that hold blocks.
fn walk_block_expression<V: Visit + ?Sized>(visitor: &mut V, kind: &ExpressionKind) {
    match kind {
        ExpressionKind::If(item) => {
            for (condition, block) in &item.branches {
                visitor.expression(condition);
                visitor.block(block);
            }
            each(&item.otherwise, |block| visitor.block(block));
        }
        ExpressionKind::Match(item) => {
            visitor.expression(&item.value);
            for arm in &item.arms {
                each(&arm.patterns, |pattern| visitor.expression(pattern));
                each(&arm.guard, |guard| visitor.expression(guard));
                visitor.block(&arm.body);
            }
        }
        ExpressionKind::Try(item) => {
            visitor.block(&item.body);
            if let Some(catch) = &item.catch {
                each(&catch.ty, |ty| visitor.ty(ty));
                visitor.block(&catch.body);
            }
            each(&item.finally, |block| visitor.block(block));
        }
        ExpressionKind::Retry(item) => {
            visitor.expression(&item.count);
            visitor.block(&item.body);
        }
        ExpressionKind::Parallel(item) => {
            visitor.expression(&item.source);
            each(&item.max_concurrent, |value| visitor.expression(value));
            visitor.block(&item.body);
        }
        ExpressionKind::Spawn(block) => visitor.block(block),
        ExpressionKind::Deadline(item) => {
            visitor.expression(&item.time);
            visitor.block(&item.body);
        }
        _ => unreachable!("the others are walked by their caller"),
    }
}

/// Visits what is in a suffix.
pub fn walk_suffix<V: Visit + ?Sized>(visitor: &mut V, suffix: &SuffixKind) {
    match suffix {
        SuffixKind::Member { .. } | SuffixKind::Try => {}
        SuffixKind::Method { arguments, .. } => walk_arguments(visitor, arguments),
        SuffixKind::Index { index, .. } => visitor.expression(index),
        SuffixKind::Slice { start, end } => {
            each(start, |start| visitor.expression(start));
            each(end, |end| visitor.expression(end));
        }
    }
}

fn walk_arguments<V: Visit + ?Sized>(visitor: &mut V, arguments: &[Argument]) {
    for argument in arguments {
        visitor.expression(argument.expression());
    }
}

fn walk_entries<V: Visit + ?Sized>(visitor: &mut V, entries: &[Entry]) {
    for entry in entries {
        match entry {
            Entry::Field(key, value) => {
                if let Key::Computed(key) = key {
                    visitor.expression(key);
                }
                visitor.expression(value);
            }
            Entry::Spread(value) => visitor.expression(value),
        }
    }
}

/// Visits what is in a type.
pub fn walk_type<V: Visit + ?Sized>(visitor: &mut V, ty: &Type) {
    match &ty.kind {
        TypeKind::Named(_, types) | TypeKind::Union(types) => each(types, |ty| visitor.ty(ty)),
        TypeKind::List(element) => visitor.ty(element),
        TypeKind::Shape(fields) => each(fields, |field| visitor.ty(&field.ty)),
        TypeKind::Function(parameters, result) => {
            each(parameters, |ty| visitor.ty(ty));
            visitor.ty(result);
        }
        TypeKind::String(_) | TypeKind::Int(_) | TypeKind::Nil | TypeKind::Bool(_) => {}
    }
}

fn each<'a, T: 'a>(nodes: impl IntoIterator<Item = &'a T>, visit: impl FnMut(&'a T)) {
    nodes.into_iter().for_each(visit);
}
