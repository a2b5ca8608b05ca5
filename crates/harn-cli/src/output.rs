//! Where commands write, and everything that is decided about it: which stream,
//! whether in colour, and what untrusted text may do to a terminal.

use std::fmt::{self, Display};
use std::io::{self, BufWriter, IsTerminal, StdoutLock, Write};

use clap::builder::styling::{AnsiColor, Style};
use harn_events::KnownSecrets;
use serde::Serialize;

use crate::arguments::Color;
use crate::commands::Outcome;
use crate::environment::Environment;
use crate::hidden::{escaped_json, misleads};
use crate::warnings::Warnings;

/// The two streams of the program. Writing to it, as to any [`Write`], writes
/// data to standard output.
pub(crate) struct Output {
    data: BufWriter<StdoutLock<'static>>,
    palette: Palette,
    talk_palette: Palette,
    /// How wide lines of data may be, if somebody looks at them.
    columns: Option<usize>,
    /// Whether a person sees what we say, and not in the middle of data.
    is_watched: bool,
    warnings: Warnings,
}

impl Output {
    pub(crate) fn new(color: Color, environment: &Environment) -> Self {
        let stdout = io::stdout();
        let palette = |is_terminal| Palette::choose(color, environment, is_terminal);
        Self {
            palette: palette(stdout.is_terminal()),
            talk_palette: palette(io::stderr().is_terminal()),
            columns: environment.columns.or_else(terminal_columns),
            is_watched: io::stderr().is_terminal(),
            data: BufWriter::new(stdout.lock()),
            warnings: Warnings::default(),
        }
    }

    /// Where warnings are shown that nobody has asked for.
    pub(crate) fn warnings(&self) -> &Warnings {
        &self.warnings
    }

    /// How data is coloured.
    pub(crate) fn palette(&self) -> Palette {
        self.palette
    }

    /// How wide lines of data may be; `None` where they may be as long as they are.
    pub(crate) fn columns(&self) -> Option<usize> {
        self.columns
    }

    /// Whether a person waits at a terminal for what we say.
    pub(crate) fn is_watched(&self) -> bool {
        self.is_watched
    }

    /// Writes a JSON document on a line of its own. What a terminal would obey, or nobody would
    /// see, is escaped in it.
    pub(crate) fn json(&mut self, document: &impl Serialize) -> io::Result<()> {
        let json = serde_json::to_string(document)?;
        self.data.write_all(escaped_json(&json).as_bytes())?;
        self.data.write_all(b"\n")
    }

    /// Whether what we say is coloured.
    pub(crate) fn talks_in_colour(&self) -> bool {
        self.talk_palette.is_coloured
    }

    /// How what we say is coloured.
    pub(crate) fn talk_palette(&self) -> Palette {
        self.talk_palette
    }

    /// Says something to the person at the terminal.
    pub(crate) fn note(&mut self, text: fmt::Arguments<'_>) {
        self.talk(text);
    }

    /// Says what went wrong.
    pub(crate) fn error(&mut self, text: fmt::Arguments<'_>) {
        let label = self.talk_palette.problem("error:").to_string();
        self.talk(format_args!("{label} {text}"));
    }

    /// Shows what the argument parser has to say: help, the version or a mistake.
    pub(crate) fn show(&mut self, stopped: &clap::Error) -> io::Result<Outcome> {
        let text = stopped.render();
        if stopped.use_stderr() {
            let text = self.talk_palette.rendered(&text);
            self.talk(format_args!("{}", text.trim_end()));
            return Ok(Outcome::WrongUsage);
        }
        let text = self.palette.rendered(&text);
        writeln!(self, "{}", text.trim_end())?;
        self.flush()?;
        Ok(Outcome::Done)
    }

    /// Data comes first, so that both streams read in order where they meet.
    fn talk(&mut self, text: fmt::Arguments<'_>) {
        // Whoever closed a stream does not want to hear about it. A failure to
        // write data turns up again at the last flush.
        let _ = self.data.flush();
        let text = text.to_string();
        let text = KnownSecrets::of_process().redact(&text);
        let _ = writeln!(io::stderr(), "{text}");
    }
}

/// The columns of the terminal that data goes to, if it goes to one.
fn terminal_columns() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(io::stdout()).ok()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.data.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.data.flush()
    }
}

/// What things look like. Nothing is said by colour alone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Palette {
    is_coloured: bool,
}

