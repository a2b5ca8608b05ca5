//! Through the tree, opening and closing scopes.

use std::collections::{HashMap, HashSet};

use harn_syntax::TokenKind;
use harn_syntax::tree::{
    Assignment, BinaryOp, Binding, Block, EvalPack, EvalPackEntry, EvalPackName, Expression,
    ExpressionKind, For, Function, Item, ItemKind, LoopPattern, Match, Module, Name, Parallel,
    Parameter, Pattern, PatternKind, Pipeline, SelectArm, Statement, StatementKind, SuffixKind,
    Tool, Try,
};
use harn_syntax::visit::{self, Visit};
use smol_str::SmolStr;

use super::names::{Kind, Names};
use super::patterns::{Part, parts};
use super::placeholder::placeholders;
use super::{Declared, Earlier, FrameId, FrameKind, Place, Resolved, Role, Use};
use crate::builtins;
use crate::imported::Imported;

/// What every program starts with.
pub const GLOBALS: [&str; 8] = [
    "argv",
    "pi",
    "e",
    "stream",
    "event_log",
    "workflow",
    "mcp",
    "skills",
];

/// What a name is used for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Purpose {
    Read,
    Call,
    Assign,
}

pub(super) struct Walk {
    names: Names,
    enums: HashSet<SmolStr>,
    uses: HashMap<u32, Use>,
    declarations: HashMap<u32, Declared>,
    frames_by_start: HashMap<u32, FrameId>,
    role: Role,
}

impl Walk {
    pub(super) fn new(
        module: &Module,
        imported: &Imported,
        role: Role,
        earlier: &[Earlier],
    ) -> Self {
        let mut names = Names::new(role);
        for Earlier { name, is_mutable } in earlier {
            let place = names.new_top(name, true);
            names.bind_to(name, Kind::Earlier(*is_mutable), place);
        }
        for name in &imported.names {
            let place = names.new_top(name, true);
            names.bind_to(name, Kind::Let, place);
        }
        Self {
            names,
            enums: enums(module, imported),
            uses: HashMap::new(),
            declarations: HashMap::new(),
            frames_by_start: HashMap::new(),
            role,
        }
    }

    pub(super) fn run(mut self, module: &Module) -> Resolved {
        self.announce(&module.statements);
        let pipelines: Vec<&Pipeline> = items(&module.statements)
            .filter_map(|item| match &item.kind {
                ItemKind::Pipeline(pipeline) => Some(pipeline),
                _ => None,
            })
            .collect();
        let is_script = match self.role {
            Role::Entry => pipelines.is_empty(),
            Role::Imported => false,
            Role::Session => true,
        };
        match is_script {
            true => self.statements(&module.statements),
            false => self.prepared(module, &pipelines),
        }
        Resolved {
            frames: self.names.frames,
            top: self.names.top,
            uses: self.uses,
            declarations: self.declarations,
            frames_by_start: self.frames_by_start,
        }
    }

    /// A file that is not a script: first its variables, then its declarations, and nothing
    /// else is executed.
    fn prepared(&mut self, module: &Module, pipelines: &[&Pipeline]) {
        let is_binding = |one: &&Statement| matches!(one.kind, StatementKind::Binding(_));
        let bindings = module.statements.iter().filter(is_binding);
        bindings.for_each(|binding| self.statement(binding));
        for item in items(&module.statements) {
            if !matches!(item.kind, ItemKind::Pipeline(_)) {
                self.item(item);
            }
        }
        self.pipelines(pipelines);
    }

    fn statements(&mut self, statements: &[Statement]) {
        for statement in statements {
            self.statement(statement);
        }
    }

    /// Makes the functions of a block known before it begins.
    fn announce(&mut self, statements: &[Statement]) {
        for item in items(statements) {
            if let ItemKind::Function(function) = &item.kind
                && self.names.in_this_scope(&function.name.text).is_none()
            {
                self.names.bind(&function.name.text, Kind::Function);
            }
        }
    }

    /// The statements of a block, in the scope that is open.
    fn body(&mut self, block: &Block) {
        self.announce(&block.statements);
        self.statements(&block.statements);
    }

