//! A rule, and how it begins what it has to say.

use harn_syntax::{Code, Diagnostic, Edit, Span};

/// Something the lint looks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Its name, as it appears in `lint[NAME]`.
    pub name: &'static str,
    /// What it asks for, in one line.
    pub summary: &'static str,
    /// Whether its findings can come with a change that settles them.
    pub fixable: bool,
    /// Whether it speaks up without being asked to.
    pub on_by_default: bool,
}

impl Rule {
    /// A finding that does not keep the program from running.
    pub(super) fn warning(&self, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic::warning(Code(self.name), span, message).with_label(self.label())
    }

    /// A finding that means the program cannot run as it is written.
    pub(super) fn error(&self, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic::error(Code(self.name), span, message).with_label(self.label())
    }

    fn label(&self) -> String {
        format!("lint[{}]", self.name)
    }
}

/// A change that puts `text` in the place of `span`.
pub(super) fn replace(span: Span, text: impl Into<String>) -> Edit {
    let text = text.into();
    Edit { span, text }
}

/// A change that takes `span` away.
pub(super) fn remove(span: Span) -> Edit {
    replace(span, "")
}

/// A change that puts `text` before the byte `offset`.
pub(super) fn insert(offset: u32, text: impl Into<String>) -> Edit {
    let span = Span {
        start: offset,
        end: offset,
    };
    replace(span, text)
}
