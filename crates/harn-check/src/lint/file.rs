//! What kind of file it is: a program, a test, a module others import.

use harn_syntax::tree::{Import, Item, ItemKind, Module, StatementKind};

/// What the top level of a file tells about it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FileFacts {
    /// Whether it declares a pipeline.
    pub(super) has_pipeline: bool,
    /// Whether it declares a test.
    pub(super) has_test: bool,
    /// Whether it says which of its functions are public.
    pub(super) has_public_function: bool,
    /// Whether anything in it is public.
    pub(super) has_public: bool,
    /// Whether it imports from `std/connectors/…`.
    pub(super) uses_connectors: bool,
    /// Whether something is done at its top level.
    pub(super) has_action: bool,
}

impl FileFacts {
    pub(super) fn of(module: &Module) -> Self {
        let mut facts = Self::default();
        for statement in &module.statements {
            match &statement.kind {
                StatementKind::Item(item) => facts.add(item),
                StatementKind::Binding(_) => {}
                _ => facts.has_action = true,
            }
        }
        facts
    }

    fn add(&mut self, item: &Item) {
        self.has_public |= item.public.is_some();
        self.has_test |= is_test(item);
        match &item.kind {
            ItemKind::Pipeline(_) => self.has_pipeline = true,
            ItemKind::Function(_) => self.has_public_function |= item.public.is_some(),
            ItemKind::Import(import) => {
                self.uses_connectors |= import.path.text.starts_with("std/connectors/");
            }
            _ => {}
        }
    }

    /// Its imports, in order.
    pub(super) fn imports(self, module: &Module) -> impl Iterator<Item = &Import> {
        module
            .statements
            .iter()
            .filter_map(|statement| match &statement.kind {
                StatementKind::Item(item) => match &item.kind {
                    ItemKind::Import(import) => Some(import),
                    _ => None,
                },
                _ => None,
            })
    }

    /// Whether it is a program of its own: it has a pipeline, or does something at its top
    /// level and offers nothing to others.
    pub(super) fn is_program(self) -> bool {
        self.has_pipeline || (self.has_action && !self.has_public)
    }
}

/// Whether it is a test pipeline: named `test_…`, or marked with `@test`.
pub(super) fn is_test(item: &Item) -> bool {
    let ItemKind::Pipeline(pipeline) = &item.kind else {
        return false;
    };
    let is_marked = |name: &str| item.attributes.iter().any(|one| one.name.text == name);
    pipeline.name.text.starts_with("test_") || is_marked("test")
}