    fn declare(&mut self, name: &Name, kind: Kind) {
        let declared = match name.is_discard() {
            true => Declared::Nowhere,
            false => self.names.declare(&name.text, kind),
        };
        self.declarations.insert(name.span.start, declared);
    }

    fn use_name(&mut self, name: &Name, purpose: Purpose) {
        if self.uses.contains_key(&name.span.start) {
            return; // The `_` of a pipe.
        }
        let mut places = Vec::new();
        let mut immutable = false;
        let mut is_certain = false;
        while let Some(entry) = self.names.visible(&name.text, places.len()) {
            if places.is_empty() {
                immutable = !entry.is_mutable;
            }
            let is_assigned = purpose == Purpose::Assign;
            places.push(self.names.reach(entry, &name.text, is_assigned));
            let is_callable = purpose != Purpose::Call || entry.is_function;
            is_certain = !entry.may_be_empty && is_callable;
            if is_certain || is_assigned {
                break;
            }
        }
        if !is_certain && purpose != Purpose::Assign {
            places.extend(provided(&name.text));
        }
        let used = Use { places, immutable };
        self.uses.insert(name.span.start, used);
    }

    /// Walks a body that runs on its own.
    fn frame(&mut self, kind: FrameKind, start: u32, walk: impl FnOnce(&mut Self)) {
        let id = self.names.enter_frame(kind, start);
        self.frames_by_start.insert(start, id);
        walk(self);
        self.names.leave_frame();
    }

    fn scope(&mut self, walk: impl FnOnce(&mut Self)) {
        self.names.open();
        walk(self);
        self.names.close();
    }

    /// A default sees the parameters before its own. Its variables are none of the slots of
    /// parameters, where arguments may be waiting.
    fn parameters(&mut self, parameters: &[Parameter]) {
        let slots: Vec<_> = parameters.iter().map(|_| self.names.reserve()).collect();
        for (parameter, slot) in parameters.iter().zip(slots) {
            let default = parameter.default.iter();
            default.for_each(|value| self.expression(value));
            self.declare_in(slot, &parameter.name, Kind::Let);
        }
    }

    fn callable(&mut self, kind: FrameKind, parameters: &[Parameter], body: &Block) {
        self.frame(kind, body.span.start, |walk| {
            walk.parameters(parameters);
            walk.body(body);
        });
    }

    fn tool(&mut self, tool: &Tool) {
        self.callable(FrameKind::Closure, &tool.parameters, &tool.body);
        self.declare(&tool.name, Kind::Let);
    }

    /// Pipelines that extend each other share a frame: the body of one goes on where that of
    /// its parent ends.
    fn pipelines(&mut self, pipelines: &[&Pipeline]) {
        for parameter in pipelines.iter().flat_map(|pipeline| &pipeline.parameters) {
            if self.names.visible(&parameter.text, 0).is_none() && !parameter.is_discard() {
                self.names.bind(&parameter.text, Kind::Offered);
            }
        }
        let by_name: HashMap<&str, usize> = pipelines
            .iter()
            .enumerate()
            .rev()
            .map(|(at, pipeline)| (pipeline.name.text.as_str(), at))
            .collect();
        let mut children: Vec<Vec<usize>> = vec![Vec::new(); pipelines.len()];
        let mut roots = Vec::new();
        for (at, pipeline) in pipelines.iter().enumerate() {
            let parent = pipeline.parent.as_ref();
            match parent.and_then(|parent| by_name.get(parent.text.as_str())) {
                Some(parent) => children[*parent].push(at),
                None => roots.push(at),
            }
        }
        let mut seen = vec![false; pipelines.len()];
        // In a circle there is no first one, so any will do.
        for root in roots.into_iter().chain(0..pipelines.len()) {
            if !seen[root] {
                let start = pipelines[root].body.span.start;
                let id = self.names.enter_frame(FrameKind::Pipeline, start);
                self.family(root, id, pipelines, &children, &mut seen);
                self.names.leave_frame();
            }
        }
    }

    /// Goes through a pipeline and all that extend it, without recursion: there may be many.
    fn family(
        &mut self,
        root: usize,
        frame: FrameId,
        pipelines: &[&Pipeline],
        children: &[Vec<usize>],
        seen: &mut [bool],
    ) {
        let mut steps = vec![Some(root)];
        while let Some(step) = steps.pop() {
            let Some(at) = step else {
                self.names.close();
                continue;
            };
            if std::mem::replace(&mut seen[at], true) {
                continue;
            }
            let body = &pipelines[at].body;
            self.frames_by_start.insert(body.span.start, frame);
            self.names.open_continued();
            self.body(body);
            steps.push(None);
            steps.extend(children[at].iter().rev().map(|child| Some(*child)));
        }
    }

