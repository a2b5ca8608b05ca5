//! Functions, variables and pipelines are written `like_this`, types and variants `LikeThis`.
//!
//! Constants may be written `LIKE_THIS`. Not looked at: fields and the names taken from them,
//! which often come from elsewhere, the parameters of tools, which models see, and names that
//! begin with `_`.

use harn_syntax::tree::{InterfaceMember, Item, ItemKind, Name, TypeParameter};

use super::Findings;
use crate::lint::Context;
use crate::lint::names::BindingKind;
use crate::lint::rule::Rule;

pub(crate) const RULE: Rule = Rule {
    name: "naming-convention",
    summary: "Functions and variables are written `like_this`, types `LikeThis`.",
    fixable: false,
    on_by_default: true,
};

pub(super) fn item(item: &Item, out: &mut Findings) {
    match &item.kind {
        ItemKind::Pipeline(one) => snake("pipeline", &one.name, out),
        ItemKind::Function(one) => {
            snake("function", &one.name, out);
            type_parameters(&one.type_parameters, out);
        }
        ItemKind::Tool(one) => snake("tool", &one.name, out),
        ItemKind::Skill(one) => snake("skill", &one.name, out),
        ItemKind::Struct(one) => {
            pascal("struct", &one.name, out);
            type_parameters(&one.type_parameters, out);
        }
        ItemKind::Enum(one) => {
            pascal("enum", &one.name, out);
            type_parameters(&one.type_parameters, out);
            for variant in &one.variants {
                pascal("variant", &variant.name, out);
            }
        }
        ItemKind::Type(one) => {
            pascal("type", &one.name, out);
            type_parameters(&one.type_parameters, out);
        }
        ItemKind::Interface(one) => {
            pascal("interface", &one.name, out);
            for member in &one.members {
                match member {
                    InterfaceMember::Type { name, .. } => pascal("type", name, out),
                    InterfaceMember::Method { name, .. } => snake("method", name, out),
                }
            }
        }
        ItemKind::Impl(one) => {
            for (_, method) in &one.methods {
                snake("method", &method.name, out);
            }
        }
        ItemKind::Import(_) | ItemKind::Override(_) | ItemKind::EvalPack(_) => {}
    }
}

/// Variables and the parameters of functions.
pub(super) fn bindings(ctx: &Context<'_>, out: &mut Findings) {
    for binding in &ctx.names.bindings {
        match binding.kind {
            BindingKind::Let | BindingKind::Var(_) if !binding.is_field => {
                snake("variable", &binding.name, out);
            }
            BindingKind::Parameter(at) if !ctx.names.functions[at].is_tool => {
                snake("parameter", &binding.name, out);
            }
            _ => {}
        }
    }
}

fn type_parameters(parameters: &[TypeParameter], out: &mut Findings) {
    for parameter in parameters {
        pascal("type parameter", &parameter.name, out);
    }
}

fn snake(what: &str, name: &Name, out: &mut Findings) {
    let text = &name.text;
    let is_lower = !text.contains(char::is_uppercase);
    let is_constant = what == "variable" && !text.contains(char::is_lowercase);
    if !(is_lower || is_constant || text.starts_with('_')) {
        let message = format!("the {what} `{text}` is not written in lower case with underscores");
        let help = format!("call it `{}`", to_snake(text));
        out.push(RULE.warning(name.span, message).with_help(help));
    }
}

fn pascal(what: &str, name: &Name, out: &mut Findings) {
    let text = &name.text;
    let is_capital = !text.starts_with(char::is_lowercase) && !text.contains('_');
    if !(is_capital || text.starts_with('_')) {
        let message = format!("the {what} `{text}` is not written with capitals for its words");
        let help = format!("call it `{}`", to_pascal(text));
        out.push(RULE.warning(name.span, message).with_help(help));
    }
}

fn to_snake(name: &str) -> String {
    let mut out = String::new();
    let mut after_lower = false;
    for character in name.chars() {
        if character.is_uppercase() && after_lower {
            out.push('_');
        }
        after_lower = character.is_lowercase() || character.is_numeric();
        out.extend(character.to_lowercase());
    }
    out
}

fn to_pascal(name: &str) -> String {
    let words = name.split('_').map(|word| {
        let mut characters = word.chars();
        let first = characters.next().into_iter().flat_map(char::to_uppercase);
        first.chain(characters).collect::<String>()
    });
    words.collect()
}
