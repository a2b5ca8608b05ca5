//! What a command that is to be run is made of.
//!
//! Policies are about what is run, so patterns and risks are looked for in each part: `env rm`,
//! `r\\m` and `sh -c 'rm'` are all `rm`.

use harn_machine::Value;
use harn_machine::value::Dict;
use harn_shell::{NotUnderstood, Operator, Part, Purpose, Rule, Script, Word, parse, parse_argv};

use super::patterns::fits;
use super::scans::{line, text};

/// The parts of a command: of the text for a shell, or of the words for a program.
pub(super) fn taken_apart(request: &Dict) -> Result<Script, NotUnderstood> {
    if let Some(Value::List(words)) = request.get("argv")
        && !words.is_empty()
    {
        let words: Vec<String> = words.iter().map(Value::show).collect();
        return parse_argv(&words);
    }
    let shell = text(request, "shell");
    if !shell.is_empty() && !harn_shell::reads_sh(&shell) {
        return Err(NotUnderstood {
            reason: format!("a command for `{shell}`"),
            position: 0,
        });
    }
    parse(&text(request, "command"))
}

/// The parts of a command as lines, by the names of their programs, with the programs that run
/// them.
pub(super) fn lines(script: &Script) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for part in &script.parts {
        let layers = part.via.iter();
        let layers = layers.map(|layer| one_line(&layer.program, &layer.words));
        let own = part_line(part);
        for line in layers.chain([own]) {
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
    }
    lines
}

fn part_line(part: &Part) -> String {
    let mut line = one_line(part.program.as_deref().unwrap_or_default(), &part.words);
    for one in &part.redirections {
        let operator = match one.operator {
            Operator::Read => "<",
            Operator::Write | Operator::ReadWrite | Operator::Both => ">",
            Operator::Append => ">>",
            Operator::Duplicate => continue,
        };
        let target = one.target.shown();
        // What is thrown away is not written.
        if target != "/dev/null" {
            line = format!("{line} {operator} {target}");
        }
    }
    line
}

fn one_line(program: &str, words: &[Word]) -> String {
    let name = program.rsplit('/').next().unwrap_or(program);
    let words = words.iter().map(Word::shown);
    let all: Vec<String> = std::iter::once(name.to_owned()).chain(words).collect();
    all.join(" ")
}

/// The first pattern that a command fits, as a whole or in one of its parts.
pub(super) fn fitting<'a>(request: &Dict, patterns: &'a [String]) -> Option<&'a String> {
    let whole = line(request);
    let script = taken_apart(request);
    let lines = script.as_ref().map(lines).unwrap_or_default();
    patterns.iter().find(|pattern| {
        let is_rule = || {
            let rule = Rule::parse(pattern, Purpose::Deny).ok();
            let rule = rule.filter(|_| script.is_ok());
            rule.is_some_and(|rule| {
                harn_shell::denies(script.as_ref(), &[rule], &harn_shell::Nowhere).is_some()
            })
        };
        fits(pattern, &whole) || lines.iter().any(|line| fits(pattern, line)) || is_rule()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(command: &str) -> Dict {
        match Value::dict([("command", command.into())]) {
            Value::Dict(request) => request,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn patterns_are_found_in_parts() {
        let patterns = ["touch *", "git push*--force"].map(str::to_owned);
        for (command, expected) in [
            ("ls", None),
            ("touch x", Some("touch *")),
            ("t\\ouch x", Some("touch *")),
            ("ls;/bin/touch x", Some("touch *")),
            ("sh -c \"tou''ch x\"", Some("touch *")),
            ("git 'push' origin --for\"ce\"", Some("git push*--force")),
            ("git $x", Some("git push*--force")),
        ] {
            let request = request(command);
            let found = fitting(&request, &patterns).map(String::as_str);
            assert_eq!(found, expected, "{command}");
        }
    }
}