    fn bind_pattern(&mut self, pattern: &Pattern, kind: Kind) {
        match &pattern.kind {
            PatternKind::Name(name) => self.declare(name, kind),
            PatternKind::Dict { fields, rest } => {
                for field in fields {
                    self.bind_part(field.bound(), field.default.as_ref(), kind);
                }
                rest.iter().for_each(|rest| self.declare(rest, kind));
            }
            PatternKind::List { elements, rest } => {
                for element in elements {
                    self.bind_part(&element.name, element.default.as_ref(), kind);
                }
                rest.iter().for_each(|rest| self.declare(rest, kind));
            }
        }
    }

    /// A default sees the names before its own.
    fn bind_part(&mut self, name: &Name, default: Option<&Expression>, kind: Kind) {
        match default {
            Some(value) => self.bind_value(name, value, kind),
            None => self.declare(name, kind),
        }
    }

    fn binding(&mut self, binding: &Binding) {
        let kind = if binding.mutable {
            Kind::Var
        } else {
            Kind::Let
        };
        match &binding.pattern.kind {
            PatternKind::Name(name) => self.bind_value(name, &binding.value, kind),
            _ => {
                self.expression(&binding.value);
                self.bind_pattern(&binding.pattern, kind);
            }
        }
    }

    /// Binds a name to a value, in which the name is not bound yet.
    fn bind_value(&mut self, name: &Name, value: &Expression, kind: Kind) {
        let slot = self.names.reserve();
        self.expression(value);
        self.declare_in(slot, name, kind);
    }

    /// Binds a name to the slot that was set aside for it.
    fn declare_in(&mut self, slot: Option<u32>, name: &Name, kind: Kind) {
        let declared = match name.is_discard() {
            true => Declared::Nowhere,
            false => self.names.declare_in(slot, &name.text, kind),
        };
        self.declarations.insert(name.span.start, declared);
    }

    fn assignment(&mut self, assignment: &Assignment) {
        match &assignment.target.kind {
            ExpressionKind::Name(name) => self.use_name(name, Purpose::Assign),
            ExpressionKind::Postfix(postfix) => {
                match &postfix.base.kind {
                    ExpressionKind::Name(root) => self.use_name(root, Purpose::Assign),
                    _ => self.expression(&postfix.base),
                }
                let suffixes = postfix.suffixes.iter();
                suffixes.for_each(|suffix| visit::walk_suffix(self, &suffix.kind));
            }
            _ => self.expression(&assignment.target),
        }
        self.expression(&assignment.value);
    }

    fn for_loop(&mut self, item: &For) {
        self.expression(&item.source);
        self.scope(|walk| {
            match &item.pattern {
                LoopPattern::One(pattern) => walk.bind_pattern(pattern, Kind::Var),
                LoopPattern::Pair(first, second) => {
                    walk.declare(first, Kind::Var);
                    walk.declare(second, Kind::Var);
                }
            }
            walk.body(&item.body);
        });
    }

    fn select_arm(&mut self, arm: &SelectArm) {
        match arm {
            SelectArm::Receive(name, channel, body) => {
                self.expression(channel);
                self.scope(|walk| {
                    walk.declare(name, Kind::Let);
                    walk.block(body);
                });
            }
            SelectArm::Timeout(time, body) => {
                self.expression(time);
                self.block(body);
            }
            SelectArm::Default(body) => self.block(body),
        }
    }

    fn match_arms(&mut self, item: &Match) {
        self.expression(&item.value);
        for arm in &item.arms {
            self.scope(|walk| {
                match arm.patterns.as_slice() {
                    [one] => walk.match_pattern(one),
                    several => several.iter().for_each(|one| walk.expression(one)),
                }
                arm.guard.iter().for_each(|guard| walk.expression(guard));
                walk.block(&arm.body);
            });
        }
    }

