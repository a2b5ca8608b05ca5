//! Everything a file declares or imports, found once before anything is checked.
//!
//! Types are known in the whole file wherever they are declared. Functions and variables
//! have scopes, which the environment keeps; here is only which names can be called at all.

use std::rc::Rc;

use harn_syntax::tree::{
    Block, EnumItem, EvalPackName, Function, Impl, Interface, InterfaceMember, Item, ItemKind,
    Module, Parameter, Pattern, PatternKind, Statement, StatementKind, StructItem, Type, TypeAlias,
    TypeParameter, Variance,
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
#[derive(Debug)]
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

/// A field of a struct.
#[derive(Debug)]
pub(super) struct FieldTy {
    pub(super) name: SmolStr,
    pub(super) optional: bool,
    pub(super) ty: Option<Ty>,
}

/// An enum.
#[derive(Debug)]
pub(super) struct EnumTy {
    pub(super) parameters: Vec<(SmolStr, Variance)>,
    /// Its variants with the types of what they carry.
    pub(super) variants: Vec<(SmolStr, Vec<Option<Ty>>)>,
}

/// An interface.
#[derive(Debug)]
pub(super) struct InterfaceTy {
    pub(super) parameters: Vec<(SmolStr, Variance)>,
    pub(super) associated: Vec<(SmolStr, Option<Ty>)>,
    pub(super) methods: Vec<(SmolStr, Method)>,
}

/// A method, without its receiver.
#[derive(Debug)]
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
        for item in &imported.types {
            all.declare_type(item);
        }
        all
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

    /// Whether values of that name are enums.
    pub(super) fn is_enum(&self, name: &str) -> bool {
        name == "Result" || self.enums.contains_key(name)
    }

    fn declare_type(&mut self, item: &Item) {
        match &item.kind {
            ItemKind::Type(alias) => {
                self.declare_alias(&alias.name.text, Alias::from(alias));
            }
            ItemKind::Struct(item) => self.declare_struct(item),
            ItemKind::Enum(item) => self.declare_enum(item),
            ItemKind::Interface(item) => self.declare_interface(item),
            _ => {}
        }
    }

    /// Aliases of the same name in different blocks would need scopes. Nothing is known
    /// about what they stand for, unless it is the same.
    fn declare_alias(&mut self, name: &SmolStr, declared: Alias) {
        let known = self.aliases.get_mut(name);
        match known {
            Some(known) if *known == declared => {}
            Some(known) => known.ty = Ty::Dynamic,
            None => {
                self.aliases.insert(name.clone(), declared);
            }
        }
    }

    fn declare_struct(&mut self, item: &StructItem) {
        let fields = item.fields.iter().map(|field| FieldTy {
            name: field.name.text.clone(),
            optional: field.optional,
            ty: field.ty.as_ref().map(Ty::from),
        });
        let places = item.fields.iter().enumerate().rev();
        let declared = StructTy {
            parameters: variances(&item.type_parameters),
            fields: fields.collect(),
            places: places
                .map(|(at, field)| (field.name.text.clone(), at))
                .collect(),
        };
        let name = &item.name.text;
        if !self.structs.contains_key(name) {
            self.struct_names.push(name.clone());
            self.structs.insert(name.clone(), Rc::new(declared));
        }
    }

    fn declare_enum(&mut self, item: &EnumItem) {
        let variants = item.variants.iter().map(|variant| {
            let carried = variant.parameters.iter().flatten();
            (variant.name.text.clone(), carried.map(written).collect())
        });
        let declared = EnumTy {
            parameters: variances(&item.type_parameters),
            variants: variants.collect(),
        };
        let name = item.name.text.clone();
        self.enums.entry(name).or_insert_with(|| Rc::new(declared));
    }

    fn declare_interface(&mut self, item: &Interface) {
        let mut declared = InterfaceTy {
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
        let name = item.name.text.clone();
        let interfaces = self.interfaces.entry(name);
        interfaces.or_insert_with(|| Rc::new(declared));
    }

    fn declare_methods(&mut self, item: &Impl) {
        let methods = self.methods.entry(item.name.text.clone()).or_default();
        for (_, function) in &item.methods {
            let method = Method {
                type_parameters: parameter_names(&function.type_parameters),
                parameters: without_receiver(&function.parameters),
                result: function.result.as_ref().map(Ty::from),
            };
            methods.insert(function.name.text.clone(), Rc::new(method));
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
