//! Commands with their parts and verdicts, as data.

use harn_shell::{
    Nowhere, Operator, Part, Purpose, Redirection, Rule, RuleSet, Script, Verdict, Word, judge,
    parse,
};

const COMMANDS: &str = include_str!("commands.txt");

const ROWS_MIN: usize = 300;

/// The rules that the file names.
pub(crate) fn rules() -> RuleSet {
    let all = |texts: &[&str], purpose| {
        let rules = texts
            .iter()
            .map(|text| Rule::parse(text, purpose).expect("the rules of the corpus are fine"));
        rules.collect()
    };
    let allow = [
        "git status",
        "git log *",
        "ls *",
        "cat *",
        "echo *",
        "grep *",
        "cargo test *",
        "true",
        "GIT_PAGER=* git show *",
        "find . *",
        "./build.sh",
        "sudo ls *",
        "printf *",
    ];
    RuleSet {
        allow: all(&allow, Purpose::Allow),
        ask: all(&["git push *"], Purpose::Ask),
        deny: all(&["touch *", "rm *"], Purpose::Deny),
    }
}

/// The commands of the file with their verdicts and parts.
pub(crate) fn rows() -> Vec<[String; 3]> {
    let lines = COMMANDS.lines();
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    let rows = lines.map(|line| {
        let fields: Vec<String> = line.split(" ‖ ").map(written_out).collect();
        let fields: Result<[String; 3], _> = fields.try_into();
        fields.unwrap_or_else(|_| panic!("three fields: {line}"))
    });
    rows.collect()
}

fn written_out(field: &str) -> String {
    field.replace('⏎', "\n").replace('⇥', "\t")
}

#[test]
fn commands_have_the_parts_and_verdicts_of_the_corpus() {
    let rules = rules();
    let rows = rows();
    assert!(rows.len() >= ROWS_MIN, "{} rows", rows.len());
    let mut wrong = Vec::new();
    for [verdict, command, parts] in &rows {
        let script = parse(command);
        let found = match &script {
            Ok(script) => described(script),
            Err(_) => "?".to_owned(),
        };
        let judgement = judge(script.as_ref(), &rules, &Nowhere);
        let said = match judgement.verdict {
            Verdict::Allow => "allow",
            Verdict::Ask => "ask",
            Verdict::Deny => "deny",
        };
        if found != *parts || said != verdict {
            wrong.push(format!(
                "{command:?}\n  expected {verdict}: {parts}\n  found    {said}: {found}\n  {:?} {:?}",
                judgement.reasons,
                script.err()
            ));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

pub(crate) fn described(script: &Script) -> String {
    let parts: Vec<String> = script.parts.iter().map(described_part).collect();
    parts.join(" ¦ ")
}

fn described_part(part: &Part) -> String {
    let mut shown = Vec::new();
    if !part.via.is_empty() {
        let via: Vec<&str> = part.via.iter().map(|layer| &*layer.program).collect();
        shown.push(format!("[{}]", via.join(" ")));
    }
    for one in &part.assignments {
        shown.push(format!("{}={}", one.name, word(&one.value)));
    }
    shown.extend(part.program.iter().map(|program| quoted(program)));
    shown.extend(part.words.iter().map(word));
    shown.extend(part.redirections.iter().map(redirection));
    shown.join(" ")
}

fn word(word: &Word) -> String {
    match word.literal() {
        Some(text) => quoted(text),
        None => word.shown(),
    }
}

fn quoted(text: &str) -> String {
    match text.is_empty() || text.contains([' ', '\n', '\t', '\u{a0}']) {
        true => format!("'{text}'"),
        false => text.to_owned(),
    }
}

fn redirection(one: &Redirection) -> String {
    let descriptor = one.descriptor.map(|number| number.to_string());
    let operator = match one.operator {
        Operator::Read => "<",
        Operator::Write => ">",
        Operator::Append => ">>",
        Operator::ReadWrite => "<>",
        Operator::Both => ">&",
        Operator::Duplicate if one.descriptor == Some(3) => "<&",
        Operator::Duplicate => ">&",
    };
    format!(
        "{}{operator}{}",
        descriptor.unwrap_or_default(),
        word(&one.target)
    )
}
