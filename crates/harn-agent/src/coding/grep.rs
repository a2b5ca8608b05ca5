//! `grep`: lines of files that match a regular expression.

mod lines;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use globset::GlobMatcher;
use harn_events::{SideEffectLevel, ToolKind};
use regex::bytes::{Regex, RegexBuilder};
use rustix::fs::FileType;

use super::arguments::Arguments;
use super::background::Cancelled;
use super::declare::Declare;
use super::limits::Limits;
use super::place::{Place, check_names, open_file};
use super::walk::{Entry, Next, walk};
use super::workspace::{Workspace, is_kept_apart};
use super::{failed, glob};
use crate::own_tools::is_binary;
use crate::protected_paths::Protection;
use crate::tool::{Declaration, ToolError};

use lines::Found;

/// How many lines are found unless the model asks for more.
const MATCHES_DEFAULT: usize = 100;
/// How many lines may be shown before and after each one.
const CONTEXT_MAX: usize = 20;
/// How large a regular expression may become.
const REGEX_BYTES_MAX: usize = 4 * 1024 * 1024;
/// How much of a file says whether it is a text.
const START_BYTES: usize = 8 * 1024;

pub(super) fn declaration(limits: &Limits) -> Declaration {
    let limit = format!(
        "How many matching lines to show, at most {}; {MATCHES_DEFAULT} if left out.",
        limits.matches_max
    );
    Declare::new(
        "grep",
        "Finds lines in the files of the workspace by a regular expression. Each is shown as path:number:text. Links, .git, .harn, binary and very large files are passed over.",
    )
    .does(ToolKind::Search, SideEffectLevel::ReadOnly, "workspace", "read_text")
    .needs("pattern", "string", "The regular expression; it is matched line by line.")
    .takes("path", "string", "The folder or file to look in; the workspace itself if left out.")
    .takes("glob", "string", "A pattern for the files to look in: `*.rs` in any folder, `src/**/*.rs` from the folder on.")
    .takes("ignore_case", "boolean", "Whether capital and small letters are the same.")
    .takes("context", "integer", "How many lines to show before and after each one; none if left out.")
    .takes("limit", "integer", &limit)
    .also("path", &["folder", "directory", "dir", "file"])
    .also("ignore_case", &["case_insensitive"])
    .done()
}

pub(super) fn grep(
    workspace: &Workspace,
    arguments: Arguments<'_>,
    cancelled: &Cancelled,
) -> Result<String, ToolError> {
    let path = arguments.folder()?;
    let place = workspace.place(path)?;
    let mut search = Search::new(arguments, &workspace.limits, &place)?;
    let cannot = |error: io::Error| failed(format!("cannot look in '{path}': {error}"));
    if place.kind().map_err(cannot)? == Some(FileType::RegularFile) {
        let file = place.open_file().map_err(cannot)?;
        let path = place.path();
        search.file(file, &path.to_string_lossy()).map_err(cannot)?;
        return Ok(search.result());
    }
    let start = place.path();
    let folder = place.open_folder().map_err(cannot)?;
    let walked = walk(folder, cancelled, &mut |entry| search.entry(&start, entry));
    let note = walked.map_err(cannot)?.note();
    let note = note.map_or_else(String::new, |note| format!("\n{note}"));
    Ok(search.result() + &note)
}

/// A search that is going on.
struct Search {
    regex: Regex,
    files: Option<FileFilter>,
    file_bytes_max: u64,
    found: Found,
    /// How many files were looked into, and how many not because of their size, or because
    /// they could not be read.
    searched: usize,
    too_large: usize,
    unreadable: usize,
    /// How many files were passed over because they probably hold secrets.
    secret: usize,
    /// Where one looks.
    place: Place,
}

