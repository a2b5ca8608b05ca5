//! Nothing takes long, and nothing goes deep.

use std::time::{Duration, Instant};

use harn_shell::{
    DEPTH_MAX, Nowhere, PARTS_MAX, Purpose, Rule, RuleSet, TEXT_BYTES_MAX, judge, parse,
};

/// Long enough for a slow machine, and far less than anything quadratic would take.
const SOON: Duration = Duration::from_secs(5);

fn reason(command: &str) -> String {
    parse(command).expect_err("it is too much").reason
}

#[test]
fn there_are_only_so_many_parts_levels_and_bytes() {
    assert_eq!(
        parse(&"ls;".repeat(PARTS_MAX)).map(|script| script.parts.len()),
        Ok(PARTS_MAX)
    );
    assert_eq!(reason(&"ls;".repeat(PARTS_MAX + 1)), "more than 256 parts");
    let long = format!("ls {}", "x".repeat(TEXT_BYTES_MAX - 3));
    assert!(parse(&long).is_ok());
    assert_eq!(
        reason(&format!("{long}x")),
        "a text of more than 65536 bytes"
    );
    let nested = |levels: usize| format!("{}ls{}", "(".repeat(levels), ")".repeat(levels));
    // Two parentheses in a row are arithmetic, so there is a blank between them.
    let nested = |levels| nested(levels).replace('(', "( ");
    assert!(parse(&nested(DEPTH_MAX)).is_ok());
    assert_eq!(reason(&nested(DEPTH_MAX + 1)), "more than 32 levels");
}

#[test]
fn what_is_inside_itself_without_end_is_not_understood() {
    let depth = 10_000;
    for (open, close) in [
        ("$(", ")"),
        ("\"$(", ")\""),
        ("( ", ")"),
        ("{ ", "; }"),
        ("if ", ""),
        ("while ", ""),
        ("case x in a) ", ""),
        ("f() { ", "; }"),
        ("${x:-", "}"),
        ("$((", "))"),
        ("<(", ")"),
        ("! ", ""),
        ("env ", ""),
        ("sh -c ", ""),
        ("echo `", "`"),
    ] {
        let text = format!("{}ls{}", open.repeat(depth), close.repeat(depth));
        let began = Instant::now();
        let text = &text[..text.len().min(TEXT_BYTES_MAX)];
        // Each `sh` has the word after it as its text, and what follows are words of that.
        let is_flat = matches!(open, "! " | "sh -c ");
        assert_eq!(parse(text).is_ok(), is_flat, "{open}");
        assert!(began.elapsed() < SOON, "{open}");
    }
}

#[test]
fn long_texts_take_no_longer_than_they_are() {
    for piece in [
        "a ", "'a' ", "\"a\" ", "\\a ", "$a ", "${a} ", "{", "{a,b}", "[", "~", "* ", "\\\n",
        "#\n", "\n", "<<a ", "a=1 ", ">a ", "$a", "`a`", "<", "&", "(", "\"", "'", "$(", "$((",
        "=", "-", "a\u{301}",
    ] {
        let text = piece.repeat(TEXT_BYTES_MAX / piece.len());
        for start in [
            "ls ",
            "env ",
            "find ",
            "sh -c '",
            "cat <<a\n",
            "xargs ",
            "case x in ",
        ] {
            let kept = text.floor_char_boundary(text.len() - 16);
            let text = format!("{start}{}", &text[..kept]);
            let began = Instant::now();
            let _either_is_fine = parse(&text);
            assert!(began.elapsed() < SOON, "{start}{piece:?}");
        }
    }
}

/// What is asked is 100 µs in a release build; this one is not optimized.
#[test]
fn a_command_of_ten_parts_is_judged_by_two_hundred_rules_at_once() {
    let command = "git status && git log --oneline -5 | head -3; cargo test -p harn-shell 2>&1 | tail -5; \
                   for f in a b c; do cat \"$f\" | grep -n x; done; echo $(date +%s); ls -la > out";
    assert_eq!(parse(command).map(|script| script.parts.len()), Ok(10));
    let rule = |number: usize| format!("program{number} sub* {{a,b}} *");
    let rules = (0..200).map(|number| Rule::parse(&rule(number), Purpose::Allow));
    let rules = RuleSet {
        allow: rules.collect::<Result<_, _>>().expect("they are fine"),
        ..RuleSet::default()
    };
    let rounds = 200;
    let began = Instant::now();
    for _ in 0..rounds {
        let script = parse(command);
        let judgement = judge(script.as_ref(), &rules, &Nowhere);
        assert!(!judgement.reasons.is_empty());
    }
    let each = began.elapsed() / rounds;
    println!("parsing and judging 10 parts with 200 rules: {each:?}");
    assert!(each < Duration::from_millis(20), "{each:?}");
}
