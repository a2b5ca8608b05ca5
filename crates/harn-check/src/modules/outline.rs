//! What a module declares, without what its functions do and without where anything stands.
//!
//! Most edits change neither, so that whoever imports the module need not look at it again.

use std::sync::Arc;

use harn_syntax::lex;
use harn_syntax::tree::{Item, ItemKind, Statement, StatementKind};
use smol_str::SmolStr;

use super::error::Unreadable;
use super::source_file::SourceFile;

/// What a module declares.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Outline {
    /// Why it is no module, if it is none.
    pub(super) fault: Option<Fault>,
    /// Its imports in order.
    pub(super) imports: Vec<ImportDeclaration>,
    /// Its functions in order, each with whether it is public.
    pub(super) functions: Vec<(SmolStr, bool)>,
    /// Its types in order.
    pub(super) types: Vec<DeclaredType>,
    /// The names of its public pipelines, tools and skills, in order.
    pub(super) others: Vec<SmolStr>,
}

/// Why a file is no module.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Fault {
    Unreadable(Unreadable),
    Lexical(String),
    Syntax(String),
}

/// An import as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportDeclaration {
    /// The path.
    pub path: SmolStr,
    /// The names; `None` for all of them.
    pub names: Option<Vec<SmolStr>>,
    /// Whether what it brings is passed on.
    pub public: bool,
}

/// A `type`, `interface`, `struct` or `enum`.
#[derive(Clone, Debug)]
pub(super) struct DeclaredType {
    pub(super) name: SmolStr,
    pub(super) item: Arc<Item>,
    /// Its source. It tells whether the type is another one; the item does not, because it
    /// also says where the type stands.
    pub(super) declaration: Arc<str>,
    /// Whether a wildcard import brings it.
    pub(super) exported: bool,
}

impl PartialEq for DeclaredType {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
            && self.declaration == other.declaration
            && self.exported == other.exported
    }
}

impl Outline {
    /// The outline of a file that cannot be read.
    pub(super) fn unreadable(reason: Unreadable) -> Self {
        Self {
            fault: Some(Fault::Unreadable(reason)),
            ..Self::default()
        }
    }

    /// The outline of a file.
    pub(super) fn of(file: &SourceFile) -> Self {
        let mut outline = Self {
            fault: fault(file),
            ..Self::default()
        };
        for statement in &file.parsed.module.statements {
            if let StatementKind::Item(item) = &statement.kind {
                outline.add(item, statement, &file.text);
            }
        }
        outline
    }

    fn add(&mut self, item: &Item, statement: &Statement, text: &str) {
        let public = item.public.is_some();
        let mut ty = |name: &SmolStr, exported| {
            self.types.push(DeclaredType {
                name: name.clone(),
                item: Arc::new(item.clone()),
                declaration: Arc::from(statement.span.of(text)),
                exported,
            });
        };
        match &item.kind {
            ItemKind::Import(import) => self.imports.push(ImportDeclaration {
                path: import.path.text.clone(),
                names: import.names.as_ref().map(|names| {
                    let texts = names.iter().map(|name| name.text.clone());
                    texts.collect()
                }),
                public,
            }),
            ItemKind::Function(function) => {
                self.functions.push((function.name.text.clone(), public));
            }
            ItemKind::Type(alias) => ty(&alias.name.text, true),
            ItemKind::Interface(interface) => ty(&interface.name.text, true),
            ItemKind::Struct(item) => ty(&item.name.text, public),
            ItemKind::Enum(item) => ty(&item.name.text, public),
            ItemKind::Pipeline(pipeline) if public => self.others.push(pipeline.name.text.clone()),
            ItemKind::Tool(tool) if public => self.others.push(tool.name.text.clone()),
            ItemKind::Skill(skill) if public => self.others.push(skill.name.text.clone()),
            ItemKind::Pipeline(_)
            | ItemKind::Tool(_)
            | ItemKind::Skill(_)
            | ItemKind::Override(_)
            | ItemKind::EvalPack(_)
            | ItemKind::Impl(_) => {}
        }
    }

    /// The functions that a wildcard import brings: the public ones, or all if none is.
    pub(super) fn exported_functions(&self) -> impl Iterator<Item = &SmolStr> {
        let some_public = self.functions.iter().any(|(_, public)| *public);
        let exported = self.functions.iter();
        exported
            .filter(move |(_, public)| *public || !some_public)
            .map(|(name, _)| name)
    }

    /// Whether there is a function of that name, public or not.
    pub(super) fn has_function(&self, name: &str) -> bool {
        self.functions.iter().any(|(function, _)| function == name)
    }

    /// The type of that name, exported or not.
    pub(super) fn ty(&self, name: &str) -> Option<&DeclaredType> {
        self.types.iter().find(|ty| ty.name == name)
    }
}

/// The first thing that is wrong with a file.
fn fault(file: &SourceFile) -> Option<Fault> {
    let error = file.parsed.errors.first()?;
    let message = error.message.clone();
    // Lexical errors come first, so one look tells which kind the first is.
    Some(match lex(&file.text).errors.is_empty() {
        true => Fault::Syntax(message),
        false => Fault::Lexical(message),
    })
}
