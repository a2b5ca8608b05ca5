//! Paths as texts. Both kinds of slash count as `/`, on every system.

/// A path taken apart.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Parts {
    /// `C:` or nothing.
    pub(super) drive: String,
    pub(super) is_absolute: bool,
    /// What is between slashes, empty ones left out.
    pub(super) segments: Vec<String>,
}

impl Parts {
    pub(super) fn of(path: &str) -> Self {
        let path = posix(path);
        let has_drive =
            matches!(path.as_bytes(), [letter, b':', b'/', ..] if letter.is_ascii_alphabetic());
        let (drive, rest) = path.split_at(if has_drive { 2 } else { 0 });
        let segments = rest.split('/').filter(|segment| !segment.is_empty());
        Self {
            drive: drive.to_owned(),
            is_absolute: rest.starts_with('/'),
            segments: segments.map(str::to_owned).collect(),
        }
    }

    /// The same path without `.`, and without `..` where something precedes it.
    pub(super) fn normalized(mut self) -> Self {
        let mut kept: Vec<String> = Vec::new();
        for segment in self.segments {
            match (segment.as_str(), kept.last().map(String::as_str)) {
                (".", _) => {}
                ("..", Some(last)) if last != ".." => {
                    kept.pop();
                }
                ("..", _) if self.is_absolute => {}
                _ => kept.push(segment),
            }
        }
        self.segments = kept;
        self
    }

    /// The path as text; `.` if nothing is left of it.
    pub(super) fn show(&self) -> String {
        let root = if self.is_absolute { "/" } else { "" };
        let path = format!("{}{root}{}", self.drive, self.segments.join("/"));
        match path.is_empty() {
            true => ".".to_owned(),
            false => path,
        }
    }
}

/// A path with slashes.
pub(super) fn posix(path: &str) -> String {
    path.replace('\\', "/")
}

/// A path without what says nothing.
pub(super) fn normalize(path: &str) -> String {
    match path.is_empty() {
        true => String::new(),
        false => Parts::of(path).normalized().show(),
    }
}

/// The folder of a path.
pub(super) fn parent(path: &str) -> String {
    let mut parts = Parts::of(path);
    parts.segments.pop();
    match parts.segments.is_empty() && !parts.is_absolute {
        true => String::new(),
        false => parts.show(),
    }
}

/// The last segment.
pub(super) fn basename(path: &str) -> String {
    Parts::of(path).segments.pop().unwrap_or_default()
}

/// The last segment, before and from its last dot. A dot at the beginning does not count.
pub(super) fn stem_and_extension(path: &str) -> (String, String) {
    let name = basename(path);
    match name.rfind('.') {
        Some(dot) if dot > 0 && name != ".." => (name[..dot].to_owned(), name[dot..].to_owned()),
        _ => (name, String::new()),
    }
}

/// A path with another last segment.
pub(super) fn with_name(path: &str, name: &str) -> String {
    let path = posix(path);
    let trimmed = path.trim_end_matches('/');
    match trimmed.rfind('/') {
        Some(slash) => format!("{}{name}", &trimmed[..=slash]),
        None => name.to_owned(),
    }
}

/// The way from a base to a path; `None` if there is no way.
pub(super) fn relative_to(path: &str, base: &str) -> Option<String> {
    let path = Parts::of(path).normalized();
    let base = Parts::of(base).normalized();
    if path.is_absolute != base.is_absolute || path.drive != base.drive {
        return None;
    }
    let pairs = std::iter::zip(&path.segments, &base.segments);
    let common = pairs.take_while(|(one, other)| one == other).count();
    let up = base.segments.len() - common;
    let way = std::iter::repeat_n("..", up);
    let way = way.chain(path.segments[common..].iter().map(String::as_str));
    let way: Vec<&str> = way.collect();
    Some(match way.is_empty() {
        true => ".".to_owned(),
        false => way.join("/"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_are_resolved() {
        for (path, expected) in [
            ("", ""),
            ("a/./b//c/", "a/b/c"),
            ("a/../..", ".."),
            ("../a/../b", "../b"),
            ("/../a", "/a"),
            ("/", "/"),
            (".", "."),
            ("a/..", "."),
            ("a\\b\\..\\c", "a/c"),
            ("C:\\x\\..\\y", "C:/y"),
        ] {
            assert_eq!(normalize(path), expected, "{path}");
        }
    }

    #[test]
    fn paths_have_folders_and_names() {
        for (path, folder, name, stem, extension) in [
            ("a/b/c", "a/b", "c", "c", ""),
            ("/a", "/", "a", "a", ""),
            ("/", "/", "", "", ""),
            ("a", "", "a", "a", ""),
            ("x/a.tar.gz", "x", "a.tar.gz", "a.tar", ".gz"),
            (".bashrc", "", ".bashrc", ".bashrc", ""),
            ("a/b.txt/", "a", "b.txt", "b", ".txt"),
        ] {
            assert_eq!(parent(path), folder, "{path}");
            assert_eq!(basename(path), name, "{path}");
            assert_eq!(
                stem_and_extension(path),
                (stem.to_owned(), extension.to_owned())
            );
        }
        assert_eq!(with_name("a/b.txt", "c"), "a/c");
        assert_eq!(with_name("/b", "c"), "/c");
        assert_eq!(with_name("b", "c"), "c");
    }

    #[test]
    fn ways_lead_up_and_down() {
        for (path, base, expected) in [
            ("a/c", "a/b", Some("../c")),
            ("a", "a", Some(".")),
            ("a/b/c", "a", Some("b/c")),
            ("/a/b", "/c", Some("../a/b")),
            ("/a", "a", None),
            ("C:/a", "D:/a", None),
        ] {
            assert_eq!(
                relative_to(path, base).as_deref(),
                expected,
                "{path} {base}"
            );
        }
    }
}
