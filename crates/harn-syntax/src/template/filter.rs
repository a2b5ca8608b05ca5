//! The filters there are and how many arguments they take.

use std::ops::RangeInclusive;

/// What changes a value on its way into the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Filter {
    /// `upper`
    Upper,
    /// `lower`
    Lower,
    /// `trim`
    Trim,
    /// `capitalize`
    Capitalize,
    /// `title`
    Title,
    /// `length`
    Length,
    /// `first`
    First,
    /// `last`
    Last,
    /// `reverse`
    Reverse,
    /// `join: sep`
    Join,
    /// `default: v`
    Default,
    /// `json`, `json: true`
    Json,
    /// `indent: n`, `indent: n, true`
    Indent,
    /// `lines`
    Lines,
    /// `escape_md`
    EscapeMd,
    /// `replace: a, b`
    Replace,
}

impl Filter {
    /// All of them.
    pub const ALL: [Self; 16] = [
        Self::Upper,
        Self::Lower,
        Self::Trim,
        Self::Capitalize,
        Self::Title,
        Self::Length,
        Self::First,
        Self::Last,
        Self::Reverse,
        Self::Join,
        Self::Default,
        Self::Json,
        Self::Indent,
        Self::Lines,
        Self::EscapeMd,
        Self::Replace,
    ];

    /// The filter of a name.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|filter| filter.name() == name)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        self.signature().0
    }

    /// How many arguments it takes.
    pub fn argument_count(self) -> RangeInclusive<usize> {
        self.signature().1
    }

    fn signature(self) -> (&'static str, RangeInclusive<usize>) {
        match self {
            Self::Upper => ("upper", 0..=0),
            Self::Lower => ("lower", 0..=0),
            Self::Trim => ("trim", 0..=0),
            Self::Capitalize => ("capitalize", 0..=0),
            Self::Title => ("title", 0..=0),
            Self::Length => ("length", 0..=0),
            Self::First => ("first", 0..=0),
            Self::Last => ("last", 0..=0),
            Self::Reverse => ("reverse", 0..=0),
            Self::Join => ("join", 1..=1),
            Self::Default => ("default", 1..=1),
            Self::Json => ("json", 0..=1),
            Self::Indent => ("indent", 1..=2),
            Self::Lines => ("lines", 0..=0),
            Self::EscapeMd => ("escape_md", 0..=0),
            Self::Replace => ("replace", 2..=2),
        }
    }
}