    fn match_pattern(&mut self, pattern: &Expression) {
        let parts = parts(pattern, |name| self.enums.contains(name));
        for part in parts {
            match part {
                Part::Binds(name) => self.declare(name, Kind::Let),
                Part::Compares(value) => self.expression(value),
            }
        }
    }

    fn try_blocks(&mut self, item: &Try) {
        self.block(&item.body);
        if let Some(catch) = &item.catch {
            self.scope(|walk| {
                let name = catch.name.iter();
                name.for_each(|name| walk.declare(name, Kind::Let));
                walk.block(&catch.body);
            });
        }
        item.finally.iter().for_each(|body| self.block(body));
    }

    fn parallel(&mut self, item: &Parallel) {
        self.expression(&item.source);
        let limits = item.max_concurrent.iter();
        limits.for_each(|limit| self.expression(limit));
        self.frame(FrameKind::Task, item.body.span.start, |walk| {
            let variable = item.variable.iter();
            variable.for_each(|name| walk.declare(name, Kind::Let));
            walk.body(&item.body);
        });
    }

    /// Where it runs at once, its fields are variables of what it does.
    fn eval_pack(&mut self, pack: &EvalPack) {
        let fields = pack.entries.iter().filter_map(|entry| match entry {
            EvalPackEntry::Field(name, value) => Some((name, value)),
            EvalPackEntry::Summarize(_) | EvalPackEntry::Statement(_) => None,
        });
        let fields: Vec<_> = fields.collect();
        fields.iter().for_each(|(_, value)| self.expression(value));
        match &pack.name {
            EvalPackName::Name(name, _) => self.declare(name, Kind::Let),
            EvalPackName::Id(id) => {
                let declared = self.names.declare(&name_of_pack(&id.text), Kind::Let);
                self.declarations.insert(id.span.start, declared);
            }
        }
        self.scope(|walk| {
            for (given, at) in given_fields(pack) {
                let place = walk.names.bind(&SmolStr::new_static(given), Kind::Let);
                walk.declarations.insert(at, Declared::In(place));
            }
            for (name, _) in fields {
                let place = walk.names.bind(&name.text, Kind::Let);
                walk.declarations
                    .insert(name.span.start, Declared::In(place));
            }
            for entry in &pack.entries {
                match entry {
                    EvalPackEntry::Field(..) => {}
                    EvalPackEntry::Summarize(block) => walk.block(block),
                    EvalPackEntry::Statement(statement) => walk.statement(statement),
                }
            }
        });
    }

    /// `E.V` is not a use of a variable `E`, if that is an enum.
    fn is_variant(&self, expression: &Expression) -> bool {
        let ExpressionKind::Postfix(postfix) = &expression.kind else {
            return false;
        };
        let is_member = matches!(
            postfix.suffixes[0].kind,
            SuffixKind::Member { .. } | SuffixKind::Method { .. }
        );
        match &postfix.base.kind {
            ExpressionKind::Name(name) => is_member && self.enums.contains(&name.text),
            _ => false,
        }
    }
}

impl Visit for Walk {
    fn statement(&mut self, statement: &Statement) {
        match &statement.kind {
            StatementKind::Binding(binding) => self.binding(binding),
            StatementKind::Assignment(assignment) => self.assignment(assignment),
            StatementKind::For(item) => self.for_loop(item),
            StatementKind::Defer(_) => {
                self.names.keep_slots();
                visit::walk_statement(self, statement);
            }
            StatementKind::Select(select) => {
                select.arms.iter().for_each(|arm| self.select_arm(arm));
            }
            _ => visit::walk_statement(self, statement),
        }
    }

    fn item(&mut self, item: &Item) {
        match &item.kind {
            ItemKind::Function(function) => {
                self.function(function);
                self.declare(&function.name, Kind::Function);
            }
            ItemKind::Tool(tool) => self.tool(tool),
            ItemKind::Skill(skill) => {
                visit::walk_item(self, item);
                self.declare(&skill.name, Kind::Let);
            }
            ItemKind::Struct(item) => self.declare(&item.name, Kind::Let),
            ItemKind::EvalPack(pack) => self.eval_pack(pack),
            ItemKind::Impl(item) => {
                let methods = item.methods.iter();
                methods.for_each(|(_, method)| self.function(method));
            }
            // An override never runs, and the others bind nothing.
            ItemKind::Import(_)
            | ItemKind::Pipeline(_)
            | ItemKind::Override(_)
            | ItemKind::Enum(_)
            | ItemKind::Type(_)
            | ItemKind::Interface(_) => {}
        }
    }

