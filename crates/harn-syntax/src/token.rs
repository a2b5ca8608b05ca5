//! What a text consists of.

use crate::position::Span;

/// A piece of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// What it is.
    pub kind: TokenKind,
    /// Where it is.
    pub span: Span,
}

macro_rules! tokens {
    (
        plain { $($plain:ident)* }
        words { $($word:ident = $word_text:literal)* }
        signs { $($sign:ident = $sign_text:literal)* }
    ) => {
        /// What a token is.
        #[expect(missing_docs, reason = "their texts are their documentation")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum TokenKind {
            $($plain,)*
            $($word,)*
            $($sign,)*
        }

        impl TokenKind {
            /// The text of a reserved word, an operator or punctuation; `None` for
            /// tokens whose text varies.
            pub fn text(self) -> Option<&'static str> {
                match self {
                    $(Self::$word => Some($word_text),)*
                    $(Self::$sign => Some($sign_text),)*
                    $(Self::$plain => None,)*
                }
            }

            /// The reserved word a name is, if it is one.
            pub(crate) fn of_word(text: &str) -> Option<Self> {
                match text {
                    $($word_text => Some(Self::$word),)*
                    _ => None,
                }
            }

            /// Every reserved word.
            pub const RESERVED: &[&str] = &[$($word_text,)*];

            /// Whether it is a reserved word.
            pub fn is_word(self) -> bool {
                match self {
                    $(Self::$word => true,)*
                    _ => false,
                }
            }
        }

        /// Every reserved word.
        #[cfg(test)]
        pub(crate) const WORDS: &[&str] = &[$($word_text,)*];
        /// Every operator and all punctuation.
        #[cfg(test)]
        pub(crate) const SIGNS: &[&str] = &[$($sign_text,)*];
    };
}

tokens! {
    plain {
        Identifier Int Float Duration
        String RawString InterpolatedString
        Newline
        End
    }
    words {
        Break = "break" Catch = "catch" Continue = "continue" Deadline = "deadline"
        Defer = "defer" Emit = "emit" Else = "else" Enum = "enum" EvalPack = "eval_pack"
        Exclusive = "exclusive" Extends = "extends" False = "false" Finally = "finally"
        Fn = "fn" For = "for" From = "from" Guard = "guard" If = "if" Impl = "impl"
        Import = "import" In = "in" Interface = "interface" Let = "let" Match = "match"
        Mutex = "mutex" Nil = "nil" Override = "override" Parallel = "parallel"
        Pipeline = "pipeline" Pub = "pub" Require = "require" Retry = "retry"
        Return = "return" Select = "select" Skill = "skill" Spawn = "spawn"
        Struct = "struct" Throw = "throw" To = "to" Tool = "tool" True = "true" Try = "try"
        Type = "type" Var = "var" While = "while" Yield = "yield"
    }
    signs {
        Equal = "==" NotEqual = "!=" And = "&&" Or = "||" Pipe = "|>" Coalesce = "??"
        Power = "**" OptionalDot = "?." Arrow = "->" LessEqual = "<=" GreaterEqual = ">="
        PlusAssign = "+=" MinusAssign = "-=" StarAssign = "*=" SlashAssign = "/="
        PercentAssign = "%="
        Assign = "=" Not = "!" Dot = "." Plus = "+" Minus = "-" Star = "*" Slash = "/"
        Percent = "%" Less = "<" Greater = ">" Question = "?" Bar = "|"
        LeftBrace = "{" RightBrace = "}" LeftParenthesis = "(" RightParenthesis = ")"
        LeftBracket = "[" RightBracket = "]" Comma = "," Colon = ":" Semicolon = ";" At = "@"
    }
}

impl TokenKind {
    /// Whether it may stand as the name of a member, a dict key or a shape field.
    pub fn is_name(self) -> bool {
        let is_excepted = matches!(
            self,
            Self::Finally | Self::EvalPack | Self::Require | Self::Select | Self::Skill
        );
        self == Self::Identifier || (self.is_word() && !is_excepted)
    }

    /// The operator or punctuation that two characters make.
    pub(crate) fn of_two(first: u8, second: u8) -> Option<Self> {
        Some(match (first, second) {
            (b'=', b'=') => Self::Equal,
            (b'!', b'=') => Self::NotEqual,
            (b'&', b'&') => Self::And,
            (b'|', b'|') => Self::Or,
            (b'|', b'>') => Self::Pipe,
            (b'?', b'?') => Self::Coalesce,
            (b'*', b'*') => Self::Power,
            (b'?', b'.') => Self::OptionalDot,
            (b'-', b'>') => Self::Arrow,
            (b'<', b'=') => Self::LessEqual,
            (b'>', b'=') => Self::GreaterEqual,
            (b'+', b'=') => Self::PlusAssign,
            (b'-', b'=') => Self::MinusAssign,
            (b'*', b'=') => Self::StarAssign,
            (b'/', b'=') => Self::SlashAssign,
            (b'%', b'=') => Self::PercentAssign,
            _ => return None,
        })
    }

    /// The operator or punctuation that one character makes.
    pub(crate) fn of_one(character: u8) -> Option<Self> {
        Some(match character {
            b'=' => Self::Assign,
            b'!' => Self::Not,
            b'.' => Self::Dot,
            b'+' => Self::Plus,
            b'-' => Self::Minus,
            b'*' => Self::Star,
            b'/' => Self::Slash,
            b'%' => Self::Percent,
            b'<' => Self::Less,
            b'>' => Self::Greater,
            b'?' => Self::Question,
            b'|' => Self::Bar,
            b'{' => Self::LeftBrace,
            b'}' => Self::RightBrace,
            b'(' => Self::LeftParenthesis,
            b')' => Self::RightParenthesis,
            b'[' => Self::LeftBracket,
            b']' => Self::RightBracket,
            b',' => Self::Comma,
            b':' => Self::Colon,
            b';' => Self::Semicolon,
            b'@' => Self::At,
            _ => return None,
        })
    }
}
