//! Rules about commands: words as one would type them.

use std::fmt;

use crate::glob::{Glob, Unreadable, Written};
use crate::part::Part;
use crate::programs::{
    INTERPRETERS, REMOTE, SHELLS, base_name, escapes, is_shell, may_escape, without_version,
};
use crate::reserved::assigned;
use crate::surroundings::Surroundings;
use crate::word::Word;
use crate::wrappers::is_wrapper;

/// What a rule is for. A rule that allows must not be wider than it looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Commands that need no question.
    Allow,
    /// Commands that a person is asked about.
    Ask,
    /// Commands that are not run.
    Deny,
}

/// One rule: `git status`, `cargo test *`, `GIT_PAGER=* git log *`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    text: String,
    assignments: Vec<(String, Glob)>,
    /// The program first; none: any program.
    words: Vec<Glob>,
    /// Whether any further words may follow.
    has_rest: bool,
}

/// Why a rule is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RuleError {
    /// It cannot be read.
    Unreadable {
        /// The rule.
        rule: String,
        /// Why.
        reason: String,
    },
    /// It names a program that runs whatever it is told.
    AllowsEverything(String),
}

impl fmt::Display for RuleError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable { rule, reason } => {
                write!(formatter, "pattern '{rule}' cannot be read: {reason}")
            }
            Self::AllowsEverything(rule) => write!(
                formatter,
                "rule '{rule}' would allow everything; name the script"
            ),
        }
    }
}

impl std::error::Error for RuleError {}

/// How a rule is about a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fit {
    No,
    /// It depends on words that only the shell knows.
    Maybe,
    Yes,
}

impl Rule {
    /// Reads a rule.
    ///
    /// # Errors
    /// It cannot be read, or it would allow everything.
    pub fn parse(text: &str, purpose: Purpose) -> Result<Self, RuleError> {
        let unreadable = |problem: Unreadable| RuleError::Unreadable {
            rule: text.to_owned(),
            reason: problem.to_string(),
        };
        let mut written = split(text).map_err(unreadable)?;
        let has_rest = written.last().is_some_and(|last| *last == [('*', false)]);
        if has_rest {
            written.pop();
        }
        if written.is_empty() && !has_rest {
            return Err(unreadable(Unreadable("it is empty".into())));
        }
        let mut rule = Self {
            text: text.to_owned(),
            assignments: Vec::new(),
            words: Vec::new(),
            has_rest,
        };
        for word in &written {
            let plain = word.iter().take_while(|(_, is_quoted)| !is_quoted);
            let plain: String = plain.map(|(character, _)| character).collect();
            match assigned(&plain).filter(|_| rule.words.is_empty()) {
                Some((name, length)) => {
                    let value = Glob::of(&word[length..]).map_err(unreadable)?;
                    rule.assignments.push((name.to_owned(), value));
                }
                None => rule.words.push(Glob::of(word).map_err(unreadable)?),
            }
        }
        if purpose == Purpose::Allow && rule.allows_everything() {
            return Err(RuleError::AllowsEverything(text.to_owned()));
        }
        Ok(rule)
    }

    /// As it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it names a program that runs what it is told, and not what.
    fn allows_everything(&self) -> bool {
        let Some(program) = self.words.first() else {
            return false;
        };
        if program.is_everything() {
            return false;
        }
        let names = match program.literals() {
            Some(names) => names
                .iter()
                .map(|name| base_name(name).to_owned())
                .collect(),
            None => self.matching_names(program),
        };
        names.iter().any(|name| self.is_open(name))
    }

    /// The programs that run others and that a pattern is about.
    fn matching_names(&self, program: &Glob) -> Vec<String> {
        let named: [&[&str]; 3] = [&SHELLS, &INTERPRETERS, &REMOTE];
        let wrappers = ["env", "sudo", "xargs", "find", "nice", "timeout", "nohup"];
        let all = named.into_iter().flatten().chain(&wrappers);
        let is_matched = |name: &&&str| {
            let paths = ["", "./", "/bin/", "/usr/bin/"];
            let mut paths = paths.iter();
            paths.any(|path| program.matches(&format!("{path}{name}")))
        };
        all.filter(is_matched)
            .map(|name| (*name).to_owned())
            .collect()
    }

