//! What can be wrong with the text of a template.

use std::fmt;

use smol_str::SmolStr;

use super::NESTING_MAX;
use super::filter::Filter;
use super::scan::Mark;
use crate::position::Position;

/// Something that is not as a template should be. It is shown as `at 1:7: expected
/// expression`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateError {
    /// What is wrong.
    pub kind: TemplateErrorKind,
    /// The `{{` of the directive it is about.
    pub offset: u32,
    /// The same place as people see it.
    pub position: Position,
}

/// What is wrong with a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TemplateErrorKind {
    /// `{{` without `}}`.
    UnterminatedDirective,
    /// `{{#` without `#}}`.
    UnterminatedComment,
    /// `{{ raw }}` without `{{ endraw }}`.
    UnterminatedRaw,
    /// A quote in a directive that is not closed.
    UnterminatedString,
    /// A part of a block, by its word, where there is no such block.
    UnexpectedDirective(&'static str),
    /// A block, or its `else`, by its word, without `{{ end }}`.
    MissingEnd(&'static str),
    /// Blocks inside blocks beyond [`NESTING_MAX`].
    BlocksTooDeep,
    /// `for` without `in`.
    ExpectedIn,
    /// What stands between `for` and `in` is no name.
    InvalidLoopVariable,
    /// What stands between `for` and `in` is not two names.
    InvalidLoopVariables,
    /// `with` without braces.
    ExpectedBindings,
    /// Something between those braces that has no colon.
    ExpectedKeyAndValue,
    /// Something before that colon that is no name.
    InvalidBindingKey,
    /// There is no filter of this name.
    UnknownFilter(SmolStr),
    /// A filter with more or fewer arguments than it takes.
    WrongArgumentCount(Filter),
    /// Nothing, or something that begins no expression.
    ExpectedExpression,
    /// `|` without a name after it.
    ExpectedFilterName,
    /// `(` that is not closed.
    ExpectedParenthesis,
    /// `[` that is not closed.
    ExpectedBracket,
    /// `.` without a name after it.
    ExpectedMember,
    /// Something else between brackets.
    ExpectedIndex,
    /// `=`
    SingleEquals,
    /// `&`
    SingleAmpersand,
    /// A character that means nothing, or nothing here.
    UnexpectedCharacter(char),
    /// Parentheses inside parentheses beyond [`NESTING_MAX`].
    ExpressionTooDeep,
}

impl TemplateErrorKind {
    pub(super) fn at(self, mark: Mark) -> TemplateError {
        TemplateError {
            kind: self,
            offset: mark.offset,
            position: mark.position,
        }
    }
}

impl fmt::Display for TemplateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at {}: {}", self.position, self.kind)
    }
}

impl std::error::Error for TemplateError {}

impl fmt::Display for TemplateErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::UnexpectedDirective(word) => return write!(f, "unexpected `{{{{ {word} }}}}`"),
            Self::MissingEnd(word) => {
                return write!(f, "`{{{{ {word} }}}}` missing matching `{{{{ end }}}}`");
            }
            Self::BlocksTooDeep => return write!(f, "block depth exceeded ({NESTING_MAX} levels)"),
            Self::UnknownFilter(name) => return write!(f, "unknown filter `{name}`"),
            Self::WrongArgumentCount(filter) => {
                let name = filter.name();
                return write!(f, "filter `{name}` got wrong number of arguments");
            }
            Self::UnexpectedCharacter(character) => {
                return write!(f, "unexpected character `{character}` in expression");
            }
            Self::ExpressionTooDeep => {
                return write!(f, "expression depth exceeded ({NESTING_MAX} levels)");
            }
            Self::UnterminatedDirective => "unterminated directive",
            Self::UnterminatedComment => "unterminated comment",
            Self::UnterminatedRaw => "unterminated `{{ raw }}` block",
            Self::UnterminatedString => "unterminated string literal",
            Self::ExpectedIn => "expected `in` in for-loop",
            Self::InvalidLoopVariable => "invalid for-loop variable",
            Self::InvalidLoopVariables => "invalid for-loop variables",
            Self::ExpectedBindings => "expected `{ ... }` after `with`",
            Self::ExpectedKeyAndValue => "expected `key: value` in include bindings",
            Self::InvalidBindingKey => "invalid include binding key",
            Self::ExpectedExpression => "expected expression",
            Self::ExpectedFilterName => "expected filter name after `|`",
            Self::ExpectedParenthesis => "expected `)`",
            Self::ExpectedBracket => "expected `]`",
            Self::ExpectedMember => "expected identifier after `.`",
            Self::ExpectedIndex => "expected integer or string inside `[...]`",
            Self::SingleEquals => "unexpected `=` (use `==`)",
            Self::SingleAmpersand => "unexpected `&`",
        })
    }
}