impl Palette {
    fn choose(color: Color, environment: &Environment, is_terminal: bool) -> Self {
        let is_coloured = match color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => is_terminal && !environment.no_color,
        };
        Self { is_coloured }
    }

    /// Whether there are colours.
    pub(crate) fn is_coloured(self) -> bool {
        self.is_coloured
    }

    /// Without colours.
    pub(crate) fn plain() -> Self {
        Self { is_coloured: false }
    }

    /// The title of a part.
    pub(crate) fn heading<T: Display>(self, text: T) -> Painted<T> {
        self.paint(Style::new().bold(), text)
    }

    /// Something the reader may want to type or search for.
    pub(crate) fn name<T: Display>(self, text: T) -> Painted<T> {
        self.paint(AnsiColor::Cyan.on_default(), text)
    }

    /// Something the eye may pass over.
    pub(crate) fn faint<T: Display>(self, text: T) -> Painted<T> {
        self.paint(Style::new().dimmed(), text)
    }

    /// Something that is as it should be.
    pub(crate) fn fine<T: Display>(self, text: T) -> Painted<T> {
        self.paint(AnsiColor::Green.on_default(), text)
    }

    /// What kind of record something is, in the colour of its family.
    pub(crate) fn kind<T: Display>(self, kind: &str, text: T) -> Painted<T> {
        self.paint(style_of_kind(kind), text)
    }

    /// Something that needs attention.
    pub(crate) fn problem<T: Display>(self, text: T) -> Painted<T> {
        self.paint(AnsiColor::Red.on_default().bold(), text)
    }

    fn paint<T: Display>(self, style: Style, text: T) -> Painted<T> {
        let style = self.is_coloured.then_some(style);
        Painted { style, text }
    }

    fn rendered(self, text: &clap::builder::StyledStr) -> String {
        if self.is_coloured {
            text.ansi().to_string()
        } else {
            text.to_string()
        }
    }
}

/// Words, deeds, troubles and everything else look different.
fn style_of_kind(kind: &str) -> Style {
    const TROUBLES: [&str; 6] = ["error", "exhausted", "stuck", "tripped", "stall", "gap"];
    let color = match kind {
        _ if TROUBLES.iter().any(|trouble| kind.contains(trouble)) => AnsiColor::Red,
        "agent_message_chunk" | "agent_thought_chunk" | "user_message" => AnsiColor::Green,
        _ if kind.starts_with("tool_") => AnsiColor::Yellow,
        _ if kind.starts_with("iteration_") || kind.starts_with("loop_") => AnsiColor::Blue,
        _ => AnsiColor::Cyan,
    };
    color.on_default()
}

/// A text with its looks.
pub(crate) struct Painted<T> {
    style: Option<Style>,
    text: T,
}

impl<T: Display> Display for Painted<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.style {
            None => self.text.fmt(out),
            Some(style) => {
                write!(out, "{style}")?;
                self.text.fmt(out)?;
                write!(out, "{style:#}")
            }
        }
    }
}

/// Text from a file, which may hold anything. Characters that control a terminal or
/// turn the direction of writing are shown, not obeyed: a session id must not be able to repaint somebody's terminal.
pub(crate) struct Untrusted<T>(pub(crate) T);

impl<T: Display> Display for Untrusted<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        show(&self.0.to_string(), |_| false, out)
    }
}

/// What a program says, or a line of it: lines and tabs are part of a text, and a program that
/// is indented with tabs is shown as it is. The rest is shown as in [`Untrusted`].
pub(crate) struct UntrustedText<T>(pub(crate) T);

impl<T: Display> Display for UntrustedText<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_text = |character| matches!(character, '\n' | '\t');
        show(&self.0.to_string(), is_text, out)
    }
}

fn show(text: &str, is_fine: fn(char) -> bool, out: &mut fmt::Formatter<'_>) -> fmt::Result {
    for character in text.chars() {
        if misleads(character) && !is_fine(character) {
            write!(out, "{}", character.escape_default())?;
        } else {
            write!(out, "{character}")?;
        }
    }
    Ok(())
}

/// Characters that change the order in which others are shown, or end a line.
pub(crate) fn is_direction(character: char) -> bool {
    matches!(
        character,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(color: Color, no_color: bool, is_terminal: bool, expected: bool) {
        let palette = Palette::choose(
            color,
            &Environment {
                no_color,
                ..Environment::default()
            },
            is_terminal,
        );
        let is_coloured = palette.problem("x").to_string() != "x";
        assert_eq!(is_coloured, expected, "{color:?} {no_color} {is_terminal}");
    }

    #[test]
    fn auto_is_for_terminals_of_people_who_like_colour() {
        check(Color::Auto, false, true, true);
        check(Color::Auto, false, false, false);
        check(Color::Auto, true, true, false);
    }

    #[test]
    fn an_explicit_choice_beats_the_circumstances() {
        check(Color::Always, true, false, true);
        check(Color::Never, false, true, false);
    }

    #[test]
    fn control_characters_are_shown_and_not_obeyed() {
        assert_eq!(
            Untrusted("a\u{1b}[31m\nb ä").to_string(),
            r"a\u{1b}[31m\nb ä"
        );
        assert_eq!(Untrusted("abc\u{202e}cba").to_string(), r"abc\u{202e}cba");
        assert_eq!(Untrusted("a\tb").to_string(), r"a\tb");
        assert_eq!(
            UntrustedText("a\u{1b}[31m\n\tb").to_string(),
            "a\\u{1b}[31m\n\tb"
        );
    }
}
