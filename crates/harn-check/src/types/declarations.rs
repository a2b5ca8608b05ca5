//! Everything a file declares or imports, found once before anything is checked.
//!
//! Types are known in the whole file wherever they are declared. Where two of the same name
//! differ, as they may in different bodies, nothing is known about either. Functions and
//! variables have scopes, which the environment keeps; here is only which names can be called
//! at all.

use std::rc::Rc;

use harn_syntax::tree::{
    Block, EnumItem, EvalPackName, Function, Impl, Interface, InterfaceMember, Item, ItemKind,
    Module, Name, Parameter, Pattern, PatternKind, Statement, StatementKind, StructItem, Type,
    TypeAlias, TypeParameter, Variance,
};
use harn_syntax::visit::{self, Visit};
use hashbrown::{HashMap, HashSet};
use smol_str::SmolStr;

use super::signature::parameter_names;
use super::ty::Ty;
use crate::Imported;

/// What is declared.
#[derive(Debug, Default)]
pub(super) struct Declarations {
    pub(super) aliases: HashMap<SmolStr, Alias>,
    pub(super) structs: HashMap<SmolStr, Rc<StructTy>>,
    /// The names of the structs in the order of their declaration.
    pub(super) struct_names: Vec<SmolStr>,
    pub(super) enums: HashMap<SmolStr, Rc<EnumTy>>,
    pub(super) interfaces: HashMap<SmolStr, Rc<InterfaceTy>>,
    /// The names of types about which nothing is known, because they are declared more than
    /// once and not in the same way, with the type parameters any of them has. They stand for
    /// anything.
    pub(super) opaque: HashMap<SmolStr, Vec<SmolStr>>,
    /// The methods of each type that has an `impl`.
    pub(super) methods: HashMap<SmolStr, HashMap<SmolStr, Rc<Method>>>,
    /// Names that may be called wherever they are declared.
    pub(super) callable: HashSet<SmolStr>,
    pub(super) imported: HashSet<SmolStr>,
    /// The imported names in order.
    pub(super) imported_names: Vec<SmolStr>,
    /// Whether an import could not be found, so that any name may be defined.
    pub(super) unresolved: bool,
}

/// `type Name<T> = …`
#[derive(Debug, PartialEq)]
pub(super) struct Alias {
    pub(super) parameters: Vec<SmolStr>,
    pub(super) variances: Vec<Variance>,
    pub(super) ty: Ty,
}

impl From<&TypeAlias> for Alias {
    fn from(alias: &TypeAlias) -> Self {
        let parameters = &alias.type_parameters;
        Self {
            parameters: parameter_names(parameters),
            variances: parameters.iter().map(|one| one.variance).collect(),
            ty: Ty::from(&alias.ty),
        }
    }
}

/// A struct.
#[derive(Debug, PartialEq)]
pub(super) struct StructTy {
    pub(super) parameters: Vec<(SmolStr, Variance)>,
    pub(super) fields: Vec<FieldTy>,
    /// Where each field is.
    places: HashMap<SmolStr, usize>,
}

impl StructTy {
    pub(super) fn field(&self, name: &str) -> Option<&FieldTy> {
        self.fields.get(*self.places.get(name)?)
    }
}

impl From<&StructItem> for StructTy {
    fn from(item: &StructItem) -> Self {
        let fields = item.fields.iter().map(|field| FieldTy {
            name: field.name.text.clone(),
            optional: field.optional,
            ty: field.ty.as_ref().map(Ty::from),
        });
        let places = item.fields.iter().enumerate().rev();
        Self {
            parameters: variances(&item.type_parameters),
            fields: fields.collect(),
            places: places
                .map(|(at, field)| (field.name.text.clone(), at))
                .collect(),
        }
    }
}

/// A field of a struct.
#[derive(Debug, PartialEq)]
pub(super) struct FieldTy {
    pub(super) name: SmolStr,
    pub(super) optional: bool,
    pub(super) ty: Option<Ty>,
}

