//! Text and lists that grow by pieces whose number or size a program chooses.

use harn_machine::{Context, Failure, Fault, Value};

/// What a short text takes as an item of a list, with its slot there.
pub(crate) const TEXT_BYTES: usize = 72;

/// A list of texts. Each is asked for before it is made: one of a single character takes so much
/// more than it did in the text it comes from.
pub(crate) fn texts<'a>(
    context: &mut Context<'_>,
    pieces: impl IntoIterator<Item = &'a str>,
) -> Result<Value, Failure> {
    let budget = context.budget();
    let mut items = Vec::new();
    for piece in pieces {
        budget.make(TEXT_BYTES + piece.len())?;
        items.push(Value::from(piece));
    }
    Ok(Value::list(items))
}

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
            let more = room - self.text.capacity();
            make_room(context, &mut self.text, room, more)?;
        }
        self.text.push_str(piece);
        context.budget().read(piece.len())
    }

    /// Adds what a value is shown as.
    pub(crate) fn push_shown(
        &mut self,
        context: &mut Context<'_>,
        value: &Value,
    ) -> Result<(), Failure> {
        match value {
            Value::Text(text) => self.push(context, text),
            _ => {
                let shown = value.show_within(context.budget())?;
                self.push(context, &shown)
            }
        }
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
    let bytes = piece.len().saturating_mul(times);
    make_room(context, &mut out, bytes, bytes)?;
    if !piece.is_empty() {
        out.extend(std::iter::repeat_n(piece, times));
    }
    Ok(out)
}

/// Makes room for so many bytes, of which some are more than before, if the program may have
/// them and the machine has them.
fn make_room(
    context: &mut Context<'_>,
    text: &mut String,
    bytes: usize,
    more: usize,
) -> Result<(), Failure> {
    context.reserve(more)?;
    let more = bytes.saturating_sub(text.len());
    text.try_reserve(more)
        .map_err(|_| Fault::stopped(format!("Memory limit exceeded: {bytes} bytes")))
}