impl Search {
    fn new(arguments: Arguments<'_>, limits: &Limits, place: &Place) -> Result<Self, ToolError> {
        let regex = RegexBuilder::new(arguments.text("pattern")?)
            .case_insensitive(arguments.flag("ignore_case"))
            .size_limit(REGEX_BYTES_MAX)
            .build()
            .map_err(|error| failed(format!("the pattern is not valid: {error}")))?;
        let context = arguments.number("context", 0)?.unwrap_or(0);
        let context = usize::try_from(context).unwrap_or(CONTEXT_MAX);
        let matches_max = limits.matches_max;
        let files = arguments.optional_text("glob")?.map(FileFilter::new);
        Ok(Self {
            regex,
            files: files.transpose()?,
            file_bytes_max: limits.grep_bytes_max,
            found: Found::new(
                context.min(CONTEXT_MAX),
                arguments.count("limit", MATCHES_DEFAULT.min(matches_max), matches_max)?,
                limits.read_bytes_max,
            ),
            searched: 0,
            too_large: 0,
            unreadable: 0,
            secret: 0,
            place: place.clone(),
        })
    }

    fn entry(&mut self, start: &Path, entry: &Entry<'_>) -> Next {
        if is_kept_apart(entry.path) {
            return Next::Pass;
        }
        let is_wanted = |filter: &FileFilter| filter.is_match(entry.path);
        if entry.kind != FileType::RegularFile || !self.files.as_ref().is_none_or(is_wanted) {
            return Next::Enter;
        }
        let name = entry.path.file_name().unwrap_or_default();
        let path = start.join(entry.path);
        match self.place.passed_over(entry.path) {
            Some(Protection::Secret) => {
                self.secret += 1;
                return Next::Enter;
            }
            Some(Protection::State) => return Next::Enter,
            Some(Protection::Git | Protection::Guarded { .. }) | None => {}
        }
        let opened = open_file(entry.folder, name).and_then(|file| {
            check_names(&file, &self.place.protected)?;
            self.file(file, &path.to_string_lossy())
        });
        if opened.is_err() {
            self.unreadable += 1;
        }
        match self.found.is_full() {
            true => Next::Stop,
            false => Next::Enter,
        }
    }

    fn file(&mut self, mut file: File, path: &str) -> io::Result<()> {
        if file.metadata()?.len() > self.file_bytes_max {
            self.too_large += 1;
            return Ok(());
        }
        let mut content = Vec::new();
        // A file may grow while it is read.
        (&mut file)
            .take(self.file_bytes_max)
            .read_to_end(&mut content)?;
        if is_binary(&content[..content.len().min(START_BYTES)]) {
            return Ok(());
        }
        self.searched += 1;
        self.found.look_into(path, &content, &self.regex);
        Ok(())
    }

    fn result(self) -> String {
        let mut notes = Vec::new();
        let matches_max = self.found.matches_max;
        if self.found.is_full() {
            notes.push(format!(
                "only the first {} matching lines are shown. Use a narrower pattern, path or glob",
                self.found.matches.min(matches_max)
            ));
        }
        if self.too_large > 0 {
            notes.push(format!(
                "{} files of more than {} bytes were passed over",
                self.too_large, self.file_bytes_max
            ));
        }
        if self.unreadable > 0 {
            notes.push(format!("{} files could not be read", self.unreadable));
        }
        if self.secret > 0 {
            notes.push(format!(
                "{} files that may hold secrets were passed over",
                self.secret
            ));
        }
        let mut text = self.found.text;
        if text.is_empty() {
            text = format!("[no line matches in {} files]", self.searched);
        }
        for note in notes {
            text += &format!("\n\n[{note}]");
        }
        text
    }
}

/// Which files to look into.
struct FileFilter {
    matcher: GlobMatcher,
    /// A pattern without a slash is one for names, in whatever folder.
    is_for_names: bool,
}

impl FileFilter {
    fn new(pattern: &str) -> Result<Self, ToolError> {
        Ok(Self {
            matcher: glob::matcher(pattern)?,
            is_for_names: !pattern.contains('/'),
        })
    }

    fn is_match(&self, path: &Path) -> bool {
        match self.is_for_names {
            true => path
                .file_name()
                .is_some_and(|name| self.matcher.is_match(name)),
            false => self.matcher.is_match(path),
        }
    }
}
