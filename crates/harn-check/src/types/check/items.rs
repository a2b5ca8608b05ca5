//! What is wrong with declarations.

use harn_syntax::tree::{
    EnumItem, EvalPack, EvalPackEntry, Function, Impl, Interface, InterfaceMember, Item, ItemKind,
    Parameter, StructItem, TypeAlias, TypeParameter, Variance,
};
use harn_syntax::{Span, tree};

use super::functions::Declared;
use crate::types::checker::{Body, Checker};
use crate::types::codes;
use crate::types::environment::Variable;
use crate::types::ty::Ty;
use crate::types::variance::violations;

/// Where a declaration stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::types) enum Place {
    /// At the top level of a file.
    File,
    /// Inside a block.
    Block,
}

impl Checker {
    pub(in crate::types) fn check_item(&mut self, item: &Item, span: Span, place: Place) {
        self.check_attributes(item);
        match &item.kind {
            ItemKind::Import(_) => {}
            ItemKind::Function(function) => {
                if place == Place::Block {
                    self.check_function_variance(function, span);
                }
                self.check_function(function, &[], span);
            }
            ItemKind::Pipeline(pipeline) => {
                let result = pipeline.result.as_ref().map(Ty::from);
                let parameters = Declared::Names(&pipeline.parameters);
                self.check_callable(parameters, &pipeline.body, result, Body::Function);
            }
            ItemKind::Override(item) => {
                let parameters = Declared::Names(&item.parameters);
                self.check_callable(parameters, &item.body, None, Body::Function);
            }
            ItemKind::Tool(tool) => {
                let barrier = self.environment.enter_body();
                let result = tool.result.as_ref().map(Ty::from);
                let parameters = Declared::Typed(&tool.parameters);
                self.check_callable(parameters, &tool.body, result, Body::Function);
                self.environment.leave_body(barrier);
            }
            ItemKind::Skill(skill) => {
                self.check_skill_fields(skill);
                for field in &skill.fields {
                    self.check(&field.value);
                }
            }
            ItemKind::EvalPack(pack) => self.check_eval_pack(pack),
            ItemKind::Impl(item) => self.check_impl(item),
            ItemKind::Struct(item) => self.check_struct_item(item, span),
            ItemKind::Enum(item) => self.check_enum(item, span),
            ItemKind::Type(alias) => self.check_alias(alias, span),
            ItemKind::Interface(item) => self.check_interface(item, span),
        }
    }

    fn check_eval_pack(&mut self, pack: &EvalPack) {
        self.scoped(|checker| {
            for name in ["id", "version"] {
                let variable = Variable::dynamic(false);
                checker.environment.declare(name.into(), variable);
            }
            for entry in &pack.entries {
                match entry {
                    EvalPackEntry::Field(name, value) => {
                        checker.check(value);
                        checker.declare_typed(name, Ty::Dynamic);
                    }
                    EvalPackEntry::Summarize(block) => checker.check_block(block),
                    EvalPackEntry::Statement(statement) => checker.check_statement(statement),
                }
            }
        });
    }

    fn check_impl(&mut self, item: &Impl) {
        let around = self.known.declarations.struct_parameters(&item.name.text);
        for (_, method) in &item.methods {
            self.check_function(method, &around, method.name.span);
        }
    }

    fn check_function_variance(&mut self, function: &Function, span: Span) {
        let types = positions(&function.parameters, function.result.as_ref());
        let place = ("function", function.name.text.as_str());
        self.check_variance(&function.type_parameters, place, types, span);
    }

    fn check_struct_item(&mut self, item: &StructItem, span: Span) {
        let types = item.fields.iter().filter_map(|field| field.ty.as_ref());
        let types = types.map(|ty| (ty, Variance::Invariant)).collect();
        let place = ("struct", item.name.text.as_str());
        self.check_variance(&item.type_parameters, place, types, span);
    }

    fn check_enum(&mut self, item: &EnumItem, span: Span) {
        let carried = item.variants.iter().flat_map(|variant| &variant.parameters);
        let carried: Vec<&Parameter> = carried.flatten().collect();
        let types = carried.iter().filter_map(|one| one.ty.as_ref());
        let types = types.map(|ty| (ty, Variance::Covariant)).collect();
        let place = ("enum", item.name.text.as_str());
        self.check_variance(&item.type_parameters, place, types, span);
        for default in carried.iter().filter_map(|one| one.default.as_ref()) {
            self.check(default);
        }
    }

    fn check_alias(&mut self, alias: &TypeAlias, span: Span) {
        let types = vec![(&alias.ty, Variance::Covariant)];
        let place = ("type alias", alias.name.text.as_str());
        self.check_variance(&alias.type_parameters, place, types, span);
    }

    fn check_interface(&mut self, item: &Interface, span: Span) {
        let methods = item.members.iter().map(|member| match member {
            InterfaceMember::Method {
                parameters, result, ..
            } => positions(parameters, result.as_ref()),
            InterfaceMember::Type { .. } => Vec::new(),
        });
        let place = ("interface", item.name.text.as_str());
        self.check_variance(
            &item.type_parameters,
            place,
            methods.flatten().collect(),
            span,
        );
    }

    fn check_variance(
        &mut self,
        declared: &[TypeParameter],
        place: (&str, &str),
        types: Vec<(&tree::Type, Variance)>,
        span: Span,
    ) {
        for message in violations(&self.known, declared, place, types.into_iter()) {
            self.error(codes::VARIANCE, span, message);
        }
    }
}

/// The types of a signature with the positions they stand in.
fn positions<'a>(
    parameters: &'a [Parameter],
    result: Option<&'a tree::Type>,
) -> Vec<(&'a tree::Type, Variance)> {
    let parameters = parameters.iter().filter_map(|one| one.ty.as_ref());
    let parameters = parameters.map(|ty| (ty, Variance::Contravariant));
    let result = result.map(|ty| (ty, Variance::Covariant));
    parameters.chain(result).collect()
}
