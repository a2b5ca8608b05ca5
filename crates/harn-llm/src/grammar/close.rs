//! Finds the tag that closes a block, past heredocs that only mention it.

use super::value::{Heredoc, HeredocEnding, Look, heredoc_opening};

/// The longest piece of text that must be seen whole to know whether it is a closing tag or
/// the beginning of a heredoc.
const LOOK_BYTES_MAX: usize = 80;

/// A search that can stop anywhere and go on when more text has come.
#[derive(Debug)]
pub(super) struct CloseSearch {
    /// How the tag may be written.
    closers: &'static [&'static str],
    at: usize,
    /// An open heredoc, and where to come back to if it never ends.
    heredoc: Option<(Heredoc, usize)>,
    /// Cleared once a heredoc turned out to have no end, so that it was none.
    believes_heredocs: bool,
}

/// Where a block ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Close {
    /// The closing tag stands from here to there.
    Found { from: usize, to: usize },
    /// Only more text can tell.
    More,
    /// It never does.
    Missing,
}

impl CloseSearch {
    /// A search from `at` for one of several spellings.
    pub(super) fn new(closers: &'static [&'static str], at: usize) -> Self {
        Self {
            closers,
            at,
            heredoc: None,
            believes_heredocs: true,
        }
    }

    /// Searches on. `text` must begin with what it was before; `ended` says that it is whole.
    pub(super) fn advance(&mut self, text: &str, ended: bool) -> Close {
        loop {
            if !self.pass_heredoc(text, ended) {
                return Close::More;
            }
            let Some(found) = text[self.at..].find('<') else {
                self.at = text.len();
                return if ended { Close::Missing } else { Close::More };
            };
            let at = self.at + found;
            self.at = at;
            let rest = &text[at..];
            if let Some(closer) = self
                .closers
                .iter()
                .find(|closer| rest.starts_with(**closer))
            {
                return Close::Found {
                    from: at,
                    to: at + closer.len(),
                };
            }
            if !ended && self.closers.iter().any(|closer| closer.starts_with(rest)) {
                return Close::More;
            }
            if self.believes_heredocs && rest.starts_with("<<") {
                match heredoc_opening(rest, ended) {
                    Look::Yes { tag, length } => {
                        self.heredoc = Some((Heredoc::new(tag, at + length), at + 2));
                        continue;
                    }
                    Look::More if rest.len() < LOOK_BYTES_MAX => return Close::More,
                    Look::More | Look::No => {}
                }
            }
            self.at = at + 1;
        }
    }

    /// Whether it followed a heredoc to the end of the text for nothing.
    pub(super) fn was_in_vain(&self) -> bool {
        !self.believes_heredocs
    }

    /// Does not look for heredocs, because too many had no end.
    pub(super) fn without_heredocs(mut self) -> Self {
        self.believes_heredocs = false;
        self
    }

    /// Passes the lines of an open heredoc; false if its end has not come.
    fn pass_heredoc(&mut self, text: &str, ended: bool) -> bool {
        let Some((heredoc, opened)) = &mut self.heredoc else {
            return true;
        };
        match heredoc.advance(text, ended) {
            HeredocEnding::Found { after, .. } => self.at = after,
            HeredocEnding::NotYet if !ended => return false,
            HeredocEnding::NotYet => {
                self.at = *opened;
                self.believes_heredocs = false;
            }
        }
        self.heredoc = None;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<usize>) {
        let mut whole = CloseSearch::new(&["</a>", "</|a|>"], 0);
        let mut pieces = CloseSearch::new(&["</a>", "</|a|>"], 0);
        let mut found = Close::More;
        for (end, _) in text.char_indices() {
            found = pieces.advance(&text[..end], false);
            if found != Close::More {
                break;
            }
        }
        if found == Close::More {
            found = pieces.advance(text, true);
        }
        assert_eq!(whole.advance(text, true), found, "{text:?}");
        let from = match found {
            Close::Found { from, .. } => Some(from),
            Close::More | Close::Missing => None,
        };
        assert_eq!(from, expected, "{text:?}");
    }

    #[test]
    fn heredocs_are_passed_unless_they_never_end() {
        check("x</a>", Some(1));
        check("x</|a|>", Some(1));
        check("x</b>", None);
        check("<<T\n</a>\nT</a>", Some(10));
        check("<<T\n</a>\nTT</a>", Some(4));
        check("a << b </a>", Some(7));
        check("<<T", None);
    }
}
