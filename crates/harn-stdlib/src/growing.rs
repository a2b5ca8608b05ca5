//! Text that grows by pieces whose number or size a program chooses.

use harn_machine::{Context, Failure, Fault};

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
            make_room(context, &mut self.text, room)?;
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
    let mut out = String::new();
    make_room(context, &mut out, piece.len().saturating_mul(times))?;
    if !piece.is_empty() {
        out.extend(std::iter::repeat_n(piece, times));
    }
    Ok(out)
}

/// Makes room for so many bytes, if the program may have them and the machine has them.
fn make_room(context: &mut Context<'_>, text: &mut String, bytes: usize) -> Result<(), Failure> {
    context.reserve(bytes)?;
    let more = bytes.saturating_sub(text.len());
    text.try_reserve(more)
        .map_err(|_| Fault::stopped(format!("Memory limit exceeded: {bytes} bytes")))
}
