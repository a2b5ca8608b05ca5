//! The verdict of a command: the strictest of its parts'.

use crate::not_understood::NotUnderstood;
use crate::part::{Operator, Part, Redirection, Script};
use crate::programs::base_name;
use crate::rule::{Fit, Rule, is_harmless_variable, is_same_file};
use crate::surroundings::Surroundings;

/// What is to be done with a command; the later the stricter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// It may run.
    Allow,
    /// A person decides. Without one it does not run.
    Ask,
    /// It does not run.
    Deny,
}

/// The rules that hold together.
#[derive(Clone, Debug, Default)]
pub struct RuleSet {
    /// Commands that need no question, unless another list says otherwise.
    pub allow: Vec<Rule>,
    /// Commands that a person is asked about, whatever is allowed.
    pub ask: Vec<Rule>,
    /// Commands that are not run, whatever is allowed.
    pub deny: Vec<Rule>,
}

/// A verdict, and what it rests on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// The strictest verdict.
    pub verdict: Verdict,
    /// Why it is not milder; empty for [`Verdict::Allow`].
    pub reasons: Vec<String>,
}

/// A rule that is about a command that must not be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Denial {
    /// The rule, or why the command is not understood.
    pub reason: String,
    /// Whether it is certain. Otherwise it depends on what only the shell knows, and a person
    /// may decide.
    pub is_certain: bool,
}

/// Judges a command by rules. A part that no rule is about is asked about.
pub fn judge(
    command: Result<&Script, &NotUnderstood>,
    rules: &RuleSet,
    around: &dyn Surroundings,
) -> Judgement {
    let mut judgement = Judgement {
        verdict: Verdict::Allow,
        reasons: Vec::new(),
    };
    if let Some(denial) = denies(command, &rules.deny, around) {
        let verdict = match denial.is_certain {
            true => Verdict::Deny,
            false => Verdict::Ask,
        };
        judgement.add(verdict, denial.reason);
    }
    if let Some(asked) = denies(command, &rules.ask, around) {
        judgement.add(Verdict::Ask, asked.reason);
    }
    if let Ok(script) = command {
        let devices = script.parts.iter().flat_map(|part| &part.redirections);
        if let Some(device) = devices.filter_map(device).next() {
            judgement.add(Verdict::Deny, format!("{device} is a device"));
        }
    }
    if let Err(why) = allows(command, &rules.allow, around) {
        judgement.add(Verdict::Ask, why);
    }
    judgement
}

impl Judgement {
    fn add(&mut self, verdict: Verdict, reason: String) {
        self.verdict = self.verdict.max(verdict);
        if !self.reasons.contains(&reason) {
            self.reasons.push(reason);
        }
    }
}

/// Whether every part of a command is allowed by one of the rules.
///
/// # Errors
/// What is not allowed.
pub fn allows(
    command: Result<&Script, &NotUnderstood>,
    rules: &[Rule],
    around: &dyn Surroundings,
) -> Result<(), String> {
    let script = command.map_err(|problem| format!("the command is not understood: {problem}"))?;
    let moves = script.parts.iter().any(changes_folder);
    for part in &script.parts {
        for redirection in &part.redirections {
            check_target(redirection, moves, around)?;
        }
        if let Some(layer) = part
            .via
            .iter()
            .find(|layer| !is_trusted(&layer.program, around))
        {
            return Err(format!("`{}` is no program of the system", layer.program));
        }
        match part.program.as_deref() {
            None => check_assignments(part)?,
            Some(program) if script.functions.iter().any(|name| name == program) => {
                check_assignments(part)?;
                // The body is among the parts, unless the name means a program as well.
                if !around.files(program).is_empty() {
                    return Err(format!("the function `{program}` hides a program"));
                }
            }
            Some("." | "source") if !reads_inside(part, around) => {
                return Err(format!("no rule allows `{}`", part.shown()));
            }
            Some(_) if rules.iter().any(|rule| rule.allows(part, around)) => {}
            Some(_) => return Err(format!("no rule allows `{}`", part.shown())),
        }
    }
    Ok(())
}