    fn is_open(&self, name: &str) -> bool {
        let bare = without_version(name);
        let words: Vec<Option<String>> = self.words[1..].iter().map(only).collect();
        let names_one = |index: usize| {
            let word = words.get(index).and_then(Option::as_deref);
            word.is_some_and(|word| !word.starts_with('-'))
        };
        if is_shell(name) || INTERPRETERS.contains(&bare) || INTERPRETERS.contains(&name) {
            let is_exact = !self.has_rest && !words.is_empty() && words.iter().all(Option::is_some);
            let is_module = words.first() == Some(&Some("-m".to_owned())) && names_one(1);
            let takes_scripts_later = TAKES_SCRIPTS_LATER.contains(&bare);
            let names_script = names_one(0) && !(takes_scripts_later && self.has_rest);
            return !(is_exact || is_module || names_script);
        }
        if !self.has_rest {
            return false;
        }
        if REMOTE.contains(&name) {
            let reads = |word: &str| READING.contains(&word);
            return !words.first().and_then(Option::as_deref).is_some_and(reads);
        }
        is_wrapper(name) && !names_one(0)
    }

    /// Whether the rule allows a part: every word is known, and it is the program that is named.
    pub(crate) fn allows(&self, part: &Part, around: &dyn Surroundings) -> bool {
        let Some(program) = &part.program else {
            return false;
        };
        let mut assignments = part.assignments.iter();
        let allowed = |one: &crate::part::Assignment| {
            is_harmless_variable(&one.name) || self.names_assignment(one)
        };
        assignments.all(allowed)
            && self.fit_words(&part.words, program) == Fit::Yes
            && self.is_program(program, around)
    }

    fn names_assignment(&self, one: &crate::part::Assignment) -> bool {
        let Some(value) = one.value.literal() else {
            return false;
        };
        let mut named = self.assignments.iter();
        named.any(|(name, glob)| *name == one.name && glob.matches(value))
    }

    /// Whether a program is the one that is named, as a file.
    fn is_program(&self, program: &str, around: &dyn Surroundings) -> bool {
        let Some(glob) = self.words.first() else {
            return true;
        };
        if program.contains('/') {
            if glob.matches(program) && !glob.is_everything() {
                return true;
            }
            let name = base_name(program);
            return glob.matches(name) && is_same_file(program, name, around);
        }
        let changes = |file: &std::path::PathBuf| around.is_writable(file);
        glob.matches(program) && !around.files(program).first().is_some_and(changes)
    }

    /// How the rule is about a program that must not be run, by whatever name.
    pub(crate) fn denies(
        &self,
        program: &str,
        words: &[Word],
        assignments: &[crate::part::Assignment],
        around: &dyn Surroundings,
    ) -> Fit {
        let mut named = self.assignments.iter();
        let is_set = |name: &str, glob: &Glob| {
            let mut set = assignments.iter().filter(|one| one.name == name);
            set.any(|one| one.value.literal().is_none_or(|value| glob.matches(value)))
        };
        if !named.all(|(name, glob)| is_set(name, glob)) {
            return Fit::No;
        }
        if self.words.is_empty() {
            return Fit::Yes;
        }
        let fit = self.fit_words(words, program);
        if fit == Fit::No {
            return Fit::No;
        }
        let glob = &self.words[0];
        let is_named = glob.matches(program) || glob.matches(base_name(program));
        let is_linked = || {
            let files = around.files(program);
            files.iter().any(|file| {
                let path = file.to_string_lossy();
                glob.matches(&path) || glob.matches(base_name(&path))
            })
        };
        match is_named || is_linked() {
            true => fit,
            false => Fit::No,
        }
    }

    /// How the words after the program fit.
    fn fit_words(&self, words: &[Word], program: &str) -> Fit {
        let wanted = self.words.get(1..).unwrap_or_default();
        for (index, glob) in wanted.iter().enumerate() {
            match words.get(index) {
                None => return Fit::No,
                Some(word) if word.splits() => return Fit::Maybe,
                Some(word) => match word.literal() {
                    None => return Fit::Maybe,
                    Some(text) if glob.matches(text) => {}
                    Some(_) => return Fit::No,
                },
            }
        }
        let rest = &words[wanted.len()..];
        match (self.has_rest, rest.is_empty()) {
            (_, true) => Fit::Yes,
            (false, false) if rest.iter().all(Word::splits) => Fit::Maybe,
            (false, false) => Fit::No,
            (true, false) => self.fit_rest(words, wanted.len(), base_name(program)),
        }
    }

