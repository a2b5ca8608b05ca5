//! Files and what they declare.

use harn_check::resolve::{Declared, FrameId, Place, Role};
use harn_syntax::tree::{
    Function, Impl, Item, ItemKind, Pipeline, Statement, StatementKind, StructItem,
};
use hashbrown::HashMap;
use smol_str::SmolStr;

use super::exits::Exit;
use super::function::Spec;
use super::name::Target;
use super::search;
use super::top::only_declares;
use super::unit::Compiler;
use super::{CompileError, Compiled, Entry};
use crate::code::{FunctionKind, Op};

/// What the frame of an entry is called in traces.
const ENTRY_NAME: SmolStr = SmolStr::new_static("pipeline");

impl<'a> Compiler<'a> {
    /// Compiles the file.
    pub(super) fn run(mut self, entry: Entry<'_>) -> Result<Compiled, CompileError> {
        let module = self.module;
        let pipelines: Vec<&Pipeline> = items(&module.statements)
            .filter_map(|item| match &item.kind {
                ItemKind::Pipeline(pipeline) => Some(pipeline),
                _ => None,
            })
            .collect();
        self.begin_main();
        let is_script = match self.unit.role {
            Role::Entry => pipelines.is_empty(),
            Role::Imported => false,
            Role::Session => true,
        };
        let steps = match is_script {
            true => module.statements.iter().collect(),
            false => prepared(&module.statements, self.unit.role),
        };
        let steps = self.moments(steps);
        self.body.gives_nothing = is_script && self.unit.role == Role::Entry;
        let has_defers = is_script && search::defers(&module.statements);
        let mut has_entry = false;
        self.with_defers(0, has_defers, |compiler| {
            if compiler.unit.role == Role::Session {
                return compiler.steps_of_session(&steps);
            }
            let span = (compiler.unit.role == Role::Imported).then_some("import");
            let name = compiler.unit.source.path.clone();
            compiler.with_span(0, span, &name, |compiler| {
                compiler.steps_of_main(&steps, is_script);
            });
            if !is_script && compiler.unit.role == Role::Entry {
                has_entry = compiler.pipeline(&pipelines, entry).is_some();
            }
            if !has_entry {
                compiler.leave(0, Exit::Return, None);
            }
        });
        if !has_entry && matches!(entry, Entry::Pipeline(_)) {
            self.fail("there is no such pipeline");
        }
        let main = self.finish(Some(ENTRY_NAME), FunctionKind::Plain, Default::default());
        self.failure()?;
        Ok(Compiled { main: main.into() })
    }

    fn begin_main(&mut self) {
        self.body.frame = FrameId(0);
        let slots = self.resolved.frames.first().map_or(0, |frame| frame.slots);
        self.variables(slots);
        self.body.top_base = self.variables(self.tops.registers);
        let names = self.resolved.top.iter();
        let known = names.filter(|top| top.is_imported).map(|top| &top.name);
        self.visible.extend(known.cloned());
        for item in items(&self.module.statements) {
            if let ItemKind::Function(function) = &item.kind {
                self.visible.push(function.name.text.clone());
            }
        }
    }

    /// When each step of the file runs, and from when on its functions are there.
    fn moments(&mut self, steps: Vec<&'a Statement>) -> Vec<(&'a Statement, u32)> {
        let mut moments = Vec::new();
        for statement in steps {
            if only_declares(statement) {
                if let StatementKind::Item(item) = &statement.kind
                    && let ItemKind::Function(function) = &item.kind
                    && let Declared::In(Place::Top(top)) = self.declared_name(&function.name)
                {
                    self.tops.function(top);
                }
                moments.push((statement, self.tops.moment));
            } else {
                moments.push((statement, self.tops.moment + 1));
                self.tops.moment += 2;
            }
        }
        moments
    }

    fn steps_of_main(&mut self, steps: &[(&Statement, u32)], is_script: bool) {
        for (statement, moment) in steps {
            self.tops.moment = *moment;
            match &statement.kind {
                StatementKind::Item(item) => match &item.kind {
                    ItemKind::EvalPack(pack) => self.eval_pack(pack, is_script),
                    _ => self.item(item),
                },
                _ => self.statement(statement),
            }
        }
        steps.iter().for_each(|(step, _)| self.keep_permit(step));
        self.tops.moment = u32::MAX;
    }

    /// What is typed gives the value of its last statement.
    fn steps_of_session(&mut self, steps: &[(&Statement, u32)]) {
        let Some(((last, moment), before)) = steps.split_last() else {
            return self.leave(0, Exit::Return, None);
        };
        self.steps_of_main(before, true);
        match &last.kind {
            StatementKind::Expression(_) | StatementKind::Select(_) => {
                self.tops.moment = *moment;
                self.result(last);
            }
            _ => {
                self.steps_of_main(std::slice::from_ref(&(*last, *moment)), true);
                self.leave(0, Exit::Return, None);
            }
        }
    }

