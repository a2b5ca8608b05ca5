//! Templates that were parsed already.
//!
//! A program renders the same few templates again and again. They are known by their text, not
//! by their file: a file that has changed is another template.

use std::collections::HashMap;
use std::path::Path;
use std::rc::Rc;

use harn_machine::Context;
use harn_machine::value::Text;
use harn_syntax::parse_template;

use super::program::Program;

/// How many bytes of templates are remembered. A program that makes its templates as it goes
/// has no use for them later.
const BYTES_MAX: usize = 1 << 20;

/// The templates that a run has parsed.
#[derive(Default)]
struct Parsed {
    by_text: HashMap<Text, Rc<Program>>,
    bytes: usize,
}

/// The steps of a text, or what is wrong with it.
pub(super) fn parse(
    context: &mut Context<'_>,
    text: &Text,
    file: Option<&Path>,
) -> Result<Rc<Program>, String> {
    if let Some(known) = context.state::<Parsed>().by_text.get(text) {
        return Ok(known.clone());
    }
    let template = parse_template(text);
    let template = template.map_err(|error| format!("{}{error}", place(file)))?;
    let program = Rc::new(Program::new(template));
    context.state::<Parsed>().remember(text, &program);
    Ok(program)
}

/// What an error of a template begins with.
pub(super) fn place(file: Option<&Path>) -> String {
    file.map_or_else(String::new, |file| format!("{} ", file.display()))
}

impl Parsed {
    fn remember(&mut self, text: &Text, program: &Rc<Program>) {
        if self.bytes.saturating_add(text.len()) > BYTES_MAX {
            *self = Self::default();
        }
        if text.len() <= BYTES_MAX {
            self.bytes += text.len();
            self.by_text.insert(text.clone(), program.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_so_much_is_remembered() {
        let mut parsed = Parsed::default();
        let program = Rc::new(Program::default());
        for number in 0..5 {
            let text = Text::from(format!("{number}{}", " ".repeat(BYTES_MAX / 3)));
            parsed.remember(&text, &program);
            assert!(parsed.bytes <= BYTES_MAX);
        }
        assert_eq!(parsed.by_text.len(), 1, "two fit, and then it begins anew");
        let huge = Text::from(" ".repeat(BYTES_MAX + 1));
        parsed.remember(&huge, &program);
        assert_eq!((parsed.by_text.len(), parsed.bytes), (0, 0));
    }
}
