//! What is known about a file while it is compiled.

use std::rc::Rc;

use harn_check::resolve::{Declared, FrameId, Place, Resolved};
use harn_check::{Aliases, Imported};
use harn_syntax::tree::{Item, ItemKind, Module, Name};
use harn_syntax::visit::{self, Visit};
use hashbrown::{HashMap, HashSet};
use smol_str::SmolStr;

use super::body::Body;
use super::top::Tops;
use super::{CompileError, Interner, Unit};
use crate::value::{Shape, Text};

/// The compiler of a file.
pub(super) struct Compiler<'a> {
    pub(super) module: &'a Module,
    pub(super) resolved: &'a Resolved,
    pub(super) unit: &'a Unit,
    pub(super) interner: &'a mut Interner,
    pub(super) declared: Declarations,
    pub(super) tops: Tops,
    /// The function that is being compiled.
    pub(super) body: Body,
    /// The names that are visible, the innermost last.
    pub(super) visible: Vec<SmolStr>,
    /// The tables of methods that are visible, the innermost first.
    pub(super) method_tables: Rc<[u32]>,
    /// The shapes of structs that are not declared in the file.
    /// The last thing at the top level of each name.
    last_tops: HashMap<&'a str, u32>,
    shapes: HashMap<(SmolStr, Vec<SmolStr>), Rc<Shape>>,
    early: HashMap<(FrameId, u32), Vec<u32>>,
    error: Option<CompileError>,
}

/// What a file declares that its names do not lead to.
#[derive(Default)]
pub(super) struct Declarations {
    pub(super) enums: HashSet<SmolStr>,
    pub(super) structs: HashMap<SmolStr, Rc<Shape>>,
    pub(super) interfaces: HashSet<SmolStr>,
    pub(super) aliases: Aliases,
}

impl<'a> Compiler<'a> {
    pub(super) fn new(
        module: &'a Module,
        resolved: &'a Resolved,
        imported: &Imported,
        unit: &'a Unit,
        interner: &'a mut Interner,
    ) -> Self {
        let declared = Declarations::of(module, imported, interner);
        Self {
            module,
            resolved,
            unit,
            interner,
            declared,
            tops: Tops::of(module, resolved, unit.role),
            body: Body::default(),
            visible: Vec::new(),
            method_tables: Rc::new([unit.module]),
            last_tops: resolved.top.iter().map(|top| &*top.name).zip(0..).collect(),
            shapes: HashMap::new(),
            early: early_captures(resolved),
            error: None,
        }
    }

    /// Remembers that something does not fit. The first thing counts.
    pub(super) fn fail(&mut self, message: &str) {
        self.error
            .get_or_insert_with(|| CompileError(message.into()));
    }

    pub(super) fn failure(&mut self) -> Result<(), CompileError> {
        self.error.take().map_or(Ok(()), Err)
    }

    pub(super) fn is_enum(&self, name: &str) -> bool {
        self.declared.enums.contains(name)
    }

    /// What happens where a name is bound.
    pub(super) fn declared_name(&self, name: &Name) -> Declared {
        self.resolved.declared(name).unwrap_or(Declared::Nowhere)
    }

    /// The global of something at the top level.
    pub(super) fn top_global(&self, top: u32) -> u32 {
        let global = self.unit.globals.get(top as usize);
        *global.expect("every name at the top level has a global")
    }

    /// Whether a global of the file is the last one of its name: the only one that is found
    /// by it.
    pub(super) fn is_called(&self, global: u32, name: &str) -> bool {
        let last = self.last_tops.get(name).copied();
        last.is_some_and(|last| self.top_global(last) == global)
    }

    /// The shape of a struct with these fields that the file does not declare.
    pub(super) fn open_shape(&mut self, name: &SmolStr, fields: Vec<SmolStr>) -> Rc<Shape> {
        let interner = &mut *self.interner;
        let shape = self.shapes.entry((name.clone(), fields));
        let shape = shape.or_insert_with_key(|(name, fields)| {
            let fields = fields.iter().map(|field| interner.text(field)).collect();
            Shape::new(interner.text(name), fields)
        });
        shape.clone()
    }

    /// Whether a function of a block, bound to a slot of the frame that is compiled, is taken
    /// along by something that is made between two places, before the function itself is.
    pub(super) fn is_captured_early(&self, slot: u32, from: u32, to: u32) -> bool {
        let Some(starts) = self.early.get(&(self.body.frame, slot)) else {
            return false;
        };
        let first = starts.partition_point(|start| *start < from);
        starts.get(first).is_some_and(|start| *start < to)
    }
}

/// Where the bodies begin that take along a function of the frame around them, by frame and
/// slot.
fn early_captures(resolved: &Resolved) -> HashMap<(FrameId, u32), Vec<u32>> {
    let mut early: HashMap<(FrameId, u32), Vec<u32>> = HashMap::new();
    for frame in &resolved.frames {
        for capture in frame.captures.iter().filter(|capture| capture.is_late) {
            if let (Some(parent), Place::Local(slot)) = (frame.parent, capture.from) {
                early.entry((parent, slot)).or_default().push(frame.start);
            }
        }
    }
    early.values_mut().for_each(|starts| starts.sort_unstable());
    early
}

impl Declarations {
    /// What the file declares, wherever it does.
    fn of(module: &Module, imported: &Imported, interner: &mut Interner) -> Self {
        let enums = HashSet::from([SmolStr::new_static("Result")]);
        let declarations = Self {
            enums,
            aliases: Aliases::of(module),
            ..Self::default()
        };
        let mut search = Search {
            declarations,
            interner,
        };
        visit::walk_module(&mut search, module);
        let types = imported.types.iter();
        for item in types {
            if let ItemKind::Enum(item) = &item.kind {
                let name = item.name.text.clone();
                search.declarations.enums.insert(name);
            }
        }
        search.declarations
    }
}

struct Search<'a> {
    declarations: Declarations,
    interner: &'a mut Interner,
}

impl Visit for Search<'_> {
    fn item(&mut self, item: &Item) {
        match &item.kind {
            ItemKind::Enum(item) => {
                self.declarations.enums.insert(item.name.text.clone());
            }
            ItemKind::Interface(item) => {
                self.declarations.interfaces.insert(item.name.text.clone());
            }
            ItemKind::Struct(item) => {
                let mut seen = HashSet::new();
                let fields = item.fields.iter().map(|field| &field.name.text);
                let fields: Vec<Text> = fields
                    .filter(|field| seen.insert((*field).clone()))
                    .map(|field| self.interner.text(field))
                    .collect();
                let shape = Shape::new(self.interner.text(&item.name.text), fields);
                let name = item.name.text.clone();
                self.declarations.structs.entry(name).or_insert(shape);
            }
            _ => {}
        }
        visit::walk_item(self, item);
    }
}
