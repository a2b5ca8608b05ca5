//! Text that grows by pieces whose number or size a program chooses.

use harn_machine::{Context, Failure};

/// Text in the making. Memory is asked for before it is taken.
#[derive(Default)]
pub(crate) struct Growing {
    text: String,
}

impl Growing {
    /// Adds a piece.
    pub(crate) fn push(&mut self, context: &mut Context<'_>, piece: &str) -> Result<(), Failure> {
        let needed = self.text.len().saturating_add(piece.len());
        if needed > self.text.capacity() {
            let room = needed.max(self.text.capacity().saturating_mul(2));
            context.reserve(room)?;
            self.text.reserve(room - self.text.len());
        }
        self.text.push_str(piece);
        Ok(())
    }

    /// The whole text.
    pub(crate) fn finish(self) -> String {
        self.text
    }
}

/// A text so many times in a row.
pub(crate) fn repeat(
    context: &mut Context<'_>,
    piece: &str,
    times: usize,
) -> Result<String, Failure> {
    context.reserve(piece.len().saturating_mul(times))?;
    Ok(piece.repeat(times))
}