    /// Makes the closure of the pipeline that is the entry, and returns it, if there is one.
    fn pipeline(&mut self, pipelines: &[&Pipeline], entry: Entry<'_>) -> Option<()> {
        let mut by_name: HashMap<&str, &Pipeline> = HashMap::new();
        for pipeline in pipelines {
            by_name
                .entry(pipeline.name.text.as_str())
                .or_insert(pipeline);
        }
        let chosen = match entry {
            Entry::Default => by_name.get("default").or(pipelines.first()).copied()?,
            Entry::Pipeline(name) => by_name.get(name).copied()?,
        };
        let mut chain = vec![chosen];
        let mut parent = chosen.parent.as_ref();
        while let Some(next) = parent.and_then(|name| by_name.get(name.text.as_str())) {
            if chain.len() > pipelines.len() || std::ptr::eq(*next, chosen) {
                break; // They extend each other in a circle.
            }
            chain.push(next);
            parent = next.parent.as_ref();
        }
        let blocks = chain.iter().rev().map(|pipeline| &pipeline.body).collect();
        let result = self.temporary();
        self.make_closure(
            Spec {
                name: Some(ENTRY_NAME),
                kind: FunctionKind::Plain,
                parameters: Vec::new(),
                blocks,
                gives_value: true,
                own: None,
                is_tool: false,
                span: Some("pipeline"),
            },
            result,
        );
        self.op(0, Op::Return, result, 0, 0);
        Some(())
    }

    /// A declaration where control passes it.
    pub(super) fn item(&mut self, item: &Item) {
        let mark = self.mark();
        match &item.kind {
            ItemKind::Function(function) => self.function_item(item, function),
            ItemKind::Tool(tool) => self.tool(tool),
            ItemKind::Skill(skill) => self.skill(skill),
            ItemKind::EvalPack(pack) => self.eval_pack(pack, true),
            ItemKind::Struct(item) => self.struct_item(item),
            ItemKind::Impl(item) => self.impl_item(item),
            ItemKind::Import(_)
            | ItemKind::Pipeline(_)
            | ItemKind::Override(_)
            | ItemKind::Enum(_)
            | ItemKind::Type(_)
            | ItemKind::Interface(_) => {}
        }
        self.release(mark);
    }

    fn function_item(&mut self, item: &Item, function: &Function) {
        let name = &function.name;
        let at = name.span.start;
        let declared = self.declared_name(name);
        let own = match declared {
            Declared::In(place @ Place::Local(_)) => Some(place),
            _ => None,
        };
        let made = match self.target_of(declared) {
            Target::Again => return self.raise_again(name),
            Target::Dropped => return,
            Target::Register(register) => match self.cell(declared) {
                false => {
                    self.make_closure(Spec::function(function, own), register);
                    register
                }
                true => {
                    let made = self.temporary();
                    self.make_closure(Spec::function(function, own), made);
                    self.op(at, Op::SetLate, register, made, 0);
                    made
                }
            },
            Target::Global(global) => {
                let made = self.temporary();
                self.make_closure(Spec::function(function, own), made);
                self.wide(at, Op::SetGlobal, made, global);
                made
            }
        };
        if let Declared::In(Place::Local(slot)) = declared
            && let Some(announced) = self.body.announced.get_mut(&slot)
        {
            announced.is_passed = true;
        }
        self.visible.push(name.text.clone());
        self.function_attributes(item, name, made);
    }

    /// Whether a function that is declared is kept in a cell.
    fn cell(&self, declared: Declared) -> bool {
        let Declared::In(Place::Local(slot)) = declared else {
            return false;
        };
        let announced = self.body.announced.get(&slot);
        announced.is_some_and(|function| function.is_cell)
    }

    /// A struct declares a function that makes it from a dict.
    fn struct_item(&mut self, item: &StructItem) {
        let Some(shape) = self.declared.structs.get(&item.name.text).cloned() else {
            return;
        };
        let at = item.name.span.start;
        let outer = std::mem::take(&mut self.body);
        let fields = self.variables(1);
        let made = self.temporary();
        let shape = self.shape(shape);
        self.op(at, Op::StructFrom, made, shape, fields);
        self.op(at, Op::Return, made, 0, 0);
        let name = Some(item.name.text.clone());
        let mut function = self.finish(name, FunctionKind::Plain, outer);
        function.parameters = vec![SmolStr::new_static("fields")];
        self.bind(&item.name, |compiler, d| {
            compiler.closure_of(at, function, d)
        });
    }

    fn impl_item(&mut self, item: &Impl) {
        let made = self.temporary();
        let of = self.text_constant(&item.name.text);
        for (_, method) in &item.methods {
            self.make_closure(Spec::function(method, None), made);
            let name = self.text_constant(&method.name.text);
            self.op(method.name.span.start, Op::DefineMethod, made, of, name);
        }
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

/// What is executed of a file that is no script: first its variables, then its declarations.
/// Of an imported file, those that are values of their own are left out.
fn prepared(statements: &[Statement], role: Role) -> Vec<&Statement> {
    let is_binding = |one: &&Statement| matches!(one.kind, StatementKind::Binding(_));
    let bindings = statements.iter().filter(is_binding);
    let declarations = statements.iter().filter(|statement| match &statement.kind {
        StatementKind::Item(item) => {
            let is_value = matches!(
                item.kind,
                ItemKind::Tool(_) | ItemKind::Skill(_) | ItemKind::EvalPack(_)
            );
            role == Role::Entry || !is_value
        }
        _ => false,
    });
    bindings.chain(declarations).collect()
}