/// An enum.
#[derive(Debug, PartialEq)]
pub(super) struct EnumTy {
    pub(super) parameters: Vec<(SmolStr, Variance)>,
    /// Its variants with the types of what they carry.
    pub(super) variants: Vec<(SmolStr, Vec<Option<Ty>>)>,
}

impl From<&EnumItem> for EnumTy {
    fn from(item: &EnumItem) -> Self {
        let variants = item.variants.iter().map(|variant| {
            let carried = variant.parameters.iter().flatten();
            (variant.name.text.clone(), carried.map(written).collect())
        });
        Self {
            parameters: variances(&item.type_parameters),
            variants: variants.collect(),
        }
    }
}

/// An interface.
#[derive(Debug, PartialEq)]
pub(super) struct InterfaceTy {
    pub(super) parameters: Vec<(SmolStr, Variance)>,
    pub(super) associated: Vec<(SmolStr, Option<Ty>)>,
    pub(super) methods: Vec<(SmolStr, Method)>,
}

impl From<&Interface> for InterfaceTy {
    fn from(item: &Interface) -> Self {
        let mut declared = Self {
            parameters: variances(&item.type_parameters),
            associated: Vec::new(),
            methods: Vec::new(),
        };
        for member in &item.members {
            match member {
                InterfaceMember::Type { name, ty } => {
                    let ty = ty.as_ref().map(Ty::from);
                    declared.associated.push((name.text.clone(), ty));
                }
                InterfaceMember::Method {
                    name,
                    type_parameters,
                    parameters,
                    result,
                } => {
                    let method = Method {
                        type_parameters: parameter_names(type_parameters),
                        parameters: without_receiver(parameters),
                        result: result.as_ref().map(Ty::from),
                    };
                    declared.methods.push((name.text.clone(), method));
                }
            }
        }
        declared
    }
}

/// A method, without its receiver.
#[derive(Debug, PartialEq)]
pub(super) struct Method {
    pub(super) type_parameters: Vec<SmolStr>,
    pub(super) parameters: Vec<Option<Ty>>,
    pub(super) result: Option<Ty>,
}

impl Declarations {
    /// What a file declares and what it imports.
    pub(super) fn collect(module: &Module, imported: &Imported) -> Self {
        let mut all = Self {
            imported: imported.names.iter().cloned().collect(),
            imported_names: imported.names.clone(),
            unresolved: imported.unresolved,
            ..Self::default()
        };
        visit::walk_module(&mut all, module);
        let items = module.statements.iter().filter_map(|one| match &one.kind {
            StatementKind::Item(item) => type_name(item),
            _ => None,
        });
        let own: HashSet<&SmolStr> = items.collect();
        for item in &imported.types {
            // What the file declares hides what it imports.
            if type_name(item).is_some_and(|name| !own.contains(name)) {
                all.declare_type(item);
            }
        }
        if imported.unresolved {
            all.imported_names_mean_anything();
        }
        all.forget_opaque();
        all
    }

    /// What a module declares that cannot be read is not known. Of its names, types that do not
    /// fit would be an error that nobody could understand.
    fn imported_names_mean_anything(&mut self) {
        for name in &self.imported_names {
            let is_declared = self.structs.contains_key(name)
                || self.enums.contains_key(name)
                || self.interfaces.contains_key(name)
                || self.aliases.contains_key(name);
            if !is_declared {
                self.opaque.entry(name.clone()).or_default();
            }
        }
    }

    fn forget_opaque(&mut self) {
        for name in self.opaque.keys() {
            self.structs.remove(name);
            self.enums.remove(name);
            self.interfaces.remove(name);
            let dynamic = Alias {
                parameters: Vec::new(),
                variances: Vec::new(),
                ty: Ty::Dynamic,
            };
            self.aliases.insert(name.clone(), dynamic);
        }
    }

