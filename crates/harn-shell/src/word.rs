//! Words of a command, after quotes are removed.

/// One word. The shell passes it to the program as it is, unless it has dynamic pieces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Word {
    /// Never two literal pieces in a row; none at all is the empty word.
    pieces: Vec<Piece>,
}

/// A stretch of a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Exactly this text.
    Literal(String),
    /// What only the shell will know: a variable, a substitution, a pattern of file names.
    Dynamic {
        /// As it was written.
        source: String,
        /// Whether it can become several words, or none.
        splits: bool,
    },
}

impl Word {
    /// A word that is just this text.
    pub fn of(text: impl Into<String>) -> Self {
        let text = text.into();
        Self {
            pieces: match text.is_empty() {
                true => Vec::new(),
                false => vec![Piece::Literal(text)],
            },
        }
    }

    /// Its pieces, in order.
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// The text, if the shell changes nothing about it.
    pub fn literal(&self) -> Option<&str> {
        match self.pieces.as_slice() {
            [] => Some(""),
            [Piece::Literal(text)] => Some(text),
            _ => None,
        }
    }

    /// Whether it has dynamic pieces.
    pub fn is_dynamic(&self) -> bool {
        self.literal().is_none()
    }

    /// Whether it can become several words, or none.
    pub fn splits(&self) -> bool {
        let mut pieces = self.pieces.iter();
        pieces.any(|piece| matches!(piece, Piece::Dynamic { splits: true, .. }))
    }

    /// The text that it begins with for certain.
    pub fn literal_prefix(&self) -> &str {
        match self.pieces.first() {
            Some(Piece::Literal(text)) => text,
            _ => "",
        }
    }

    pub(crate) fn push(&mut self, character: char) {
        match self.pieces.last_mut() {
            Some(Piece::Literal(text)) => text.push(character),
            _ => self.pieces.push(Piece::Literal(character.to_string())),
        }
    }

    pub(crate) fn push_text(&mut self, text: &str) {
        match self.pieces.last_mut() {
            _ if text.is_empty() => {}
            Some(Piece::Literal(before)) => before.push_str(text),
            _ => self.pieces.push(Piece::Literal(text.to_owned())),
        }
    }

    pub(crate) fn push_dynamic(&mut self, source: &str, splits: bool) {
        self.pieces.push(Piece::Dynamic {
            source: source.to_owned(),
            splits,
        });
    }

    /// What follows the first `bytes` of the literal prefix.
    pub(crate) fn after(&self, bytes: usize) -> Self {
        let mut rest = Self::default();
        for (index, piece) in self.pieces.iter().enumerate() {
            match piece {
                Piece::Literal(text) if index == 0 => rest.push_text(&text[bytes..]),
                Piece::Literal(text) => rest.push_text(text),
                Piece::Dynamic { source, splits } => rest.push_dynamic(source, *splits),
            }
        }
        rest
    }

    /// Whether some literal stretch of it contains one of these characters.
    pub(crate) fn has_any(&self, characters: &[char]) -> bool {
        self.pieces.iter().any(|piece| match piece {
            Piece::Literal(text) => text.contains(characters),
            Piece::Dynamic { .. } => false,
        })
    }

    /// As it was written, for people.
    pub fn shown(&self) -> String {
        let pieces = self.pieces.iter().map(|piece| match piece {
            Piece::Literal(text) => text.as_str(),
            Piece::Dynamic { source, .. } => source.as_str(),
        });
        pieces.collect()
    }
}
