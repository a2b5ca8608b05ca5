//! What things look like. Nothing is said by colour alone.

use ratatui::style::{Color, Modifier, Style};

/// What things look like, with colours or without.
#[derive(Clone, Copy, Debug)]
pub(super) struct Looks {
    pub(super) is_coloured: bool,
}

impl Looks {
    /// What the agent says.
    pub(super) fn plain(self) -> Style {
        Style::new()
    }

    /// What the person says.
    pub(super) fn own(self) -> Style {
        self.coloured(Color::Cyan).add_modifier(Modifier::BOLD)
    }

    /// Something the eye may pass over.
    pub(super) fn faint(self) -> Style {
        Style::new().add_modifier(Modifier::DIM)
    }

    pub(super) fn heading(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    pub(super) fn good(self) -> Style {
        self.coloured(Color::Green)
    }

    pub(super) fn bad(self) -> Style {
        self.coloured(Color::Red)
    }

    /// Something that needs an answer.
    pub(super) fn urgent(self) -> Style {
        self.coloured(Color::Yellow).add_modifier(Modifier::BOLD)
    }

    /// What is chosen.
    pub(super) fn chosen(self) -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }

    fn coloured(self, color: Color) -> Style {
        match self.is_coloured {
            true => Style::new().fg(color),
            false => Style::new(),
        }
    }
}
