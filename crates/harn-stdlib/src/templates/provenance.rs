//! Which part of a rendered text comes from where.

use harn_machine::Value;
use harn_syntax::Position;

/// Where a part of the text comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    Text,
    Value,
    /// A name that stands alone.
    Name,
    Branch,
    Turn,
    Include,
}

impl Origin {
    fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Value => "expr",
            Self::Name => "legacy_bare",
            Self::Branch => "if",
            Self::Turn => "for_iteration",
            Self::Include => "include",
        }
    }
}

/// The parts of a text, in the order in which they begin. Positions count characters, as
/// those of programs do.
#[derive(Debug, Default)]
pub(super) struct Spans {
    list: Vec<Span>,
    /// Which of them have not ended, the innermost last.
    open: Vec<usize>,
    /// How many characters there are so far.
    length: usize,
}

#[derive(Debug)]
struct Span {
    origin: Origin,
    position: Position,
    start: usize,
    end: usize,
    bound: Option<Value>,
}

impl Spans {
    /// Text was added.
    pub(super) fn grow(&mut self, text: &str) {
        self.length += text.chars().count();
    }

    pub(super) fn begin(&mut self, origin: Origin, position: Position, bound: Option<Value>) {
        let start = self.length;
        self.open.push(self.list.len());
        self.list.push(Span {
            origin,
            position,
            start,
            end: start,
            bound,
        });
    }

    pub(super) fn end(&mut self) {
        if let Some(at) = self.open.pop() {
            self.list[at].end = self.length;
        }
    }

    /// As programs see them.
    pub(super) fn to_value(&self) -> Value {
        self.list.iter().map(Span::to_value).collect()
    }
}

impl Span {
    fn to_value(&self) -> Value {
        let number = |number: u32| Value::Int(number.into());
        let fields = [
            ("kind", self.origin.name().into()),
            ("output_end", self.end.into()),
            ("output_start", self.start.into()),
            ("template_col", number(self.position.column)),
            ("template_line", number(self.position.line)),
        ];
        let bound = self.bound.clone().map(|value| ("bound_value", value));
        Value::dict(fields.into_iter().chain(bound))
    }
}