    /// Whether the last `*` stands for these words: not for those that make a program run
    /// another one.
    fn fit_rest(&self, words: &[Word], from: usize, program: &str) -> Fit {
        if self.words.is_empty() {
            return Fit::Yes;
        }
        let texts: Vec<&str> = words.iter().map(Word::literal_prefix).collect();
        for (index, word) in words.iter().enumerate().skip(from) {
            match word.literal() {
                Some(text) if escapes(program, index, text, &texts[..index]) => return Fit::Maybe,
                Some(_) => {}
                None => {
                    let prefix = word.literal_prefix();
                    if may_escape(program) && (prefix.is_empty() || prefix.starts_with('-')) {
                        return Fit::Maybe;
                    }
                }
            }
        }
        Fit::Yes
    }
}

/// Whether a program that is named with its folder is what its name alone would start.
pub(crate) fn is_same_file(program: &str, name: &str, around: &dyn Surroundings) -> bool {
    let (files, named) = (around.files(program), around.files(name));
    match (files.last(), named.last(), files.first()) {
        (Some(file), Some(named), Some(first)) => {
            file == named && !around.is_writable(first) && !around.is_writable(file)
        }
        // Where nobody looks, only the folders of the system hold what they say.
        _ => {
            let folder = &program[..program.len() - name.len()];
            named.is_empty() && SYSTEM_FOLDERS.contains(&folder)
        }
    }
}

const SYSTEM_FOLDERS: [&str; 5] = [
    "/bin/",
    "/usr/bin/",
    "/usr/local/bin/",
    "/sbin/",
    "/usr/sbin/",
];

/// Interpreters that take scripts among their options after a first word.
const TAKES_SCRIPTS_LATER: [&str; 12] = [
    "sed", "vi", "vim", "nvim", "ex", "ed", "less", "more", "man", "emacs", "php", "sqlite",
];

/// What programs that run commands elsewhere do without running one.
const READING: [&str; 12] = [
    "ps", "logs", "images", "get", "describe", "inspect", "version", "top", "stats", "port",
    "diff", "history",
];

/// Whether a variable may be set without a question: it changes how things look.
pub(crate) fn is_harmless_variable(name: &str) -> bool {
    name.starts_with("LC_")
        || matches!(
            name,
            "LANG" | "TZ" | "TERM" | "NO_COLOR" | "CI" | "RUST_BACKTRACE" | "RUST_LOG" | "DEBUG"
        )
}

/// The one text that a pattern matches.
fn only(glob: &Glob) -> Option<String> {
    let mut literals = glob.literals()?;
    match literals.len() {
        1 => literals.pop(),
        _ => None,
    }
}

/// The words of a rule. What joins commands means nothing in one.
fn split(text: &str) -> Result<Vec<Vec<Written>>, Unreadable> {
    let mut words: Vec<Vec<Written>> = Vec::new();
    let mut open: Option<Vec<Written>> = None;
    let mut characters = text.chars();
    while let Some(next) = characters.next() {
        match next {
            ' ' | '\t' => words.extend(open.take()),
            '\'' | '"' => {
                let word = open.get_or_insert_default();
                loop {
                    match characters.next() {
                        None => return Err(Unreadable("a quote without its end".into())),
                        Some(end) if end == next => break,
                        Some('\\') if next == '"' => match characters.next() {
                            Some(escaped) => word.push((escaped, true)),
                            None => return Err(Unreadable("a quote without its end".into())),
                        },
                        Some(inside) => word.push((inside, true)),
                    }
                }
            }
            '\\' => match characters.next() {
                Some(escaped) => open.get_or_insert_default().push((escaped, true)),
                None => return Err(Unreadable("a backslash at the end".into())),
            },
            ';' | '&' | '|' | '<' | '>' | '(' | ')' | '`' | '\n' => {
                return Err(Unreadable(format!(
                    "{next:?} joins commands, and a rule is about one"
                )));
            }
            next if crate::invisible::is_hidden(next) => {
                return Err(Unreadable("an invisible character".into()));
            }
            next => open.get_or_insert_default().push((next, false)),
        }
    }
    words.extend(open);
    Ok(words)
}