    fn function(&mut self, function: &Function) {
        self.callable(FrameKind::Function, &function.parameters, &function.body);
    }

    fn block(&mut self, block: &Block) {
        self.scope(|walk| walk.body(block));
    }

    fn expression(&mut self, expression: &Expression) {
        match &expression.kind {
            ExpressionKind::Name(name) => self.use_name(name, Purpose::Read),
            ExpressionKind::Call(call) => {
                self.use_name(&call.name, Purpose::Call);
                visit::walk_expression(self, expression);
            }
            ExpressionKind::Closure(closure) => {
                self.callable(FrameKind::Closure, &closure.parameters, &closure.body);
            }
            ExpressionKind::Spawn(body) => {
                self.frame(FrameKind::Task, body.span.start, |walk| walk.body(body));
            }
            ExpressionKind::Parallel(item) => self.parallel(item),
            ExpressionKind::Match(item) => self.match_arms(item),
            ExpressionKind::Try(item) => self.try_blocks(item),
            ExpressionKind::Binary(binary) if binary.rest[0].op == BinaryOp::Pipe => {
                self.expression(&binary.first);
                for operand in &binary.rest {
                    let found = placeholders(&operand.value);
                    if !found.is_empty() {
                        let places = vec![Place::Local(self.names.fresh_slot())];
                        for name in found {
                            let used = Use {
                                places: places.clone(),
                                immutable: true,
                            };
                            self.uses.insert(name.span.start, used);
                        }
                    }
                    self.expression(&operand.value);
                }
            }
            ExpressionKind::Postfix(postfix) if self.is_variant(expression) => {
                let suffixes = postfix.suffixes.iter();
                suffixes.for_each(|suffix| visit::walk_suffix(self, &suffix.kind));
            }
            _ => visit::walk_expression(self, expression),
        }
    }
}

/// What the language provides under a name.
fn provided(name: &str) -> Option<Place> {
    let global = GLOBALS.iter().find(|global| **global == name);
    let builtin = || builtins::find_any(name).map(Place::Builtin);
    global.map(|global| Place::Global(global)).or_else(builtin)
}

/// The variables that every eval pack has, each with where it counts as bound: at the braces.
pub(super) fn given_fields(pack: &EvalPack) -> [(&'static str, u32); 2] {
    let last = pack.body.end.saturating_sub(1);
    [("id", pack.body.start), ("version", last)]
}

/// The name that an eval pack is bound to if only its id is written.
pub(super) fn name_of_pack(id: &str) -> SmolStr {
    let kept = |character: char| character.is_ascii_alphanumeric() || character == '_';
    let words = id.split(|character| !kept(character));
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let name = words.join("_").to_ascii_lowercase();
    let name = name.trim_matches('_');
    let is_name = !name.starts_with(|first: char| first.is_ascii_digit());
    let tokens = harn_syntax::lex(name).tokens;
    let is_identifier = tokens
        .first()
        .is_some_and(|token| token.kind == TokenKind::Identifier);
    match is_name && is_identifier {
        true => name.into(),
        false => format!("eval_pack_{name}").into(),
    }
}

fn items(statements: &[Statement]) -> impl Iterator<Item = &Item> {
    statements
        .iter()
        .filter_map(|statement| match &statement.kind {
            StatementKind::Item(item) => Some(&**item),
            _ => None,
        })
}

/// The enums of a file, wherever they are declared, and those it imports.
fn enums(module: &Module, imported: &Imported) -> HashSet<SmolStr> {
    struct Enums(HashSet<SmolStr>);
    impl Visit for Enums {
        fn item(&mut self, item: &Item) {
            if let ItemKind::Enum(item) = &item.kind {
                self.0.insert(item.name.text.clone());
            }
            visit::walk_item(self, item);
        }
    }
    let mut enums = Enums(HashSet::from([SmolStr::new_static("Result")]));
    visit::walk_module(&mut enums, module);
    imported.types.iter().for_each(|item| enums.item(item));
    enums.0
}
