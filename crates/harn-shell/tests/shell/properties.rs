//! What holds for every command.

use harn_shell::{Nowhere, Part, RuleSet, Script, Verdict, Word, judge, parse, printed};

use crate::corpus::{rows, rules};
use crate::trees::{self, Chance};

const CASES: u64 = 3_000;

fn verdict(text: &str, rules: &RuleSet) -> Verdict {
    judge(parse(text).as_ref(), rules, &Nowhere).verdict
}

/// The rules of the corpus, and those for the programs that the generator wraps around.
fn with_wrappers() -> RuleSet {
    rules()
}

#[test]
fn wrapping_a_command_never_makes_its_verdict_laxer() {
    let rules = with_wrappers();
    for seed in 0..trees::cases(CASES) {
        let mut chance = Chance::new(seed);
        let command = trees::tree(&mut chance, 3);
        let wrapped = trees::wrapped(&mut chance, &command);
        let (before, after) = (verdict(&command, &rules), verdict(&wrapped, &rules));
        // What is not understood is asked about: that is as strict as it gets without a person.
        let is_understood = parse(&wrapped).is_ok();
        let expected = before.min(if is_understood {
            Verdict::Deny
        } else {
            Verdict::Ask
        });
        assert!(
            after >= expected,
            "seed {seed}: {command:?} {before:?}, {wrapped:?} {after:?}"
        );
    }
}

#[test]
fn a_command_is_as_strict_as_its_strictest_part() {
    let rules = rules();
    for seed in 0..trees::cases(CASES) {
        let mut chance = Chance::new(seed);
        let (first, second) = (trees::leaf(&mut chance), trees::leaf(&mut chance));
        let joined = trees::joined(&mut chance, &first, &second);
        let strictest = verdict(&first, &rules).max(verdict(&second, &rules));
        assert_eq!(
            verdict(&joined, &rules),
            strictest,
            "seed {seed}: {joined:?}"
        );
    }
}

#[test]
fn joining_with_a_denied_command_is_denied() {
    let rules = rules();
    for seed in 0..trees::cases(CASES) {
        let mut chance = Chance::new(seed);
        let command = trees::tree(&mut chance, 2);
        if parse(&command).is_err() {
            continue;
        }
        let joined = trees::joined(&mut chance, &command, "touch x");
        if parse(&joined).is_ok() {
            assert_eq!(
                verdict(&joined, &rules),
                Verdict::Deny,
                "seed {seed}: {joined:?}"
            );
        }
    }
}

#[test]
fn fewer_allow_rules_and_more_deny_rules_are_never_laxer() {
    let all = rules();
    for seed in 0..trees::cases(CASES) {
        let mut chance = Chance::new(seed);
        let command = trees::tree(&mut chance, 3);
        let before = verdict(&command, &all);
        let mut fewer = all.clone();
        fewer.allow.remove(chance.below(fewer.allow.len()));
        assert!(
            verdict(&command, &fewer) >= before,
            "seed {seed}: {command:?}"
        );
        let mut more = all.clone();
        let another = harn_shell::Rule::parse("ls *", harn_shell::Purpose::Deny);
        more.deny.push(another.expect("the rule is fine"));
        assert!(
            verdict(&command, &more) >= before,
            "seed {seed}: {command:?}"
        );
    }
}

#[test]
fn printed_parts_are_the_same_parts() {
    let corpus = rows().into_iter().map(|[_, command, _]| command);
    let generated = (0..trees::cases(CASES)).map(|seed| trees::tree(&mut Chance::new(seed), 3));
    for command in corpus.chain(generated) {
        let Ok(script) = parse(&command) else {
            continue;
        };
        // What a part makes of its words is a part of its own, or it runs nothing without them.
        let known = ["trap", "export", "readonly", "read", "PATH=…"];
        let mut programs = script
            .parts
            .iter()
            .map(|part| part.program.as_deref().unwrap_or_default());
        if programs.any(|program| known.contains(&program) || harn_runs_others(program)) {
            continue;
        }
        let again = parse(&printed(&script)).expect(&command);
        assert_eq!(plain(&again), plain(&script), "{command:?}");
    }
}

/// Programs that would be peeled off if their words were read again.
fn harn_runs_others(program: &str) -> bool {
    let name = program.rsplit('/').next().unwrap_or(program);
    matches!(
        name,
        "sudo"
            | "su"
            | "doas"
            | "runuser"
            | "chroot"
            | "unshare"
            | "flock"
            | "script"
            | "strace"
            | "gdb"
            | "parallel"
            | "ld-linux-x86-64.so.2"
            | "find"
    )
}

/// Parts without what printing leaves out.
fn plain(script: &Script) -> Vec<Part> {
    let same = |word: &Word| match word.literal() {
        Some(text) => Word::of(text),
        None => Word::of(format!("dynamic {}", word.splits())),
    };
    let parts = script.parts.iter().map(|part| Part {
        words: part.words.iter().map(same).collect(),
        assignments: part
            .assignments
            .iter()
            .map(|one| harn_shell::Assignment {
                name: one.name.clone(),
                value: same(&one.value),
            })
            .collect(),
        redirections: part
            .redirections
            .iter()
            .map(|one| harn_shell::Redirection {
                target: same(&one.target),
                ..one.clone()
            })
            .collect(),
        via: Vec::new(),
        position: 0,
        ..part.clone()
    });
    parts.collect()
}

/// A command that another parser splits in another way is not understood: the other parser is
/// the one of the shells themselves, which is asked in `real_shells`.
#[test]
fn no_text_makes_the_parser_panic() {
    let pieces = [
        "a", " ", ";", "&", "|", "<", ">", "(", ")", "{", "}", "'", "\"", "`", "$", "\\", "\n",
        "#", "=", "*", "[", "]", "~", "!", "if", "then", "fi", "for", "in", "do", "done", "case",
        "esac", "<<E", "$(", "${", "$((", "))", "env", "sh -c", "find", "-exec", "\u{200b}", "é",
        "0", "2>", "function", "eval", "trap",
    ];
    for seed in 0..trees::cases(CASES * 4) {
        let mut chance = Chance::new(seed);
        let text: String = (0..chance.below(24)).map(|_| chance.one(&pieces)).collect();
        let _either_is_fine = parse(&text);
    }
}
