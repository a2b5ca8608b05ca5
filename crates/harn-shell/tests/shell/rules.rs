//! Rules as they are written, and which of them are refused.

use harn_shell::{Nowhere, Purpose, Rule, allows, denies, parse};

fn refusal(rule: &str, purpose: Purpose) -> Option<String> {
    Rule::parse(rule, purpose)
        .err()
        .map(|error| error.to_string())
}

#[test]
fn rules_that_would_allow_everything_are_refused() {
    for rule in [
        "python *",
        "python3 *",
        "python3.11 *",
        "/usr/bin/python *",
        "python",
        "bash *",
        "sh",
        "sh -c *",
        "bash -x *",
        "node *",
        "perl -e *",
        "perl -e ?*",
        "awk *",
        "sed *",
        "sed -n *",
        "sed s/a/b/ *",
        "env *",
        "env",
        "sudo *",
        "timeout *",
        "xargs *",
        "nohup *",
        "find *",
        "ssh *",
        "ssh host *",
        "docker *",
        "docker run *",
        "docker exec *",
        "kubectl *",
        "vim *",
        "{ls,bash} *",
        "p* *",
        "?ash *",
        "/usr/bin/* *",
        "'python' *",
        "python -W ignore *",
        "busybox *",
        "less *",
        "command *",
    ] {
        let expected = format!("rule '{rule}' would allow everything; name the script");
        let is_bare_wrapper = rule == "env";
        let found = refusal(rule, Purpose::Allow);
        assert_eq!(found, (!is_bare_wrapper).then_some(expected), "{rule}");
        assert_eq!(refusal(rule, Purpose::Deny), None, "{rule}");
    }
}

#[test]
fn rules_that_name_what_is_run_are_fine() {
    for rule in [
        "git status",
        "cargo test *",
        "npm run {lint,test}",
        "GIT_PAGER=* git log *",
        "*",
        "ls",
        "python build.py *",
        "python -m pytest *",
        "python -c 'print(1)'",
        "bash ./x.sh *",
        "sed 10p src/*",
        "docker ps *",
        "kubectl get *",
        "sudo ls *",
        "find . *",
        "cargo *",
        "git *",
        "[ -f * ]",
        "/usr/bin/git status",
    ] {
        assert_eq!(refusal(rule, Purpose::Allow), None, "{rule}");
    }
}

#[test]
fn rules_that_cannot_be_read_say_why() {
    for (rule, why) in [
        ("", "it is empty"),
        ("a; b", "';' joins commands, and a rule is about one"),
        ("a | b", "'|' joins commands, and a rule is about one"),
        ("a > b", "'>' joins commands, and a rule is about one"),
        ("a 'b", "a quote without its end"),
        ("a [b", "`[` without `]`"),
        ("a {b", "`{` without `}`"),
        ("a \\", "a backslash at the end"),
        ("a\u{200b}", "an invisible character"),
    ] {
        let expected = format!("pattern '{rule}' cannot be read: {why}");
        assert_eq!(refusal(rule, Purpose::Deny), Some(expected), "{rule}");
    }
}

#[track_caller]
fn check_allowed(rule: &str, command: &str, expected: bool) {
    let rule = Rule::parse(rule, Purpose::Allow).expect("the rule is fine");
    let script = parse(command);
    let allowed = allows(script.as_ref(), &[rule], &Nowhere).is_ok();
    assert_eq!(allowed, expected, "{command}");
}

#[test]
fn words_of_a_rule_are_patterns_of_words() {
    check_allowed("npm run {lint,test}", "npm run lint", true);
    check_allowed("npm run {lint,test}", "npm run lint x", false);
    check_allowed("npm run {lint,test}", "npm run 'lint test'", false);
    check_allowed("cat src/*", "cat src/a", true);
    check_allowed("cat src/*", "cat src/a b", false);
    check_allowed("cat src/*", "cat 'src/a b'", true);
    check_allowed("cat src/*", "cat src/*", false);
    check_allowed("cat *", "cat", true);
    check_allowed("cat ?*", "cat", false);
    check_allowed("*", "anything at all", true);
    check_allowed("*", "$x", false);
    check_allowed("git *", "git log", true);
    check_allowed("git *", "git -c alias.x='!touch y' x", false);
    check_allowed("git *", "git --exec-path=/tmp log", false);
    check_allowed("git *", "git clone ext::sh", false);
    check_allowed("git *", "git commit -c HEAD", true);
    check_allowed("git *", "git $x", false);
    check_allowed("git *", "git add src/*.rs", true);
    check_allowed("tar *", "tar xf a --to-command=sh", false);
    check_allowed("'a b' *", "'a b' c", true);
}

#[test]
fn a_rule_that_denies_is_not_passed_by_what_only_the_shell_knows() {
    let rule = Rule::parse("git push *", Purpose::Deny).expect("the rule is fine");
    for (command, expected) in [
        ("git push", Some(true)),
        ("git push origin", Some(true)),
        ("git $x", Some(false)),
        ("git $x push", Some(false)),
        ("git \"$x\"", Some(false)),
        ("git \"$x\" y", Some(false)),
        ("git p*", Some(false)),
        ("git log", None),
        ("git log $x", None),
        ("env git push", Some(true)),
        ("eval x", Some(false)),
    ] {
        let script = parse(command);
        let denial = denies(script.as_ref(), std::slice::from_ref(&rule), &Nowhere);
        assert_eq!(
            denial.map(|denial| denial.is_certain),
            expected,
            "{command}"
        );
    }
}