    /// How each parameter of a declared generic type varies.
    pub(super) fn variances(&self, name: &str) -> Option<Vec<Variance>> {
        let parameters = match (
            self.structs.get(name),
            self.enums.get(name),
            self.interfaces.get(name),
        ) {
            (Some(item), _, _) => &item.parameters,
            (_, Some(item), _) => &item.parameters,
            (_, _, Some(item)) => &item.parameters,
            _ if name == "Result" => return Some(vec![Variance::Covariant; 2]),
            _ => return Some(self.aliases.get(name)?.variances.clone()),
        };
        Some(parameters.iter().map(|(_, variance)| *variance).collect())
    }

    /// The type parameters of a struct.
    pub(super) fn struct_parameters(&self, name: &str) -> Vec<SmolStr> {
        if let Some(parameters) = self.opaque.get(name) {
            return parameters.clone();
        }
        let declared = self.structs.get(name);
        let parameters = declared.into_iter().flat_map(|one| &one.parameters);
        parameters.map(|(name, _)| name.clone()).collect()
    }

    /// Whether values of that name are enums.
    pub(super) fn is_enum(&self, name: &str) -> bool {
        name == "Result" || self.enums.contains_key(name)
    }

    fn declare_type(&mut self, item: &Item) {
        let (name, parameters, differs) = match &item.kind {
            ItemKind::Type(alias) => {
                let differs = differs(&mut self.aliases, &alias.name, alias.into());
                (&alias.name.text, &alias.type_parameters, differs)
            }
            ItemKind::Struct(item) => {
                if !self.structs.contains_key(&item.name.text) {
                    self.struct_names.push(item.name.text.clone());
                }
                let declared = Rc::new(StructTy::from(item));
                let differs = differs(&mut self.structs, &item.name, declared);
                (&item.name.text, &item.type_parameters, differs)
            }
            ItemKind::Enum(item) => {
                let declared = Rc::new(EnumTy::from(item));
                let differs = differs(&mut self.enums, &item.name, declared);
                (&item.name.text, &item.type_parameters, differs)
            }
            ItemKind::Interface(item) => {
                let declared = Rc::new(InterfaceTy::from(item));
                let differs = differs(&mut self.interfaces, &item.name, declared);
                (&item.name.text, &item.type_parameters, differs)
            }
            _ => return,
        };
        if differs || self.kinds_of(name) > 1 {
            self.make_opaque(name, parameter_names(parameters));
        }
    }

    /// How many kinds of types have that name.
    fn kinds_of(&self, name: &SmolStr) -> usize {
        usize::from(self.aliases.contains_key(name))
            + usize::from(self.structs.contains_key(name))
            + usize::from(self.enums.contains_key(name))
            + usize::from(self.interfaces.contains_key(name))
    }

    fn make_opaque(&mut self, name: &SmolStr, parameters: Vec<SmolStr>) {
        let own = self.structs.get(name);
        let own = own.into_iter().flat_map(|own| &own.parameters);
        let own: Vec<SmolStr> = own.map(|(name, _)| name.clone()).collect();
        let known = self.opaque.entry(name.clone()).or_insert(own);
        for parameter in parameters {
            // Who declares one name in so many ways does not look at the types.
            if known.len() < OPAQUE_PARAMETERS_MAX && !known.contains(&parameter) {
                known.push(parameter);
            }
        }
    }

    fn declare_methods(&mut self, item: &Impl) {
        let methods = self.methods.entry(item.name.text.clone()).or_default();
        let mut differs = false;
        for (_, function) in &item.methods {
            let method = Method {
                type_parameters: parameter_names(&function.type_parameters),
                parameters: without_receiver(&function.parameters),
                result: function.result.as_ref().map(Ty::from),
            };
            let method = Rc::new(method);
            let before = methods.insert(function.name.text.clone(), Rc::clone(&method));
            differs |= before.is_some_and(|before| before != method);
        }
        if differs {
            self.make_opaque(&item.name.text, Vec::new());
        }
    }