/// The rule that is about a part of a command, if one is.
pub fn denies(
    command: Result<&Script, &NotUnderstood>,
    rules: &[Rule],
    around: &dyn Surroundings,
) -> Option<Denial> {
    let first = rules.first()?;
    let script = match command {
        Ok(script) => script,
        // A rule about everything needs no understanding.
        Err(problem) => {
            let everything = rules.iter().find(|rule| rule.text() == "*");
            return Some(Denial {
                reason: match everything {
                    Some(rule) => rule.text().to_owned(),
                    None => format!("the command is not understood: {problem}"),
                },
                is_certain: everything.is_some() && !first.text().is_empty(),
            });
        }
    };
    let mut doubtful = None;
    for part in &script.parts {
        for rule in rules {
            match fit(rule, part, around) {
                Fit::No => {}
                Fit::Yes => {
                    return Some(Denial {
                        reason: rule.text().to_owned(),
                        is_certain: true,
                    });
                }
                Fit::Maybe => {
                    doubtful.get_or_insert(rule);
                }
            }
        }
    }
    doubtful.map(|rule| Denial {
        reason: rule.text().to_owned(),
        is_certain: false,
    })
}

/// How a rule is about a part, or about a program that runs it.
fn fit(rule: &Rule, part: &Part, around: &dyn Surroundings) -> Fit {
    let own = match &part.program {
        Some(program) => rule.denies(program, &part.words, &part.assignments, around),
        None => Fit::No,
    };
    let layers = part.via.iter();
    let layers = layers.map(|layer| rule.denies(&layer.program, &layer.words, &[], around));
    layers.fold(own, Fit::max)
}

fn check_assignments(part: &Part) -> Result<(), String> {
    let mut assignments = part.assignments.iter();
    match assignments.find(|one| !is_harmless_variable(&one.name)) {
        None => Ok(()),
        Some(one) => Err(format!("no rule allows to set `{}`", one.name)),
    }
}

/// Whether a program that runs another one is what it is called.
fn is_trusted(program: &str, around: &dyn Surroundings) -> bool {
    match program.contains('/') {
        true => is_same_file(program, base_name(program), around),
        false => {
            let files = around.files(program);
            !files.first().is_some_and(|file| around.is_writable(file))
        }
    }
}

/// Whether the file that a shell is to read lies where it may also write: a rule may allow it.
fn reads_inside(part: &Part, around: &dyn Surroundings) -> bool {
    let file = part.words.first().and_then(crate::word::Word::literal);
    file.is_some_and(|file| around.may_write(file))
}

/// Whether files named after it are somewhere else.
fn changes_folder(part: &Part) -> bool {
    let changes = |program: &str| matches!(program, "cd" | "chdir" | "pushd" | "popd");
    let is_moved = |layer: &crate::part::Layer| {
        let mut words = layer.words.iter().map(crate::word::Word::literal_prefix);
        words.any(|word| word.starts_with("-C") || word.starts_with("--chdir") || word == "-D")
    };
    part.program.as_deref().is_some_and(changes) || part.via.iter().any(|layer| is_moved(layer))
}

fn check_target(
    redirection: &Redirection,
    moves: bool,
    around: &dyn Surroundings,
) -> Result<(), String> {
    let writes = match redirection.operator {
        Operator::Duplicate => return Ok(()),
        Operator::Read => false,
        Operator::Write | Operator::Append | Operator::ReadWrite | Operator::Both => true,
    };
    if let Some(device) = device(redirection) {
        return Err(format!("{device} is a device"));
    }
    let shown = redirection.target.shown();
    let Some(file) = redirection.target.literal() else {
        return Err(format!("no rule allows to open `{shown}`"));
    };
    let is_unknown = moves && !file.starts_with('/');
    match !writes || is_harmless_device(file) || (!is_unknown && around.may_write(file)) {
        true => Ok(()),
        false => Err(format!("no rule allows to write `{shown}`")),
    }
}

/// The device that a redirection opens, unless it is one of those that do nothing.
fn device(redirection: &Redirection) -> Option<&str> {
    let file = redirection.target.literal()?;
    if redirection.operator == Operator::Duplicate || !file.starts_with('/') {
        return None;
    }
    let path = without_detours(file);
    (path.starts_with("/dev/") && !is_harmless_device(&path)).then_some(file)
}

fn is_harmless_device(file: &str) -> bool {
    let name = file.strip_prefix("/dev/");
    name.is_some_and(|name| {
        matches!(
            name,
            "null" | "zero" | "full" | "random" | "urandom" | "stdin" | "stdout" | "stderr"
        ) || name
            .strip_prefix("fd/")
            .is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()))
    })
}

/// A path without `.`, `..` and doubled slashes, as far as its text tells.
fn without_detours(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}
