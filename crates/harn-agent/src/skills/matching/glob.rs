//! The globs of skills: `*` stays within a folder, `**` does not, `?` is one letter.
//!
//! Nothing else means anything, so that the name of every file can be written as it is.

/// A glob, ready to be matched.
#[derive(Debug)]
pub(super) struct Glob(Vec<Part>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// This letter.
    Letter(char),
    /// `?`: a letter that is no `/`.
    Any,
    /// `*`: letters that are no `/`, or none.
    Within,
    /// `**`: letters, or none.
    Across,
    /// `**/`: folders, or none.
    Folders,
}

/// Where to go on if the rest does not match: a part that can take more, and how far it got.
type Retry = Option<(usize, usize)>;

impl Glob {
    /// Reads a glob. Every text is one.
    pub(super) fn new(glob: &str) -> Self {
        let glob = glob.strip_prefix("./").unwrap_or(glob);
        let mut parts = Vec::new();
        let mut rest = glob;
        while let Some(letter) = rest.chars().next() {
            let at_start = matches!(parts.last(), None | Some(Part::Letter('/') | Part::Folders));
            let (part, length) = match letter {
                '*' if rest.starts_with("**/") && at_start => (Part::Folders, 3),
                '*' if rest.starts_with("**") => (Part::Across, 2),
                '*' => (Part::Within, 1),
                '?' => (Part::Any, 1),
                letter => (Part::Letter(letter), letter.len_utf8()),
            };
            parts.push(part);
            rest = &rest[length..];
        }
        Self(parts)
    }

    /// Whether a path matches as a whole.
    ///
    /// When something does not fit, only the last `*` and the last `**` before it are tried
    /// again. That is enough: what comes before a `**` may match as early as it can, because
    /// the `**` takes whatever is left, and a `*` cannot leave its folder, so that an earlier
    /// one has no choice once a `/` follows.
    pub(super) fn matches(&self, path: &str) -> bool {
        let path = path.strip_prefix("./").unwrap_or(path);
        let parts = &self.0;
        let (mut part, mut at) = (0, 0);
        let (mut within, mut across): (Retry, Retry) = (None, None);
        loop {
            let next = path[at..].chars().next();
            match (parts.get(part), next) {
                (None, None) => return true,
                (Some(Part::Within), _) => {
                    within = Some((part, at));
                    part += 1;
                    continue;
                }
                (Some(Part::Across | Part::Folders), _) => {
                    (across, within) = (Some((part, at)), None);
                    part += 1;
                    continue;
                }
                (Some(Part::Letter(expected)), Some(letter)) if *expected == letter => {
                    (part, at) = (part + 1, at + letter.len_utf8());
                    continue;
                }
                (Some(Part::Any), Some(letter)) if letter != '/' => {
                    (part, at) = (part + 1, at + letter.len_utf8());
                    continue;
                }
                _ => {}
            }
            match take_more(parts, path, &mut within, &mut across) {
                Some(again) => (part, at) = again,
                None => return false,
            }
        }
    }
}

/// Lets a part take more; gives where to go on.
fn take_more(
    parts: &[Part],
    path: &str,
    within: &mut Retry,
    across: &mut Retry,
) -> Option<(usize, usize)> {
    if let Some((part, at)) = within {
        match path[*at..].chars().next() {
            Some(letter) if letter != '/' => {
                *at += letter.len_utf8();
                return Some((*part + 1, *at));
            }
            _ => *within = None,
        }
    }
    let (part, at) = across.as_mut()?;
    let rest = &path[*at..];
    *at += match parts[*part] {
        Part::Folders => rest.find('/')? + 1,
        _ => rest.chars().next()?.len_utf8(),
    };
    Some((*part + 1, *at))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn stars_and_question_marks() {
        let rows = [
            ("src/*.rs", "src/main.rs", true),
            ("src/*.rs", "src/deep/main.rs", false),
            ("src/**", "src/deep/main.rs", true),
            ("src/**", "src", false),
            ("**/*.rs", "src/deep/main.rs", true),
            ("**/*.rs", "main.rs", true),
            ("src/**/*.rs", "src/a.rs", true),
            ("src/**/*.rs", "src/a/b/c.rs", true),
            ("src/**/*.rs", "srcs/a.rs", false),
            ("src/?.rs", "src/a.rs", true),
            ("src/?.rs", "src/ab.rs", false),
            ("src?a.rs", "src/a.rs", false),
            ("main.rs", "src/main.rs", false),
            ("*", "a/b", false),
            ("**", "a/b", true),
            ("*a*b*/c", "xaxbx/c", true),
            ("a**z", "a/b/z", true),
            ("[a].{x}", "[a].{x}", true),
            ("./a", "a", true),
            ("ä?", "äö", true),
            ("", "", true),
            ("", "a", false),
            ("**/a/*b", "x/a/c/a/zb", true),
            ("x**/y", "x/a/y", true),
        ];
        for (glob, path, expected) in rows {
            assert_eq!(Glob::new(glob).matches(path), expected, "{glob} {path}");
        }
    }

    /// What the parts mean, without any thought for time.
    fn plainly(parts: &[Part], path: &[char]) -> bool {
        let Some((part, rest)) = parts.split_first() else {
            return path.is_empty();
        };
        let ends = |is_fine: &dyn Fn(usize) -> bool| {
            (0..=path.len()).any(|end| is_fine(end) && plainly(rest, &path[end..]))
        };
        match part {
            Part::Letter(letter) => path.first() == Some(letter) && plainly(rest, &path[1..]),
            Part::Any => path.first().is_some_and(|one| *one != '/') && plainly(rest, &path[1..]),
            Part::Within => ends(&|end| !path[..end].contains(&'/')),
            Part::Across => ends(&|_| true),
            Part::Folders => ends(&|end| end == 0 || path[end - 1] == '/'),
        }
    }

    proptest! {
        #[test]
        fn the_fast_way_is_the_right_way(glob in "[ab*?/]{0,9}", path in "[ab/]{0,9}") {
            let glob = Glob::new(&glob);
            let path = path.strip_prefix("./").unwrap_or(&path);
            let letters: Vec<char> = path.chars().collect();
            prop_assert_eq!(glob.matches(path), plainly(&glob.0, &letters));
        }
    }
}