    fn declare_callable(&mut self, item: &Item) {
        let name = match &item.kind {
            ItemKind::Function(function) => &function.name,
            ItemKind::Tool(tool) => &tool.name,
            ItemKind::Pipeline(pipeline) => &pipeline.name,
            ItemKind::Struct(item) => &item.name,
            ItemKind::Enum(item) => &item.name,
            ItemKind::Skill(skill) => &skill.name,
            ItemKind::EvalPack(pack) => match &pack.name {
                EvalPackName::Name(name, _) => name,
                EvalPackName::Id(_) => return,
            },
            _ => return,
        };
        self.callable.insert(name.text.clone());
    }

    /// What is bound directly in the body of a function may be called from everywhere.
    fn declare_variables(&mut self, body: &Block) {
        for statement in &body.statements {
            each_bound_name(statement, &mut |name| {
                self.callable.insert(name.clone());
            });
        }
    }
}

impl Visit for Declarations {
    fn item(&mut self, item: &Item) {
        self.declare_type(item);
        self.declare_callable(item);
        match &item.kind {
            ItemKind::Impl(item) => self.declare_methods(item),
            ItemKind::Pipeline(pipeline) => self.declare_variables(&pipeline.body),
            ItemKind::Tool(tool) => self.declare_variables(&tool.body),
            _ => {}
        }
        visit::walk_item(self, item);
    }

    fn function(&mut self, function: &Function) {
        self.declare_variables(&function.body);
        visit::walk_function(self, function);
    }

    /// In a large program nearly all of the time here would go into fetching nodes from memory,
    /// so what holds no declaration is left alone.
    fn block(&mut self, block: &Block) {
        if block.declares {
            visit::walk_block(self, block);
        }
    }

    fn ty(&mut self, _: &Type) {}
}

/// How many type parameters we remember for types that are called the same.
const OPAQUE_PARAMETERS_MAX: usize = 200;

/// Every name a statement binds in its own scope as a variable.
pub(super) fn each_bound_name(statement: &Statement, found: &mut dyn FnMut(&SmolStr)) {
    if let StatementKind::Binding(binding) = &statement.kind {
        each_name(&binding.pattern, found);
    }
}

/// Every name a pattern binds.
pub(super) fn each_name(pattern: &Pattern, found: &mut dyn FnMut(&SmolStr)) {
    match &pattern.kind {
        PatternKind::Name(name) => found(&name.text),
        PatternKind::Dict { fields, rest } => {
            fields.iter().for_each(|field| found(&field.bound().text));
            rest.iter().for_each(|name| found(&name.text));
        }
        PatternKind::List { elements, rest } => {
            elements.iter().for_each(|one| found(&one.name.text));
            rest.iter().for_each(|name| found(&name.text));
        }
    }
}

/// The name of the type that an item declares.
fn type_name(item: &Item) -> Option<&SmolStr> {
    let name = match &item.kind {
        ItemKind::Type(alias) => &alias.name,
        ItemKind::Struct(item) => &item.name,
        ItemKind::Enum(item) => &item.name,
        ItemKind::Interface(item) => &item.name,
        _ => return None,
    };
    Some(&name.text)
}

/// Adds what is declared under that name, and tells whether something else was there already.
fn differs<T: PartialEq>(known: &mut HashMap<SmolStr, T>, name: &Name, declared: T) -> bool {
    match known.get(&name.text) {
        Some(before) => *before != declared,
        None => {
            known.insert(name.text.clone(), declared);
            false
        }
    }
}

fn variances(parameters: &[TypeParameter]) -> Vec<(SmolStr, Variance)> {
    let pair = |one: &TypeParameter| (one.name.text.clone(), one.variance);
    parameters.iter().map(pair).collect()
}

fn written(parameter: &Parameter) -> Option<Ty> {
    parameter.ty.as_ref().map(Ty::from)
}

fn without_receiver(parameters: &[Parameter]) -> Vec<Option<Ty>> {
    let others = parameters.iter().filter(|one| one.name.text != "self");
    others.map(written).collect()
}
